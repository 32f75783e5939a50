r"""Formulas written as an `array` of one column, whose rows version 1.5 compares one by one."""

import re
from collections.abc import Iterator, Sequence

_BEGIN = re.compile(r"\\begin\{array\}\{([^}]*)\}")
_END = "\\end{array}"
_ROW_END = "\\\\"


def rows(latex: str) -> list[tuple[int, str]]:
    """Return where each row of the first array begins, and the row between `\\[` and `\\]`.

    Empty if there is no array, or if it has several columns. What is around the array is lost, as published.
    """
    begin = _BEGIN.search(latex)
    if begin is None or re.sub(r"[\s|]", "", begin[1]) not in {"l", "c", "r"}:
        return []
    end = latex.find(_END, begin.end())
    return [] if end < 0 else list(_rows(latex[begin.end() : end], begin.end()))


def joined(formulas: Sequence[str]) -> str:
    """Return formulas as the rows of an array."""
    lines = " \\\\ ".join("{" + formula.strip("$").strip("\n") + "}" for formula in formulas)
    return f"\\begin{{array}}{{l}} {lines} \\end{{array}}"


def _rows(body: str, start: int) -> Iterator[tuple[int, str]]:
    for row in body.split(_ROW_END):
        if content := row.strip():
            yield start + row.index(content), f"\\[{content}\\]"
        start += len(row) + len(_ROW_END)
