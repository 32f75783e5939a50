"""The verdict on each condition: in words, and as the bar that is drawn beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from ohr.report.headlines import has_crashed, kind
from ohr.report.lead import ends, in_points, rounded
from ohr.results.derived.losses import Loss

_MOST_OTHERS = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdict on one condition at one stage.

    Args:
        kind: as in `headlines.kind`.
        words: the verdict in words.
        short: the same where there is little room.
        clean: mean score on clean text, in [0, 1].
        left: mean score under the condition.
        low: of the loss's interval that holds for all comparisons of its family; nan where there is none.
        high: as `low`.
        others: pipelines with another verdict; "" where there are none.
        among: comparisons for which the interval holds together.
    """

    kind: str
    words: str
    short: str
    clean: float
    left: float
    low: float
    high: float
    others: str
    among: int = 1

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of what is left, as it is drawn: within the scale."""
        return max(0.0, self.clean - self.high), min(1.0, self.clean - self.low)

    @property
    def is_judged(self) -> bool:
        """Report whether there is something to draw: a bar of what failed would measure the failures."""
        return not isnan(self.left)

    @property
    def is_unclear(self) -> bool:
        """Report whether the documents are too few to say anything."""
        return self.kind in ("open", "")  # "": not even an interval

    @property
    def has_interval(self) -> bool:
        """Report whether the documents were enough for an interval."""
        return not isnan(self.low)

    @property
    def top(self) -> float:
        """The largest score that is drawn."""
        return max(value for value in (self.clean, self.left, self.ends[1]) if not isnan(value))

    @property
    def picture(self) -> str:
        """The bar in words, for who does not see it."""
        if not self.is_judged:
            return self.words
        interval = f"; 95% interval of the loss {ends(self.low, self.high, shown=self.kind == 'loss')}"
        return f"{in_points(self.left)} left of {rounded(self.clean)}{interval if self.has_interval else ''}"


@dataclass(frozen=True, slots=True)
class Line:
    """One condition, with a cell for each stage of the summary; None where the stage has no comparison."""

    condition: str
    noise: str
    level: str
    cells: tuple[Cell | None, ...]

    @property
    def name(self) -> str:
        """The noise with its level."""
        return f"{self.noise} {self.level}".rstrip()


def cell(loss: Loss, others: str, margin: float) -> Cell:
    """Judge a loss; `others` are the pipelines with another verdict."""
    words, short = verdict(loss, margin)
    measured = (nan, nan, nan) if kind(loss) == "failed" else (loss.mean, loss.wide_low, loss.wide_high)
    return Cell(kind(loss), words, short, loss.clean, *measured, others, loss.among)


def others_differ(loss: Loss, whole: Sequence[Loss], names: Mapping[Loss, str], margin: float) -> str:
    """Name the pipelines with another verdict on the same condition at the same stage."""
    rivals = [other for other in whole if (other.stage, other.condition) == (loss.stage, loss.condition)]
    others = [f"{names[other]}: {verdict(other, margin)[1]}" for other in rivals if kind(other) != kind(loss)]
    more = len(others) - _MOST_OTHERS
    return "; ".join(others[:_MOST_OTHERS]) + (f"; {more} more differ" if more > 0 else "")


def verdict(loss: Loss, margin: float) -> tuple[str, str]:
    """Return the verdict on a loss in words, and where there is little room, always with its numbers."""
    limit, change = in_points(margin), f"{rounded(loss.clean)} to {rounded(loss.mean)}"
    unjudged = "too much failed" if has_crashed(loss) else "hardly any answer"
    verdicts = {
        "loss": (f"costs {in_points(loss.lost)}", f"costs {rounded(loss.lost)} of {in_points(loss.clean)}"),
        "gain": (f"gains {in_points(-loss.lost)}",) * 2,
        "same": (f"does not cost more than {limit}", f"not more than {limit}"),
        "identical": ("no question changed",) * 2,
        "failed": (f"not judged: {unjudged}", f"not judged: {unjudged}"),
        "floor": (f"not judged: {change}, near the floor", f"near the floor: {change}"),
    }
    if kind(loss) == "loss" and loss.verdict == "small":
        return (f"costs less than {limit}",) * 2
    return verdicts.get(kind(loss), (f"unclear: {change}",) * 2)
