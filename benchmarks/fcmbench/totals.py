"""Means of FCMBench's scores: subtask, task, overall; and what is left of them under each capture condition."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal, NamedTuple

import numpy as np

from ohr.seeds import generator

from .conditions import NORMAL
from .items import TASKS, UNFINISHED, Item
from .replies import CLEAN, REFERENCE, REPAIRS, Repair, score

Outcome = Literal["parsed", "unparsable", "missing", "no_gold", "unfinished"]
"""Fate of an item: a reply with or without JSON, no reply, no gold, or a subtask that is not scored."""

_DRAWS = 2000  # bootstrap samples: the ends of a 95% interval vary by about 3% of its width


@dataclass(frozen=True, slots=True)
class Scored:
    """An item's score: F1 in [0, 1], nan where it has none."""

    id: str
    task: str
    subtask: str
    robustness: str
    value: float
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Totals:
    """Means over items.

    Args:
        subtasks: by subtask; nan where no item has a score.
        tasks: mean of each task's subtasks, in the order of TASKS.
        overall: mean of the tasks.
        outcomes: number of items by outcome.
        numbers: number of scores that each subtask's mean is made of.
    """

    subtasks: Mapping[str, float]
    tasks: Mapping[str, float]
    overall: float
    outcomes: Mapping[Outcome, int]
    numbers: Mapping[str, int]

    @property
    def n_scored(self) -> int:
        """Number of replies to items with a gold, those without JSON included."""
        return self.outcomes.get("parsed", 0) + self.outcomes.get("unparsable", 0)

    @property
    def parse_rate(self) -> float:
        """Share of these replies that have JSON; nan where there is none."""
        return self.outcomes.get("parsed", 0) / self.n_scored if self.n_scored else nan

    @property
    def coverage(self) -> float:
        """Share of the items with a gold that have a reply; nan where there is none."""
        asked = self.n_scored + self.outcomes.get("missing", 0)
        return self.n_scored / asked if asked else nan


def score_items(
    items: Iterable[Item], replies: Mapping[str, str], repairs: Collection[Repair] = REFERENCE
) -> list[Scored]:
    """Score each item's reply; replies to other items are ignored.

    Args:
        items: all that were asked.
        replies: by the item's id.
        repairs: as in `replies.REPAIRS`.
    """
    return [_scored(item, replies.get(item.id), repairs) for item in items]


def _scored(item: Item, reply: str | None, repairs: Collection[Repair]) -> Scored:
    value, outcome = _value(item, reply, repairs)
    return Scored(item.id, item.task, item.subtask, item.robustness, value, outcome)


def _value(item: Item, reply: str | None, repairs: Collection[Repair]) -> tuple[float, Outcome]:
    if item.subtask.endswith(UNFINISHED):
        return nan, "unfinished"
    if item.gold is None:
        return nan, "no_gold"
    if reply is None:
        return (0.0 if "missing" in repairs else nan), "missing"
    found = score(reply, item.gold, item.subtask, repairs)
    return found.value, "parsed" if found.is_parsed else "unparsable"


