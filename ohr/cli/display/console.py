"""How commands answer: results on stdout, everything else on stderr."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, is_dataclass
from math import isfinite
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import typer

from ohr.results.tables.groups import ALL_STAGES

if TYPE_CHECKING:
    from ohr.engine.ledger import Failure
    from ohr.report.views.view import View
    from ohr.results.derived.losses import Scored


def say(text: str = "") -> None:
    """Print a line of the result."""
    typer.echo(_encodable(text))


def report(text: str) -> None:
    """Print a line about the work, on stderr."""
    typer.echo(_encodable(text), err=True)


def _encodable(text: str) -> str:
    """Return a text in which lone surrogates, which no output can have, are question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def say_json(value: Any) -> None:
    """Print a value as JSON; an undefined number is null."""
    say(json.dumps(_plain(value), indent=1, ensure_ascii=False))


def say_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under headers: drawn on a terminal, plain and aligned in a pipe or a file."""
    if sys.stdout.isatty():
        _draw(headers, rows)
        return
    lines = [[cell.replace("\n", " ") for cell in line] for line in (headers, *rows)]
    widths = _widths(lines)
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def fits(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Report whether a table can be drawn on this terminal without breaking lines; a pipe takes any width."""
    drawn = [[max(cell.split("\n"), key=len) for cell in line] for line in (headers, *rows)]
    return not sys.stdout.isatty() or sum(_widths(drawn)) + 2 * len(headers) < get_terminal_size().columns


def say_views(views: "Iterable[View]") -> None:
    """Print tables for readers, each after an empty line."""
    for view in views:
        say()
        say_view(view)


def say_view(view: "View") -> None:
    """Print a table for readers, and how it is read."""
    marks = [(">" if place in view.marked else "",) * bool(view.marked) for place in range(-1, len(view.rows))]
    headers, *rows = (mark + row for mark, row in zip(marks, (view.headers, *view.short), strict=True))
    say_table(headers, rows)
    for line in wrap(view.how + (" Shares are x 100." if view.has_shares else ""), 118):
        say(line)


def say_by_stage(made: "Callable[[Sequence[Scored]], View]", scores: "Sequence[Scored]") -> None:
    """Print one table, or one for each stage where the terminal is too narrow for that, and how they are read."""
    stages = dict.fromkeys(score.stage for score in sorted(scores, key=lambda score: ALL_STAGES.index(score.stage)))
    whole = made(scores)
    narrow = [made([score for score in scores if score.stage == stage]) for stage in stages]
    for view in [whole] if fits(whole.headers, whole.short) else narrow:
        say_table(view.headers, view.short)
    say(whole.how)


def say_first(title: str, lines: Sequence[str], most: int = 10) -> None:
    """Print a list's first lines under its title, and how many more there are."""
    for line in first_of(title, lines, most):
        say(line)


def first_of(title: str, lines: Sequence[str], most: int = 10) -> list[str]:
    """Return a list's first lines under its title, and how many more there are; nothing where it is empty."""
    more = [f"  and {len(lines) - most} more"] if len(lines) > most else []
    return [title, *(f"  {line}" for line in lines[:most]), *more] if lines else []


def grouped(lines: Iterable[str]) -> list[str]:
    """List the first line of each kind, and how many more there are: lines that differ in names and numbers only."""
    kinds: dict[str, list[str]] = {}
    for line in lines:
        kinds.setdefault(_NAMES.sub("#", line), []).append(line)
    return [
        first + (f" ({len(more)} more like this: see the report)" if more else "") for first, *more in kinds.values()
    ]


_NAMES = re.compile(r"(?:(?:\b[\w.-]*[\d_/][\w./-]*|'[^']*'|\"[^\"]*\")(?:, )?)+")
"""Names, numbers and quotations: words with a digit, an underscore or a slash."""


def as_lines(failures: "Iterable[Failure]") -> list[str]:
    """List failed items, those with one reason in one line: a server that is gone fails all of them."""
    items_by_reason: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        items_by_reason.setdefault((failure.stage, failure.reason), []).append(failure.item)
    return [
        f"{stage}: {items[0]}: {reason}" + (f" ({len(items)} items, of which this is the first)" if items[1:] else "")
        for (stage, reason), items in items_by_reason.items()
    ]


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _draw(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for header in headers:
        table.add_column(Text(header), overflow="fold")  # a name that is cut may be that of another row
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, Set):
        return sorted(map(_plain, value))
    if isinstance(value, float) and not isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
