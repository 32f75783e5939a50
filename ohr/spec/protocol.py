"""Holds a spec to its benchmark's protocol: fills in the plugins that it prescribes, and refuses others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.contracts import Benchmark, Prescribed
from ohr.messages.wording import quoted
from ohr.registry import choices
from ohr.spec.build import Builder
from ohr.spec.source import Where

Entry = tuple[Where, Mapping[str, Any]]
"""A plugin's mapping, and where it is written."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """What a benchmark prescribes; nothing where the benchmark itself could not be read."""

    benchmark: Benchmark | None
    builder: Builder

    def held(self, family: str, entries: Sequence[Entry], default: Entry | None) -> list[Entry]:
        """Return a family's entries with the fields that the protocol prescribes; notes those that break it.

        Args:
            default: the entry of a spec that has none, where the protocol has none either; None where none is needed.
        """
        scoring = self.benchmark.scoring if self.benchmark else None
        allowed = [plugin for plugin in scoring.prescribed if plugin.family == family] if scoring else []
        if entries or default is None:
            return [(where, self._held(keys, where, allowed)) for where, keys in entries]
        where, keys = default
        keys = {"kind": allowed[0].kind, **allowed[0].fields} if allowed else keys
        return [(where, keys)] if keys else []

    def _held(self, keys: Mapping[str, Any], where: Where, allowed: Sequence[Prescribed]) -> Mapping[str, Any]:
        kind = keys.get("kind")
        if not allowed or not isinstance(kind, str):  # what is wrong by itself is reported elsewhere
            return keys
        plugin = next((plugin for plugin in allowed if plugin.kind == kind), None)
        if plugin is None:
            if kind in self.builder.registry.names(allowed[0].family):  # the builder reports any other
                kinds = choices("", [plugin.kind for plugin in allowed])
                self.builder.fault((*where, "kind"), f"is not of {self._name}. {kinds} (got {kind!r})")
            return keys
        for name, value in plugin.fields.items():
            given = keys.get(name, value)
            if given != value and given != [value]:
                message = f"must be {value!r}, as {self._name} has it (got {quoted(given)})"
                self.builder.fault((*where, name), message)
        return {**plugin.fields, **keys}

    @property
    def _name(self) -> str:
        return f"protocol {self.benchmark.scoring.name} of benchmark {self.benchmark.kind}" if self.benchmark else ""
