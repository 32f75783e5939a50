"""Metrics of TableQuest's answers without a judge, and of the figures that a text has."""

from math import nan

from ohr.contracts import Case, CaseMetric, Metric, Question
from ohr.markup.strip import strip_markup
from ohr.text.recent import recent

from .answer_match import Verdict, deterministic_accuracy, parse_answer
from .figures import figures


def verdict_of(case: Case) -> Verdict | None:
    """Compare a reply with the gold answer by rule; None for a hard question, which has no accuracy, or without one."""
    if case.groups.get("level") == "hard" or not case.answers:
        return None
    return deterministic_accuracy(parse_answer(case.reply), case.answers[0])


class _ByLevel(CaseMetric):
    """A metric that hard questions do not have, with or without a reply."""

    def score_missing(self, question: Question) -> float:
        """Return 0, or nan for a hard question."""
        return nan if dict(question.groups).get("level") == "hard" else 0.0


class TableAccuracy(_ByLevel, kind="table_accuracy"):
    """1 where rules find the answer correct; 0 where they find it wrong, or leave it to a judge.

    So it is the lower bound of the accuracy; `table_decided` is the share of the answers that rules decide. Hard
    questions have no accuracy.
    """

    def score_case(self, case: Case) -> float:
        """Return 1 for a correct answer."""
        verdict = verdict_of(case)
        return nan if verdict is None else float(verdict.outcome == "correct")


class TableDecided(_ByLevel, kind="table_decided"):
    """1 where a rule decides whether the answer is correct, 0 where a judge has to."""

    def score_case(self, case: Case) -> float:
        """Return 1 for a decided answer."""
        verdict = verdict_of(case)
        return nan if verdict is None else float(verdict.outcome != "undecided")


class FiguresKept(Metric, kind="figures_kept"):
    """The share of a text's figures that another text has, by their digits: without sign, unit and markup."""

    def score(self, prediction: str, reference: str) -> float:
        """Return the share of the reference's figures; nan where it has none."""
        wanted = _digits(reference)
        return len(wanted & _digits(prediction)) / len(wanted) if wanted else nan


@recent
def _digits(text: str) -> frozenset[str]:
    return frozenset(one.digits for one in figures(strip_markup(text)))
