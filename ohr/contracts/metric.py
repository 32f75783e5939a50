"""Metrics: one number for each question.

A metric scores an answer against an accepted one (`Metric`), the ranking of a retriever (`RankingMetric`), a whole
case: question, passages and reply (`CaseMetric`; `JudgeMetric`, where a generator judges, or `CaseJudgeMetric`, where
it is asked several times or not for every case), or the text of a page
(`PageMetric`; `PageJudgeMetric`, where a generator judges).
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ohr.contracts.generation import Generator
from ohr.contracts.stage import Stage
from ohr.contracts.values import Prompt, Question


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits of a retriever for a question, and its evidence.

    Args:
        question: its text.
        hits: pages of each hit, best hit first; a page is its document's name and its index, from 0. Where the protocol
            ranks pages, each page that was found is one hit, at its best rank.
        texts: text of each chunk that was found; the same number as `hits`, unless the protocol ranks pages.
        pages: the pages of the evidence.
        evidence: its passages.
        size: pages of the question's document; 0 where that is not known.
        grades: of the pages, all above 0; empty where all of them count the same.
    """

    question: str
    hits: tuple[tuple[tuple[str, int], ...], ...]
    texts: tuple[str, ...]
    pages: frozenset[tuple[str, int]]
    evidence: tuple[str, ...]
    size: int = 0
    grades: Mapping[tuple[str, int], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """A generator's reply to a question, with what it read.

    Args:
        question: its text.
        answers: the accepted answers.
        passages: the texts that the generator read, in their order.
        reply: its answer; without tags, unless the protocol's `reply` is `whole`.
        id: the question's.
        groups: the question's groups, by name.
    """

    question: str
    answers: tuple[str, ...]
    passages: tuple[str, ...]
    reply: str
    id: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)


class AnyMetric(Stage):
    """Scores one question. Plugins inherit from one of the metrics below, by what it scores."""

    family = "metric"


class Metric(AnyMetric):
    """Scores one prediction against one reference."""

    @abstractmethod
    def score(self, prediction: str, reference: str) -> float:
        """Return the score; nan where it is undefined."""

    def score_passages(self, passages: Sequence[str], reference: str) -> float:
        """Return the score of retrieved passages, joined with a blank line; override where that can be done sooner."""
        return self.score("\n\n".join(passages), reference)


class RankingMetric(AnyMetric):
    """Scores what a retriever found; its scores are in the stage `retrieval`."""

    @abstractmethod
    def score_ranking(self, ranking: Ranking) -> float:
        """Return the score; nan where it is undefined."""


class CaseMetric(AnyMetric):
    """Scores a reply with its question and passages; its scores are in the stages of the generators."""

    @abstractmethod
    def score_case(self, case: Case) -> float:
        """Return the score; nan where it is undefined."""

    def score_missing(self, question: Question) -> float:  # noqa: ARG002 # for those that leave some out
        """Return the score of a question without a reply: 0, or nan where such a question has none."""
        return 0.0

    def score_cases(self, cases: Sequence[Case]) -> Sequence[float]:
        """Return the scores of several cases, in order; override where they can be had sooner together."""
        return [self.score_case(case) for case in cases]


class Judged(AnyMetric):
    """A metric whose scores a generator's replies give; the generator is opened as others are."""

    @property
    @abstractmethod
    def judge(self) -> Generator:
        """The generator that is asked; it reads no images."""

    @property
    @abstractmethod
    def prompt_sha256(self) -> str:
        """Hash of the prompt before it is filled in, for the manifest."""


class CaseJudgeMetric(Judged):
    """Scores a case by a generator's replies to prompts about it; ohr asks each different prompt once."""

    @abstractmethod
    def prompts_for(self, case: Case) -> Sequence[Prompt] | None:
        """Return all prompts about a case; none where it is decided without the judge, None where it is undefined."""

    @abstractmethod
    def score_judged(self, case: Case, replies: Sequence[str]) -> float:
        """Return the score that the replies to `prompts_for` give; raise ValueError where they give none."""


class JudgeMetric(CaseJudgeMetric):
    """Scores a case by a generator's reply to one prompt about it."""

    @abstractmethod
    def prompt_for(self, case: Case) -> Prompt | None:
        """Return the prompt about a case; None where the score is undefined."""

    @abstractmethod
    def score_reply(self, reply: str) -> float:
        """Return the score that the judge's reply gives; raise ValueError, with the reason, where it gives none."""

    def prompts_for(self, case: Case) -> Sequence[Prompt] | None:
        """Return the one prompt."""
        prompt = self.prompt_for(case)
        return None if prompt is None else (prompt,)

    def score_judged(self, case: Case, replies: Sequence[str]) -> float:  # noqa: ARG002 # the reply alone is scored
        """Return the score of the one reply."""
        return self.score_reply(replies[0])


class PageMetric(AnyMetric):
    """Scores what the text of a page keeps for the questions about it; its scores are in the stage `page`."""

    lowest: ClassVar[float] = 0.0
    """The least score there may be; below 0 only where a published definition goes there. The largest is 1."""

    @abstractmethod
    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float | Exception]:
        """Return one score for each question; nan where it is undefined, and the error where it cannot be computed.

        An error that is raised is that of all the questions.

        Args:
            text: of the page in the knowledge base; empty where the page is missing or failed.
            truth: its ground truth.
            questions: those about this page, and no other; of questions about several pages, those about the same
                pages, whose texts are joined with a blank line.
        """


class PageJudgeMetric(Judged):
    """Scores the text of a page by a generator's reply to a prompt about it; ohr asks each different prompt once."""

    @abstractmethod
    def prompt_for_page(self, text: str, truth: str, questions: Sequence[Question]) -> Prompt | None:
        """Return the prompt about a page, with the arguments of `PageMetric`; None where no score is defined."""

    @abstractmethod
    def score_page_reply(self, reply: str, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:
        """Return one score for each question; raise ValueError, with the reason, where the reply gives none."""
