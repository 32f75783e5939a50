"""Measures study f of studies/PLAN.md: what a language model's correction regains, and what it invents.

    OHRBENCH_DATA=DIR python -m studies.corrections WORK --out FOLDER

Starts in the folder that has the model of `pipelines/real-answers.yaml`. Of each document a passage with
evidence is corrected, as MinerU read it or as the ground truth has it, and put back into its page. Kept are numbers and
ids. WORK keeps the store, so a killed study continues where it was.
"""

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import compute, parquet

from ohr.chunkers.tokens import Tokens
from ohr.contracts import Page, Question
from ohr.metrics.dose import Floats
from ohr.metrics.lcs import lcs
from ohr.metrics.trust import COUNTS, INVENTED, page_trust
from ohr.spec.read import make_benchmark
from ohr.statistics.clusters import Clusters
from ohr.statistics.derived import against_zero
from ohr.statistics.estimate import Estimate
from studies.answers import check_model
from studies.kept_scores import LEVEL, Scores, first_less, line, points, shares
from studies.real_data import (
    DOMAINS,
    KEPT,
    Place,
    Texts,
    given,
    keep,
    read,
    scores_of,
    study,
    write_base,
)
from studies.runs import run_pipeline

SIZE = 128
"""Tokens of a passage, as in study g."""
TABLE, SCORES_TABLE = "corrections.parquet", "correction_scores.parquet"
EVERY = {"MinerU": 2, "gt": 6}
"""One of so many documents has its passage corrected: an hour on two cores."""
OF = ("page", "passage")
"""Texts whose words are counted against the true page: the page with its passage, as planned, and the passage."""
COUNTED = ("words_kept", "words_misread", "invented", "numbers_kept", "numbers_new")


@dataclass(frozen=True)
class Passage:
    """The characters [start, end) of a page that a question asks about."""

    question: Question
    start: int
    end: int

    @property
    def place(self) -> Place:
        """Document and page."""
        return self.question.document, self.question.pages[0]


def eligible(sides: Mapping[str, Texts]) -> dict[str, list[Question]]:
    """Return the questions of each document that are about a single page with text on both sides."""
    fields = {"kind": "ohrbench", "root": os.environ["OHRBENCH_DATA"], "domains": list(DOMAINS)}
    about: dict[str, list[Question]] = {}
    for question in make_benchmark(fields, "corrections").questions():
        place = question.document, question.pages[0] if len(question.pages) == 1 else -1
        if all(texts.get(place, "").strip() for texts in sides.values()):
            about.setdefault(question.document, []).append(question)
    return dict(sorted(about.items()))


def drawn(sides: Mapping[str, Texts]) -> list[Question]:
    """Return a question about each document, drawn among those that are eligible."""
    return [random.Random(document).choice(asked) for document, asked in eligible(sides).items()]


def passage(question: Question, texts: Texts) -> Passage:
    """Return the passage of the question's page that has most of its evidence."""
    place = question.document, question.pages[0]
    chunks = Tokens(size=SIZE).split([Page(*place, texts[place])])
    best = max(chunks, key=lambda chunk: lcs(chunk.text, " ".join(question.evidence)))
    return Passage(question, best.start, best.end)


def correct(chosen: Sequence[Passage], texts: Texts, work: Path) -> dict[Place, dict[str, Any]]:
    """Let the model correct passages, each as a page of its own; return its text and record of each page."""
    cut = {each.place: texts[each.place][each.start : each.end] for each in chosen}
    write_base(work / "passages" / "MinerU", cut)
    of = run_pipeline("real-corrections", work)
    records = {(row["document"], row["page"]): row for row in of.rows("treatments", condition="corrected")}
    for row in of.rows("texts", ["document", "page", "text"], condition="corrected"):
        if record := records.get((row["document"], row["page"])):
            record["text"] = row["text"]
    return records


def counts(text: str, truth: str, when: str) -> dict[str, int]:
    """Count the words and numbers of a page that are kept, misread and invented."""
    every = dict(zip(COUNTS, page_trust(text, truth), strict=True))
    every["invented"] = sum(every[name] for name in INVENTED)
    return {f"{name} {when}": every[name] for name in COUNTED}


