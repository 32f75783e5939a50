"""Measures the second round of study f of studies/PLAN.md: 201 further passages, corrected by a language model.

    OHRBENCH_DATA=DIR python -m studies.further_corrections WORK --out FOLDER

As `studies.corrections`, with the same model; the passages are of other pages. Kept are numbers and ids.
"""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ohr.contracts import Question
from ohr.statistics.estimate import Estimate
from studies.answers import check_model
from studies.corrections import EVERY, OF, Corrections, drawn, eligible, measure, retrieval_row
from studies.kept_scores import Scores, first_less
from studies.real_data import KEPT, Texts, given, keep, read, study

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


def of_both(folder: Path = KEPT, of: str = "page") -> Corrections:
    """Return the counts of the passages of MinerU's text of both rounds."""
    parts = Corrections.read("MinerU", folder, of), Corrections.read(PART, folder, of, TABLE)
    return Corrections.of([*parts[0].records, *parts[1].records])


def decided(folder: Path = KEPT) -> dict[str, Estimate]:
    """Return what the hypotheses of this round ask, by their number in the plan."""
    passages, pages = Corrections.read(PART, folder, "passage", TABLE), of_both(folder)
    scores = Scores.read(folder / SCORES_TABLE)
    return {
        "3": passages.change("words_kept", among=3),
        "4": passages.change("invented", "words_kept", among=3),
        "5": scores.estimate([(f"{PART} corrected", "bm25"), ("MinerU", "bm25")], first_less, 3),
        "1 again": pages.change("words_kept", among=4),
        "2 again": pages.change("invented", "words_kept", among=4),
    }


def passages_of(domain: str, folder: Path = KEPT) -> Corrections:
    """Return the counts of the further passages of a domain."""
    counted = Corrections.read(PART, folder, "passage", TABLE)
    return Corrections.of([row for row in counted.records if row["document"].startswith(domain)])


def further_correction_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each count of the further passages and of those of both rounds, and for retrieval."""
    scores = Scores.read(folder / SCORES_TABLE)
    for of, among in zip(OF, (1, 3), strict=True):
        yield from Corrections.read(PART, folder, of, TABLE).rows(PART, of, {"words_kept": among})
    yield retrieval_row(PART, scores, [f"{PART} corrected", "MinerU"], np.ones(len(scores.ids), bool), 3)
    for of, among in zip(OF, (4, 1), strict=True):
        yield from of_both(folder, of).rows("both rounds", of, {"words_kept": among})


def main() -> None:
    """Measure, and keep the numbers."""
    work, out = given("Study f: measures what a model's correction of further passages regains and invents.")
    check_model()
    sides = {side: read(side) for side in EVERY}
    rows, scores = measure(work, "real-further-corrected", sides, {PART: ("MinerU", further(sides))})
    keep(rows, out, TABLE)
    keep(scores, out, SCORES_TABLE)


if __name__ == "__main__":
    study(main)
