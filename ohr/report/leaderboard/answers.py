"""Scores a file of answers to a benchmark's questions, and what it retrieved, and places it among published ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np

from ohr.contracts import Benchmark, Chunk, Document, Image, Page, PageId, Published, Question
from ohr.dataset.inputs import read_inputs
from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import ANSWERS, IDS, PREDICTIONS, AnswerRow, answer_text, id_of
from ohr.files.grid_files import as_rows
from ohr.files.tables import read_table
from ohr.graph.cache_keys import Keys
from ohr.messages.wording import counted, keys_of, named, shortened
from ohr.metrics.cases import Replies, case_of
from ohr.metrics.floors import OtherPages
from ohr.metrics.question_scores import Known, answer_scores, retrieval_scores
from ohr.metrics.scores import FACTS, Scores
from ohr.report.leaderboard.standings import (
    Leaderboard,
    Row,
    asked,
    column,
    fairly_ranked,
    leaderboards,
    protocol_boards,
    published_on,
)
from ohr.results.derived.aggregate_rows import aggregated
from ohr.results.derived.means import Breakdown, breakdown, macro_over_domains
from ohr.results.score_arrays import CellScores, Questions
from ohr.results.tables.groups import ALL, TRAITS
from ohr.spec.model import Spec
from ohr.statistics.estimate import Estimate
from ohr.steps.answers.prompt_templates import answer_of
from ohr.steps.systems.locate_contexts import NOWHERE, Locating
from ohr.text.locate import PageLocator

FILE = "file"
"""Its kind."""
_SOURCE = "unknown"  # the evidence source of its questions: a file does not say what their evidence is


class FileBenchmark(Benchmark, kind=FILE):
    """The questions of a file; it has no documents to look at, only the passages that should have been retrieved."""

    asked: tuple[Question, ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[AnswerRow]) -> Self:
        """Take the questions of rows; a row without an id has its number, and equal questions share a document.

        Raises:
            DataError: two rows have one id.
        """
        names = ids_of(rows)
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise DataError(f"{counted(len(twice), 'id')} of more than one row: {named(twice)}")
        questions = [_own_question(row, name) for row, name in zip(rows, names, strict=True)]
        without = sum(not row.document for row in rows)
        texts = Counter(folded(row.question) for row in rows if row.question and not row.document)
        remarks = [
            (without, f"no document is named for {counted(without, 'question')}: each counts as a document of its own"),
            (
                repeated := sum(count for count in texts.values() if count > 1),
                f"{counted(repeated, 'row')} ask what another row asks: equal questions count as one document",
            ),
            (
                bare := sum(not row.references for row in rows),
                f"{counted(bare, 'question')} without an accepted answer, and so without a score",
            ),
        ]
        return cls(asked=tuple(questions), remarks=tuple(text for count, text in remarks if count))

    def documents(self) -> Sequence[Document]:
        """List what the questions are about."""
        places = {question.document: question.domain for question in self.asked}
        return [Document(name, domain, "", 0) for name, domain in places.items()]

    def pages(self, document: Document) -> Sequence[Page]:  # noqa: ARG002
        """There is no text of any document."""
        return ()

    def page_image(self, document: Document, index: int) -> Image:
        """There is no image."""
        raise DataError(f"{document.name}: a file of answers has no page {index}")

    def questions(self) -> Sequence[Question]:
        """List the questions."""
        return self.asked

    def fingerprint(self, document: Document, *, images: bool) -> str:  # noqa: ARG002
        """Nothing is made from the documents."""
        return document.name

    def notes(self) -> Sequence[str]:
        """Return which questions share a document, and which have no accepted answer."""
        return self.remarks

    def passages(self) -> Mapping[str, Sequence[Page]]:
        """The passages that should have been retrieved, by document: what floors are drawn from."""
        passages: dict[str, list[Page]] = {}
        for question in self.asked:
            pages = passages.setdefault(question.document, [])
            pages += [Page(question.document, len(pages) + place, text) for place, text in enumerate(question.evidence)]
        return passages


def ids_of(rows: Sequence[AnswerRow]) -> list[str]:
    """Name the question of each row: its id, or the number of the row."""
    return [row.id or f"row {number}" for number, row in enumerate(rows, 1)]


def folded(text: str) -> str:
    """Return a text as texts of questions are compared: without regard to case and white space."""
    return " ".join(text.casefold().split())


def _own_question(row: AnswerRow, name: str) -> Question:
    document = row.document or f"question: {folded(row.question) or name}"
    domain = row.document.split("/")[0] if "/" in row.document else ""
    pages = tuple(range(len(row.evidence)))
    return Question(name, row.question, row.references, document, pages, row.evidence, _SOURCE, domain)


@dataclass(frozen=True, slots=True)
class ContextScore:
    """The scores of what was retrieved.

    Args:
        scores: means by metric; questions that are missing are in them as 0.
        top_k: the most contexts of a question, at which hits and recall are measured.
        contexts: how many there are.
        nowhere: those that are on no page of the benchmark; they keep their rank.
        nothing: questions for which nothing was retrieved, scored 0.
        located: they were looked for on the benchmark's pages; otherwise their words are compared with the reference
            contexts, and which of them was found is not known.
    """

    scores: Mapping[str, Breakdown]
    top_k: int
    contexts: int
    nowhere: int
    nothing: int
    located: bool


def score_contexts(
    keys: Keys, questions: Sequence[Question], about: Questions, contexts: Mapping[str, Sequence[str]]
) -> ContextScore | None:
    """Score contexts; None where there is nothing to compare them with.

    Args:
        keys: rules and inputs of the benchmark.
        questions: all that are asked.
        about: the same as arrays.
        contexts: by question id; one without an entry failed.
    """
    benchmark, inputs = keys.inputs.benchmark, keys.inputs
    mine = {question.id: contexts[question.id] for question in questions if question.id in contexts}
    top_k = max(1, *map(len, mine.values())) if mine else 1
    scoring, nowhere = keys.spec.benchmark.scoring, 0
    if isinstance(benchmark, FileBenchmark):
        located, others, known = False, OtherPages(benchmark.passages()), Known()
        chunks: Mapping[str, Sequence[Chunk]] = {q.id: _as_own(q, mine[q.id]) for q in questions if q.id in mine}
        names = [scoring.retrieval, f"{scoring.retrieval}_floor"]
        if not any(question.evidence for question in questions):
            return None
    else:
        texts: dict[PageId, str] = {
            (name, page.index): page.text for name in inputs.truth for page in inputs.truth[name] if page.text.strip()
        }
        if not texts:
            return None
        chunks = located_contexts(texts, mine)
        located, others = True, OtherPages(inputs.truth)
        nowhere = sum(chunk.document == NOWHERE for hits in chunks.values() for chunk in hits)
        known = Known({name: document.pages for name, document in inputs.by_name.items()}, {}, inputs.copies)
        # which facts a chunker cuts is not known
        names = [name for name in scoring.retrieval_metrics(top_k) if name != f"{FACTS}_chunked"]
    scores = retrieval_scores(questions, chunks, keys.rules, others, top_k, (), known)
    cell = as_cell(scores)
    return ContextScore(
        {name: breakdown(about, cell, name) for name in names},
        top_k,
        sum(map(len, mine.values())),
        nowhere,
        sum(not hits for hits in mine.values()),
        located,
    )


def located_contexts(texts: Mapping[PageId, str], contexts: Mapping[str, Sequence[str]]) -> dict[str, Sequence[Chunk]]:
    """Return contexts as passages of the pages that hold their words, by question.

    Where on a page they are is found out only for several of one page: they are scored in the page's order.
    """
    locator = PageLocator({page: [text] for page, text in texts.items()})
    quick, aligned = Locating(None, locator, texts, aligned=False), Locating(None, locator, texts)
    chunks: dict[str, Sequence[Chunk]] = {}
    for name, given_texts in contexts.items():
        given = [(text, "", None, None) for text in given_texts]
        chunks[name] = [hit.chunk for hit in quick.found(given)]
        firsts = [(chunk.document, chunk.pages[0]) for chunk in chunks[name] if chunk.document != NOWHERE]
        if len(set(firsts)) < len(firsts):
            chunks[name] = [hit.chunk for hit in aligned.found(given)]
    return chunks


def as_cell(scores: Scores) -> CellScores:
    """Return scores of some questions as those of a cell that was run once."""
    draws = np.array([[row] for row in scores.values.values()])
    return CellScores(tuple(scores.values), draws, np.array(list(scores.failed.values())))


def _as_own(question: Question, contexts: Sequence[str]) -> list[Chunk]:
    """Return contexts as if all were of the question's own pages: their words alone count, in their order."""
    return [
        Chunk(f"context {rank}", question.document, question.pages, rank, rank, text)
        for rank, text in enumerate(contexts)
    ]


