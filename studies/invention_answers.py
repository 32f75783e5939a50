"""Measures what study b of studies/PLAN.md asks of answers: what 20% invented words cost those of the 0.5B model.

    OHRBENCH_DATA=DIR python -m studies.invention_answers WORK --out FOLDER

Runs `pipelines/real-invention-answers.yaml`, whose model must be in the folder that this is started from. Kept are
numbers and ids.
"""

from collections.abc import Iterator
from pathlib import Path

from studies.answers import check_model, scores_of
from studies.invention import LEVELS, base, pages
from studies.kept_scores import Scores, line
from studies.real_data import KEPT, given, keep_run, read, study, write_base
from studies.runs import run_pipeline
from studies.smaller_models import LARGER, MODELS, SUM, losses

PERCENT = LEVELS[-1]
CONDITION = f"{PERCENT}% invented"
TABLE = "invention_answers.parquet"


def invention_answer_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line: the losses of retrieval and of answers."""
    yield line(CONDITION, *losses(Scores.read(folder / TABLE), CONDITION, MODELS[1]))


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study b: measures what invented words cost the answers.")
    check_model(LARGER, SUM)
    truth = read("gt")
    texts = {**truth, **{place: text for place, percent, text in pages(truth) if percent == PERCENT}}
    write_base(base(work, PERCENT), texts)
    keep_run(run_pipeline("real-invention-answers", work), out, TABLE, scores_of)


if __name__ == "__main__":
    study(main)
