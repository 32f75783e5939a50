"""Measures study g of studies/PLAN.md: what of a real engine's noise reaches the answers.

    OHRBENCH_DATA=DIR python -m studies.answers WORK --out FOLDER

Runs `pipelines/real-answers.yaml`, whose model must be in the folder that this is started from. Kept are numbers and
ids.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from ohr.metrics.dose import Floats
from ohr.results.run import Run
from ohr.runner.run import run
from ohr.spec.read import read_spec
from ohr.statistics.estimate import Estimate
from studies.kept_scores import Scores, first_less, line, points
from studies.real_pages import KEPT, given

SPEC = Path(__file__).parents[1] / "pipelines" / "real-answers.yaml"
MODEL = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
"""SHA-256 of the file whose answers were measured, Qwen's own."""
KINDS = (("retrieval", "lcs"), ("overall", "f1"), ("reference", "f1"))
"""Stages that are kept, and their metric."""
COLUMNS = ["question_id", "document", "domain", "evidence_source", "condition", "stage", "metric", "value"]


def scores_of(of: Run) -> pyarrow.Table:
    """Return the scores of retrieval and answers of each question; the stage has the place of a retriever."""
    tables = [of.table("scores", COLUMNS, stage=stage, metric=metric) for stage, metric in KINDS]
    joined = pyarrow.concat_tables([table.select(COLUMNS) for table in tables]).drop_columns(["metric"])
    return joined.rename_columns({"stage": "retriever"})


def reached(scores: Scores) -> dict[str, Estimate]:
    """Return the losses of retrieval and of answers to the engine, and the second over the first.

    The loss of answers and the ratio are the primary hypotheses, whose intervals hold together.
    """
    retrieval = [("gt", "retrieval"), ("MinerU", "retrieval")]
    answers = [("gt", "overall"), ("MinerU", "overall")]
    return {
        "retrieval": scores.estimate(retrieval, first_less),
        "answers": scores.estimate(answers, first_less, 2),
        "ratio": scores.estimate([*retrieval, *answers], _over, 2, zero=False),
    }


def _over(means: Floats) -> Any:
    return (means[2] - means[3]) / (means[0] - means[1])


def parted(scores: Scores) -> dict[str, tuple[int, Estimate]]:
    """Return the loss of answers of questions by what their retrieval lost: all of it or most, something, nothing."""
    clean, noisy = (scores.values[condition, "retrieval"] for condition in ("gt", "MinerU"))
    lost = clean - noisy
    parts = {"half or more": lost >= clean / 2, "less": lost > 0, "nothing": lost <= 0}
    parts["half or more"] &= lost > 0
    parts["less"] &= ~parts["half or more"]
    cells = [("gt", "overall"), ("MinerU", "overall")]
    return {
        name: (int(chosen.sum()), scores.estimate(cells, first_less, chosen=chosen)) for name, chosen in parts.items()
    }


def answer_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each quantity, and for the questions by what their retrieval lost."""
    scores = Scores.read(folder / "answers.parquet")
    estimates, count = reached(scores), len(scores.ids)
    means = {cell: 100 * float(values.mean()) for cell, values in scores.values.items()}
    for name, stage in (("retrieval", "retrieval"), ("answers", "overall")):
        truth, noisy = (f"{means[condition, stage]:.1f}" for condition in ("gt", "MinerU"))
        yield line(name, count, truth, noisy, points(estimates[name]))
    for name, (number, loss) in parted(scores).items():
        yield line(f"answers, where retrieval lost {name}", number, "", "", points(loss))
    for condition, stage in scores.values:
        if stage == "reference":
            yield line(f"answers, {condition.replace('_', ' ')}", count, f"{means[condition, stage]:.1f}", "", "")


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study g: measures what of an engine's noise reaches the answers.")
    spec = read_spec(SPEC)
    (generator,) = spec.generators
    model = Path(generator.stage.model_dump()["model"])
    if hashlib.sha256(model.read_bytes()).hexdigest() != MODEL:
        print(f"{model} is not the file that we measured: the answers will differ")
    of = Run(run(spec, store=work / ".ohr", runs=work / "runs", workers=1).folder)
    parquet.write_table(scores_of(of), out / "answers.parquet", compression="zstd")


if __name__ == "__main__":
    main()
