"""Holds a spec to its benchmark's protocol: names the plugins that it prescribes, and refuses others."""

from collections.abc import Mapping, Sequence
from typing import Any

from ohr.contracts import Benchmark
from ohr.messages.wording import quoted
from ohr.registry import choices
from ohr.spec.build import Builder
from ohr.spec.source import Where

Entry = tuple[Where, Mapping[str, Any]]
"""A plugin's mapping, and where it is written."""


def prescribed(benchmark: Benchmark | None, family: str) -> dict[str, Mapping[str, Any]]:
    """Return a family's plugins that the protocol prescribes, by kind; none where the benchmark could not be read."""
    found = benchmark.scoring.prescribed if benchmark else ()
    return {plugin.kind: {"kind": plugin.kind, **plugin.fields} for plugin in found if plugin.family == family}


def held(builder: Builder, benchmark: Benchmark | None, family: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return a family's entries with the fields that the protocol prescribes; records those that break it."""
    allowed = prescribed(benchmark, family)
    if benchmark is None or not allowed:
        return list(entries)
    protocol = f"protocol {benchmark.scoring.name} of benchmark {benchmark.kind}"
    found: list[Entry] = []
    for where, keys in entries:
        kind = str(keys.get("kind"))
        if kind not in allowed and kind in builder.registry.names(family):  # the builder reports any other
            message = f"is not of {protocol}. {choices('', list(allowed))} (got {kind!r})"
            builder.fault((*where, "kind"), message)
        whole = allowed.get(kind, {})
        for name, value in whole.items():
            given = keys.get(name, value)
            if given not in (value, [value]):
                builder.fault((*where, name), f"must be {value!r}, as {protocol} has it (got {quoted(given)})")
        found.append((where, {**whole, **keys}))
    return found
