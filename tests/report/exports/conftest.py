"""Runs that never were, with names that try to be code."""

from dataclasses import replace

import numpy as np
import pytest

from speed.made_up_run import Asked, Condition, MadeUp

HOSTILE = r"a_b # $ % & { } ~ ^ \input{x} | [2cm] *x* <script>"
TEXTS = {(f"law/lease {number}", 0): f"The lease {number} ended in 19{number:02}." for number in range(24)}


def condition(name, noise, kind, level=None, engine="ground_truth"):
    return Condition(name, noise, kind, level, str if kind == "none" else lambda text: text.replace("e", "c"), {
        "ocr": {"kind": engine}
    })  # fmt: skip


CONDITIONS = [
    condition("clean", "clean", "none"),
    condition("blur-0.2", "blur", "semantic", "0.2", "tesseract"),
    condition("blur-0.8", "blur", "semantic", "0.8", "tesseract"),
    condition("=1+1", "=1+1", "semantic", None, "rapidocr"),
    condition(HOSTILE, HOSTILE, "formatting"),
]


def scores(place, count):
    """Return scores between 0.1 and 1 that fall with the place of the condition, and differ by question."""
    return np.clip(1 - 0.15 * place - 0.05 * (np.arange(count) % 3), 0, 1)


MADE = MadeUp(
    name="study",
    questions=[
        Asked(f"q{n}", f"When did lease {n} end?", [f"19{n:02}"], text, document, source=("text", "table")[n % 2])
        for n, ((document, _), text) in enumerate(TEXTS.items())
    ],
    pages=TEXTS,
    conditions=CONDITIONS,
    score=scores,
    answer=lambda place, asked: asked.answers[0],
    retrievers=("bm25", "dense"),
)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder of a run with a sweep, two engines and hostile names."""
    return MADE.write(tmp_path_factory.mktemp("made") / "runs")


@pytest.fixture
def one(tmp_path):
    """Make the folder of a run of one engine, with some changes."""
    return lambda **changes: replace(MADE, **({"conditions": CONDITIONS[:2]} | changes)).write(tmp_path / "runs")
