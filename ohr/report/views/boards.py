"""Leaderboards as tables."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import isnan, nan

from ohr.report.leaderboard.standings import MEAN, Leaderboard, Row
from ohr.report.views.view import Cell, Interval, View


def leaderboard(boards: Iterable[Leaderboard]) -> list[View]:
    """Arrange leaderboards, best system first."""
    return [_view(board) for board in boards]


def _view(board: Leaderboard) -> View:
    own, published = ([row for row in board.rows if row.own is is_own] for is_own in (True, False))
    settings = [list(dict.fromkeys(row.setting for row in rows)) for rows in (own, published)]
    columns = {
        "#": True,
        (system := "system" if board.table else "condition"): True,
        "setting": max(map(len, settings)) > 1,
        "edit\ndistance": any(not isnan(row.edit_distance) for row in published),
        **dict.fromkeys(board.groups, True),
        "of clean": any(row.is_truth for row in own),
    }
    lines = [
        {"#": str(rank) if row.ranked else "", system: row.system, "setting": row.setting}
        | {"edit\ndistance": row.edit_distance, **{group: _score(board, row, group) for group in board.groups}}
        | {"of clean": "" if isnan(row.of_truth) else f"{100 * row.of_truth:.0f}%"}
        for rank, row in enumerate(board.rows, 1)
    ]
    title = f"{board.stage.capitalize()}: {settings[0][0]}" if own and settings[0][0] else board.stage.capitalize()
    view = View.whole(title, " ".join(_notes(board, columns)), lines, [name for name in columns if columns[name]])
    marked = {place for place, row in enumerate(board.rows) if row.own} if own and published else ()
    return replace(view, marked=frozenset(marked))


def _score(board: Leaderboard, row: Row, group: str) -> Cell:
    value = row.scores.get(group, nan)
    return value if group in board.numbers else Interval(value, is_share=True, digits=1)


def _notes(board: Leaderboard, columns: Mapping[str, bool]) -> Iterator[str]:
    """List how to read a leaderboard, and which of its rows compare."""
    by = "the benchmark's own numbers" if board.by == "number" else f"mean {board.metric} by {board.by}"
    best = f"{by[0].upper()}{by[1:].replace('_', ' ')}, best first"
    yield f"{best}; published rows from {board.table}; yours are marked." if board.table else f"{best}."
    if board.table:
        setting = next((row.setting for row in board.rows if not row.own), "")
        if setting and not columns["setting"]:
            yield f"Published: {setting}."
        yield "Rows compare only where questions, retrievers and generators are the same."
    yield from (f"Not to be compared: {warning}." for warning in board.warnings)
    if columns["of clean"]:
        yield "`of clean` is a row's share of the ground truth's score under its own settings."
    if MEAN in board.groups:
        yield "`mean` is that of the domains shown, in published rows too."
