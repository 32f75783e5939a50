"""FCMBench's numbers as aggregates of ohr: means of means, and what is left of them under a capture condition."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Aggregate, Mean

from .capture_items import LABELS, NORMAL, SUBTASKS, TASKS, UNFINISHED, Item
from .reply_metrics import F1

Floats = NDArray[np.float64]

WITHOUT_IQE = "overall_without_iqe"
_MACRO = "mean of the subtasks' means by task, then of the tasks"
_RATIO = f"{_MACRO}; by that of normal captures"


def aggregates(items: Iterable[Item]) -> list[Aggregate]:
    """Return the scores of the tasks, the overall scores, and for each capture condition three ratios to normal ones.

    The paper divides the F1 under a condition by that of normal captures without saying which F1 is meant.

    Args:
        items: those that are asked; a subtask or condition that none has is in no aggregate.
    """
    held = {(item.subtask, item.robustness) for item in items if not item.subtask.endswith(UNFINISHED)}
    known = [subtask for subtask in SUBTASKS if any(subtask == each for each, _ in held)]
    tasks = [task for task in TASKS if any(SUBTASKS[subtask] == task for subtask in known)]
    found = [_macro(task, [each for each in known if SUBTASKS[each] == task], ratio=False) for task in tasks]
    found.append(_macro("overall", known, ratio=True))
    if len(tasks) > 1 and "IQE" in tasks:
        found.append(_macro(WITHOUT_IQE, [each for each in known if SUBTASKS[each] != "IQE"], ratio=True))
    normal = {subtask for subtask, label in held if label == NORMAL}
    for label in LABELS if normal else ():
        here = {subtask for subtask, each in held if each == label}
        found += _relative(label, here, normal) if here and label != NORMAL else ()
    return found


def _macro(name: str, subtasks: Sequence[str], *, ratio: bool) -> Aggregate:
    parts = tuple(Mean(F1, {"subtask": subtask}) for subtask in subtasks)
    return Aggregate(name, parts, partial(macro, tasks=_numbers(subtasks)), ratio=ratio, source=_MACRO)


def _relative(label: str, here: Collection[str], normal: Collection[str]) -> Iterator[Aggregate]:
    """Yield the readings of one condition's ratio."""
    own, others = ([subtask for subtask in SUBTASKS if subtask in some] for some in (here, normal))
    parts = tuple(
        Mean(F1, {"subtask": subtask, "robustness": where})
        for subtasks, where in ((own, label), (others, NORMAL))
        for subtask in subtasks
    )
    numbers = _numbers(own), _numbers(others)
    yield Aggregate(f"relative_f1/{label}", parts, partial(relative, tasks=numbers), source=_RATIO)
    both = [subtask for subtask in own if subtask in normal and SUBTASKS[subtask] != "IQE"]
    if both:
        matched = tuple(
            Mean(F1, {"subtask": subtask, "robustness": where}) for where in (label, NORMAL) for subtask in both
        )
        yield Aggregate(
            f"relative_f1_matched/{label}",
            matched,
            partial(relative_matched, tasks=_numbers(both)),
            source=f"{_RATIO}, over the subtasks of both, without IQE",
        )
    instances = Mean(F1, {"robustness": label}), Mean(F1, {"robustness": NORMAL})
    yield Aggregate(
        f"relative_instances/{label}", instances, ratio_of_two, source="mean over items; by that of normal captures"
    )


def _numbers(subtasks: Sequence[str]) -> tuple[int, ...]:
    """Return the place of each subtask's task."""
    return tuple(TASKS.index(SUBTASKS[subtask]) for subtask in subtasks)


def macro(means: Any, counts: Any, tasks: Sequence[int]) -> Any:  # noqa: ARG001 # every mean has the same weight
    """Average the means of each task, and these; what is undefined is left out.

    Args:
        means: (parts,) or (parts, m).
        counts: not used.
        tasks: (parts,) task of each part.
    """
    values, number = np.asarray(means, dtype=float), np.array(tasks)
    return _mean(np.stack([_mean(values[number == task]) for task in dict.fromkeys(tasks)]))


def relative(means: Any, counts: Any, tasks: tuple[Sequence[int], Sequence[int]]) -> Any:
    """Divide the macro mean of the first parts by that of the others.

    Args:
        tasks: those of the first parts, and of the others.
    """
    size = len(tasks[0])
    first, other = (macro(part, counts, own) for part, own in zip((means[:size], means[size:]), tasks, strict=True))
    return _divided(first, other)


def relative_matched(means: Any, counts: Any, tasks: Sequence[int]) -> Any:
    """Divide the macro mean of the first half by that of the second, over the parts that both define."""
    halves = np.asarray(means, dtype=float).reshape(2, len(tasks), *np.shape(means)[1:])
    both = np.where(np.isnan(halves).any(axis=0), np.nan, halves)
    return _divided(*(macro(half, counts, tasks) for half in both))


def ratio_of_two(means: Any, counts: Any) -> Any:  # noqa: ARG001 # a mean is one, of however many
    """Divide the first mean by the second."""
    return _divided(means[0], means[1])


def _mean(values: Floats) -> Floats:
    """Average over the first axis what is defined; nan where nothing is."""
    defined = ~np.isnan(values)
    counts = defined.sum(axis=0)
    return np.asarray(np.where(counts > 0, np.where(defined, values, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan))


def _divided(first: Any, other: Any) -> Any:
    """Divide; nan by 0."""
    return np.where(np.asarray(other) == 0, np.nan, np.asarray(first) / np.where(np.asarray(other) == 0, 1, other))
