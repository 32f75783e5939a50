"""Measures the second round of study f of studies/PLAN.md: 201 further passages, corrected by a language model.

    OHRBENCH_DATA=DIR python -m studies.further_corrections WORK --out FOLDER

As `studies.corrections`, with the same model; the passages are of other pages. Kept are numbers and ids.
"""

import random
from collections.abc import Mapping

from ohr.contracts import Question
from studies.corrections import EVERY, drawn, eligible, measure
from studies.real_data import Texts, given, keep, read, study

NUMBER = 300
"""Passages of both rounds."""
PART = "further"
TABLE, SCORES_TABLE = "further_corrections.parquet", "further_correction_scores.parquet"


def further(sides: Mapping[str, Texts]) -> list[Question]:
    """Return the questions of the documents that the first round left out, and of other pages of all documents."""
    firsts, every = drawn(sides), EVERY["MinerU"]
    others = [question for place, question in enumerate(firsts) if place % every]
    asked = {(question.document, question.pages[0]) for question in firsts}
    waves: list[list[Question]] = []
    for document, questions in eligible(sides).items():
        random.Random(document).shuffle(questions)
        of_page = {question.pages[0]: question for question in reversed(questions)}
        pages = [page for page in of_page if (document, page) not in asked]
        for number, page in enumerate(pages):
            waves.extend([] for _ in range(number + 1 - len(waves)))
            waves[number].append(of_page[page])
    for wave in waves:
        random.Random(0).shuffle(wave)
    return [*others, *(question for wave in waves for question in wave)][: NUMBER - len(firsts[::every])]


def main() -> None:
    """Measure, and keep the numbers."""
    work, out = given("Study f: measures what a model's correction of further passages regains and invents.")
    sides = {side: read(side) for side in EVERY}
    rows, scores = measure(work, "further-corrections", sides, {PART: ("MinerU", further(sides))})
    keep(rows, out, TABLE)
    keep(scores, out, SCORES_TABLE)


if __name__ == "__main__":
    study(main)
