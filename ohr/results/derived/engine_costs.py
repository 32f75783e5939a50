"""Money of OCR engines beside quality: what a dearer engine takes for each point of score that it saves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import isnan, nan

from ohr.results.derived.comparison import Side, compare_sides
from ohr.results.derived.pairs import FAILED
from ohr.results.derived.spending import usage
from ohr.results.run import Run
from ohr.treatments import recorded_engine, recorded_treatments

_PARTS = ("chunker", "retriever", "generator")


@dataclass(frozen=True, slots=True)
class EngineCost:
    """An OCR engine beside the cheapest one that reads the same pages.

    Args:
        money: of a page; `cheapest_money` of a page by the cheapest engine.
        saved: score of this engine less that of the cheapest, on the same questions, with its 95% interval.
        per_point: (money - cheapest_money) / (100 saved); nan where no gain is shown.
        note: why it is undefined.
    """

    condition: str
    cheapest: str
    stage: str
    metric: str
    chunker: str
    retriever: str
    generator: str
    money: float
    cheapest_money: float
    saved: float
    low: float
    high: float
    per_point: float
    note: str


def read_engine_costs(run: Run) -> list[EngineCost]:
    """Compare engines that read the same pages, each with the cheapest; nothing where fewer than two have a price.

    Raises:
        DataError: a table, the manifest or the prices are damaged.
    """
    prices = run.price_list.prices
    if not prices:
        return []
    money = page_money(run)
    costs: list[EngineCost] = []
    for cheapest, *others in _by_pages(run, money):
        for name in others:
            costs += _beside(run, name, cheapest, money)
    return costs


def without_a_peer(run: Run) -> list[str]:
    """List the conditions whose engine has a price and is the only one that reads these pages.

    Raises: as `read_engine_costs`.
    """
    return [names[0] for names in _by_pages(run, page_money(run)) if len(names) == 1]


def _by_pages(run: Run, money: Mapping[str, float]) -> Iterator[list[str]]:
    """Yield the conditions whose engines read the same pages, the cheapest first; all have a price."""
    bases = {base["condition"]: base for base in run.manifest["spec"].get("knowledge_bases", ())}
    known = [name for name in money if not isnan(money[name]) and name in bases]

    def setting(name: str) -> str:
        return repr([each for each in recorded_treatments(bases[name]) if each.family != "ocr"])

    for _, names in groupby(sorted(known, key=lambda name: (setting(name), money[name])), key=setting):
        yield list(names)


def page_money(run: Run) -> dict[str, float]:
    """Return the money of a page by condition, where an engine read it; nan without a price."""
    prices, money = run.price_list.prices, {}
    written = run.once(run.manifest["spec"].get("knowledge_bases", ()))
    bases = {base["condition"]: recorded_engine(base) for base in written}
    noise = {row["condition"]: row["noise"] for row in run.rows("doses", ["condition", "noise"])}
    sums = _readings(run)
    for condition, ocr in bases.items():
        payees = [payee for payee, _ in usage(run) if payee.use == "reading" and payee.name == noise.get(condition)]
        mine = [payee for payee in payees if str(ocr.get("model") or ocr["kind"]) in payee.names] or payees
        if mine:
            pages, *tokens, silent = sums.get(condition, (0, 0, 0, 1))
            means = [count / pages if pages else 0 for count in tokens]
            money[condition] = mine[0].money(prices, 1, *means, counted=not silent)
    return money


def _readings(run: Run) -> dict[str, tuple[int, int, int, int]]:
    """Sum pages and tokens of each condition's readings, and those without tokens."""
    import pyarrow.compute as pc

    read = run.table("readings", ["condition", "tokens_in", "tokens_out"])
    for name in ("tokens_in", "tokens_out"):  # as numbers of 64 bits their sum might not fit
        read = read.set_column(read.column_names.index(name), name, pc.cast(read[name], "float64"))
    read = read.append_column("silent", pc.equal(read["tokens_in"], 0))
    sums = read.group_by(["condition"]).aggregate(
        [([], "count_all"), ("tokens_in", "sum"), ("tokens_out", "sum"), ("silent", "sum")]
    )
    names = ("count_all", "tokens_in_sum", "tokens_out_sum", "silent_sum")
    return {row["condition"]: tuple(row[name] for name in names) for row in sums.to_pylist()}


def _beside(run: Run, name: str, cheapest: str, money: Mapping[str, float]) -> Iterator[EngineCost]:
    for pair in compare_sides(Side(run, name), Side(run, cheapest)).pairs:
        saved = pair.found.difference
        note = _no_gain(pair.verdict, saved.mean, saved.low, saved.high)
        if not note and money[name] == money[cheapest]:
            note = "better at the same price"
        chunker, retriever, generator = (getattr(pair.first, part) or "" for part in _PARTS)
        yield EngineCost(
            name,
            cheapest,
            pair.first.stage,
            pair.metric,
            chunker,
            retriever,
            generator,
            money[name],
            money[cheapest],
            saved.mean,
            saved.low,
            saved.high,
            nan if note else (money[name] - money[cheapest]) / (100 * saved.mean),
            note,
        )


def _no_gain(verdict: str, mean: float, low: float, high: float) -> str:
    """Return why a dearer engine has no price of a saved point; "" where it is better."""
    if verdict == FAILED:
        return "too much failed"
    if isnan(low):
        return "no difference" if mean == 0 else "too few documents"
    if high < 0:
        return "scores less"
    return "" if low > 0 else "no gain shown"
