"""Prices of models, engines and services, and the money that tokens, pages and questions come to."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ohr.messages.wording import choices

_MILLION = 1_000_000
_MOST = 1e9
"""The largest price: with any count of 64 bits, money remains a finite number."""

Use = Literal["reading", "repairs", "answers", "references", "judging", "agents", "systems"]
"""Work that is paid for."""

UNITS: Mapping[Use, tuple[str, ...]] = {
    "reading": ("page", "in", "out"),
    "repairs": ("in", "out"),
    "answers": ("in", "out"),
    "references": ("in", "out"),
    "judging": ("in", "out"),
    "agents": ("in", "out"),
    "systems": ("question", "in", "out"),
}
"""The keys of a price that count, by use."""

_Amount = Annotated[float, Field(strict=True, ge=0, le=_MOST, allow_inf_nan=False)]


class Price(BaseModel):
    """The price of a model, an engine or a service, in any currency.

    Tokens are priced per million; a page and a question are priced each.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    tokens_in: Annotated[_Amount | None, Field(alias="in", description="Of a million tokens of prompts.")] = None
    tokens_out: Annotated[_Amount | None, Field(alias="out", description="Of a million tokens of replies.")] = None
    page: Annotated[_Amount | None, Field(description="Of one page that an OCR engine reads.")] = None
    question: Annotated[_Amount | None, Field(description="Of one question that a system is asked.")] = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.tokens_in is None) != (self.tokens_out is None):
            raise ValueError("needs both `in` and `out`; write 0 for what is free")
        if not self.units:
            raise ValueError("is empty: write `in` and `out` (per million tokens), `page` or `question`")
        return self

    @property
    def units(self) -> tuple[str, ...]:
        """The keys that it has."""
        return tuple(self.model_dump(by_alias=True, exclude_none=True))

    def money(self, tokens_in: float = 0, tokens_out: float = 0, pages: float = 0, questions: float = 0) -> float:
        """Return what some tokens, pages and questions come to; what has no price adds nothing."""
        tokens = tokens_in * (self.tokens_in or 0) + tokens_out * (self.tokens_out or 0)
        return tokens / _MILLION + pages * (self.page or 0) + questions * (self.question or 0)


def _mapping(given: Any) -> Any:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ValueError("must be a mapping of names to prices, such as {gpt: {in: 2.5, out: 10}}")
    return given


Prices = Annotated[dict[str, Price], BeforeValidator(_mapping)]
"""Prices by name."""


@dataclass(frozen=True, slots=True)
class Payee:
    """Somebody who is paid: a model, an engine or a service in one use.

    Args:
        name: as tables name it: that of the generator, judge, agent, system, or knowledge base.
        role: of an agent's model; "" elsewhere.
        names: its own name, its model, its kind: the first with a price decides.
    """

    use: Use
    name: str
    role: str
    names: tuple[str, ...]

    def price(self, prices: Mapping[str, Price]) -> Price | None:
        """Return its price; None where it has none for what it does."""
        price = next((prices[name] for name in self.names if name in prices), None)
        return price if price and set(price.units) & set(UNITS[self.use]) else None

    def label(self, prices: Mapping[str, Price]) -> str:
        """Return how a table names it: an engine, which several knowledge bases share, by the name with its price."""
        if self.use != "reading":
            return self.name
        return next((name for name in self.names if name in prices), self.names[-1])

    def money(
        self, prices: Mapping[str, Price], count: float, tokens_in: float, tokens_out: float, *, counted: bool = True
    ) -> float:
        """Return what it is paid for some work; nan where it has no price, or is paid by tokens that nobody counted.

        Args:
            prices: by name.
            count: pages, replies, calls or questions.
            tokens_in: of prompts, as `tokens_out` of replies.
            counted: the tokens of all of it are known.
        """
        price = self.price(prices)
        if price is None or (not counted and (price.tokens_in or price.tokens_out)):
            return nan
        pages, questions = (count if self.use == use else 0 for use in ("reading", "systems"))
        return price.money(tokens_in, tokens_out, pages, questions)


def is_counted(text: str, tokens_in: int, tokens_out: int) -> bool:
    """Report whether whoever replied said how many tokens it took: no prompt has none, and no text."""
    return tokens_in > 0 and (tokens_out > 0 or not text)


def names_of(name: str, model: object, kind: str) -> tuple[str, ...]:
    """Return the names by which a plugin may have a price: its own in the spec, its model's, its kind's."""
    return tuple(dict.fromkeys(each for each in (name, str(model or ""), kind) if each))


def faults_of_prices(
    prices: Mapping[str, Price], payees: Sequence[Payee], tokenless: Collection[Payee] = ()
) -> dict[str, str]:
    """Return what is wrong with prices, by name: nobody has the name, or is paid like that.

    Args:
        prices: by name.
        payees: everybody who may have a price.
        tokenless: those of them who count no tokens.
    """
    by_name: dict[str, set[str]] = {}
    for payee in payees:
        for name in payee.names:
            tokens = {"in", "out"} if payee in tokenless else set()
            by_name.setdefault(name, set()).update(set(UNITS[payee.use]) - tokens)
    faults = {}
    for name, price in prices.items():
        if name not in by_name:
            there = choices(name, sorted(by_name)) if by_name else "This file has nothing that is paid for."
            faults[name] = f"nothing has this name. {there}"
        elif odd := [unit for unit in price.units if unit not in by_name[name]]:
            faults[name] = f"is not paid by `{odd[0]}`, but by {', '.join(sorted(by_name[name]))}"
    return faults
