"""The form of what goes over a line: a program with its length, and back a head with its reply."""

import struct

MOST_OF_PROGRAM = 1 << 20
"""Bytes of the longest program; the longest reply of a model is a tenth of that."""

LENGTH = struct.Struct("<I")
HEAD = struct.Struct("<iBddI")
"""Wait status, how the run ended, wall and CPU seconds, and the number of bytes of the reply."""

BY_ITSELF, TOO_LATE, TOO_LONG, TOO_BIG = range(4)
"""How a run ended: by itself, at the end of its time, with too long a reply, or with too much in its folder."""

RUN, NOT_RUN = b"\1", b"\0"
"""The first byte of a reply: the walls are up, or the program was not run, for the reason that follows."""

_BESIDE = 16384
"""Bytes of a reply beside its value: an error of 1,000 characters, a type's name of 100, the names of fields."""
_JSON = 6
"""Bytes that JSON takes for one byte of a control character."""


def longest(value: int) -> int:
    """Return one byte more than the longest reply whose value has `value` bytes as text."""
    return _JSON * value + _BESIDE
