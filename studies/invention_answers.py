"""Measures what study b of studies/PLAN.md asks of answers: what 20% invented words cost those of the 0.5B model.

    OHRBENCH_DATA=DIR python -m studies.invention_answers WORK --out FOLDER

Starts in the folder that has the model. The questions are those of `studies.answer_sizes`. Kept are numbers and ids.
"""

from collections.abc import Iterator
from pathlib import Path

from studies.answer_sizes import FILE, SIZES, SUM, answered, spec
from studies.answers import checked, scores_of
from studies.corrections import BASE
from studies.invention import LEVELS, pages
from studies.kept_scores import Scores, line
from studies.other_noises import losses
from studies.real_data import KEPT, given, keep_run, read, study, write_base

PERCENT = LEVELS[-1]
CONDITION = f"{PERCENT}% invented"
TABLE = "invention_answers.parquet"


def invented_spec(folder: Path) -> str:
    """Return the spec of `studies.answer_sizes` with a base of invented words in place of the engine, and one model."""
    lines = [each for each in spec().splitlines() if SIZES[0] not in each and "precomputed" not in each]
    base = BASE.format(name=CONDITION, root=folder).rstrip()
    return "\n".join(lines).replace("  - name: MinerU", base).replace("answer-sizes", "invention-answers") + "\n"


def invention_answer_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line: the losses of retrieval and of answers."""
    yield line(CONDITION, *losses(Scores.read(folder / TABLE), CONDITION, SIZES[1]))


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study b: measures what invented words cost the answers.")
    checked(Path(FILE), SUM)
    truth = read("gt")
    texts = {**truth, **{place: text for place, percent, text in pages(truth) if percent == PERCENT}}
    folder = write_base(work / "bases", "gt", texts)
    keep_run(answered(invented_spec(folder), work), out, TABLE, scores_of)


if __name__ == "__main__":
    study(main)