def measure(
    work: Path, name: str, sides: Mapping[str, Texts], parts: Mapping[str, tuple[str, Sequence[Question]]]
) -> tuple[pyarrow.Table, pyarrow.Table]:
    """Correct, and return a row for each passage, and the scores of their questions on all knowledge bases.

    Args:
        name: of the spec that scores.
        parts: the side whose passages are corrected, and their questions, by the condition of the rows.
    """
    rows = []
    for condition, (side, questions) in parts.items():
        texts, pages = sides[side], dict[Place, str]()
        chosen = [passage(question, texts) for question in questions]
        records = correct(chosen, texts, work)
        for each in chosen:
            record, text = records[each.place], texts[each.place]
            passage_read = text[each.start : each.end]
            # a reply has no space around it; the page keeps its own, or words beside the passage run together
            reply = passage_read.replace(passage_read.strip(), record["text"].strip(), 1)
            pages[each.place] = text[: each.start] + reply + text[each.end :]
            row: dict[str, Any] = {
                "question_id": each.question.id,
                "document": each.question.document,
                "condition": condition,
            }
            row |= {name: record[name] for name in ("outcome", "tokens_in", "tokens_out", "seconds")}
            truth, whole = sides["gt"][each.place], pages[each.place]
            read_as = {"page": (text, whole), "passage": (passage_read, reply)}
            for of, (before, after) in read_as.items():
                rows.append(row | {"of": of} | counts(before, truth, "before") | counts(after, truth, "after"))
        write_base(work / f"{condition} corrected" / "MinerU", {**texts, **pages})
    scores = scores_of(run_pipeline(name, work))
    asked = pyarrow.array([question.id for _, questions in parts.values() for question in questions])
    return pyarrow.Table.from_pylist(rows), scores.filter(compute.is_in(scores["question_id"].cast("string"), asked))


@dataclass(frozen=True)
class Corrections:
    """Kept counts of the pages of one side whose passage was corrected, or of these passages alone.

    Args:
        before: (passages,) by name of the count. after: with the corrected passage.
    """

    documents: Any
    before: Mapping[str, Floats]
    after: Mapping[str, Floats]
    records: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> "Corrections":
        """Take the counts of rows."""
        before, after = (
            {name: np.array([float(row[f"{name} {when}"]) for row in rows]) for name in COUNTED}
            for when in ("before", "after")
        )
        return cls(np.array([row["document"] for row in rows]), before, after, rows)

    @classmethod
    def read(cls, side: str, folder: Path = KEPT, of: str = "page", table: str = TABLE) -> "Corrections":
        """Read kept counts."""
        rows = parquet.read_table(folder / table).to_pylist()
        return cls.of([row for row in rows if (row["condition"], row["of"]) == (side, of)])

    def change(self, name: str, less: str = "", among: int = 1) -> Estimate:
        """Estimate by how much a count rises for each passage, or by how much more than another one."""
        rises = [self.after[each] - self.before[each] for each in (name, less or name)]
        clusters = Clusters.of(self.documents, np.array([document.split("/")[0] for document in self.documents]))
        return against_zero(np.array(rises), clusters, first_less if less else _first, 1 - (1 - LEVEL) / among)

    def rows(self, side: str, of: str, together: Mapping[str, int]) -> Iterator[str]:
        """Yield a line for each count: of how many its interval holds together, is in `together`."""
        for name in COUNTED:
            means = (f"{values[name].mean():.1f}" for values in (self.before, self.after))
            rise = self.change(name, among=together.get(name, 1))
            yield line(side, f"{name.replace('_', ' ')}, {of}", len(self.records), *means, shares(rise))


def _first(means: Floats) -> Any:
    return means[0]


def corrected(folder: Path = KEPT) -> dict[str, Estimate]:
    """Return what both primary hypotheses ask: words regained, and words invented less those, for each passage."""
    of = Corrections.read("MinerU", folder)
    return {"regained": of.change("words_kept", among=2), "more": of.change("invented", "words_kept", among=2)}


def correction_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each count of a page, and for the retrieval of the questions, of both sides."""
    scores = Scores.read(folder / SCORES_TABLE)
    for side in EVERY:
        for of in OF:
            counted = Corrections.read(side, folder, of)
            together = {"words_kept": 2} if (side, of) == ("MinerU", "page") else {}
            yield from counted.rows(side, of, together)
        asked = np.isin(scores.ids, [record["question_id"] for record in counted.records])
        yield retrieval_row(side, scores, [f"{side} corrected", side], asked)


def retrieval_row(side: str, scores: Scores, conditions: Sequence[str], asked: Any, among: int = 1) -> str:
    """Write a line for the retrieval of the questions asked, with corrected passages and without."""
    cells = [(condition, "bm25") for condition in conditions]
    after, before = (f"{100 * scores.values[cell][asked].mean():.1f}" for cell in cells)
    gain = scores.estimate(cells, first_less, among, asked)
    return line(side, "retrieval, points", int(np.sum(asked)), before, after, points(gain))


def main() -> None:
    """Measure, and keep the numbers."""
    work, out = given("Study f: measures what a model's correction regains, and what it invents.")
    check_model()
    sides = {side: read(side) for side in EVERY}
    questions = drawn(sides)
    parts = {side: (side, questions[::every]) for side, every in EVERY.items()}
    rows, scores = measure(work, "real-corrected", sides, parts)
    keep(rows, out, TABLE)
    keep(scores, out, SCORES_TABLE)


if __name__ == "__main__":
    study(main)
