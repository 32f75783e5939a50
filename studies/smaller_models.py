"""Measures what study g of studies/PLAN.md asks by the size of the model, and of other noises than MinerU's.

    OHRBENCH_DATA=DIR python -m studies.smaller_models WORK --out FOLDER

Runs `pipelines/real-smaller-models.yaml`, whose larger model must be in the folder that this is started from. One
question about each document is answered, as in the first round of g. Kept are numbers and ids.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from studies.answers import CONDITIONS, MODEL, RETRIEVER, check_model, scores_of
from studies.kept_scores import Scores, first_less, line, points, ratio, shares
from studies.real_data import KEPT, given, keep_run, study
from studies.runs import run_pipeline

LARGER, SUM = (
    Path("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"),
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
)
"""The file of the larger model, and the SHA-256 of the one that was measured."""
MODELS = ("smollm2-135m", "qwen2.5-coder-0.5b")
NOISES = ("formatting", "channel")
TABLE = "smaller_models.parquet"


def size_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each size: F1 on the truth and on MinerU, the loss, and how much more than that 1.5B loses."""
    small, large = Scores.read(folder / TABLE), Scores.read(KEPT / "answers.parquet")
    places = [large.ids.index(question) for question in small.ids]
    values = {**small.values, **{(name, MODEL): large.values[name, MODEL][places] for name in CONDITIONS}}
    joined, ours = replace(small, values=values), [(condition, MODEL) for condition in CONDITIONS]
    for model in (*MODELS, MODEL):
        cells = [(condition, model) for condition in CONDITIONS]
        means = (f"{100 * float(np.mean(values[cell])):.1f}" for cell in cells)
        more = joined.estimate([*ours, *cells], lambda m: first_less(m) - first_less(m[2:]))
        yield line(model, *means, points(joined.estimate(cells, first_less)), points(more) if model != MODEL else "")


def losses(of: Scores, condition: str, model: str) -> Iterator[str]:
    """Yield the score on the truth and the loss of retrieval, those of answers, and the second loss over the first."""
    pairs = [[(name, by) for name in ("gt", condition)] for by in (RETRIEVER, model)]
    for pair in pairs:
        yield f"{100 * float(np.mean(of.values[pair[0]])):.1f}"
        yield points(of.estimate(pair, first_less))
    yield shares(ratio(of, [*pairs[0], *pairs[1]]))


def noise_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each model and noise, and the engine: losses, and how much less than with the engine."""
    scores = Scores.read(folder / TABLE)
    for model in MODELS:
        for condition in (*NOISES, "MinerU"):
            less = scores.estimate([(condition, model), ("MinerU", model)], first_less)
            yield line(
                model, f"`{condition}`", *losses(scores, condition, model), points(less) if condition in NOISES else ""
            )


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study g: measures answers of smaller models, and under other noises.")
    check_model(LARGER, SUM)
    keep_run(run_pipeline("real-smaller-models", work), out, TABLE, scores_of)


if __name__ == "__main__":
    study(main)
