"""Reads JSON that others wrote: whatever is wrong with it is a ValueError, and its texts can be written to any file."""

import json
import re
from collections.abc import Iterator
from typing import Any

_HALF = re.compile(rb"\\u[dD]|\xed[\xa0-\xbf]")
"""What half a character (a lone surrogate) begins with: a cut emoji, which no file can hold."""

_LONGEST_NUMBER = 18
"""Digits of a page number that is read as one; Python refuses numbers of some thousands of digits."""


def parse_json(content: bytes) -> Any:
    """Read JSON; halves of characters in it become question marks.

    Raises:
        ValueError: it is no JSON, no UTF-8, or too deeply nested.
    """
    try:
        found = json.loads(content)
        if _HALF.search(content):
            found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("too deeply nested") from None
    return found


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Number the lines of JSON Lines that are not empty; only a line feed ends one: other separators stand in texts."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def whole_number(value: object) -> int | None:
    """Read a number from 0 on, also where it is written as text; None for anything else."""
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if digits.isdecimal() and len(digits) <= _LONGEST_NUMBER else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
