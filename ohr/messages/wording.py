"""How messages count and list: in one way everywhere."""

from collections.abc import Sequence

_NAMED = 3


def counted(number: int, thing: str, things: str = "") -> str:
    """Count things in words: `1 page`, `2,500 pages`.

    Args:
        number: how many.
        thing: what they are, as one is called.
        things: what several are called, where that is not `thing` with an s.
    """
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def named(names: Sequence[str]) -> str:
    """List the first names, and say how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