Stage = Literal["generation", "overall"]

_NAMES = IDS | {"prediction": PREDICTIONS, "answer": ANSWERS}
"""Names under which an answers file may hold a question's id and the answer; the first part that is there counts."""


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The scores of a file of answers.

    Args:
        scores: means by metric; questions without an answer are in them as 0, unless they are left out.
        macro: the mean over domains, each with the same weight, by metric.
        given: answers in the file that belong to a question.
        missing: ids of the questions without an answer.
        left_out: those of them that the protocol does not count, so that they have no score.
        unknown: ids in the file that are no question.
        blank: answers without any text; the reference code leaves them out of its mean, here they score 0.
        aggregates: the protocol's numbers that are more than a mean: unit and value.
        failures: scores that a metric could not give, with the reason; they are 0.
        undefined: ids of answered questions without a score: nothing of the accepted answers is left to compare.
        layout: whose layout the file has, and how many rows; "" for ids and answers alone.
        errors: answers that failed where the file was made, with the reason; they are scored 0.
        retrieval: the scores of what was retrieved; None where the file does not say what, or nothing to compare it
            with is known.
    """

    name: str
    benchmark: str
    stage: Stage
    protocol: str
    scores: Mapping[str, Breakdown]
    macro: Mapping[str, float]
    given: int
    missing: Sequence[str]
    left_out: Sequence[str]
    unknown: Sequence[str]
    blank: int
    leaderboards: Sequence[Leaderboard]
    warnings: Sequence[str]
    aggregates: Mapping[str, tuple[str, Estimate]]
    failures: Sequence[str]
    layout: str = ""
    errors: Sequence[str] = ()
    retrieval: ContextScore | None = None
    undefined: Sequence[str] = ()


def read_answers(path: Path, column: str | None = None) -> dict[str, str]:
    """Read answers by question id; `survey_answers` also returns what to know of the file."""
    return survey_answers(path, column)[0]


def survey_answers(path: Path, column: str | None = None) -> tuple[dict[str, str], Sequence[str]]:
    """Read answers by question id from a table of any form; returns them, and notes about the file.

    JSON: a mapping of id to answer, a list of records, or the results file of OHRBench's own code (records under
    `results`, each with `id` and its answer in `log.generated_text`). A record names its parts `question_id` (or `id`,
    `qid`) and `prediction` (or `predicted_answer`, `generated_text`), which never is an accepted answer; without any of
    them `answer` (or `response`, `reply`, `output`). Tables have them as columns. A null is an empty answer.

    Args:
        column: name of the answers; where it is not given, several that could be it and differ are refused.

    Raises:
        DataError: the file is not readable, a record has no id or no answer, two columns could be the answer, or an id
            is listed twice.
    """
    names = _NAMES if column is None else IDS | {"answer": (column,)}
    hint = "name the one to score with --column"
    table = read_table(
        path, names, () if column is None else ("answer",), records=lambda answers: _records(answers, path), hint=hint
    )
    if table.rows and not any(part in row.parts for row in table.rows for part in IDS):
        ids = ", ".join(name for names in IDS.values() for name in names)
        raise DataError(
            f"{table.rows[0].where}: has none of {ids} (it has {keys_of(table.columns)}); the program that wrote the "
            "file is named with --from"
        )
    part = "prediction" if any("prediction" in row.parts for row in table.rows) else "answer"
    notes = list(table.notes)
    if part == "prediction" and any("answer" in row.parts for row in table.rows):
        notes.append(f"{path.name}: its predictions are scored, not its answers; --column names others")
    if table.unused:
        notes.append(f"{path.name}: not used: {named(table.unused)}")
    answers: dict[str, str] = {}
    for where, parts in table.rows:
        name = id_of(parts.get("question id", parts.get("id")), where, table.columns)
        if part not in parts:
            wanted = (column,) if column else ("answer", *PREDICTIONS, *ANSWERS[1:])
            raise DataError(f"{where}: has none of {', '.join(wanted)} (it has {keys_of(table.columns)})")
        if name in answers:
            raise DataError(f"{where}: question {name[:60]!r} is answered twice")
        answers[name] = answer_text(parts[part], where).strip()
    if not answers:
        raise DataError(f"{path}: holds no answer")
    return answers, notes


def score_answers(
    benchmark: Benchmark,
    answers: Mapping[str, str],
    name: str,
    stage: Stage | None = None,
    *,
    errors: Mapping[str, str] = MappingProxyType({}),
    contexts: Mapping[str, Sequence[str]] | None = None,
) -> AnswerScore:
    """Score answers by the benchmark's protocol, against the accepted answer that each matches best.

    Args:
        answers: question id to answer.
        name: of the system that gave them.
        stage: which published scores they are compared with: answers from the question's own pages (`generation`) or
            from retrieved passages (`overall`); None for `generation` where nothing else is published, else `overall`.
        errors: why an answer failed, by question id: it scores 0, as one that is missing.
        contexts: what was retrieved, by question id; None where that is not known.
    """
    published, keys = published_on(benchmark), _ready(name, benchmark)
    stage = stage or _stage(published)
    questions, protocol = [q for q in keys.inputs.questions if q.asked], benchmark.scoring
    known = {q: answer for q, answer in _of_questions(answers, questions, benchmark).items() if q not in errors}
    cases = {q.id: case_of(q, (contexts or {}).get(q.id, ()), known[q.id]) for q in questions if q.id in known}
    replies = answer_scores(questions, known, keys.rules, stage, name, (), Replies(cases))
    cell, about = as_cell(replies), Questions.of(questions, keys.inputs.without_text)
    scores, totals = {name: breakdown(about, cell, name) for name in protocol.answer}, _totals(benchmark, cell, about)
    headline, values = scores[protocol.answer[0]], cell.only([protocol.answer[0]]).values[0]
    without = [name for name, value in zip(about.ids, values, strict=True) if isnan(value)]
    own = Row(name, f"protocol {protocol.name}; {asked(headline)}", _by_column(scores, headline, totals))
    return AnswerScore(
        name=name,
        benchmark=benchmark.kind,
        stage=stage,
        protocol=protocol.name,
        scores=scores,
        macro={metric: macro_over_domains(found) for metric, found in scores.items()},
        given=len(known),
        missing=[q.id for q in questions if q.id not in answers],
        left_out=[name for name in without if name not in known],
        undefined=[name for name in without if name in known],
        unknown=sorted(set(answers) - {q.id for q in questions}),
        blank=sum(not answer for answer in known.values()),
        aggregates=totals,
        failures=[f"{each.metric} of {each.question}: {each.reason}" for each in replies.failures],
        errors=[f"{q.id}: {shortened(errors[q.id])}" for q in questions if q.id in errors],
        retrieval=None if contexts is None else score_contexts(keys, questions, about, contexts),
        leaderboards=fairly_ranked(_boards(published, stage, own, headline), benchmark, len(questions)),
        warnings=keys.inputs.warnings,
    )


def _totals(benchmark: Benchmark, cell: CellScores, about: Questions) -> dict[str, tuple[str, Estimate]]:
    """Return the protocol's numbers that are more than a mean, as far as their metrics are here: unit and value."""
    values = dict(zip(cell.metrics, cell.values, strict=True))
    failed = dict(zip(cell.metrics, cell.failed, strict=True))
    numbers = [number for number in benchmark.aggregates() if all(part.metric in values for part in number.parts)]
    return {number.name: (number.unit, aggregated(number, values, failed, about)) for number in numbers}


