"""Imports question sets that others made: of RAGAS, of LlamaIndex, and tables with a question in each row.

Their names: `ragas.dataset_schema.SingleTurnSample` (`user_input`, `reference`, `reference_contexts`; `question` and
`ground_truth` before 0.2); `llama_index.core.llama_dataset.LabelledRagDataset` (`examples` with `query`,
`reference_answer`, `reference_contexts`) and `llama_index.core.evaluation.EmbeddingQAFinetuneDataset` (`queries`,
`corpus` and `relevant_docs`, no answers). None of them names pages: each passage is looked for in the ground truth.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ohr.contracts import SOURCES, Page, Question
from ohr.dataset.evidence import best_match
from ohr.errors import DataError
from ohr.files.foreign_answers import ragas
from ohr.files.foreign_answers.rows import texts_of
from ohr.files.ohrbench_questions import text_of
from ohr.files.tables import Names, Row, is_blank, read_table
from ohr.messages.wording import counted, named, quoted
from ohr.text.chinese import HAS_HAN
from ohr.text.locate import PageLocator

from .candidate import Candidate, Evidence
from .rules.evidence import ambiguous_document, answer_not_in_evidence
from .texts import Texts

NAMES: Names = {
    "question": ("user_input", "question", "query", "questions"),
    "answers": ("reference", "ground_truth", "ground_truths", "answers", "answer", "reference_answer"),
    "evidence": ("reference_contexts", "evidence", "evidence_context", "quote", "passage"),
    "document": ("document", "doc", "doc_name", "file", "file_name"),
    "id": ("id", "question_id", "qid"),
    "source": ("evidence_source",),
    "form": ("answer_form",),
    "task": ("task_type",),
}
"""The parts of a question, and the names that each may go by."""

Fault = Literal["evidence not found", "answer not in evidence", "ambiguous document"]


class Repair(NamedTuple):
    """A fault of a question that its owner can repair: the candidate's id, file and line, the fault, and details."""

    candidate: str
    where: str
    fault: Fault
    detail: str


class Brought(NamedTuple):
    """The candidates of a file, in its order, what should be repaired, and what to know of the file."""

    candidates: tuple[Candidate, ...]
    repairs: tuple[Repair, ...]
    notes: tuple[str, ...]


def read_candidates(path: Path, truth: Mapping[str, Sequence[Page]]) -> Brought:
    """Read a question set and locate its evidence in the ground truth.

    Args:
        path: a data set of RAGAS or LlamaIndex, or a table with a header: CSV, a workbook, JSON or JSON Lines.
        truth: pages by document.

    Raises:
        DataError: it is none, or a question is not sound.
    """
    table = read_table(path, NAMES, ("question",), records=lambda found: _records(found, path), entry="question")
    if not table.rows:
        raise DataError(f"{path}: holds no question")
    texts = Texts(truth)
    passages = [_passages(row) for row in table.rows]
    places = _Places(texts, {passage for own in passages for passage in own})
    candidates = [
        _candidate(row, f"q{number}", own, places)
        for number, (row, own) in enumerate(zip(table.rows, passages, strict=True), 1)
    ]
    ids = Counter(candidate.id for candidate in candidates)
    if twice := [name for name, count in ids.items() if count > 1]:
        raise DataError(f"{path}: {counted(len(twice), 'id')} used more than once: {named(twice)}")
    notes = [*table.notes, *([f"{path.name}: not used: {named(table.unused)}"] if table.unused else [])]
    if silent := sum(is_blank(row.parts.get("task")) for row in table.rows):
        taken = "taken for understanding, whose answer must be in the evidence; write reasoning where it is computed"
        notes.append(f"{counted(silent, 'question')} without task_type: {taken}")
    return Brought(tuple(candidates), tuple(_repairs(candidates, texts)), tuple(notes))


def of_question(question: Question) -> Candidate:
    """Return a benchmark's question as a candidate; evidence that is one passage for several pages is on the first."""
    passages = zip(question.pages, question.evidence, strict=len(question.evidence) > 1)
    return Candidate(
        id=question.id,
        question=question.text,
        answers=question.answers,
        document=question.document,
        evidence=tuple(Evidence(page, text) for page, text in passages),
        source=next((source for source in SOURCES if source == question.evidence_source), "text"),
        task="reasoning" if question.task_type == "reasoning" else "understanding",
        answer_form=question.answer_form,
        language=_language(question.text),
        origin="imported",
    )


