"""A table for readers: its cells, and their text where there is room for three digits and where there is not."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from ohr.results.derived.losses import Loss, Point
from ohr.results.run import Row

_NUMBER = re.compile(r"^(?:[-−+<>]?\s?[\d.,]+\s?%?(?:\s.*)?|)$")


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with the ends of its 95% interval.

    Args:
        value: nan where it is undefined.
        low: nan where there is no interval, as is `high`.
        is_share: narrow tables show it x 100.
        is_difference: of two scores: both ends are written, since what matters is whether 0 is between them.
        digits: after the point in narrow tables, of a number without an interval and of a difference.
    """

    value: float
    low: float = float("nan")
    high: float = float("nan")
    is_share: bool = False
    is_difference: bool = False
    digits: int = 2

    @classmethod
    def of(cls, row: Row, name: str = "mean", low: str = "low", high: str = "high", **kind: Any) -> "Interval":
        """Take the number of a row's column, and its ends from two others."""
        return cls(row[name], row[low], row[high], **kind)

    def long(self) -> str:
        """Write it with three digits: `0.500 [0.400, 0.600]`."""
        if isnan(self.value):
            return ""
        number = f"{self.value:z.3f}"
        return number if isnan(self.low) else f"{number} [{self.low:z.3f}, {self.high:z.3f}]"

    def short(self) -> str:
        """Write it with two digits: `0.50 ±0.10`; `0.97 -0.05 +0.03` where it is cut at the best score there is."""
        if isnan(self.value):
            return ""
        value, low, high = (number * (100 if self.is_share else 1) for number in (self.value, self.low, self.high))
        if isnan(low):
            return f"{value:z.{self.digits}f}"
        if self.is_difference:
            return f"{value:z.{self.digits}f} [{low:z.{self.digits}f}, {high:z.{self.digits}f}]"
        down, up = value - low, high - value
        # not by what is printed: the ends of a whole interval may be rounded apart
        return f"{value:z.2f} ±{up:.2f}" if abs(down - up) < 0.005 else f"{value:z.2f} -{down:.2f} +{up:.2f}"


def ends(low: float, high: float) -> str:
    """Write the ends of an interval alone: `[0.400, 0.600]`; "" where there is none."""
    return "" if isnan(low) else f"[{low:z.3f}, {high:z.3f}]"


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money; where it is undefined, a note says why."""

    value: float
    note: str = ""

    def __str__(self) -> str:
        """Write it with as many digits as show it: two after the point, or three that are not 0."""
        if isnan(self.value):
            return self.note
        if self.value == 0 or abs(self.value) >= 1:
            return f"{self.value:,.2f}"
        return f"{self.value:.3g}" if abs(self.value) >= _PLAIN else f"{self.value:.2e}"


_PLAIN = 1e-4
"""The least amount that is written without an exponent."""

Cell = str | float | bool | Interval | Amount | None
"""Text, a count, a number without an interval, a yes, a number with an interval, money, or nothing."""


@dataclass(frozen=True, slots=True)
class View:
    """A table.

    Args:
        title: its caption.
        how: how to read it, in one line.
        headers: names of its columns.
        rows: its cells.
        marked: numbers of the rows that are ours, among rows of others.
        shared: what columns side by side share, "" for nothing: a line above the headers; or empty.
        labels: columns that say what a row is; by default those before the first with numbers.
        starts: numbers of the rows that begin a part.
    """

    title: str
    how: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marked: frozenset[int] = frozenset()
    shared: tuple[str, ...] = ()
    labels: int | None = None
    starts: frozenset[int] = frozenset([0])

    @classmethod
    def of(
        cls, title: str, how: str, rows: Sequence[Mapping[str, Any]], names: Mapping[str, str] | None = None
    ) -> "View":
        """Make a table of rows; `names` chooses the columns and their headers; empty columns are left out."""
        names = names or {name: name.replace("_", " ") for name in dict.fromkeys(name for row in rows for name in row)}
        used = [name for name in names if any(long(row.get(name)) for row in rows)]
        return replace(cls.whole(title, how, rows, used), headers=tuple(names[name] for name in used))

    @classmethod
    def whole(cls, title: str, how: str, rows: Iterable[Mapping[str, Cell]], names: Iterable[str]) -> "View":
        """Make a table of these columns of rows, also where they are empty."""
        names = tuple(names)
        return cls(title, how, names, tuple(tuple(row.get(name) for name in names) for row in rows))

    @property
    def long(self) -> tuple[tuple[str, ...], ...]:
        """The rows as text, with three digits."""
        return tuple(tuple(map(long, row)) for row in self.rows)

    @property
    def short(self) -> tuple[tuple[str, ...], ...]:
        """The rows as text, with two digits and shares x 100: for a screen."""
        return tuple(tuple(map(short, row)) for row in self.rows)

    @property
    def has_shares(self) -> bool:
        """Report whether any number is a share."""
        return any(isinstance(cell, Interval) and cell.is_share for row in self.rows for cell in row)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Report for each column whether it holds numbers, which are aligned on the right."""
        columns = zip(*self.long, strict=True) if self.rows else ([""] for _ in self.headers)
        return tuple(all(map(_NUMBER.match, column)) and any(column) for column in columns)

    @property
    def heading(self) -> str:
        """The title as a sentence."""
        return self.title if self.title.endswith((".", "?")) else f"{self.title}."

    @property
    def label_count(self) -> int:
        """How many columns at the left say what a row is."""
        numeric = self.numeric
        return self.labels if self.labels is not None else numeric.index(True) if True in numeric else len(numeric)

    def across(self, rows: Sequence[str], columns: Sequence[str], value: str) -> "View":
        """Arrange the cells of one column in two dimensions.

        Args:
            rows: columns whose values name a line of the new table.
            columns: columns whose values together head a column of it.
            value: the column whose cells it holds.
        """
        places = {header: place for place, header in enumerate(self.headers)}
        lines: dict[tuple[Cell, ...], dict[str, Cell]] = {}
        for row in self.rows:
            about: dict[str, Cell] = {name: long(row[places[name]]) for name in rows if name in places}
            head = " ".join(filter(None, (long(row[places[name]]) for name in columns if name in places)))
            lines.setdefault(tuple(about.values()), about)[head] = row[places[value]]
        names = dict.fromkeys(name for line in lines.values() for name in line)
        return View.whole(self.title, self.how, lines.values(), names)


def long(value: Cell) -> str:
    """Write a cell: numbers with three digits, nothing where it is undefined."""
    if isinstance(value, Interval):
        return value.long()
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:z.3f}"
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:,}" if isinstance(value, int) else str(value)


def short(value: Cell) -> str:
    """Write a cell for a narrow table: as `long`, but intervals have two digits, and shares are x 100."""
    return value.short() if isinstance(value, Interval) else long(value)


def with_intervals(row: Row) -> dict[str, Any]:
    """Put each value of a row that has `<name>_low` and `<name>_high` into one cell with these ends."""
    ended = [name for name in row if f"{name}_low" in row and f"{name}_high" in row]
    ends = {f"{name}_{end}" for name in ended for end in ("low", "high")}
    return {
        name: Interval.of(row, name, f"{name}_low", f"{name}_high") if name in ended else value
        for name, value in row.items()
        if name not in ends
    }


def head(score: Point | Loss) -> str:
    """Head the column of a pipeline: the stage, below it the metric and the parts."""
    parts = "/".join(filter(None, (score.chunker, score.retriever, score.generator)))
    return f"{score.stage}\n{score.metric} {parts}".rstrip()
