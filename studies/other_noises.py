"""Measures what study g of studies/PLAN.md asks of other noises: formatting and channel, answered by the 135M model.

    OHRBENCH_DATA=DIR python -m studies.other_noises WORK --out FOLDER

The questions are those of `studies.answer_sizes`. Kept are numbers and ids.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from studies.answer_sizes import SIZES, answered, spec
from studies.answer_sizes import TABLE as OF_SIZES
from studies.answers import RETRIEVER, over
from studies.kept_scores import Scores, first_less, line, points, shares
from studies.real_data import KEPT, given, keep, study

NOISES = ("formatting", "channel")
BASES = "\n".join(f"  - {{name: {noise}, text_noise: {{kind: {noise}, rate: 0.6}}}}" for noise in NOISES)
TABLE = "other_noises.parquet"


def noisy_spec() -> str:
    """Return the spec of `studies.answer_sizes` with these noises in place of the engine, and one model."""
    lines = [each for each in spec().splitlines() if SIZES[1] not in each and "precomputed" not in each]
    return "\n".join(lines).replace("  - name: MinerU", BASES).replace("answer-sizes", "other-noises") + "\n"


def losses(of: Scores, condition: str, model: str) -> Iterator[str]:
    """Yield the score on the truth and the loss of retrieval, those of answers, and the second loss over the first."""
    pairs = [[(name, by) for name in ("gt", condition)] for by in (RETRIEVER, model)]
    for pair in pairs:
        yield f"{100 * float(np.mean(of.values[pair[0]])):.1f}"
        yield points(of.estimate(pair, first_less))
    yield shares(of.estimate([*pairs[0], *pairs[1]], over, zero=False))


def noise_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each noise, and the engine: losses of retrieval and answers, and how much less than with it."""
    scores, with_engine, engine = Scores.read(folder / TABLE), Scores.read(KEPT / OF_SIZES), ("MinerU", SIZES[0])
    joined = replace(scores, values={**scores.values, engine: with_engine.values[engine]})
    for condition, of in (*((noise, scores) for noise in NOISES), ("MinerU", with_engine)):
        less = points(joined.estimate([(condition, SIZES[0]), engine], first_less)) if condition in NOISES else ""
        yield line(f"`{condition}`", *losses(of, condition, SIZES[0]), less)


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study g: measures what other noises cost the answers.")
    keep(answered(noisy_spec(), work), out, TABLE)


if __name__ == "__main__":
    study(main)
