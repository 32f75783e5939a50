"""Tables: writes the rows of a knowledge base or a cell when its steps are settled."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from ohr.contracts import Question
from ohr.engine.ledger import Ledger
from ohr.engine.scheduler import Scheduler
from ohr.graph.cells import Cell
from ohr.graph.graph import BasePart, Batch, CellPart
from ohr.graph.keys import Keys
from ohr.metrics.dose import Dose, PageDose, QuestionDose, dose, undefined_dose
from ohr.metrics.ranking import PageId
from ohr.results.page_rows import edit_row, page_row
from ohr.results.tables import Tables
from ohr.spec.model import KnowledgeBase
from ohr.spec.sweep import shown
from ohr.steps.answers import as_answered
from ohr.steps.damage import read_damage
from ohr.steps.retrieve import Found, read_hits
from ohr.steps.score import noise_type
from ohr.store import Store

_MEASURES = ("damaged", "damaged_content", "lcs_kb", "lcs_gt", "term_survival", "answer_survival")
"""What a knowledge base still holds of a question's evidence: measurements, the same for failed questions."""
_AT_ONCE = 64
"""Documents that are read at once."""


@dataclass
class Tabulator:
    """Writes tables.

    Args:
        failed: ids of the questions that rest on a page that failed or is missing, by knowledge base.
        doses: one row per knowledge base.
    """

    keys: Keys
    store: Store
    scheduler: Scheduler
    ledger: Ledger
    tables: Tables
    failed: dict[str, set[str]] = field(default_factory=dict)
    doses: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.inputs = self.keys.inputs
        self.sources: dict[PageId, set[str]] = defaultdict(set)
        for question in self.inputs.questions:
            for index in question.pages:
                self.sources[question.document, index].add(question.evidence_source)

    # --- knowledge bases ----------------------------------------------------------------------------------

    def base(self, part: BasePart) -> None:
        """Write the pages, edits and evidence scores of a knowledge base, and its dose."""
        base, sums = part.base, _Sums()
        standing: set[PageId] = set()
        for documents, damages in zip(_slices(part.documents), _slices(part.damage or part.documents), strict=True):
            made = self._read(documents)
            lost = self._read(damages) if part.damage else {}
            for name, damage in zip(documents, damages, strict=True):
                standing |= self._document(base, made.get(name), lost.get(damage), sums)
        asked = self.inputs.questions
        self.failed[base.name] = {q.id for q in asked if any((q.document, index) not in standing for index in q.pages)}
        self._evidence(base, [sums.questions.get(q.id) or undefined_dose(q) for q in asked])
        self.doses.append(self._dose(base, sums))

    def _read(self, keys: Sequence[str]) -> dict[str, Any]:
        """Read the values of outputs, by the graph's keys; those that failed are left out."""
        names = {plain: name for plain in keys if (name := self.scheduler.effective(plain)) is not None}
        found = self.store.get_many(list(names.values()))
        return {plain: found[name] for plain, name in names.items() if name in found}

    def _document(self, base: KnowledgeBase, made: Any, lost: Any, sums: "_Sums") -> set[PageId]:
        """Write one document's rows; returns its pages that did not fail."""
        if made is None:
            return set()
        edits = [Counter(edit["rule"] for edit in page) for page in made["edits"]]
        sums.edits += sum(map(len, made["edits"]))
        sums.aimed += made["aimed"]
        places = [(page["document"], page["index"]) for page in made["pages"]]
        by_place = dict(zip(places, edits, strict=True))
        self.tables.append("texts", [_text_row(base, page) for page in made["pages"]])
        if lost is not None:
            damage = read_damage(lost)
            sums.questions |= damage.questions
            sums.pages += [page.dose for page in damage.pages]
            seen = [(page, (page.dose.document, page.dose.index)) for page in damage.pages]
            self.tables.append("pages", [page_row(base, page, self.sources.get(at, ())) for page, at in seen])
            rows = [edit_row(base, at, rule, n) for _, at in seen for rule, n in sorted(by_place.get(at, {}).items())]
            self.tables.append("edits", rows)
        failing = [page for page in made["pages"] if page["error"] is not None]
        if not base.ocr.reads_images and base.ocr.kind != "ground_truth":
            for page in failing:  # a page that an engine failed on is listed by the step that read it
                self.ledger.fail("ocr", f"{base.name}: {page['document']} page {page['index']}", page["error"])
        sums.failed += len(failing)
        return set(places) - {(page["document"], page["index"]) for page in failing}

    def _evidence(self, base: KnowledgeBase, doses: Sequence[QuestionDose]) -> None:
        values = {name: [_number(getattr(one, name)) for one in doses] for name in _MEASURES}
        self._scores(Cell("page", base), range(len(doses)), values)

    def _dose(self, base: KnowledgeBase, sums: "_Sums") -> dict[str, Any]:
        found: Dose = dose([sums.questions.get(q.id) or undefined_dose(q) for q in self.inputs.questions], sums.pages)
        words = self._words_of_truth()
        return {
            **_level(base),
            **{name: getattr(found, name) for name in type(found).__slots__},
            "edits": sums.edits,
            "edits_aimed": sums.aimed,
            "edits_per_100_words": 100 * sums.edits / words if words else 0.0,
            "failed_pages": sums.failed,
        }

    def _words_of_truth(self) -> int:
        if not hasattr(self, "_words"):
            pages = (page for name in self.inputs.truth for page in self.inputs.truth[name])
            self._words = sum(len(page.text.split()) for page in pages)
        return self._words

    # --- cells --------------------------------------------------------------------------------------------

    def retrieval(self, part: CellPart) -> None:
        """Write the hits and retrieval scores of a cell."""
        for batch in part.batches:
            assert batch.hits is not None and batch.scores is not None
            self.hits(part.cell, batch)
            self._batch(part.cell, batch, self.scheduler.effective(batch.scores), set())

    def hits(self, cell: Cell, batch: Batch) -> None:
        """Write the hits of a batch, and its warnings."""
        assert batch.hits is not None
        hits, warnings = read_hits(self.store, self.scheduler.effective(batch.hits), batch.hits)
        self.tables.append("hits", [row for q, found in hits.items() for row in _hit_rows(cell, q, found)])
        label = f"{cell.retriever.name if cell.retriever else ''} on {cell.base.name}"
        for warning in warnings:
            self.ledger.warn(f"{label}: {warning}")

    def answers(self, cell: Cell, batch: Batch, answers: Mapping[str, str | None], scores: str | None) -> None:
        """Write the answers of a batch and their scores.

        Args:
            answers: key by question; None where it failed.
            scores: key of the scores.
        """
        found = self.store.get_many([name for name in answers.values() if name is not None])
        rows = []
        for question, name in answers.items():
            value = found.get(name) if name is not None else None
            rows.append(_answer_row(cell, question, value))
        self.tables.append("answers", rows)
        lost = {question for question, name in answers.items() if name is None or name not in found}
        self._batch(cell, batch, scores, lost)

    def _batch(self, cell: Cell, batch: Batch, scores: str | None, lost: set[str]) -> None:
        """Write the scores of a batch; questions without a score, and those in `lost`, failed."""
        found = (self.store.get(scores) if scores is not None else None) or {"questions": [], "values": {}}
        place = {question: at for at, question in enumerate(found["questions"])}
        asked = [self.inputs.questions[at].id for at in batch.questions]
        names = list(found["values"]) or self._metrics(cell)
        values = {name: [found["values"][name][place[q]] if q in place else 0.0 for q in asked] for name in names}
        missing = {q for q in asked if q not in place}
        self._scores(cell, batch.questions, values, lost | missing)

    def _metrics(self, cell: Cell) -> list[str]:
        if cell.stage != "retrieval":
            return list(self.keys.answer_metrics)
        assert cell.retriever is not None
        metric, top_k = self.keys.spec.benchmark.scoring.retrieval, cell.retriever.stage.top_k
        return [metric, f"hit@{top_k}", f"recall@{top_k}", "mrr", f"{metric}_floor"]

    def _scores(
        self, cell: Cell, places: Sequence[int], values: Mapping[str, Sequence[float]], lost: Iterable[str] = ()
    ) -> None:
        """Write scores; a score of a question that failed is 0, where it is defined."""
        failed = set(lost) | self.failed.get(cell.base.name, set())
        asked = [self.inputs.questions[place] for place in places]
        status = ["failed" if q.id in failed else "ok" for q in asked]
        shared = _cell_columns(cell)
        rows = []
        for metric, held in values.items():
            zeroed = cell.stage != "page" and not metric.endswith("_floor")
            for question, state, value in zip(asked, status, held, strict=True):
                number = 0.0 if zeroed and state == "failed" and not isnan(value) else float(value)
                rows.append(
                    {**_question_columns(question), **shared, "status": state, "metric": metric, "value": number}
                )
        self.tables.append("scores", rows)


