"""Reads JSON that others wrote: every fault is a ValueError, and its texts can be written to any file."""

import json
import re
from collections.abc import Iterator
from typing import Any

_HALF = re.compile(rb"\\u[dD]|\xed[\xa0-\xbf]")
"""The beginning of half a character (a lone surrogate), as of a cut emoji, which no file can hold."""
_HALF_SIGNS = (b"\\ud", b"\\uD", b"\xed")  # searched for first: plain bytes are found in a fifth of the time

_LONGEST_NUMBER = 18
"""Most digits of a page number; Python refuses to convert some thousands of digits."""


def parse_json(content: bytes, *, unique: bool = False) -> Any:
    """Read JSON; replace halves of characters with question marks.

    Args:
        content: of the file.
        unique: refuse a mapping with the same key twice, of which the last would count.

    Raises:
        ValueError: it is not JSON, not UTF-8, or too deeply nested.
    """
    try:
        found = json.loads(content, object_pairs_hook=_once if unique else None)
        if any(sign in content for sign in _HALF_SIGNS) and _HALF.search(content):
            found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("too deeply nested") from None
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:60]!r} is there twice")
    return found


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Number the lines of JSON Lines that are not empty; only a line feed ends one: texts hold other separators."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def whole_number(value: object) -> int | None:
    """Read a number from 0 on, also where it is written as text; None for anything else."""
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if digits.isdecimal() and len(digits) <= _LONGEST_NUMBER else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
