"""Measures study g of studies/PLAN.md: what of a real engine's noise reaches the answers.

    OHRBENCH_DATA=DIR python -m studies.answers WORK --out FOLDER

Runs `pipelines/real-answers.yaml`, whose model must be in the folder that this is started from. Kept are numbers and
ids.
"""

import hashlib
import sys
from pathlib import Path

import pyarrow
from pyarrow import parquet

from ohr.results.run import Run
from ohr.runner.run import run
from ohr.spec.read import read_spec
from studies.real_pages import given

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


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study g: measures what of an engine's noise reaches the answers.")
    spec = read_spec(SPEC)
    (generator,) = spec.generators
    model = Path(generator.stage.model_dump()["model"])
    if not model.is_file():
        sys.exit(f"{model} is not in this folder: {SPEC.name} says where it comes from")
    if hashlib.sha256(model.read_bytes()).hexdigest() != MODEL:
        print(f"{model} is not the file that we measured: the answers will differ")
    of = Run(run(spec, store=work / ".ohr", runs=work / "runs", workers=1).folder)
    parquet.write_table(scores_of(of), out / "answers.parquet", compression="zstd")


if __name__ == "__main__":
    main()
