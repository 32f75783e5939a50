"""Scores of a batch of questions of one cell, as columns: values in, values out, without store or files.

Each function may run in any process, on any part of a cell's questions; `ohr.runner.columns` turns what it returns into
columns of the run's tables.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from numbers import Real
from typing import TYPE_CHECKING

from ohr.contracts import (
    AnyMetric,
    Metric,
    Page,
    PageJudgeMetric,
    PageMetric,
    Question,
    RankingMetric,
    ScoringProtocol,
)
from ohr.errors import PluginError

if TYPE_CHECKING:
    from ohr.metrics.dose import QuestionDose


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of scoring: with questions, texts and answers, they determine the scores.

    Args:
        metrics: the protocol's answer metrics and its retrieval metric, and further ones, by name.
        further: names of metrics that are not the protocol's.
        seed: of the draws of floors.
    """

    protocol: ScoringProtocol
    metrics: Mapping[str, AnyMetric]
    further: tuple[str, ...] = ()
    seed: int = 0

    @property
    def answer_metrics(self) -> tuple[str, ...]:
        """The protocol's answer metrics, headline first, and the further ones."""
        other = (RankingMetric, PageMetric, PageJudgeMetric)
        return (*self.protocol.answer, *(name for name in self.further if not isinstance(self.metrics[name], other)))

    @property
    def ranking_metrics(self) -> tuple[str, ...]:
        """The metrics of rankings that are not the headline: the protocol's, and the further ones."""
        return (*self.protocol.ranking, *(n for n in self.further if isinstance(self.metrics[n], RankingMetric)))

    @property
    def page_metrics(self) -> tuple[str, ...]:
        """The metrics of pages: the protocol's, and the further ones."""
        return (
            *self.protocol.page,
            *(name for name in self.further if isinstance(self.metrics[name], PageMetric | PageJudgeMetric)),
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """The name under which the share of surviving facts is scored; none where the protocol has no facts."""
        return (FACTS,) if self.protocol.facts else ()

    def of_texts(self, name: str) -> Metric:
        """Return a metric that compares two texts.

        Raises:
            PluginError: it scores something else.
        """
        metric = self.metrics[name]
        if not isinstance(metric, Metric):
            raise PluginError(f"metric {metric.kind} does not compare two texts: inherit from Metric")
        return metric

    def surviving(self, question: Question, texts: Sequence[str]) -> float:
        """Return the share of a question's facts that one of the texts holds; nan where it has no fact."""
        metric = self.of_texts(self.protocol.facts or "")
        found = [max((metric.score(text, fact) for text in texts), default=0.0) for fact in question.facts]
        return sum(found) / len(found) if found else nan


FACTS = "facts"
"""Name of the share of a question's facts that survive; `facts_chunked` is that of facts that no chunk cuts."""


@dataclass(frozen=True, slots=True)
class MetricFailure:
    """A metric that gave no score for an answer or for retrieved passages."""

    question: str
    metric: str
    reason: str


@dataclass(slots=True)
class Scores:
    """Scores of some questions of one cell.

    Args:
        values: metric to one score per question, in their order; nan where undefined.
        failed: metric to whether the score is 0 because something failed.
        failures: scores that failed because of the metric itself.
    """

    values: dict[str, list[float]] = field(default_factory=dict)
    failed: dict[str, list[bool]] = field(default_factory=dict)
    failures: list[MetricFailure] = field(default_factory=list)

    def add(self, metric: str, value: float, *, failed: bool, measured: bool = False) -> None:
        """Add one question's score.

        Args:
            metric: its name.
            value: the score.
            failed: something that the score needs failed: it is 0, unless it is undefined anyway.
            measured: the value is a measurement, not a score: it does not change.
        """
        self.values.setdefault(metric, []).append(value if measured or not failed or isnan(value) else 0.0)
        self.failed.setdefault(metric, []).append(failed)

    def only(self, metrics: Collection[str]) -> "Scores":
        """Return the scores by some of the metrics."""
        return Scores(
            {metric: values for metric, values in self.values.items() if metric in metrics},
            {metric: failed for metric, failed in self.failed.items() if metric in metrics},
            [failure for failure in self.failures if failure.metric in metrics],
        )

    def add_checked(
        self, metric: str, score: Callable[[], object], question: str, *, failed: bool, lowest: float = 0.0
    ) -> None:
        """Add a metric's score; anything but a number from the lowest to 1, or nan, fails this score, and no other."""
        value, reason = checked_score(score, lowest)
        if reason is not None and not failed:  # what failed before is counted there
            self.failures.append(MetricFailure(question, metric, reason))
        self.add(metric, value if reason is None else 0.0, failed=failed or reason is not None)


def with_failures(scores: Scores, questions: Sequence[Question], failed: Collection[str]) -> Scores:
    """Return the scores with further questions counted as failed: their scores are 0, their floors stay."""
    if not any(question.id in failed for question in questions):
        return scores
    made = Scores(failures=[failure for failure in scores.failures if failure.question not in failed])
    for metric, values in scores.values.items():
        for question, value, broken in zip(questions, values, scores.failed[metric], strict=True):
            measured = metric.endswith("_floor")
            made.add(metric, value, failed=broken or question.id in failed, measured=measured)
    return made


def kb_scores(questions: Sequence[Question], doses: Mapping[str, "QuestionDose"], failed: Collection[str]) -> Scores:
    """Score a knowledge base itself: the measured dose of each question.

    Args:
        questions: the batch.
        doses: by question id; a question without one has none that is defined.
        failed: ids of questions that need a page that failed; their dose is that of the text that exists.
    """
    from ohr.metrics.dose import QUESTION_PARTS

    made = Scores()
    for question in questions:
        dose = doses.get(question.id)
        for name in QUESTION_PARTS:
            value = None if dose is None else getattr(dose, name)
            made.add(name, nan if value is None else float(value), failed=question.id in failed, measured=True)
    return made


def failed_questions(questions: Iterable[Question], pages: Iterable[Page]) -> set[str]:
    """Return the ids of questions that need a page that failed, or that the knowledge base does not have."""
    whole = {(page.document, page.index) for page in pages if page.error is None}
    return {q.id for q in questions if any((q.document, index) not in whole for index in q.pages)}


def checked_score(score: Callable[[], object], lowest: float = 0.0) -> tuple[float, str | None]:
    """Return a metric's score, or nan and the fault."""
    try:
        given = score()
        value = as_score(given, lowest)
        wrong = f"a score must be in [{lowest:g}, 1] or nan, not {given!r:.60}"
        return (value, None) if value is not None else (nan, wrong)
    except (Exception, SystemExit) as error:  # a metric may raise anything: its score fails, the run continues
        return nan, f"{type(error).__name__}: {error}"


def as_score(value: object, lowest: float = 0.0) -> float | None:
    """Return a metric's value as a score, None where it is none."""
    try:
        number = float(value) if isinstance(value, Real) else None
    except OverflowError:
        return None
    return number if number is None or isnan(number) or lowest <= number <= 1 else None
