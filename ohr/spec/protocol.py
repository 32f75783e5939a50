"""Holds a spec to its benchmark's protocol: fills in the plugins that it prescribes, and refuses others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.contracts import Benchmark, Prescribed
from ohr.registry import choices
from ohr.spec.build import Builder
from ohr.spec.source import Where

Entry = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Protocol:
    """What a benchmark prescribes; nothing where the benchmark itself could not be read."""

    benchmark: Benchmark | None
    builder: Builder

    def one(self, family: str, entry: Entry, where: Where, default: Mapping[str, Any]) -> Entry:
        """Give the entry of a family of which a spec has one: what the file says, the prescribed one, or `default`."""
        allowed = self._prescribed(family)
        if entry is None:
            return _whole(allowed[0]) if allowed else default
        return self._held(family, entry, where, allowed)

    def listed(self, family: str, entries: Sequence[Entry], where: Where, *, needed: bool) -> list[Entry]:
        """Give the entries of a family of which a spec has a list; an empty one is filled where it is needed."""
        allowed = self._prescribed(family)
        if not entries and allowed and needed:
            return [_whole(allowed[0])]
        return [self._held(family, entry, (*where, place), allowed) for place, entry in enumerate(entries)]

    def _prescribed(self, family: str) -> list[Prescribed]:
        scoring = self.benchmark.scoring if self.benchmark else None
        return [plugin for plugin in scoring.prescribed if plugin.family == family] if scoring else []

    def _held(self, family: str, entry: Entry, where: Where, allowed: Sequence[Prescribed]) -> Entry:
        if entry is None or not allowed or "kind" not in entry:  # what is wrong by itself is told elsewhere
            return entry
        kind = entry["kind"]
        plugin = next((plugin for plugin in allowed if plugin.kind == kind), None)
        if plugin is None:
            known = kind in self.builder.registry.names(family) if isinstance(kind, str) else False
            if known:  # a kind that is no plugin at all is told by the builder
                told = choices("", [plugin.kind for plugin in allowed])
                self.builder.fault((*where, "kind"), f"is not of {self._of}. {told} (got {kind!r})")
            return entry
        for name, value in plugin.fields.items():
            given = entry.get(name, value)
            if given != value and given != [value]:
                self.builder.fault((*where, name), f"must be {value!r}, as {self._of} has it (got {given!r})")
        return {**plugin.fields, **entry}

    @property
    def _of(self) -> str:
        return f"protocol {self.benchmark.scoring.name} of benchmark {self.benchmark.kind}" if self.benchmark else ""


def _whole(plugin: Prescribed) -> dict[str, Any]:
    return {"kind": plugin.kind, **plugin.fields}