@dataclass
class _Sums:
    """What is added up over the documents of a knowledge base."""

    questions: dict[str, QuestionDose] = field(default_factory=dict)
    pages: list[PageDose] = field(default_factory=list)
    edits: int = 0
    aimed: int = 0
    failed: int = 0


def _slices(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))


def _number(value: float | bool | None) -> float:
    return nan if value is None else float(value)


def _level(base: KnowledgeBase) -> dict[str, Any]:
    return {
        "kb": base.name,
        "noise": base.noise,
        "knob": base.knob,
        "knob_value": None if base.knob_value is None else shown(base.knob_value),
        "replicate": base.replicate,
    }


def _cell_columns(cell: Cell) -> dict[str, Any]:
    return {
        **_level(cell.base),
        "noise_type": noise_type(cell.base),
        "chunker": cell.chunker.name if cell.chunker else None,
        "retriever": cell.retriever.name if cell.retriever else None,
        "generator": cell.generator.name if cell.generator else None,
        "stage": cell.stage,
    }


def _question_columns(question: Question) -> dict[str, Any]:
    return {
        "question_id": question.id,
        "document": question.document,
        "domain": question.domain,
        "evidence_source": question.evidence_source,
        "answer_form": question.answer_form,
        "task_type": question.task_type,
        "multi_page": len(question.pages) > 1,
    }


