"""Repairs of pages: what noise costs without them, what they bring back, and what they cost on clean pages."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from ohr.results.derived.comparison import Candidate, Pair, judged
from ohr.results.derived.pairs import paired
from ohr.results.run import Run
from ohr.results.score_arrays import Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES
from ohr.treatments import Recorded, recorded_treatments


@dataclass(frozen=True, slots=True)
class Repaired:
    """A condition with repairs, beside the same condition without them.

    Args:
        repair: the repairs that `without` lacks, in words.
        clean: the condition with neither these repairs nor noise; "" where there is none.
        treated_clean: the condition with these repairs and without noise; "" where there is none.
        is_noisy: the condition has noise that could be repaired.
        kinds: of the repairs.
    """

    condition: str
    without: str
    repair: str
    clean: str
    treated_clean: str
    is_noisy: bool
    kinds: tuple[str, ...]


@dataclass(slots=True)
class Effort:
    """The work of repairs.

    Args:
        pages: that were treated, in all draws.
        changed: of them; where there are several repairs, by the one that changed the most.
        seconds: of all repairs and pages, as `tokens`.
        outcomes: of a model's corrections, with how often each came.
    """

    pages: int = 0
    changed: int = 0
    seconds: float = 0.0
    tokens: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    @classmethod
    def together(cls, efforts: Sequence["Effort"]) -> "Effort | None":
        """Sum the work of several repairs of the same pages; None where there was none."""
        pages, changed = (max(getattr(each, name) for each in efforts) for name in ("pages", "changed"))
        outcomes = sum((each.outcomes for each in efforts), Counter[str]())
        seconds, tokens = sum(each.seconds for each in efforts), sum(each.tokens for each in efforts)
        return cls(pages, changed, seconds, tokens, outcomes) if pages else None

    @property
    def in_vain(self) -> bool:
        """Whether a model was asked, and no page was corrected."""
        return bool(self.outcomes) and not self.outcomes.keys() & {"corrected", "unchanged"}


@dataclass(frozen=True, slots=True)
class PageRepair:
    """The worth of a repair in one pipeline, paired by question; None for what the run does not hold.

    Args:
        costs: clean less noisy: what the noise costs without the repair.
        back: repaired less noisy: what the repair brings back.
        price: clean less clean with the repair: what the repair costs where there is nothing to repair.
        effort: that these repairs took; None where nothing says it.
    """

    about: Repaired
    place: Place
    metric: str
    costs: Pair | None
    back: Pair | None
    price: Pair | None
    effort: "Effort | None"

    @property
    def share(self) -> float:
        """The part of the loss that comes back; nan where no loss is shown."""
        if self.costs is None or self.back is None or not (self.costs.shown and self.costs.found.difference.mean > 0):
            return nan
        return self.back.found.difference.mean / self.costs.found.difference.mean


def read_page_repairs(run: Run) -> list[PageRepair]:
    """Compare each condition that has repairs with the same condition without them; nothing in a run without repairs.

    All comparisons of a pipeline are one family.

    Raises:
        DataError: a table is missing or damaged.
    """
    repaired = list(repaired_conditions(run))
    if not repaired:
        return []
    scores = ScoreTable.of(run)
    places = {(place.pipeline, place.condition): place for place in scores.places if place.stage in STAGES}
    part = scores.questions.part("evidence_source", ALL)
    candidates: dict[tuple[Any, ...], Candidate] = {}
    asked: list[tuple[Repaired, Place, str, list[tuple[Any, ...] | None]]] = []
    for about in repaired:
        for (pipeline, condition), place in places.items():
            if condition != about.condition:
                continue
            metric = run.headlines[place.stage]
            sides = [(about.clean, about.without), (condition, about.without), (about.clean, about.treated_clean)]
            keys: list[tuple[Any, ...] | None] = []
            for first, second in sides:
                one, two = places.get((pipeline, first)), places.get((pipeline, second))
                key = (pipeline, first, second, metric) if one and two else None
                keys.append(key)
                if key and key not in candidates and one and two:
                    candidates[key] = _candidate(scores, one, two, metric, part.places)
            asked.append((about, place, metric, keys))
    families: dict[Any, dict[tuple[Any, ...], Candidate]] = {}
    for key, candidate in candidates.items():
        families.setdefault(key[0], {})[key] = candidate
    pairs: dict[tuple[Any, ...], Pair] = {}
    for members in families.values():
        pairs |= zip(members, judged(list(members.values()), part.clusters, run.choices.margin), strict=True)
    efforts, rows = _efforts(run), []
    for about, place, metric, keys in asked:
        costs, back, price = (pairs.get(key) if key else None for key in keys)
        mine = [efforts[about.condition, kind] for kind in dict.fromkeys(about.kinds)]
        rows.append(PageRepair(about, place, metric, costs, back, price, Effort.together(mine)))
    return [row for row in rows if row.back or row.price]


def _candidate(scores: ScoreTable, first: Place, second: Place, metric: str, places: Any) -> Candidate:
    cells = [scores.read(place).only([metric]) for place in (first, second)]
    values = paired(*(cell.values[0][places] for cell in cells))
    failed = cells[0].failed[0][places] | cells[1].failed[0][places]
    return Candidate("", first, second, metric, values, failed)


def with_repairs(run: Run) -> set[str]:
    """Return the conditions that have repairs."""
    bases = run.manifest["spec"].get("knowledge_bases", ())
    return {
        base["condition"]
        for base in bases
        if "condition" in base and any(each.purpose == "repair" for each in recorded_treatments(base))
    }


def repaired_conditions(run: Run) -> Iterator[Repaired]:
    """Yield the conditions with repairs, each with its counterparts: those that differ in repairs or noise alone."""
    bases = run.once(run.manifest["spec"].get("knowledge_bases", ()))
    treatments = {base["condition"]: recorded_treatments(base) for base in bases if "condition" in base}
    known = {_name(every): condition for condition, every in reversed(treatments.items())}
    for condition, every in treatments.items():
        for left_out in _choices([place for place, each in enumerate(every) if each.purpose == "repair"]):
            rest = [each for place, each in enumerate(every) if place not in left_out]
            without = known.get(_name(rest))
            if without is None:
                continue
            plain = known.get(_name([each for each in rest if each.purpose != "noise"]), "")
            treated = known.get(_name([each for each in every if each.purpose != "noise"]), "")
            labels = " + ".join(every[place].label for place in left_out)
            is_noisy = any(each.purpose == "noise" for each in every)
            kinds = tuple(str(every[place].keys.get("kind")) for place in left_out)
            yield Repaired(condition, without, labels, plain, treated, is_noisy, kinds)


def _choices(places: Sequence[int]) -> list[tuple[int, ...]]:
    """Return what may be left out of some repairs: all of them, and each alone."""
    return list(dict.fromkeys([tuple(places), *((place,) for place in places)])) if places else []


def _name(treatments: Sequence[Recorded]) -> str:
    return json.dumps([(each.family, each.keys) for each in treatments], sort_keys=True)


def _efforts(run: Run) -> Mapping[tuple[str, str], Effort]:
    """Sum what each kind of repair took in each condition, over its draws."""
    columns = ["condition", "treatment", "changed", "seconds", "tokens_in", "tokens_out", "outcome"]
    efforts: dict[tuple[str, str], Effort] = defaultdict(Effort)
    for row in run.rows_if_any("treatments", columns):
        kind, _, number = row["treatment"].partition(" ")
        effort = efforts[row["condition"], kind]
        effort.pages += not number  # one that comes several times treats the same pages
        effort.changed += bool(row["changed"]) and not number
        effort.seconds += row["seconds"] or 0.0
        effort.tokens += (row["tokens_in"] or 0) + (row["tokens_out"] or 0)
        effort.outcomes.update([row["outcome"]] if row["outcome"] else [])
    return efforts
