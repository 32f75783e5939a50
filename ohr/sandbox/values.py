"""Limits, which go into the sandbox, and what comes out of it: outcomes, and how it isolates."""

from collections.abc import Mapping
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
"""How a program ended."""


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


WORDS = {
    "seccomp": "a filter of system calls (seccomp)",
    "limits": "limits of CPU time, memory, files and processes, no root and no capabilities",
    "namespaces": "a root folder, process numbers, a network without devices, queues and a host name of its own",
}
"""The mechanisms, the two needed ones first."""

NEEDED = ("seccomp", "limits")
"""The filter and the limits, together, hold by themselves. They leave a program no socket, no process, no signal, no
file; it may open files only where namespaces, a second wall behind these, give it a root of its own."""


@dataclass(frozen=True)
class Isolation:
    """The mechanisms of this machine, each tried by using it.

    Args:
        works: the mechanisms that work, by name.
        lacks: those that do not, with the reason.
        broken: what an attack on all of them together reached; empty where nothing.
    """

    works: tuple[str, ...]
    lacks: Mapping[str, str]
    broken: str = ""

    @property
    def suffices(self) -> bool:
        """Whether programs are isolated: the filter and the limits work, and no attack on them succeeded."""
        return not self.why

    @property
    def files(self) -> bool:
        """Whether a program may use its own folder; elsewhere it can open no file at all."""
        return "namespaces" in self.works

    @property
    def why(self) -> str:
        """The reason why programs are not isolated; empty where they are."""
        lacking = [f"no {name} ({self.lacks.get(name, 'not tried')})" for name in NEEDED if name not in self.works]
        return "; ".join(filter(None, [*lacking, self.broken]))

    def __str__(self) -> str:
        """Return the mechanisms in words, one line each."""
        verdict = "Programs are isolated here." if self.suffices else self.refusal()
        works = [f"works: {WORDS[name]}" for name in self.works]
        return "\n".join([verdict, *works, *(f"lacks: {WORDS[name]} ({why})" for name, why in self.lacks.items())])

    def refusal(self) -> str:
        """Return the sentence that says why programs do not run, and what to do."""
        return (
            f"programs cannot be isolated on this machine: {self.why}; run them on Linux (x86_64 or aarch64) with "
            f'seccomp, or pass unsafe="{UNSAFE}"'
        )
