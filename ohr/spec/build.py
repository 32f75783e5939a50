"""Makes plugins from their mappings, and gathers the faults on the way."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr, ValidationError

from ohr.contracts import Stage, yaml_keys
from ohr.errors import PluginError
from ohr.registry import Registry, choices
from ohr.spec.aims import TARGET_KEYS, Aim, aims, faults_of_aims
from ohr.spec.faults import told
from ohr.spec.model import Named
from ohr.spec.source import Fault, Source, Where
from ohr.spec.sweep import Variant, suffix, variants

_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Built:
    """A plugin, the (field, value) pairs that were swept to make it, and the dose it is to have, if any."""

    stage: Any
    swept: tuple[tuple[str, Any], ...] = ()
    aim: Aim | None = None


@dataclass
class Builder:
    """Makes plugins; `faults` collects what was wrong with their keys."""

    source: Source
    registry: Registry
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.faults += self.source.faults

    def fault(self, where: Where, message: str) -> None:
        """Note a fault."""
        self.faults.append(self.source.fault(where, message))

    def plugin(self, family: str, kind: str) -> type[Stage]:
        """Import a plugin."""
        return self.registry.load(family, kind)

    def one(self, family: str, keys: Mapping[str, Any], where: Where) -> Any:
        """Make a plugin that cannot be swept; None when its keys are wrong."""
        if not keys:
            return None
        plugin = self._find(family, keys, where)
        return plugin and self._make(plugin, Variant(keys, (), {}), where)

    def spread(self, family: str, keys: Mapping[str, Any], where: Where) -> list[Built]:
        """Make a plugin for every combination of its swept values."""
        plugin = self._find(family, keys, where)
        if plugin is None:
            return []
        spreads = list(variants(plugin, keys))
        if not spreads:
            empty = next(key for key, value in keys.items() if value == [])
            self.fault((*where, empty), "must have at least one value to sweep (got [])")
        made = [(self._make(plugin, variant, where), variant.swept) for variant in spreads]
        return [Built(stage, swept) for stage, swept in made if stage is not None]

    def chain(self, family: str, entry: Any, where: Where) -> list[tuple[Built, ...]]:
        """Make a chain of plugins: one mapping, or a list of them applied in order."""
        if isinstance(entry, Mapping):
            return [(built,) for built in self.noises(family, entry, where)]
        return list(product(*(self.noises(family, keys, (*where, i)) for i, keys in enumerate(entry))))

    def noises(self, family: str, keys: Mapping[str, Any], where: Where) -> list[Built]:
        """Make a noise for every combination of its swept values, and of its targets if it has any."""
        plain = {key: value for key, value in keys.items() if key not in TARGET_KEYS}
        found = self.spread(family, plain, where)
        if len(plain) == len(keys) or not found:
            return found
        knob = str(found[0].stage.knob)
        for key, fault in faults_of_aims(keys, knob, type(found[0].stage)):
            self.fault((*where, key), fault)
            found = []
        return [replace(built, swept=(*built.swept, *swept), aim=aim) for built in found for aim, swept in aims(keys)]

    def named(self, family: str, entries: Sequence[Mapping[str, Any] | None], where: Where) -> tuple[Named[Any], ...]:
        """Make named plugins; each entry may have a `name`, by default its kind, and swept values are added."""
        found = []
        for place, entry in enumerate(entries):
            here: Where = (*where, place) if where[0] != "chunker" else where
            if entry is None:  # not a mapping, which is told already
                continue
            keys = {key: value for key, value in entry.items() if key != "name"}
            name = entry.get("name", keys.get("kind"))
            if not isinstance(name, str):
                if "name" in entry:
                    self.fault((*here, "name"), f"must be text (got {name!r})")
                name = ""
            for built in self.spread(family, keys, here):
                found.append(Named(name + suffix(built.swept), built.stage))
        repeated = sorted({item.name for item in found if [other.name for other in found].count(item.name) > 1})
        for name in repeated:
            self.fault(where, f"several entries are named {name!r}: give each a `name` of its own")
        return tuple(found)

    def _find(self, family: str, keys: Mapping[str, Any], where: Where) -> type[Stage] | None:
        kind = keys.get("kind")
        allowed = self.registry.names(family)
        if kind is None:
            self.fault((*where, "kind"), f"is required. {choices('', allowed)}")
        elif not isinstance(kind, str) or kind not in allowed:
            self.fault((*where, "kind"), f"{choices(str(kind), allowed)} (got {kind!r})")
        else:
            try:
                return self.registry.load(family, kind)
            except PluginError as error:
                self.fault((*where, "kind"), str(error))
        return None

    def _make(self, plugin: type[Stage], variant: Variant, where: Where) -> Stage | None:
        keys = {}
        for key, value in variant.keys.items():
            keys[key] = self._expanded(plugin, key, value, where)
        try:
            return plugin.model_validate(keys, context={"registry": self.registry})
        except ValidationError as error:
            details = error.errors(include_url=False)
            for detail in details:
                if detail["type"] == "too_short" and any(_is_below(other, detail) for other in details):
                    continue  # pydantic counts only the items that are right
                swept = variant.places.get(str(detail["loc"][0])) if detail["loc"] else None
                fault = told(self.source, where, detail, plugin)
                if swept:
                    moved = self.source.fault((*where, *swept), "")
                    fault = Fault(moved.file, moved.line, moved.key, fault.message)
                self.faults.append(fault)
            return None

    def _expanded(self, plugin: type[Stage], key: str, value: Any, where: Where) -> Any:
        """Fill `${NAME}` from the environment, in path and secret fields only."""
        if not isinstance(value, str) or not _VARIABLE.search(value) or key not in yaml_keys(plugin):
            return self._anchored(plugin, key, value, where)
        if not _holds(yaml_keys(plugin)[key].annotation, (Path, SecretStr)):
            self.fault((*where, key), "`${...}` is allowed only in path and secret fields")
            return value
        unset = [name for name in _VARIABLE.findall(value) if name not in os.environ]
        if unset:
            self.fault((*where, key), f"environment variable {unset[0]} is not set")
            return value
        filled = _VARIABLE.sub(lambda match: os.environ[match.group(1)], value)
        return self._anchored(plugin, key, filled, where)

    def _anchored(self, plugin: type[Stage], key: str, value: Any, where: Where) -> Any:
        """Read a relative path as relative to the file in which it stands."""
        if (
            isinstance(value, str)
            and key in yaml_keys(plugin)
            and _is_path(yaml_keys(plugin)[key].annotation, value)
            and value not in _words(yaml_keys(plugin)[key].annotation)
        ):
            try:
                path = Path(value).expanduser()
            except RuntimeError as error:  # `~name` of nobody here
                self.fault((*where, key), str(error))
                return value
            return path if path.is_absolute() else self.source.home((*where, key)) / path
        return value


def _is_below(detail: Any, other: Any) -> bool:
    """Tell whether an error is about a part of what another is about."""
    depth = len(other["loc"])
    return len(detail["loc"]) > depth and detail["loc"][:depth] == other["loc"]


def _is_path(annotation: object, value: str) -> bool:
    """Tell whether a text is a path: in a path's field, and where a name may stand too, by its looks."""
    looks = value.startswith((".", "/", "~")) or "/" in value or value.endswith((".yaml", ".yml"))
    return _holds(annotation, (Path,)) and (looks or not _holds(annotation, (str,)))


def _words(annotation: object) -> tuple[object, ...]:
    """Give the words that a field takes besides a path."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) in (Union, UnionType):
        return tuple(word for option in get_args(annotation) for word in _words(option))
    return ()


def _holds(annotation: object, kinds: tuple[type, ...]) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return any(_holds(option, kinds) for option in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, kinds)