def aggregate(scores: Sequence[Scored]) -> Totals:
    """Average scores by subtask, these by task, and these over all; what is undefined is left out of each mean."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for scored in scores:
        values[scored.task, scored.subtask].append(scored.value)
    by_subtask = {subtask: _mean(found) for (_, subtask), found in values.items()}
    by_task: dict[str, list[float]] = defaultdict(list)
    for task, subtask in values:
        by_task[task].append(by_subtask[subtask])
    known = [task for task in TASKS if task in by_task]
    tasks = {task: _mean(by_task[task]) for task in (*known, *(by_task.keys() - set(known)))}
    return Totals(
        subtasks=by_subtask,
        tasks=tasks,
        overall=_mean(tasks.values()),
        outcomes=Counter(scored.outcome for scored in scores),
        numbers={subtask: sum(not isnan(value) for value in found) for (_, subtask), found in values.items()},
    )


def _mean(values: Iterable[float]) -> float:
    """Average what is defined; nan where nothing is."""
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else nan


def relative_f1(normal: float, artifacts: Mapping[str, float]) -> dict[str, float]:
    """Divide the F1 under each condition by that of normal captures; nan where that is 0 or undefined.

    Source: Yang et al., arXiv:2601.00150, section 3.4.
    """
    return {name: _ratio(value, normal) for name, value in artifacts.items()}


def _ratio(value: float, normal: float) -> float:
    return value / normal if normal else nan


class Condition(NamedTuple):
    """F1 under one condition, and readings of its ratio to normal captures; the paper leaves open which one is meant.

    Attributes:
        n: number of scores.
        f1: mean of the tasks' means of the subtasks' means.
        relative_f1: `f1` by that of normal captures. It can exceed 1, since each condition has other subtasks.
        relative_without_iqe: the same without image quality, where the condition is the answer, as in one version of
            the published code (commit 0cbbba5).
        relative_f1_matched: the same, and with only the subtasks that both have: the headline.
        relative_instances: mean over items by that of normal captures.
    """

    n: int
    f1: float
    relative_f1: float
    relative_without_iqe: float
    relative_f1_matched: float
    relative_instances: float


def robustness(scores: Iterable[Scored]) -> dict[str, Condition]:
    """Compare each capture condition with normal captures; nan where there is nothing to compare."""
    by_label: dict[str, list[Scored]] = defaultdict(list)
    for scored in scores:
        if not isnan(scored.value):
            by_label[scored.robustness].append(scored)
    normal = by_label.get(NORMAL, [])
    return {label: _condition(found, normal) for label, found in by_label.items()}


def _condition(found: Sequence[Scored], normal: Sequence[Scored]) -> Condition:
    without, normal_without = _without_iqe(found), _without_iqe(normal)
    return Condition(
        n=len(found),
        f1=aggregate(found).overall,
        relative_f1=_ratio(aggregate(found).overall, aggregate(normal).overall),
        relative_without_iqe=_ratio(aggregate(without).overall, aggregate(normal_without).overall),
        relative_f1_matched=relative_f1_matched(found, normal),
        relative_instances=_ratio(_mean(s.value for s in found), _mean(s.value for s in normal)),
    )


def relative_f1_matched(found: Sequence[Scored], normal: Sequence[Scored]) -> float:
    """Divide the F1 of one condition by that of normal captures over the subtasks that both have, without IQE."""
    found, normal = ([s for s in _without_iqe(each) if not isnan(s.value)] for each in (found, normal))
    shared = {s.subtask for s in found} & {s.subtask for s in normal}
    both = ([s for s in each if s.subtask in shared] for each in (found, normal))
    value, reference = (aggregate(each).overall for each in both)
    return _ratio(value, reference)


def _without_iqe(scores: Sequence[Scored]) -> list[Scored]:
    return [scored for scored in scores if scored.task != "IQE"]


class Ratio(NamedTuple):
    """A ratio of means with a bootstrap interval, and the number of items behind it."""

    value: float
    low: float
    high: float
    n: int


def paired_ratio(clean: Sequence[float], noisy: Sequence[float], level: float = 0.95, seed: int = 0) -> Ratio:
    """Divide the mean of the noisy scores by that of the clean scores of the same items; the bootstrap draws items.

    Args:
        clean: (n,) scores without noise.
        noisy: (n,) scores of the same items in the same order; an item undefined in either is left out.
        level: of the interval, which is made of the bootstrap's percentiles.
        seed: of the draws.

    Edge cases: a clean mean of 0 -> nan; draws with a clean mean of 0 are left out of the interval.
    """
    both = np.array([clean, noisy], dtype=float)
    both = both[:, ~np.isnan(both).any(axis=0)]
    n = both.shape[1]
    if not n or not both[0].sum():
        return Ratio(nan, nan, nan, n)
    rng = generator(seed, "fcmbench", "paired_ratio")
    sums = np.array([both[:, rng.integers(n, size=n)].sum(axis=1) for _ in range(_DRAWS)])
    ratios = sums[sums[:, 0] > 0]
    low, high = np.quantile(ratios[:, 1] / ratios[:, 0], ((1 - level) / 2, (1 + level) / 2))
    return Ratio(float(both[1].sum() / both[0].sum()), float(low), float(high), n)


class Worth(NamedTuple):
    """Overall score with one repair alone, and with all but that one."""

    alone: float
    without: float


def worth(items: Sequence[Item], replies: Mapping[str, str]) -> dict[Repair, Worth]:
    """Measure what each repair changes: alone, against the reference mode; and left out, against the clean mode."""

    def overall(repairs: Collection[Repair]) -> float:
        return aggregate(score_items(items, replies, repairs)).overall

    return {each: Worth(overall(REFERENCE | {each}), overall(CLEAN - {each})) for each in REPAIRS}
