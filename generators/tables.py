"""Answers from a table: the cell under a head, the extreme of a series, what passes a threshold, a comparison."""

import re
from collections.abc import Sequence

from .passages import Asked, Unit, is_figure, stems
from .spans import DATE, NUMBER, nearest

_MOST = re.compile(
    r"\b(?:most|largest|highest|greatest|longest|thickest|heaviest|deepest|biggest|maximum)\b|最[高大多长重]"
)
_LEAST = re.compile(r"\b(?:least|fewest|smallest|lowest|shortest|lightest|thinnest|minimum)\b|最[低小少短轻]")
_LIMIT = r"\D{0,12}?(\d[\d,]*(?:\.\d+)?)"
_OVER = re.compile(
    rf"(?:more than|above|over|exceed\w*|at least|than|超过|高于|大于){_LIMIT}|(\d[\d,]*(?:\.\d+)?)%?以上"
)
_UNDER = re.compile(
    rf"(?:less than|fewer than|below|under|lower than|低于|少于|小于){_LIMIT}|(\d[\d,]*(?:\.\d+)?)%?以下"
)
_DOWN = re.compile(r"\b(?:less|fewer|lower|smaller|shorter|cheaper|below|fall|fell|decrease\w*)\b|比.*[低少小短]")
_UP = re.compile(r"\b(?:more|larger|higher|greater|longer|exceed\w*|above|increase\w*|rise|rose)\b|比.*[高多大长]")
_THAN = re.compile(r"\bthan\b|比")
_SUM = re.compile(r"total|together|合计|总计|average", re.IGNORECASE)
_UNIT = re.compile(r"(?:^|\s)\(([^()\d]{1,4}|[^() ]*/[^() ]*)\)")
_COUNTED = re.compile("多少(公[里斤顷]|分钟|[元人名个次天件座条米吨岁家户辆分])")

Series = list[tuple[str, float, str]]
"""Labels, their figures, and the cells that the figures stand in."""


def answer(unit: Unit, asked: Asked) -> str:
    """Give the answer that the best row's table holds."""
    return _from_series(_series(unit, asked), asked) or _cell(unit, asked)


def _cell(unit: Unit, asked: Asked) -> str:
    """Give the cell under the head that shares most with the question, of the kind that is asked for."""
    best, found, head = 0.0, "", ""
    for place, cell in enumerate(unit.cells):
        if not cell or all(stem in asked.weights for stem in stems(cell)):
            continue
        # the leftmost of equals
        score = 1 + _type_fit(cell, asked) + asked.fit(stems(unit.head(place))) - 0.01 * place
        if score > best:
            best, found, head = score, cell, unit.head(place)
    return _with_unit(found, head, asked) if asked.kind == "number" else found


def _type_fit(cell: str, asked: Asked) -> float:
    if asked.kind == "date":
        return 2 if DATE.search(cell) else 0
    if asked.kind == "number":
        return 2 if is_figure(cell) else 1.5 if re.search(r"\d", cell) else 0
    return 0 if is_figure(cell) else 2


def _with_unit(cell: str, head: str, asked: Asked) -> str:
    """Give the figure of a cell with the unit that its head or, in Chinese, the question names."""
    if len(cell.split()) > 3:
        return nearest(cell, NUMBER, asked.weights) or cell
    if not cell[-1:].isdigit():
        return cell
    if counted := _COUNTED.search(asked.text):
        return cell + counted[1]
    unit = _UNIT.search(head)
    return f"{cell} {unit[1]}" if unit else cell


def _value(cell: str) -> float | None:
    found = re.search(r"\d[\d,]*(?:\.\d+)?", cell)
    if not found or not is_figure(cell):
        return None
    return float(found[0].replace(",", "")) * (-1 if cell[: found.start()].strip()[:1] in ("-", "–", "−") else 1)


def _series(unit: Unit, asked: Asked) -> Series:
    """Give the labels and figures of the column, or in a flat table of the row, that the question is about."""
    rows = unit.table.rows if unit.table else []
    if len(rows) <= 2 and len(unit.cells) > 4:
        across = [(unit.head(place), _value(cell), cell) for place, cell in enumerate(unit.cells) if place]
        return [(label, value, cell) for label, value, cell in across if value is not None]
    columns = [place for place, cell in enumerate(unit.cells) if place and _value(cell) is not None]
    if not columns:
        return []
    column = max(columns, key=lambda place: (asked.fit(stems(unit.head(place))), -place))
    found = []
    for row in rows:
        value = _value(row.cells[column]) if column < len(row.cells) else None
        label = next((cell for cell in row.cells[:column] if cell and not is_figure(cell)), row.cells[0])
        if value is not None and not _SUM.search(label):
            found.append((label, value, row.cells[column]))
    return found


def _from_series(series: Series, asked: Asked) -> str:
    """Give the extreme of a series, or what lies beyond a threshold, where the question asks for either."""
    if len(series) < 3:
        return ""
    under = _UNDER.search(asked.text)
    if limit := under or _OVER.search(asked.text):
        bound = float((limit[1] or limit[2]).replace(",", ""))
        kept = [label for label, value, _ in series if (value < bound if under else value > bound)]
        if not 0 < len(kept) < len(series):
            return ""
        if asked.kind != "number":
            return ", ".join(kept)
        return str(len(kept)) if re.search("how many|多少|几", asked.text) else ""
    most = _MOST.search(asked.text)
    if not most and not _LEAST.search(asked.text):
        return ""
    label, _, cell = (max if most else min)(series, key=lambda item: item[1])
    return cell if asked.kind == "number" else label


def compared(rows: Sequence[Unit], asked: Asked) -> bool | None:
    """Tell whether the question's comparison of two cells of a table holds; None where it makes or finds none."""
    down, up = _DOWN.search(asked.text), _UP.search(asked.text)
    sides = _THAN.split(asked.text, maxsplit=1)
    if not sides[1:] and " from " in asked.text and " to " in asked.text.split(" from ", 1)[1]:
        sides = asked.text.split(" from ", 1)[1].split(" to ", 1)[::-1]
    if not (down or up) or len(sides) < 2:
        return None
    first, second = (_figure_for(rows, stems(side), asked) for side in sides)
    if first is None or second is None or first == second:
        return None
    return first < second if down else first > second


def _figure_for(rows: Sequence[Unit], side: Sequence[str], asked: Asked) -> float | None:
    """Give the figure of the cell whose row and head say most of one side of a comparison, and then of the question."""
    best, found = 0, None
    for row in rows:
        label = {stem for cell in row.cells if not is_figure(cell) for stem in stems(cell)}
        for place, cell in enumerate(row.cells):
            about = label | {*stems(row.head(place))}
            score = 3 * len(about.intersection(side)) + len(about & asked.weights.keys())
            if score > best and (value := _value(cell)) is not None:
                best, found = score, value
    return found
