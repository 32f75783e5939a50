"""Measures study g of studies/PLAN.md: what of a real engine's noise reaches the answers.

    OHRBENCH_DATA=DIR python -m studies.answers WORK --out FOLDER

Runs `pipelines/real-answers.yaml`, whose model must be in the folder that this is started from. Kept are numbers and
ids.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import compute

from ohr.results.run import Run
from ohr.statistics.estimate import Estimate
from studies.kept_scores import Scores, first_less, line, points, ratio
from studies.real_data import KEPT, given, keep_run, study
from studies.runs import run_pipeline

SPEC = "real-answers"
FILE = Path("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
MODEL, SUM = "qwen2.5-coder-1.5b", "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
"""The generator, and the SHA-256 of the file whose answers were measured, Qwen's own."""
RETRIEVER = "bm25"
KINDS = (("retrieval", "lcs"), ("overall", "f1"), ("reference", "f1"))
"""Stages that are kept, and their metric."""
COLUMNS = [
    "question_id", "document", "domain", "evidence_source", "condition", "stage", "metric", "value", "retriever",
    "generator",
]  # fmt: skip
CONDITIONS = ("gt", "MinerU")
ALONE = ("evidence_only", "closed_book", "shuffled_context", "constant")
"""Reference conditions, which need no retriever."""
LOOKS = 2
"""At the loss of answers: after one question about each document, and after two."""


def scores_of(of: Run) -> pyarrow.Table:
    """Return the scores of retrieval and of answers; those of answers have the generator's name as their retriever."""
    tables = [of.table("scores", COLUMNS, stage=stage, metric=metric) for stage, metric in KINDS]
    rows = pyarrow.concat_tables([table.select(COLUMNS) for table in tables]).unify_dictionaries()
    texts = {name: rows[name].cast("string") for name in ("retriever", "generator", "condition")}
    by = compute.coalesce(texts["generator"], texts["retriever"], texts["condition"])  # `constant` has neither
    kept = rows.select(COLUMNS[:5])
    return kept.append_column("retriever", by.dictionary_encode()).append_column("value", rows["value"])


def reached(scores: Scores) -> dict[str, Estimate]:
    """Return the losses of retrieval and of answers to the engine, and the second over the first.

    The loss of answers was looked at twice, so half of the error is spent on it, and on the ratio.
    """
    retrieval, answers = ([(condition, name) for condition in CONDITIONS] for name in (RETRIEVER, MODEL))
    return {
        "retrieval": scores.estimate(retrieval, first_less),
        "answers": scores.estimate(answers, first_less, LOOKS),
        "ratio": ratio(scores, [*retrieval, *answers], LOOKS),
    }


def of_evidence(scores: Scores) -> Estimate:
    """Return the loss of answers over what the model answers from the evidence alone, where that was asked for."""
    cells = [*((condition, MODEL) for condition in CONDITIONS), ("evidence_only", MODEL)]
    asked = ~np.isnan(scores.values[cells[-1]])
    return scores.estimate(cells, lambda means: first_less(means) / means[2], chosen=asked, zero=False)


def parts(scores: Scores) -> dict[str, Any]:
    """Return the questions by what their retrieval lost: all, half of its score or more, less than that, nothing."""
    clean, noisy = (scores.values[condition, RETRIEVER] for condition in CONDITIONS)
    lost = clean - noisy
    half = (lost > 0) & (lost >= clean / 2)
    return {
        "all": np.full(len(lost), True),
        "retrieval lost half or more": half,
        "retrieval lost less than half": (lost > 0) & ~half,
        "retrieval lost nothing": lost <= 0,
    }


def answer_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for BM25 and the model by what retrieval lost, and for the answers that need no retrieval."""
    scores = Scores.read(folder / "answers.parquet")
    for model in (RETRIEVER, MODEL):
        cells = [(condition, model) for condition in CONDITIONS]
        for name, chosen in parts(scores).items():
            together = LOOKS if (model, name) == (MODEL, "all") else 1
            means = (f"{100 * float(scores.values[cell][chosen].mean()):.1f}" for cell in cells)
            loss = scores.estimate(cells, first_less, together, chosen)
            yield line(model, name, int(chosen.sum()), *means, points(loss))
    for condition in ALONE:
        model = MODEL if condition != "constant" else condition
        values = scores.values[condition, model]
        values = values[~np.isnan(values)]  # ours are of one question about each document
        yield line(model, condition, len(values), f"{100 * float(values.mean()):.1f}", "", "")


def check_model(model: Path = FILE, digest: str = SUM) -> None:
    """End where a model is not in this folder, and say where its SHA-256 is another."""
    if not model.is_file():
        sys.exit(f"{model} is not in this folder: pipelines/{SPEC}.yaml says where models come from")
    if hashlib.sha256(model.read_bytes()).hexdigest() != digest:
        print(f"{model} is not the file that we measured: the answers will differ")


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study g: measures what of an engine's noise reaches the answers.")
    check_model()
    keep_run(run_pipeline(SPEC, work), out, "answers.parquet", scores_of)


if __name__ == "__main__":
    study(main)
