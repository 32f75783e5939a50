"""How much verification by models asks at most, before there is a candidate."""

from typing import NamedTuple

from .asking import shared
from .settings import ModelRule, Settings
from .templates import longest

_WAYS = 3
"""Prompts for a question of yes or no: directly, and about either word."""
_PARTS = 2
"""Parts of evidence that are tried alone: questions are written on two pages or paragraphs."""


class Bound(NamedTuple):
    """The most that a rule asks.

    Attributes:
        prompts: of all models together.
        characters: of all prompts together.
    """

    prompts: int
    characters: int


def prompts_bound(
    candidates: int, settings: Settings, judges: int, answerers: int, characters: int = 4000
) -> dict[ModelRule, Bound]:
    """Return the most that each rule asks; rules that do not run are left out.

    Questions are taken to need as many prompts as any kind does, and no rule to remove one before the next.

    Args:
        candidates: how many questions are verified.
        settings: as of `model_rules`.
        judges: how many models judge.
        answerers: how many models answer.
        characters: of the longest question with its answer and evidence.
    """
    closed_book = sum(shared(settings.closed_book, answerers))
    every: dict[ModelRule, tuple[int, tuple[str, ...]]] = {
        "judged_context_dependent": (judges, ("context_dependent",)),
        "answerable_without_documents": (closed_book * _WAYS, ("closed_book", "claim")),
        "unfaithful_to_task": (judges, ("task",)),
        "answerable_from_one_page": (answerers * _PARTS * _WAYS, ("answer", "claim_on_passages")),
        "answer_not_confirmed": (sum(shared(settings.samples, answerers)), ("answer",)),
    }
    bounds: dict[ModelRule, Bound] = {}
    for rule, (each, templates) in every.items():
        if each and rule not in settings.off:
            bounds[rule] = Bound(candidates * each, candidates * each * (longest(*templates) + characters))
    return bounds
