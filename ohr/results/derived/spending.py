"""The money of a whole study: pages, replies and tokens of everybody whom it may pay, each different one once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ohr.errors import DataError
from ohr.prices import Payee, Price
from ohr.results.run import Run

_COUNTS = ("count", "uncounted", "tokens_in", "tokens_out", "new", "new_in", "new_out")


@dataclass(frozen=True, slots=True)
class Spending:
    """Work of one payee in a study, and its money by the prices that the run is shown with.

    Args:
        label: the name that has its price; without one, that of the part, and of an engine its model or kind.
        role: of an agent's model.
        count: different pages, replies, calls or questions, also those that were in the store.
        uncounted: those of which nobody said the tokens.
        money: of all, as if the store were empty; nan where it has no price, or is paid by tokens that nobody
            counted.
        new: those that this run asked for.
        new_money: of the new ones.
        has_price: it has one.
    """

    use: str
    label: str
    role: str
    count: int
    uncounted: int
    tokens_in: int
    tokens_out: int
    money: float
    new: int
    new_money: float
    has_price: bool


def read_spending(run: Run) -> list[Spending]:
    """Read what a study used, in the order of its uses; nothing of a run that does not say.

    Raises:
        DataError: the manifest or the prices are damaged.
    """
    prices = run.price_list.prices
    sums: dict[tuple[str, str, str], dict[str, Any]] = {}
    for payee, row in usage(run):
        place = (payee.use, payee.label(prices), payee.role)
        known = sums.setdefault(place, {"payee": payee, **dict.fromkeys(_COUNTS, 0)})
        known |= {name: known[name] + row[name] for name in _COUNTS}
    return [Spending(*place, **_money(**about, prices=prices)) for place, about in sums.items()]


def usage(run: Run) -> Iterable[tuple[Payee, Mapping[str, int]]]:
    """Return everybody whom a run may have paid, with the counts of the manifest.

    Raises:
        DataError: the manifest is damaged.
    """
    try:
        return [
            (
                Payee(row["use"], row["name"], row["role"], tuple(row["names"])),
                {name: int(row[name]) for name in _COUNTS},
            )
            for row in run.manifest.get("usage", ())
        ]
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{run.folder}: `usage` of the manifest is not as ohr writes it; run the spec again") from None


def _money(payee: Payee, prices: Mapping[str, Price], new_in: int, new_out: int, **counts: int) -> dict[str, Any]:
    """Return the counts of a payee with the money that they come to."""
    counted = not counts["uncounted"]
    return {
        **counts,
        "money": payee.money(prices, counts["count"], counts["tokens_in"], counts["tokens_out"], counted=counted),
        "new_money": payee.money(prices, counts["new"], new_in, new_out, counted=counted),
        "has_price": payee.price(prices) is not None,
    }
