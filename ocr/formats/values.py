"""Values of parsed JSON, read with care: somebody else's program wrote it, perhaps in another version."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Block, BlockKind

Pages = dict[int, tuple[Block, ...]]
"""The blocks of each page, by its index from 0; a page without blocks is empty."""


class FormatError(ValueError):
    """A file is not what its format says; the message is for people."""


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return a mapping, or raise a FormatError."""
    if not isinstance(value, Mapping):
        raise FormatError(f"{what} is not a mapping")
    return value


def listed(value: Any, what: str) -> Sequence[Any]:
    """Return a list, or raise a FormatError."""
    if not isinstance(value, list):
        raise FormatError(f"{what} is not a list")
    return value


def mappings(value: Any, what: str) -> Iterator[Mapping[str, Any]]:
    """List the mappings of a list; None is an empty one."""
    return (mapping(each, f"an entry of {what}") for each in listed([] if value is None else value, what))


def index(value: Any, what: str, first: int = 0) -> int:
    """Return a page's index from 0.

    Args:
        first: the number of the first page in the file.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str) or not str(value).strip().isdecimal():
        raise FormatError(f"{what} is no page number: {str(value)[:40]!r}")
    number = int(str(value).strip()) - first
    if number < 0:
        raise FormatError(f"{what} is below {first}")
    return number


def text(value: Any) -> str:
    """Return a text, or the texts of a list joined by spaces; anything else has none."""
    if isinstance(value, list):
        return " ".join(filter(None, map(text, value)))
    return value if isinstance(value, str) else ""


def formula(value: str) -> str:
    """Return a display formula with its delimiters."""
    inner = value.strip()
    has_own = inner.startswith(("$", "\\[", "\\(", "\\begin"))
    return inner if has_own or not inner else f"$$\n{inner}\n$$"


def unwrapped(table: str) -> str:
    """Return a table without the document or the dollars that some versions put around it."""
    inner = table.strip()
    for start, end in (("<html>", "</html>"), ("<body>", "</body>"), ("$$", "$$"), ("$", "$")):
        if inner.startswith(start) and inner.endswith(end) and len(inner) >= len(start) + len(end):
            inner = inner[len(start) : len(inner) - len(end)].strip()
    return inner


def blocks_of(pairs: Sequence[tuple[BlockKind, str]]) -> list[Block]:
    """Make blocks of kinds and texts; those without text are left out."""
    return [Block(kind, value) for kind, value in pairs if value.strip()]
