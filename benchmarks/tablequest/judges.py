"""Judges of TableQuest's answers: metrics that ask a generator about one answer, or to compare two.

The paper compares each model with one opponent, whose answers to clean pages are fixed, and does not say in which order
the judge sees the two. Here it sees both: a verdict counts where the two orders agree, and disagreement is a tie. This
is our choice.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from json import dumps
from math import nan
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from ohr.contracts import Case, CaseJudgeMetric, Prompt
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.json_input import read_replies
from ohr.keys import file_digest
from ohr.messages.wording import shortened
from ohr.models.asking import AskingMetric
from ohr.text.thoughts import without_thoughts

from .answer_match import json_objects, parse_answer
from .metrics import verdict_of

SAMPLE = Path(__file__).parent / "sample"


def baseline_file(baseline: Path | Literal["sample"]) -> Path:
    """Return the file with the opponent's answers; `sample` is that of the shipped sample."""
    return SAMPLE / "replies" / "baseline.jsonl" if baseline == "sample" else Path(baseline)


@kept_until_changed()
def read_baseline(path: Path) -> Mapping[str, str]:
    """Read the opponent's answers by question.

    Raises:
        DataError: as `read_replies`, or there is none.
    """
    answers = {name: parse_answer(without_thoughts(reply)) for name, reply in read_replies(path).items()}
    if not answers:
        raise DataError(f"{path}: has no replies")
    return answers


Judgment = Literal["CORRECT", "INCORRECT", "ERROR"]

BINARY_SYSTEM = "You are an expert who checks whether answers are correct."
BINARY_USER = """\
QUESTION: {question}

REFERENCE ANSWER: {gold}

ANSWER TO CHECK: {answer}

Does the answer to check agree with the reference answer? Reply with three lines:
JUDGMENT: CORRECT or INCORRECT
CONFIDENCE: a number from 0.0 to 1.0
REASONING: one short sentence
"""
UNPARSED = "Failed to parse response"
_DECORATION = r"[\s*_#>`\-\[\]\"]*"
_FIELD = re.compile(
    rf"^{_DECORATION}(judge?ment|confidence|reasoning){_DECORATION}[:=]{_DECORATION}(.*)$", re.IGNORECASE
)
_VERDICT = re.compile(rf"{_DECORATION}(not\s+correct|incorrect|correct)(?![^\W_])(?!\s*(?:/|or\b))", re.IGNORECASE)
_ONLY_VERDICT = re.compile(rf"{_VERDICT.pattern}{_DECORATION}[.!]?{_DECORATION}", re.IGNORECASE)
_SHARE = re.compile(r"([0-9]*\.?[0-9]+)\s*(%?)")


class Judged(NamedTuple):
    """A judge's verdict; the confidence is nan where there is none."""

    judgment: Judgment
    confidence: float
    reasoning: str


def binary_prompt(question: str, gold: str, answer: str, id: str = "") -> Prompt:
    """Return the judge's prompt about one answer, in our words and with the keys of finqa-tablequest-bench.

    Args:
        id: of the question.
    """
    user = BINARY_USER.format(question=question, gold=gold, answer=answer)
    return Prompt(question, (gold, answer), BINARY_SYSTEM, user, id=id)


def read_verdict(reply: str) -> Judged:
    """Read the judge's reply, in any case and with Markdown around it; also one of nothing but the verdict.

    Edge cases: a reply without a verdict is ERROR, and so is one with both, or an echo of `CORRECT or INCORRECT`.
    """
    given = {}
    fields = {"judgment": "", "confidence": "", "reasoning": ""}
    for match in filter(None, map(_FIELD.match, reply.splitlines())):
        key = match[1].lower().replace("judgement", "judgment")
        fields[key] = match[2].strip()
        if key == "judgment" and (said := _VERDICT.match(fields[key])):
            given[said[1].lower() == "correct"] = said
    stated = fields["judgment"]
    verdict = _VERDICT.match(stated) if stated else _ONLY_VERDICT.fullmatch(reply)
    if verdict is None or len(given) > 1:
        return Judged("ERROR", nan, UNPARSED)
    judgment: Judgment = "CORRECT" if verdict[1].lower() == "correct" else "INCORRECT"
    return Judged(judgment, _share(fields["confidence"]), fields["reasoning"])


def _share(text: str) -> float:
    """Read a confidence as a share in [0, 1], also from percent; nan where it is neither."""
    match = _SHARE.match(text)
    value = float(match[1]) / (100 if match[2] else 1) if match else nan
    return value if value <= 1 else nan


Choice = Literal["model_1", "model_2", "tie"]
_POINTS: Mapping[Choice | None, float] = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5, None: 0.5}
"""Points of `model_1`; a reply without a choice is a tie."""

