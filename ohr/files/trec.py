"""Runs and judgments of retrieval as TREC and BEIR have them: a line for each document, fields between blanks."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ohr.errors import DataError
from ohr.files.field_lines import Layout, Lines, read_lines
from ohr.files.json_input import parse_json
from ohr.messages.wording import counted, keys_of, named

Codes = NDArray[np.int32]
"""Array of codes of names."""
Floats = NDArray[np.float64]
"""Array of scores."""

RUN = Layout("a run", {6: ("topic", "Q0", "document", "rank", "score", "tag")}, "score", most=6)
"""Layout of a run: https://trec.nist.gov, `trec_eval`'s README; fields after the tag are ignored, as there."""
QRELS = Layout(
    "a file of qrels", {4: ("topic", "iteration", "document", "grade"), 3: ("topic", "document", "grade")}, "grade"
)
"""Layouts of judgments: TREC's, and BEIR's with a header."""
DOCUMENTS = Layout("a map of topics", {2: ("topic", "document"), 3: ("topic", "document", "domain")}, "", (b"\t", b" "))
"""Layouts of a map from topics to the documents that they are about."""


_MOST = 1_000_000
"""Largest grade: trec_eval takes memory for each grade up to the largest, and gives 0 where there is none left."""


@dataclass(frozen=True, eq=False)
class Judgments:
    """Which documents are relevant to a topic, from grade 1 on.

    Args:
        grades: topic to document to grade, in the order of the file.
        notes: what to know of the file.
    """

    path: Path
    grades: Mapping[str, Mapping[str, int]]
    notes: Sequence[str]

    @cached_property
    def without_relevant(self) -> list[str]:
        """Topics of which no document is relevant."""
        return [topic for topic, grades in self.grades.items() if max(grades.values()) < 1]


@dataclass(frozen=True, eq=False)
class RankedRun:
    """The documents that a retriever found, with their scores: lines by topic, the best first.

    Args:
        tag: the run's name in the file.
        topics: names of the topics, in the order of the file.
        documents: names of the documents.
        starts: (topics + 1,) line at which each topic begins.
        document: (lines,) code of each line's document.
        score: (lines,) its score.
        tied: how many topics have documents with one score.
        notes: what to know of the file.
    """

    path: Path
    tag: str
    topics: Sequence[str]
    documents: Sequence[str]
    starts: NDArray[np.intp]
    document: Codes
    score: Floats
    tied: int
    notes: Sequence[str]

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The place of each topic."""
        return {topic: place for place, topic in enumerate(self.topics)}

    def scores(self, topics: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the scores of some topics: topic to document to score; without those that the run does not have."""
        made = {}
        for topic in topics:
            place = self.place.get(topic)
            if place is not None:
                lines = slice(self.starts[place], self.starts[place + 1])
                names = [self.documents[code] for code in self.document[lines].tolist()]
                made[topic] = dict(zip(names, self.score[lines].tolist(), strict=True))
        return made


def read_qrels(path: Path) -> Judgments:
    """Read judgments: `topic iteration document grade`, or BEIR's `query-id corpus-id score` under a header.

    Raises:
        DataError: the file cannot be read, is a run, has a grade that is no whole number, or two for one document.
    """
    lines = read_lines(path, QRELS, other=RUN)
    (topic, topics), (document, documents) = lines.codes("topic"), lines.codes("document")
    grade = lines.table["grade"].to_numpy()
    wrong = ~np.isfinite(grade) | (grade != np.trunc(grade)) | (np.abs(grade) > _MOST)
    lines.refuse(wrong, "grade", f"must be a whole number, at most {_MOST:,}")
    again, notes = _repeated(topic, document, len(documents)), []
    differ = [rows for rows in again if grade[rows[0]] != grade[rows[1]]]
    if differ:
        raise DataError(f"{_twice(lines, differ)} with another grade: leave one of them out")
    if again:
        notes.append(f"{path.name}: {counted(len(again), 'line')} repeated with the same grade, counted once")
    if negative := int((grade < 0).sum()):
        notes.append(f"{path.name}: {counted(negative, 'grade')} below 0: not relevant, as 0")
    grades: dict[str, dict[str, int]] = {name: {} for name in topics}
    for place, code, value in zip(topic.tolist(), document.tolist(), grade.astype(int).tolist(), strict=True):
        grades[topics[place]][documents[code]] = value
    return Judgments(path, grades, tuple(notes))


