"""Metrics: one number for each question.

A metric scores an answer against an accepted one (`Metric`), the ranking of a retriever (`RankingMetric`), or a whole
case: question, passages and reply (`CaseMetric`; `JudgeMetric`, where a generator judges).
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ohr.contracts.generation import Generator
from ohr.contracts.stage import Resources, Stage
from ohr.contracts.values import Prompt


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits of a retriever for a question, and its evidence.

    Args:
        question: its text.
        hits: pages of each hit, best hit first; a page is its document's name and its index, from 0.
        texts: text of each hit.
        pages: the pages of the evidence.
        evidence: its passages.
    """

    question: str
    hits: tuple[tuple[tuple[str, int], ...], ...]
    texts: tuple[str, ...]
    pages: frozenset[tuple[str, int]]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A generator's reply to a question, with what it read.

    Args:
        question: its text.
        answers: the accepted answers.
        passages: the texts that the generator read, in their order.
        reply: its answer, without tags.
    """

    question: str
    answers: tuple[str, ...]
    passages: tuple[str, ...]
    reply: str


class Metric(Stage):
    """Scores one prediction against one reference."""

    family = "metric"

    @abstractmethod
    def score(self, prediction: str, reference: str) -> float:
        """Return the score; nan where it is undefined."""

    def score_passages(self, passages: Sequence[str], reference: str) -> float:
        """Return the score of retrieved passages, joined with a blank line; override where that can be done sooner."""
        return self.score("\n\n".join(passages), reference)


class RankingMetric(Metric):
    """Scores what a retriever found; its scores are in the stage `retrieval`."""

    def score(self, prediction: str, reference: str) -> float:
        """Refuse: there is no ranking."""
        raise NotImplementedError(f"{self.kind} scores rankings, not answers")

    @abstractmethod
    def score_ranking(self, ranking: Ranking) -> float:
        """Return the score; nan where it is undefined."""


class CaseMetric(Metric):
    """Scores a reply with its question and passages; its scores are in the stages of the generators."""

    def score(self, prediction: str, reference: str) -> float:
        """Refuse: there is no question."""
        raise NotImplementedError(f"{self.kind} scores cases, not pairs of texts")

    @abstractmethod
    def score_case(self, case: Case) -> float:
        """Return the score; nan where it is undefined."""


class JudgeMetric(Metric):
    """Scores a case by a generator's reply to a prompt about it; ohr asks each different prompt once."""

    def score(self, prediction: str, reference: str) -> float:
        """Refuse: a generator has to be asked."""
        raise NotImplementedError(f"{self.kind} scores cases, not pairs of texts")

    def resources(self) -> Resources:
        """Return nothing of its own: the judge is opened as generators are."""
        return Resources()

    @property
    @abstractmethod
    def judge(self) -> Generator:
        """The generator that is asked; it reads no images."""

    @property
    @abstractmethod
    def prompt_sha256(self) -> str:
        """Hash of the prompt before it is filled in, for the manifest."""

    @abstractmethod
    def prompt_for(self, case: Case) -> Prompt | None:
        """Return the prompt about a case; None where the score is undefined."""

    @abstractmethod
    def score_reply(self, reply: str) -> float:
        """Return the score that the judge's reply gives; raise ValueError, with the reason, where it gives none."""