PAIRWISE_USER = """\
Below are a question, a reference answer ("gt") and the answers of two models ("pred_1" and "pred_2"), as JSON. Decide \
which model answers the question better, measured by the reference answer. Look at three things:

- Accuracy: the answer means the same as the reference answer; the same wording is best.
- Clarity: the answer is easy to understand.
- Logic: the steps are clear and sound, without leaps and without assumptions that nothing supports.

Reply with one JSON object: "rationale", the reason for your decision, and then "better_model", which is "model_1", \
"model_2" or "tie".

{case}
"""


def pairwise_prompt(question: str, gold: str, first: str, second: str, id: str = "") -> Prompt:
    """Return the judge's prompt about two answers, with the JSON keys of the paper.

    Args:
        id: of the question and the order.
    """
    case = dumps({"question": question, "gt": gold, "pred_1": first, "pred_2": second}, ensure_ascii=False, indent=1)
    return Prompt(question, (gold, first, second), "", PAIRWISE_USER.format(case=case), id=id)


def parse_pairwise(reply: str) -> Choice | None:
    """Return the judge's choice: `better_model` in the last JSON object, fenced or bare and in any case, that has one.

    None where there is no such object or it names something else: that is a tie, and counted.
    """
    choices = [content["better_model"] for content in json_objects(reply) if "better_model" in content]
    named = choices[-1].strip().lower() if choices and isinstance(choices[-1], str) else ""
    return next((choice for choice in ("model_1", "model_2", "tie") if choice == named), None)


def forfeit(answer: str, opponent: str) -> float | None:
    """Return the points of a question without a judge where an answer is empty, which loses; None where none is."""
    if answer.strip() and opponent.strip():
        return None
    return 1.0 if answer.strip() else 0.0 if opponent.strip() else 0.5


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

    template: ClassVar[str] = BINARY_SYSTEM + BINARY_USER

    def prompts_for(self, case: Case) -> Sequence[Prompt] | None:
        """Return a prompt where no rule decides."""
        verdict = verdict_of(case)
        if verdict is None:
            return None
        if verdict.outcome != "undecided":
            return ()
        return (binary_prompt(case.question, case.answers[0], parse_answer(case.reply), id=case.id),)

    def score_judged(self, case: Case, replies: Sequence[str]) -> float:
        """Return the verdict of a rule, else that of the judge."""
        if not replies:
            verdict = verdict_of(case)
            return nan if verdict is None else verdict.score
        return judged_score(read_verdict(replies[0]), replies[0])


class Pairwise(AskedJudge, kind="pairwise"):
    """The points of an answer against that of one opponent: 1 for a win, 0.5 for a tie, 0 for a loss.

    The judge sees both orders. Where the two verdicts disagree, or a reply has none, it is a tie: name the metric a
    second time with `measure: agreed` or `parsed` to count them, which asks nothing again. An empty answer loses
    without a judge; a question that the opponent has not answered has no points.
    """

    template: ClassVar[str] = PAIRWISE_USER
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
        if forfeit(mine, theirs) is not None:
            return ()
        asked = {
            "first": pairwise_prompt(case.question, gold, mine, theirs, id=f"{case.id}/first"),
            "second": pairwise_prompt(case.question, gold, theirs, mine, id=f"{case.id}/second"),
        }
        return [prompt for order, prompt in asked.items() if self.orders in ("both", order)]

    def score_judged(self, case: Case, replies: Sequence[str]) -> float:
        """Return the points, or what else is measured."""
        if not replies:
            points = forfeit(parse_answer(case.reply), read_baseline(self._file).get(case.id, ""))
            if points is None:
                raise ValueError("the judge was not asked about two answers")
            return points if self.measure == "points" else 1.0
        choices = [parse_pairwise(reply) for reply in replies]
        places = (True, False) if self.orders == "both" else (self.orders == "first",)
        settled = {_POINTS[it] if is_first else 1 - _POINTS[it] for it, is_first in zip(choices, places, strict=True)}
        parsed = None not in choices
        match self.measure:
            case "points":
                return settled.pop() if len(settled) == 1 else _POINTS["tie"]
            case "agreed":
                return float(parsed and len(settled) == 1)
            case "parsed":
                return float(parsed)


def judged_score(judged: Judged, reply: str) -> float:
    """Return 1 for CORRECT and 0 for INCORRECT; raise ValueError where a reply has no verdict."""
    if judged.judgment == "ERROR":
        raise ValueError(f"no verdict in the judge's reply: {shortened(reply)!r}")
    return float(judged.judgment == "CORRECT")
