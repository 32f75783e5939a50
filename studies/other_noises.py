"""Measures what study g of studies/PLAN.md asks of other noises: formatting and channel, by the smaller models.

    OHRBENCH_DATA=DIR python -m studies.other_noises WORK --out FOLDER

Starts in the folder that has the larger of the two models. The questions are those of `studies.answer_sizes`. Kept are
numbers and ids.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from studies.answer_sizes import FILE, SIZES, SUM, answered, spec
from studies.answer_sizes import TABLE as OF_SIZES
from studies.answers import RETRIEVER, checked, scores_of
from studies.kept_scores import Scores, first_less, line, points, ratio, shares
from studies.real_data import KEPT, given, keep_run, study

NOISES = ("formatting", "channel")
BASES = "\n".join(f"  - {{name: {noise}, text_noise: {{kind: {noise}, rate: 0.6}}}}" for noise in NOISES)
TABLES = dict(zip(SIZES, ("other_noises.parquet", "other_noises_larger.parquet"), strict=True))


def noisy_spec(model: str) -> str:
    """Return the spec of `studies.answer_sizes` with these noises in place of the engine, and this model alone."""
    others = [f"name: {size}," for size in SIZES if size != model]
    lines = [each for each in spec().splitlines() if not any(other in each for other in (*others, "precomputed"))]
    return "\n".join(lines).replace("  - name: MinerU", BASES).replace("answer-sizes", "other-noises") + "\n"


def losses(of: Scores, condition: str, model: str) -> Iterator[str]:
    """Yield the score on the truth and the loss of retrieval, those of answers, and the second loss over the first."""
    pairs = [[(name, by) for name in ("gt", condition)] for by in (RETRIEVER, model)]
    for pair in pairs:
        yield f"{100 * float(np.mean(of.values[pair[0]])):.1f}"
        yield points(of.estimate(pair, first_less))
    yield shares(ratio(of, [*pairs[0], *pairs[1]]))


def noise_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each model and noise, and the engine: losses, and how much less than with the engine."""
    with_engine = Scores.read(KEPT / OF_SIZES)
    for model, table in TABLES.items():
        scores, engine = Scores.read(folder / table), ("MinerU", model)
        joined = replace(scores, values={**scores.values, engine: with_engine.values[engine]})
        for condition, of in (*((noise, scores) for noise in NOISES), ("MinerU", with_engine)):
            less = points(joined.estimate([(condition, model), engine], first_less)) if condition in NOISES else ""
            yield line(model, f"`{condition}`", *losses(of, condition, model), less)


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study g: measures what other noises cost the answers.")
    checked(Path(FILE), SUM)
    for model, table in TABLES.items():
        keep_run(answered(noisy_spec(model), work), out, table, scores_of)


if __name__ == "__main__":
    study(main)
