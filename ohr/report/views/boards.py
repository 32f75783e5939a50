"""Leaderboards as tables."""

from collections.abc import Iterable
from math import isnan

from ohr.report.leaderboard.standings import Leaderboard
from ohr.report.views.view import View


def leaderboard(boards: Iterable[Leaderboard]) -> list[View]:
    """Arrange leaderboards, best system first."""
    found = []
    for board in boards:
        distances = any(not isnan(row.edit_distance) for row in board.rows)
        rows = tuple(
            (
                str(rank) if row.ranked else "",
                row.system,
                row.setting,
                *((row.edit_distance,) if distances else ()),
                *(row.scores.get(group) for group in board.groups),
                "" if isnan(row.of_truth) else f"{100 * row.of_truth:.0f}%",
            )
            for rank, row in enumerate(board.rows, 1)
        )
        headers = (
            "#",
            "system" if board.table else "condition",
            "setting",
            *(("edit distance",) if distances else ()),
            *board.groups,
            "of clean",
        )
        own = frozenset(place for place, row in enumerate(board.rows) if row.own)
        by = "the benchmark's own numbers" if board.by == "number" else f"mean {board.metric} by {board.by}"
        how = f"{by[0].upper()}{by[1:].replace('_', ' ')}, best first"
        how += f"; published rows from {board.table}; yours are marked." if board.table else "."
        how += "".join(f" Not to be compared: {warning}." for warning in board.warnings)
        setting = next((row.setting for row in board.rows if row.own), "")
        title = f"{board.stage.capitalize()}: {setting}" if setting else board.stage.capitalize()
        found.append(View(title, how, headers, rows, own if len(own) < len(rows) else frozenset()))
    return found
