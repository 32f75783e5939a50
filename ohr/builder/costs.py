"""Costs of a build: calls, tokens and money of each model, before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from ohr.builder.session import Usage
from ohr.contracts import Generator, Prompt
from ohr.prices import Payee, Price
from ohr.runner.prompt_sizes import size_of
from ohr.spec.model import Named
from ohr.spec.payees import answering


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls and tokens of a model.

    Args:
        task: what it is asked for; "" for everything.
        tokens_out: of replies; before a build the most that they may have.
        money: None where the model has no price, or did not count its tokens.
    """

    model: str
    task: str
    calls: int
    tokens_in: int
    tokens_out: int
    money: float | None


def spent(usage: Mapping[str, Usage], prices: Mapping[str, Price]) -> list[Cost]:
    """Return the cost of all replies of a build, by model; of those from the store, too: so much costs the set."""
    return [
        _cost(used.payee, "", (used.replies, used.tokens_in, used.tokens_out), prices, counted=not used.uncounted)
        for _, used in sorted(usage.items())
    ]


def spent_now(usage: Mapping[str, Usage], prices: Mapping[str, Price]) -> list[Cost]:
    """Return the cost of the replies that were not in the store, by model."""
    return [
        _cost(used.payee, "", (used.asked, used.new_in, used.new_out), prices, counted=not used.uncounted)
        for _, used in sorted(usage.items())
    ]


def bound(generator: Named[Generator], task: str, prompts: Sequence[Prompt], prices: Mapping[str, Price]) -> Cost:
    """Bound the cost of prompts before they are asked."""
    return cost_of(generator, task, len(prompts), size_of(generator.stage, prompts), prices)


def cost_of(generator: Named[Generator], task: str, calls: int, tokens_in: int, prices: Mapping[str, Price]) -> Cost:
    """Bound the cost of some calls: every reply may be as long as the model's `max_tokens`."""
    longest = getattr(generator.stage, "max_tokens", None) or 0
    return _cost(answering(generator), task, (calls, tokens_in, longest * calls), prices)


def _cost(
    payee: Payee, task: str, counts: tuple[int, int, int], prices: Mapping[str, Price], *, counted: bool = True
) -> Cost:
    money = payee.money(prices, *counts, counted=counted)
    return Cost(payee.name, task, *counts, None if isnan(money) else money)
