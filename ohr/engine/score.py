"""Scores every question of every cell: one row per question, cell and metric."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any

from ohr import seeds
from ohr.contracts import Metric, Page, Question, ScoringProtocol
from ohr.engine.answer import Answered
from ohr.engine.cells import Cell
from ohr.engine.inputs import Inputs
from ohr.engine.references import CEILINGS
from ohr.engine.retrieve import Retrieved
from ohr.metrics.dose import QuestionDose, evidence_text
from ohr.metrics.floors import OtherPages, read_floor
from ohr.metrics.ranking import hit_at_k, recall_at_k, reciprocal_rank
from ohr.spec.model import KnowledgeBase
from ohr.spec.sweep import shown
from ohr.text.words import words

Row = dict[str, Any]
"""One score; its keys are the columns of scores.parquet."""


@dataclass(frozen=True)
class Scorer:
    """Scores against one benchmark's questions.

    Args:
        metrics: the protocol's answer metrics and its retrieval metric, by name.
        seed: of the draws of floors.
        further: names of answer metrics that are not the protocol's.
    """

    inputs: Inputs
    metrics: Mapping[str, Metric]
    protocol: ScoringProtocol
    seed: int
    further: tuple[str, ...] = ()

    @cached_property
    def others(self) -> OtherPages:
        """The pages from which floors are drawn."""
        return OtherPages(self.inputs.truth)

    def kb_rows(self, base: KnowledgeBase, doses: Sequence[QuestionDose], failed: set[str]) -> Iterator[Row]:
        """Score a knowledge base itself: what it still holds of each question's evidence."""
        for question, dose in zip(self.inputs.questions, doses, strict=True):
            values = {
                "damaged": nan if dose.damaged is None else float(dose.damaged),
                "damaged_content": nan if dose.damaged_content is None else float(dose.damaged_content),
                "lcs_kb": dose.lcs_kb,
                "lcs_gt": dose.lcs_gt,
                "term_survival": dose.term_survival,
                "answer_survival": dose.answer_survival,
            }
            yield from _rows(question, Cell("page", base), values, question.id in failed)

    def retrieval_rows(self, cell: Cell, retrieved: Retrieved, failed: set[str]) -> Iterator[Row]:
        """Score what was retrieved: the published score, rank-aware ones, and the published score's floor."""
        top_k, metric = cell.retriever.stage.top_k if cell.retriever else 0, self.protocol.retrieval
        for question in self.inputs.questions:
            if question.id not in retrieved.hits:
                names = (metric, f"hit@{top_k}", f"recall@{top_k}", "mrr", f"{metric}_floor")
                values = dict.fromkeys(names, 0.0)
                yield from _rows(question, cell, values, failed=True)
                continue
            found = retrieved.hits[question.id]
            wanted = {(question.document, page) for page in question.pages}
            own = [hit.chunk for hit in found if any((hit.chunk.document, page) in wanted for page in hit.chunk.pages)]
            if self.protocol.joined == "page":  # the score must not depend on which half of the evidence came first
                own.sort(key=lambda chunk: (chunk.pages, chunk.start))
            texts = [chunk.text for chunk in own]
            ranking = [(hit.chunk.document, page) for hit in found for page in hit.chunk.pages]
            values = {
                metric: self._retrieval_score(texts, question),
                f"hit@{top_k}": hit_at_k(ranking, wanted, top_k),
                f"recall@{top_k}": recall_at_k(ranking, wanted, top_k),
                "mrr": reciprocal_rank(ranking, wanted),
                f"{metric}_floor": self._floor(question, texts),
            }
            yield from _rows(question, cell, values, question.id in failed)

    def answer_rows(self, cell: Cell, answered: Mapping[str, Answered], failed: set[str]) -> Iterator[Row]:
        """Score answers, each against the accepted answer that it matches best."""
        for question in self.inputs.questions:
            given = answered.get(question.id)
            broken = given is None or given.completion.error is not None or question.id in failed
            reads = _has_context(cell, question)
            values = {
                name: self.answer_score(name, given.answer if given and not broken else "", question) if reads else nan
                for name in (*self.protocol.answer, *self.further)
            }
            yield from _rows(question, cell, values, broken)

    def answer_score(self, metric: str, answer: str, question: Question) -> float:
        """Give an answer's best score over the accepted answers."""
        if not question.answers:
            return nan if self.protocol.unanswered is None else self.protocol.unanswered
        scores = [self.metrics[metric].score(answer, accepted) for accepted in question.answers]
        return max((score for score in scores if not isnan(score)), default=nan)

    def _retrieval_score(self, texts: Sequence[str], question: Question) -> float:
        score = self.metrics[self.protocol.retrieval].score_passages(texts, evidence_text(question))
        # where no chunk of the evidence's pages was found, the metric's own rule for empty texts has no say
        return score if texts or isnan(score) else 0.0

    def _floor(self, question: Question, texts: Sequence[str]) -> float:
        """Score as much text of another page as was retrieved of the question's own; nothing retrieved gives 0."""
        segment = self.protocol.segment_chinese
        if not any(words(passage, segment) for passage in question.evidence):
            return nan
        length = sum(len(words(text, segment)) for text in texts)
        rng = seeds.generator(self.seed, "read_floor", question.id)
        return read_floor(question, self.others, length, rng, segment) if length else 0.0


def _has_context(cell: Cell, question: Question) -> bool:
    """Tell whether what the cell lets the generator read is known for this question."""
    if cell.stage == "generation":
        return question.is_located
    return cell.stage != "reference" or cell.base.name not in CEILINGS or any(question.evidence)


def failed_questions(questions: Iterable[Question], pages: Mapping[str, Sequence[Page]]) -> set[str]:
    """Name the questions that rest on a page that failed, or that the knowledge base does not have."""
    standing = {(page.document, page.index) for found in pages.values() for page in found if page.error is None}
    return {q.id for q in questions if any((q.document, index) not in standing for index in q.pages)}


def _rows(question: Question, cell: Cell, values: Mapping[str, float], failed: bool) -> Iterator[Row]:
    base = cell.base
    shared: Row = {
        "question_id": question.id,
        "document": question.document,
        "domain": question.domain,
        "evidence_source": question.evidence_source,
        "answer_form": question.answer_form,
        "task_type": question.task_type,
        "multi_page": len(question.pages) > 1,
        "kb": base.name,
        "condition": base.condition,
        "noise": base.noise,
        "noise_type": noise_type(base),
        "knob": base.knob,
        "knob_value": None if base.knob_value is None else shown(base.knob_value),
        "replicate": base.replicate,
        "chunker": cell.chunker.name if cell.chunker else None,
        "retriever": cell.retriever.name if cell.retriever else None,
        "generator": cell.generator.name if cell.generator else None,
        "stage": cell.stage,
        "status": "failed" if failed else "ok",
    }
    for metric, value in values.items():
        is_score = metric not in ("lcs_gt", "damaged", "damaged_content") and not metric.endswith("_floor")
        lost = failed and is_score and not isnan(value)  # what has no score has none when it fails, either
        yield {**shared, "metric": metric, "value": 0.0 if lost else float(value)}


def noise_type(base: KnowledgeBase) -> str:
    """Tell what kind of noise a knowledge base has: `semantic`, `formatting`, or `none`."""
    types = [type(noise).noise_type for noise in base.text_noise]
    if base.ocr.kind != "ground_truth" or base.image_noise or "semantic" in types:
        return "semantic"
    return "formatting" if types else "none"
