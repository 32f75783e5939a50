"""Money and waits of a plan: what is left to ask, and the whole study, by who is paid."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan

from ohr.contracts import Generator, Stage
from ohr.engine.session import Session
from ohr.models.chat_server import ChatServer
from ohr.prices import Payee, Price
from ohr.runner.pace import recall_length
from ohr.spec.model import Spec


@dataclass
class Waits:
    """Sums of requests and tokens by server, model and key, which share their limits."""

    _sums: dict[tuple[str, str, str | None], tuple[ChatServer, float, float]] = field(default_factory=dict)

    def add(self, stage: Stage, requests: float, tokens: float) -> None:
        """Add requests to a stage that asks a server; a batch is under no limit per minute."""
        if not isinstance(stage, ChatServer) or (isinstance(stage, Generator) and stage.posts):
            return
        place = stage.base_url, stage.model, stage.api_key_env
        _, before, tokens_before = self._sums.get(place, (stage, 0.0, 0.0))
        self._sums[place] = stage, before + requests, tokens_before + tokens

    @property
    def minutes(self) -> float:
        """The minutes of the server that takes longest: all are asked at the same time."""
        return max((_minutes(*sums) for sums in self._sums.values()), default=0.0)


def _minutes(server: ChatServer, requests: float, tokens: float) -> float:
    limits = (requests, server.requests_per_minute), (tokens, server.tokens_per_minute)
    return max(amount / limit if limit else 0.0 for amount, limit in limits)


@dataclass(frozen=True, slots=True)
class Due:
    """Work of a study or a part of it, with its money.

    Args:
        count: pages, prompts, calls of an agent at most, or questions to a system.
        tokens_in: of prompts, estimated; of agents at most.
        tokens_out: of replies at most; None where nothing bounds them.
        at_most: money if every reply is as long as it may be; None where `note` says why.
        expected: money if replies are as long as those that the store has; None where it has none.
    """

    count: int = 0
    tokens_in: int = 0
    tokens_out: int | None = 0
    at_most: float | None = None
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class PlannedCost:
    """Work of one payee: what is left, and all.

    Args:
        use: what it is paid for.
        name: of the price, or of the part of the spec.
        note: why money is unknown; "" where it is known.
    """

    use: str
    name: str
    left: Due
    all: Due
    note: str


@dataclass
class _Sums:
    """Sums of a payee's work: [left, all] of counts and prompt tokens.

    Args:
        longest: tokens of a reply at most; None where nothing bounds them.
        length: mean tokens of a reply in the store.
        note: why its money cannot be known.
    """

    longest: float | None
    length: float | None
    note: str
    counts: list[float] = field(default_factory=lambda: [0.0, 0.0])
    tokens: list[float] = field(default_factory=lambda: [0.0, 0.0])


IMAGES = "tokens of images are not known before"


class Bill:
    """Gathers what the parts of a plan cost."""

    def __init__(self, spec: Spec, session: Session) -> None:
        self._spec, self._store = spec, session.store
        self._sums: dict[tuple[Payee, ...], _Sums] = {}
        self.waits = Waits()

    def ask(
        self, payees: Sequence[Payee], models: Sequence[Stage], left: tuple[float, float], whole: tuple[float, float]
    ) -> None:
        """Add prompts or calls.

        Args:
            payees: who may be asked: of an agent all its models, of which the dearest counts.
            models: their stages.
            left: count and prompt tokens of what is left.
            whole: the same of all.
        """
        place = tuple(payees)
        if place not in self._sums:
            longest = [_longest(model) for model in models]
            bound = None if None in longest else max(filter(None, longest), default=0)
            length = recall_length(self._store, place[0], self._spec.benchmark.kind) if len(place) == 1 else None
            note = IMAGES if any(getattr(model, "reads_images", False) for model in models) else ""
            self._sums[place] = _Sums(bound, length if place[0].use != "agents" else None, note)
        self._add(place, left, whole)
        if place[0].use != "agents":  # their calls are bounded from above, and waits are the least there are
            self.waits.add(models[0], left[0], left[1] + left[0] * (self._sums[place].length or 0))

    def read(self, payee: Payee, engine: Stage, left: int, whole: int) -> None:
        """Add pages that an engine reads."""
        self.waits.add(engine, left, 0)
        self._once(payee, left, whole, "tokens of pages are not known before")

    def serve(self, payee: Payee, left: int, whole: int) -> None:
        """Add questions to a system."""
        self._once(payee, left, whole, "tokens of a system are not known before")

    def _once(self, payee: Payee, left: int, whole: int, unknown: str) -> None:
        price = payee.price(self._spec.prices)
        note = unknown if price and (price.tokens_in or price.tokens_out) else ""
        self._sums.setdefault((payee,), _Sums(0, None, note))
        self._add((payee,), (left, 0), (whole, 0))

    def _add(self, place: tuple[Payee, ...], left: tuple[float, float], whole: tuple[float, float]) -> None:
        sums = self._sums[place]
        for at, (count, tokens) in enumerate((left, whole)):
            sums.counts[at] += count
            sums.tokens[at] += tokens

    def costs(self) -> Iterator[PlannedCost]:
        """Yield what each payee is to do; engines with one price are one."""
        prices = self._spec.prices
        merged: dict[tuple[str, str], tuple[tuple[Payee, ...], _Sums]] = {}
        for payees, sums in self._sums.items():
            place = payees[0].use, payees[0].label(prices)
            if place not in merged:
                merged[place] = payees, sums
                continue
            known = merged[place][1]
            for at in range(2):
                known.counts[at] += sums.counts[at]
                known.tokens[at] += sums.tokens[at]
        for (use, name), (payees, sums) in merged.items():
            priceless = any(payee.price(prices) is None for payee in payees)
            note = "no price" if priceless else sums.note or ("" if sums.longest is not None else "no max_tokens")
            left, whole = (_due(payees, sums, at, prices) for at in range(2))
            yield PlannedCost(use, name, left, whole, note)


def _longest(model: Stage) -> float | None:
    """Return the most tokens of a reply; None where nothing bounds them."""
    body = getattr(model, "body", None)
    further = body.get("max_completion_tokens") if isinstance(body, Mapping) else None
    longest = further or getattr(model, "max_tokens", None)
    return float(longest) if isinstance(longest, int | float) else None


def _due(payees: Sequence[Payee], sums: _Sums, at: int, prices: Mapping[str, Price]) -> Due:
    count, tokens = sums.counts[at], sums.tokens[at]

    def money(length: float | None) -> float | None:
        if length is None or sums.note:
            return None
        found = [payee.money(prices, count, tokens, count * length) for payee in payees]
        highest = nan if any(map(isnan, found)) else max(found)
        return None if isnan(highest) else highest

    bound = None if sums.longest is None else round(count * sums.longest)
    return Due(round(count), round(tokens), bound, money(sums.longest), money(sums.length))
