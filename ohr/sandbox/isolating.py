"""Which mechanisms of isolation work on this machine, and whether they suffice."""

from collections.abc import Mapping
from dataclasses import dataclass

from .values import UNSAFE

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
