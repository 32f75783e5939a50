"""Judges of TableQuest's answers: metrics that ask a generator."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import nan
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Case, CaseJudgeMetric, Prompt
from ohr.keys import file_digest
from ohr.messages.wording import shortened
from ohr.models.asking import AskingMetric

from . import binary, pairwise
from .answer_match import parse_answer
from .baseline import baseline_file, read_baseline
from .elo import POINTS
from .metrics import verdict_of

Measure = Literal["points", "agreed", "parsed"]


class AskedJudge(AskingMetric, CaseJudgeMetric):
    """A metric whose judge is a generator of the spec."""

    template: ClassVar[str]
    """The prompt before it is filled in."""

    @property
    def prompt_sha256(self) -> str:
        """Hash of the prompt."""
        return sha256(self.template.encode()).hexdigest()


class TableAccuracyJudged(AskedJudge, kind="table_accuracy_judged"):
    """`table_accuracy`, with a judge for what its rules leave open: 1 for a correct answer, 0 for a wrong one.

    A reply of the judge without a verdict is a failed score. Hard questions have no accuracy.
    """

    template: ClassVar[str] = binary.SYSTEM + binary.USER

    def prompts_for(self, case: Case) -> Sequence[Prompt] | None:
        """Return a prompt where no rule decides."""
        verdict = verdict_of(case)
        if verdict is None:
            return None
        if verdict.outcome != "undecided":
            return ()
        return (binary.binary_prompt(case.question, case.answers[0], parse_answer(case.reply), id=case.id),)

    def score_judged(self, case: Case, replies: Sequence[str]) -> float:
        """Return the verdict of a rule, else that of the judge."""
        if not replies:
            verdict = verdict_of(case)
            return nan if verdict is None else verdict.score
        return judged_score(binary.read_verdict(replies[0]), replies[0])


class Pairwise(AskedJudge, kind="pairwise"):
    """The points of an answer against that of one opponent: 1 for a win, 0.5 for a tie, 0 for a loss.

    The judge sees both orders. Where the two verdicts disagree, or a reply has none, it is a tie: name the metric a
    second time with `measure: agreed` or `parsed` to count them, which asks nothing again. An empty answer loses
    without a judge; a question that the opponent has not answered has no points.
    """

    template: ClassVar[str] = pairwise.USER
    baseline: Annotated[
        Path | Literal["sample"],
        Field(description="The opponent's answers to clean pages, JSON Lines with `id` and `reply`; or `sample`."),
    ]
    orders: Annotated[
        Literal["both", "first", "second"],
        Field(description="Whether the judge sees the answer as `model_1`, as `model_2`, or both in turn."),
    ] = "both"
    measure: Annotated[
        Measure,
        Field(
            description="`points`, or 1 where the verdicts of both orders agree (`agreed`) or can be read (`parsed`)."
        ),
    ] = "points"

    def check(self) -> None:
        """Check the generator, and read the opponent's answers."""
        super().check()
        read_baseline(self._file)

    def identity(self) -> Mapping[str, object]:
        """Identify the opponent's answers by their content."""
        return {**super().identity(), "baseline": file_digest(self._file)}

    @property
    def _file(self) -> Path:
        return baseline_file(self.baseline)

    def prompts_for(self, case: Case) -> Sequence[Prompt] | None:
        """Return a prompt for each order; none where an answer is empty."""
        theirs = read_baseline(self._file).get(case.id)
        if theirs is None or not case.answers:
            return None
        mine, gold = parse_answer(case.reply), case.answers[0]
        if pairwise.forfeit(mine, theirs):
            return ()
        asked = {
            "first": pairwise.pairwise_prompt(case.question, gold, mine, theirs, id=f"{case.id}/first"),
            "second": pairwise.pairwise_prompt(case.question, gold, theirs, mine, id=f"{case.id}/second"),
        }
        return [prompt for order, prompt in asked.items() if self.orders in ("both", order)]

    def score_judged(self, case: Case, replies: Sequence[str]) -> float:
        """Return the points, or what else is measured."""
        settled = self._settled(case, [pairwise.parse_pairwise(reply) for reply in replies])
        match self.measure:
            case "points":
                return POINTS[settled.outcome]
            case "agreed":
                return float(not (settled.disagree or settled.unparsed))
            case "parsed":
                return float(not settled.unparsed)

    def _settled(self, case: Case, choices: Sequence[pairwise.Choice | None]) -> pairwise.Settled:
        if not choices:
            given_up = pairwise.forfeit(parse_answer(case.reply), read_baseline(self._file).get(case.id, ""))
            if given_up is None:
                raise ValueError("the judge was not asked about two answers")
            return given_up
        if self.orders == "both":
            return pairwise.settle(*choices)
        return pairwise.one_order(choices[0], as_first=self.orders == "first")


def judged_score(found: binary.Judged, reply: str) -> float:
    """Return 1 for CORRECT and 0 for INCORRECT; raise ValueError where a reply has no verdict."""
    if found.judgment == "ERROR":
        raise ValueError(f"no verdict in the judge's reply: {shortened(reply)!r}")
    return float(found.judgment == "CORRECT")
