"""The judge that compares two answers: its prompt, its reply, and the result of both orders.

The paper compares each model with one opponent and does not say in which order the judge sees the two. Here it sees
both: a verdict counts where the two orders agree, and disagreement is a tie. This is our choice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps
from typing import Literal

from ohr.contracts import Prompt

from .answer_match import json_objects

Choice = Literal["model_1", "model_2", "tie"]
Outcome = Literal["win", "tie", "loss"]

_AS_FIRST: Mapping[Choice | None, Outcome] = {"model_1": "win", "model_2": "loss", "tie": "tie", None: "tie"}
_AS_SECOND: Mapping[Choice | None, Outcome] = {"model_1": "loss", "model_2": "win", "tie": "tie", None: "tie"}

USER = """\
Below are a question, a reference answer ("gt") and the answers of two models ("pred_1" and "pred_2"), as JSON. Decide \
which model answers the question better, measured by the reference answer. Look at three things:

- Accuracy: the answer means the same as the reference answer; the same wording is best.
- Clarity: the answer is easy to understand.
- Logic: the steps are clear and sound, without leaps and without assumptions that nothing supports.

Reply with one JSON object: "rationale", the reason for your decision, and then "better_model", which is "model_1", \
"model_2" or "tie".

{case}
"""


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of one question against the opponent.

    Args:
        outcome: from the model's point of view.
        disagree: both orders have a verdict, and the verdicts name different models, or one of them a tie.
        unparsed: number of orders whose reply has no verdict; each counts as a tie.
    """

    outcome: Outcome
    disagree: bool = False
    unparsed: int = 0


def pairwise_prompt(question: str, gold: str, first: str, second: str, id: str = "") -> Prompt:
    """Return the judge's prompt about two answers, with the JSON keys of the paper.

    Args:
        id: of the question and the order.
    """
    case = dumps({"question": question, "gt": gold, "pred_1": first, "pred_2": second}, ensure_ascii=False, indent=1)
    return Prompt(question, (gold, first, second), "", USER.format(case=case), id=id)


def parse_pairwise(reply: str) -> Choice | None:
    """Return the judge's choice: `better_model` in the last JSON object, fenced or bare and in any case, that has one.

    None where there is no such object or it names something else: `settle` takes that as a tie, and counts it.
    """
    found = [made["better_model"] for made in json_objects(reply) if "better_model" in made]
    named = found[-1].strip().lower() if found and isinstance(found[-1], str) else ""
    return next((choice for choice in ("model_1", "model_2", "tie") if choice == named), None)


def forfeit(answer: str, opponent: str) -> Settled | None:
    """Settle a question without a judge where an answer is empty, which loses; None where both have an answer."""
    if answer.strip() and opponent.strip():
        return None
    return Settled("win" if answer.strip() else "loss" if opponent.strip() else "tie")


def settle(as_first: Choice | None, as_second: Choice | None) -> Settled:
    """Settle a question by the verdicts of both orders.

    Args:
        as_first: choice where the model was `model_1`; None where it could not be parsed.
        as_second: choice where the model was `model_2`.
    """
    first, second = _AS_FIRST[as_first], _AS_SECOND[as_second]
    unparsed = (as_first, as_second).count(None)
    outcome = first if first == second else "tie"
    return Settled(outcome, disagree=not unparsed and first != second, unparsed=unparsed)


def one_order(choice: Choice | None, *, as_first: bool) -> Settled:
    """Settle a question by the verdict of one order, in which the model was `model_1` or `model_2`."""
    return Settled((_AS_FIRST if as_first else _AS_SECOND)[choice], unparsed=int(choice is None))