def _boards(published: Sequence[Published], stage: Stage, own: Row, headline: Breakdown) -> list[Leaderboard]:
    groups = {by: list(headline[by]) for by in ("evidence_source", "domain")}
    return leaderboards(published, stage, [own], groups) + protocol_boards(published, stage, [own])


def _ready(name: str, benchmark: Benchmark) -> Keys:
    spec = Spec(name, 0, benchmark, (), (), (), (), (), resolved={})
    benchmark.check()
    keys = Keys(spec, read_inputs(spec))
    for metric in keys.answer_metrics.values():
        metric.check()
    return keys


def _of_questions(answers: Mapping[str, str], questions: Sequence[Question], benchmark: Benchmark) -> dict[str, str]:
    """Return the answers to the benchmark's questions as the protocol takes them; refuse a file that has none."""
    known = {q.id: answer_of(answers[q.id], benchmark.scoring) for q in questions if q.id in answers}
    if not known:
        raise DataError(
            f"no answer is to a question of benchmark {benchmark.kind} (an answer is to {next(iter(answers))!r}, "
            f"a question is {questions[0].id!r}): another is named with --benchmark"
        )
    return known


def _by_column(
    scores: Mapping[str, Breakdown], headline: Breakdown, totals: Mapping[str, tuple[str, Estimate]]
) -> dict[str, float]:
    means = {group: est.mean for by in ("evidence_source", "domain") for group, est in headline[by].items()}
    means |= {column(metric, ALL): found["evidence_source"][ALL].mean for metric, found in scores.items()}
    means |= {
        column(metric, f"{trait}={group}"): estimate.mean
        for metric, found in scores.items()
        for trait in list(found)[len(TRAITS) :]
        for group, estimate in found[trait].items()
        if group != ALL
    }
    return means | {column(total, ALL): estimate.mean for total, (_, estimate) in totals.items()}


def _stage(published: Sequence[Published]) -> Stage:
    stages = {number.stage for number in published if number.main}
    return "generation" if "generation" in stages and "overall" not in stages else "overall"


def _records(content: Any, path: Path) -> Any:
    """Return a list of records with ids and answers, of each form that a JSON file may have."""
    if isinstance(content, Mapping) and not isinstance(content.get("results"), list):
        rows = as_rows(content, {name for names in IDS.values() for name in names})
        return (
            rows if rows is not None else [{"question_id": name, "answer": answer} for name, answer in content.items()]
        )
    listed = content["results"] if isinstance(content, Mapping) else content
    if not isinstance(listed, list):
        raise DataError(f"{path}: must be a list of answers, or a mapping of question ids to answers")
    return [
        {**each, **each["log"]} if isinstance(each, Mapping) and isinstance(each.get("log"), Mapping) else each
        for each in listed
    ]