def _text_row(base: KnowledgeBase, page: Mapping[str, Any]) -> dict[str, Any]:
    level = {"kb": base.name, "replicate": base.replicate}
    return {**level, "document": page["document"], "page": page["index"], "text": page["text"], "error": page["error"]}


def _hit_rows(cell: Cell, question: str, hits: Iterable[Found]) -> Iterator[dict[str, Any]]:
    columns = _cell_columns(cell)
    for rank, hit in enumerate(hits, start=1):
        yield {
            "question_id": question,
            "kb": columns["kb"],
            "chunker": columns["chunker"],
            "retriever": columns["retriever"],
            "rank": rank,
            "score": hit.score,
            "document": hit.chunk.document,
            "page": hit.chunk.pages[0],
            "start": hit.chunk.start,
            "end": hit.chunk.end,
            "text": hit.chunk.text,
        }


def _answer_row(cell: Cell, question: str, found: Any) -> dict[str, Any]:
    columns = _cell_columns(cell)
    names = {name: columns[name] for name in ("stage", "kb", "chunker", "retriever", "generator")}
    if found is None:
        reply = {"answer": "", "reply": "", "tokens_in": 0, "tokens_out": 0, "seconds": 0.0, "finish": "error"}
        return {"question_id": question, **names, **reply, "truncated": False, "error": "failed; see failures"}
    given = as_answered(found)
    completion = given.completion
    return {
        "question_id": question,
        **names,
        "answer": given.answer,
        "reply": completion.text,
        "tokens_in": completion.tokens_in,
        "tokens_out": completion.tokens_out,
        "seconds": completion.seconds,
        "finish": completion.finish,
        "truncated": completion.truncated,
        "error": completion.error,
    }
