"""Repairs in a spec: in lists that fit, and in those that do not."""

import pytest

from .conftest import BASE


def entry(*treatments):
    listed = "".join(f"\n      - {{kind: {treatment}}}" for treatment in treatments)
    return f"{BASE}replicates: 1\nknowledge_bases:\n  - name: a\n    treatments:{listed}\n"


def test_noise_and_repairs_are_in_any_order_that_fits(spec):
    kinds = ["deskew", "rotation", "upright", "tesseract", "dehyphenate", "formatting", "strip_headers"]
    (base,) = spec(entry(*kinds)).knowledge_bases
    assert [stage.kind for stage in base.treatments] == kinds


@pytest.mark.parametrize("chooser", ["best_of", "gate", "first_of", "vote"])
def test_engines_before_one_that_chooses_are_its_parts(spec, chooser):
    (base,) = spec(entry("tesseract", "tesseract, psm: 6", chooser)).knowledge_bases
    assert base.ocr.kind == chooser
    assert [part.psm for part in base.ocr.parts] == [3, 6]


def test_a_gate_takes_one_engine(spec):
    (base,) = spec(entry("tesseract", "gate, rule: {words: 3}")).knowledge_bases
    assert [part.kind for part in base.ocr.parts] == ["tesseract"]
    assert base.ocr.rule.words == 3


@pytest.mark.parametrize(
    ("treatments", "line", "message"),
    [
        (["formatting", "deskew"], 9, "deskew needs an image, but text_noise `formatting` gives text"),
        (["tesseract", "upright"], 9, "upright needs an image, but ocr `tesseract` gives text"),
        (["strip_headers", "tesseract"], 8, "strip_headers needs text, but no engine has read the pages yet"),
        (["tesseract", "gate, rule: {word: 3}"], 9, "unknown key. Choose one of: words"),
        (["llm_correction"], 8, "generator: is required"),
        (["deskew, most: 90"], 8, "must be less than or equal to 45 (got 90)"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(faults, treatments, line, message):
    fault = faults(entry(*treatments))[0]
    assert fault.startswith(f"spec.yaml:{line}: ")
    assert message in fault