def _records(found: Any, path: Path) -> Any:
    """Return the rows of a JSON file, whichever layout it has."""
    if not isinstance(found, Mapping):
        return found
    if isinstance(found.get("examples"), list):
        return found["examples"]
    queries, corpus, relevant = (found.get(name) for name in ("queries", "corpus", "relevant_docs"))
    if not (isinstance(queries, Mapping) and isinstance(corpus, Mapping) and isinstance(relevant, Mapping)):
        return ragas.records(found, path)
    rows = []
    for name, query in queries.items():
        wanted = relevant.get(name, [])
        if not isinstance(wanted, list) or not all(isinstance(each, str) and each in corpus for each in wanted):
            raise DataError(f"{path}: relevant_docs of the query {quoted(name)} must be keys of corpus")
        rows.append({"id": name, "query": query, "reference_contexts": [corpus[each] for each in wanted]})
    return rows


def _passages(row: Row) -> tuple[str, ...]:
    given = row.parts.get("evidence")
    texts = None if is_blank(given) else texts_of(given, row.where, "evidence")
    return tuple(text for text in texts or () if text.strip())


def _candidate(row: Row, default: str, passages: Sequence[str], places: "_Places") -> Candidate:
    parts = {name: value for name, value in row.parts.items() if not is_blank(value)}
    question = parts.get("question")
    if not isinstance(question, str):
        raise DataError(f"{row.where}: its question must be one text (got {quoted(question)})")
    source = parts.get("source", "text")
    if source not in SOURCES:
        raise DataError(f"{row.where}: evidence_source must be one of {', '.join(SOURCES)} (got {quoted(source)})")
    answers = texts_of(parts.get("answers"), row.where, "answers") or ()
    document, evidence = places.of(passages, text_of(parts.get("document")).strip())
    return Candidate(
        id=text_of(parts.get("id")).strip() or default,
        question=question.strip(),
        answers=tuple(answer for answer in answers if answer.strip()),
        document=document,
        evidence=evidence,
        source=source,
        task="reasoning" if parts.get("task") == "reasoning" else "understanding",
        answer_form=text_of(parts.get("form")) or "String",
        language=_language(question),
        origin="imported",
        made_by=row.where,
    )


class _Places:
    """Finds the document and page of passages: word for word, else the page that resembles a passage most."""

    def __init__(self, texts: Texts, passages: Collection[str]) -> None:
        self._texts = texts
        self._holders = dict(zip(passages, texts.documents_with(list(passages)), strict=True))

    @cached_property
    def _locator(self) -> PageLocator:
        return PageLocator({page: (text,) for page, text in self._texts.pages.items()})

    def of(self, passages: Sequence[str], document: str) -> tuple[str, tuple[Evidence, ...]]:
        """Return the document that holds most of some passages, the first of equals, and the place of each in it.

        Args:
            document: the one that is named, or "".
        """
        if document not in self._texts.truth:
            counts = Counter(name for passage in passages for name in sorted(self._holders[passage]))
            guesses = (page[0] for passage in passages for page in self._locator.locate(passage))
            document = counts.most_common(1)[0][0] if counts else next(guesses, document)
        return document, tuple(
            self._exact(passage, document) or self._likely(passage, document) for passage in passages
        )

    def _exact(self, passage: str, document: str) -> Evidence | None:
        for page in self._texts.truth[document] if document in self._holders[passage] else ():
            if span := self._texts.span(document, page.index, passage):
                return Evidence(page.index, passage, *span)
        return None

    def _likely(self, passage: str, document: str) -> Evidence:
        pages = self._locator.locate(passage, document)
        return Evidence(pages[0][1] if pages else -1, passage)


def _repairs(candidates: Sequence[Candidate], texts: Texts) -> Iterator[Repair]:
    shared = {removal.candidate: removal.reason for removal in ambiguous_document.check(candidates, texts)}
    for candidate in candidates:
        missing = [passage for passage in candidate.evidence if passage.start < 0]
        for passage in missing:
            page = texts.pages.get((candidate.document, passage.page))
            near = "no page resembles it" if page is None else f"best match: {quoted(best_match(page, passage.text))}"
            where = "" if page is None else f" on page {passage.page} of {candidate.document}"
            detail = f"{quoted(passage.text)}; {near}{where}"
            yield Repair(candidate.id, candidate.made_by, "evidence not found", detail)
        if not candidate.evidence:
            yield Repair(candidate.id, candidate.made_by, "evidence not found", "the question has none")
        elif not missing and (reason := answer_not_in_evidence(candidate, texts)):
            yield Repair(candidate.id, candidate.made_by, "answer not in evidence", reason)
        if candidate.id in shared:
            yield Repair(candidate.id, candidate.made_by, "ambiguous document", shared[candidate.id])


def _language(question: str) -> str:
    return "zh" if HAS_HAN.search(question) else "en"
