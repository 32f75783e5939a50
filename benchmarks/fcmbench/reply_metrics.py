"""Metrics of FCMBench's replies, for runs and `ohr score`."""

from math import nan
from typing import Annotated, Literal

from pydantic import Field

from ohr.contracts import Case, CaseMetric, Question

from .items import UNFINISHED
from .reply_scores import REPAIRS, Repair, score

F1: Literal["fcmbench_f1"] = "fcmbench_f1"
PARSED: Literal["fcmbench_parsed"] = "fcmbench_parsed"
"""Kinds of the metrics."""


class FcmBenchF1(CaseMetric, kind=F1):
    """F1 of a reply's values against those of the gold, by the rules of the question's subtask.

    Undefined without a gold, in the subtask that is not finished, and where no repair says otherwise.
    """

    repairs: Annotated[
        tuple[Repair, ...],
        Field(description="Repairs of the published scoring; all in the clean protocol, none in the reference one."),
    ] = REPAIRS

    def score_case(self, case: Case) -> float:
        """Return the F1."""
        subtask = case.groups.get("subtask", "")
        if not _is_scored(subtask, case.answers):
            return nan
        return score(case.reply, case.answers[0], subtask, frozenset(self.repairs)).value

    def score_missing(self, question: Question) -> float:
        """Return 0 where missing replies count, else nan."""
        scored = _is_scored(dict(question.groups).get("subtask", ""), question.answers)
        return 0.0 if scored and "missing" in self.repairs else nan


class FcmBenchParsed(CaseMetric, kind=PARSED):
    """1 where a reply has JSON, which the published scoring does not ask for; undefined where the F1 is."""

    def score_case(self, case: Case) -> float:
        """Report whether there is JSON."""
        subtask = case.groups.get("subtask", "")
        return (
            float(score(case.reply, case.answers[0], subtask).is_parsed) if _is_scored(subtask, case.answers) else nan
        )

    def score_missing(self, question: Question) -> float:  # noqa: ARG002 # the same for all
        """Return nan: the rate is over replies."""
        return nan


def _is_scored(subtask: str, answers: tuple[str, ...]) -> bool:
    return bool(subtask and answers) and not subtask.endswith(UNFINISHED)