def read_run(path: Path) -> RankedRun:
    """Read one run: `topic Q0 document rank score tag`.

    Documents are ranked by score, the highest first, whatever the ranks and the order of lines are, as trec_eval does.

    Raises:
        DataError: the file cannot be read, holds judgments or runs of several tags, has a score that is no finite
            number, or a document twice for a topic.
    """
    lines = read_lines(path, RUN, other=QRELS)
    _, tags = lines.codes("tag")
    if len(tags) > 1:
        raise DataError(f"{path}: holds {len(tags):,} runs, by their tags {named(tags)}: write each to its own file")
    (topic, topics), (document, documents) = lines.codes("topic"), lines.codes("document")
    score = lines.table["score"].to_numpy()
    lines.refuse(~np.isfinite(score), "score", "must be a finite number")
    if again := _repeated(topic, document, len(documents)):
        raise DataError(f"{_twice(lines, again)}: a run has it once, and trec_eval refuses it, too")
    order, tied, otherwise = _ranked(topic, score, _ranks(*lines.codes("rank")))
    notes = []
    if otherwise:
        notes.append(
            f"{path.name}: in {counted(otherwise, 'topic')} the ranks are in another order than the scores: ranked by "
            "score, the highest first, as trec_eval does; write distances as negative numbers"
        )
    starts = np.concatenate([[0], np.cumsum(np.bincount(topic, minlength=len(topics)))])
    return RankedRun(path, tags[0], topics, documents, starts, document[order], score[order], tied, tuple(notes))


def _ranked(topic: Codes, score: Floats, rank: Floats | None) -> tuple[NDArray[np.intp], int, int]:
    """Order lines by topic and score; returns their places, how many topics have ties, and how many other ranks."""
    with np.errstate(over="ignore"):
        single = score.astype(np.float32)  # trec_eval holds scores so: those that differ in later digits are tied
    order = np.lexsort((-single, topic))
    topics, scores = topic[order], single[order]
    same = topics[1:] == topics[:-1]
    tie = same & (scores[1:] == scores[:-1])
    above = np.zeros_like(tie) if rank is None else same & ~tie & (rank[order][1:] < rank[order][:-1])
    tied, otherwise = (len(np.unique(topics[1:][flags])) for flags in (tie, above))
    return order, tied, otherwise


def _ranks(codes: Codes, texts: Sequence[str]) -> Floats | None:
    """Return the ranks; None where some are no numbers, since trec_eval does not look at them."""
    try:
        return np.array(texts, float)[codes]
    except ValueError:
        return None


def _repeated(topic: Codes, document: Codes, documents: int) -> list[tuple[int, int]]:
    """Return the rows that repeat the topic and document of an earlier one, each after the row that it repeats."""
    pair = topic.astype(np.int64) * documents + document
    order = np.argsort(pair, kind="stable")
    again = np.flatnonzero(pair[order][1:] == pair[order][:-1])
    return sorted(zip(order[again + 1].tolist(), order[again].tolist(), strict=True))


def _twice(lines: Lines, rows: Sequence[tuple[int, int]]) -> str:
    """Return where a topic's document is listed again, and how often that happens."""
    row, first = rows[0]
    topic, document = (lines.table[name][row].as_py() for name in ("topic", "document"))
    more = f"; {len(rows):,} such lines" if len(rows) > 1 else ""
    place = f"{lines.path}:{lines.number(row)}"
    return f"{place}: document {document!r} of topic {topic!r} is listed again, after line {lines.number(first)}{more}"


def read_topic_documents(path: Path) -> dict[str, tuple[str, str]]:
    """Read which document each topic is about, and the document's domain, "" where none is given.

    The file has lines of `topic document` or `topic document domain`, between tabs or blanks, with or without a header.
    One that ends with .csv is a table with these columns, one with .json a mapping of topics to documents.

    Raises:
        DataError: the file cannot be read, or has two documents for one topic.
    """
    if path.suffix.lower() == ".json":
        return _from_json(path)
    if path.suffix.lower() == ".csv":
        return _from_csv(path)
    lines = read_lines(path, DOCUMENTS)
    names = lines.table.column_names
    columns = [[texts[code] for code in codes.tolist()] for codes, texts in map(lines.codes, names)]
    made: dict[str, tuple[str, str]] = {}
    domains = columns[2] if len(columns) > 2 else [""] * len(columns[0])
    for row, (topic, *about) in enumerate(zip(columns[0], columns[1], domains, strict=True)):
        if made.setdefault(topic, (about[0], about[1])) != (about[0], about[1]):
            raise DataError(f"{path}:{lines.number(row)}: topic {topic!r} has another document or domain above")
    return made


def _from_csv(path: Path) -> dict[str, tuple[str, str]]:
    """Read a table of topic, document and, if any, domain; names may be quoted, and a header is left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), start=1) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if rows and DOCUMENTS.is_header([name.encode() for name in rows[0][1]]):
        rows = rows[1:]
    documents: dict[str, tuple[str, str]] = {}
    for number, row in rows:
        if len(row) not in DOCUMENTS.fields or not all(row[:2]):
            raise DataError(
                f"{path}:{number}: must have a topic and a document, and may have a domain; it has {keys_of(row)}"
            )
        topic, about = row[0], (row[1], row[2] if len(row) > 2 else "")
        if documents.setdefault(topic, about) != about:
            raise DataError(f"{path}:{number}: topic {topic!r} has another document or domain above")
    if not documents:
        raise DataError(f"{path}: has no line of {DOCUMENTS.thing}")
    return documents


def _from_json(path: Path) -> dict[str, tuple[str, str]]:
    try:
        found = parse_json(path.read_bytes(), unique=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(found, Mapping) or not found or not all(isinstance(name, str) for name in found.values()):
        raise DataError(f"{path}: must be a mapping of topics to documents, both texts")
    return {topic: (document, "") for topic, document in found.items()}
