"""Scores every question of every cell: one row per question, cell and metric."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan

from ohr import seeds
from ohr.contracts import Metric, Page, Question, ScoringProtocol
from ohr.inputs import Inputs
from ohr.metrics.dose import evidence_text
from ohr.metrics.floors import OtherPages, read_floor
from ohr.metrics.ranking import hit_at_k, recall_at_k, reciprocal_rank
from ohr.spec.model import KnowledgeBase
from ohr.steps.references import CEILINGS
from ohr.steps.retrieve import Found
from ohr.text.words import words


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

    def retrieval(self, question: Question, found: Sequence[Found], top_k: int) -> dict[str, float]:
        """Score what was retrieved: the published score, rank-aware ones, and the published score's floor."""
        metric = self.protocol.retrieval
        wanted = {(question.document, page) for page in question.pages}
        own = [hit.chunk for hit in found if any((hit.chunk.document, page) in wanted for page in hit.chunk.pages)]
        if self.protocol.joined == "page":  # the score must not depend on which half of the evidence came first
            own.sort(key=lambda chunk: (chunk.pages, chunk.start))
        texts = [chunk.text for chunk in own]
        ranking = [(hit.chunk.document, page) for hit in found for page in hit.chunk.pages]
        return {
            metric: self._retrieval_score(texts, question),
            f"hit@{top_k}": hit_at_k(ranking, wanted, top_k),
            f"recall@{top_k}": recall_at_k(ranking, wanted, top_k),
            "mrr": reciprocal_rank(ranking, wanted),
            f"{metric}_floor": self._floor(question, texts),
        }

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


def has_context(stage: str, condition: str, question: Question) -> bool:
    """Whether what the cell lets the generator read is known for this question."""
    if stage == "generation":
        return question.is_located
    return stage != "reference" or condition not in CEILINGS or any(question.evidence)


def failed_questions(questions: Iterable[Question], pages: Mapping[str, Sequence[Page]]) -> set[str]:
    """Name the questions that rest on a page that failed, or that the knowledge base does not have."""
    standing = {(page.document, page.index) for found in pages.values() for page in found if page.error is None}
    return {q.id for q in questions if any((q.document, index) not in standing for index in q.pages)}


def noise_type(base: KnowledgeBase) -> str:
    """Tell what kind of noise a knowledge base has: `semantic`, `formatting`, or `none`."""
    types = [type(noise).noise_type for noise in base.text_noise]
    if base.ocr.kind != "ground_truth" or base.image_noise or "semantic" in types:
        return "semantic"
    return "formatting" if types else "none"
