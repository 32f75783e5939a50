"""Limits, which go into the sandbox, and outcomes, which come out of it."""

from dataclasses import dataclass
from typing import Literal

from ohr.errors import DataError, OhrError

UNSAFE = "I accept that programs run without isolation"
"""The words that let programs run where they cannot be isolated."""

MODULES = (
    "__future__", "abc", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal",
    "enum", "fractions", "functools", "heapq", "itertools", "json", "math", "numbers", "numpy", "operator", "random",
    "re", "statistics", "string", "time", "typing",
)  # fmt: skip
"""Modules that programs may import unless Limits has others: numbers, dates and text, nothing that reaches outside."""

How = Literal["returned", "raised", "refused", "memory", "timeout", "killed"]


class SandboxError(OhrError):
    """Programs cannot be isolated on this machine, or their processes cannot be started."""


@dataclass(frozen=True)
class Limits:
    """Limits of each program.

    Args:
        seconds: wall time from the start of its process.
        cpu_seconds: CPU time, whole seconds.
        memory_mb: memory that it may take beyond what the interpreter and the modules take, in MiB.
        output_bytes: length of the returned value's text in UTF-8 and JSON; the text of a longer one is cut and
            ends with an ellipsis.
        folder_mb: what it may write into its folder, in MiB.
        modules: what it may import. Each is loaded before the programs run, so that they need no file; of a package,
            name the submodules too that are not loaded with it.

    Raises:
        DataError: when a limit is not positive, or a module's name is empty.
    """

    seconds: float = 3.0
    cpu_seconds: int = 3
    memory_mb: int = 512
    output_bytes: int = 65536
    folder_mb: int = 16
    modules: tuple[str, ...] = MODULES

    def __post_init__(self) -> None:
        for name in ("seconds", "cpu_seconds", "memory_mb", "output_bytes", "folder_mb"):
            if not getattr(self, name) > 0:
                raise DataError(f"limits of programs: {name} is {getattr(self, name)!r}; it must be above 0")
        if not all(self.modules):
            raise DataError("limits of programs: modules has an empty name; give names such as math")


@dataclass(frozen=True)
class Outcome:
    """The end of one program.

    All but `seconds` and `how` is the program's word: it may return a false value, and can do no more than that.

    Args:
        value: the returned value as `repr` shows it, numpy's scalars and arrays as Python's; None where there is none.
        number: what `float(value)` gives, so that "438.2" counts as 438.2; None where float raises.
        kind: the name of the returned value's type, such as `float64`; empty where there is none.
        error: one line of why there is no value; None where there is one.
        seconds: wall time of its process.
        how: `returned`; `raised` an exception; `refused`, because it imports a module that is not allowed or is too
            long; out of `memory`; `timeout`, of wall or CPU time; `killed` by a signal or a limit, or ended without
            a result.
    """

    value: str | None
    number: float | None
    kind: str
    error: str | None
    seconds: float
    how: How

    @property
    def returned(self) -> bool:
        """Whether the function ended and returned."""
        return self.how == "returned"
