"""Builds plugins from their mappings, and gathers the faults on the way.

A plugin is validated by its own class, which its `kind` names, once for each combination of its swept values. Only
that class is imported, not the whole family, and what is wrong is known by its place in the file.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin
from unicodedata import category

from pydantic import BaseModel, BeforeValidator, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from ohr.contracts import Stage, yaml_keys
from ohr.errors import PluginError
from ohr.messages.variables import VARIABLE, FilledPath, fill
from ohr.messages.wording import quoted
from ohr.registry import Nested, Registry, choices
from ohr.spec.environment import fault_of_variable, variable_of
from ohr.spec.faults import faults_of
from ohr.spec.model import MOST, Named
from ohr.spec.source import Fault, Source, Where, refuse
from ohr.spec.sweep import Swept, options, sizes, suffix, variants
from ohr.spec.targets import Aim, faults_of_aim

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Built:
    """A plugin, its swept fields, and its target dose, if any."""

    stage: Any
    swept: Swept
    aim: Aim | None


@dataclass
class Builder:
    """Builds plugins; `faults` collects the faults of their keys.

    Args:
        allowed: environment variables that may be sent to a server whatever their names are.
    """

    source: Source
    registry: Registry
    allowed: frozenset[str] = frozenset()
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.faults += self.source.faults

    def fault(self, where: Where, message: str | None) -> None:
        """Note a fault, if there is one."""
        if message:
            self.faults.append(self.source.fault(where, message))

    def validated(self, model: type[M], keys: Any, where: Where, at: Mapping[str, int] | None = None) -> M | None:
        """Validate a mapping; None when it has faults.

        Args:
            at: the places of swept values in their lists.
        """
        try:
            return model.model_validate(keys, context={"registry": self.registry})
        except ValidationError as error:
            self.faults += faults_of(error, model, self.source, where, at or {})
            return None

    def one(self, family: str, keys: Mapping[str, Any], where: Where) -> Any:
        """Build a plugin that cannot be swept; None when its keys are wrong."""
        plugin = self._find(family, keys, where)
        return plugin and self._made(plugin, keys, where, {})

    def alone(self, family: str, keys: Mapping[str, Any]) -> Any:
        """Build a plugin by itself.

        Raises:
            SpecError: its keys are wrong.
        """
        made = self.one(family, keys, (family,))
        refuse(self.faults)
        return made

    def spread(self, family: str, keys: Mapping[str, Any], where: Where) -> list[Built]:
        """Build a plugin for every combination of its swept values, and of its targets if it has any."""
        plugin = self._find(family, keys, where)
        if plugin is None:
            return []
        aims = [key for key in Aim.model_fields if key in keys] if family in ("image_noise", "text_noise") else []
        plain = {key: value for key, value in keys.items() if key not in aims}
        aimed = {key: keys[key] for key in aims}
        wrong = list(faults_of_aim(aimed, plain, plugin)) if aims else []
        for key, message in wrong:
            self.fault((*where, key), message)
        swept = sizes(plugin, plain) | sizes(Aim, aimed)
        if wrong or not self.is_few(swept, where, "variants"):
            return []
        found = []
        for chosen, at in variants(plain | aimed, swept):
            own = {key: value for key, value in chosen.items() if key not in aims}
            stage = self._made(plugin, own, where, at)
            aim = self.validated(Aim, {key: chosen[key] for key in aims}, where, at) if aims else None
            if stage and (aim or not aims):
                found.append(Built(stage, [(key, chosen[key]) for key in at], aim))
        return found

    def chain(self, family: str, entry: Any, where: Where) -> list[list[Built]]:
        """Build a chain of noises, one mapping or a list of them applied in order; returns the variants of each."""
        if isinstance(entry, Mapping):
            return [self.spread(family, entry, where)]
        return [self.spread(family, keys, (*where, place)) for place, keys in enumerate(entry)]

    def named(self, family: str, entries: Sequence[tuple[Where, Mapping[str, Any]]]) -> tuple[Named[Any], ...]:
        """Build named plugins; each entry may have a `name`, by default its kind, and swept values are added."""
        found = []
        for where, entry in entries:
            name = entry.get("name", str(entry.get("kind")))
            if not isinstance(name, str):
                self.fault((*where, "name"), f"must be text (got {quoted(name)})")
            keys = {key: value for key, value in entry.items() if key != "name"}
            for built in self.spread(family, keys, where):
                found.append(Named(self.checked(f"{name}{suffix(built.swept)}", where), built.stage))
        self.refuse_repeats(entries[0][0][:1] if entries else (), [item.name for item in found])
        return tuple(found)

    def checked(self, name: str, where: Where) -> str:
        """Return a name; note a fault where it holds what no figure, table or terminal can show."""
        if any(category(sign) in ("Cc", "Cn", "Cs") for sign in name):
            message = f"must not hold control characters or lone surrogates (got {quoted(name)})"
            self.fault((*where, "name"), message)
        return name

    def refuse_repeats(self, where: Where, names: Sequence[str]) -> None:
        """Note names that several entries have."""
        for name, count in Counter(names).items():
            if count > 1:
                self.fault(where, f"{count} entries are named {quoted(name)}: give each a `name` of its own")

    def is_few(self, factors: Mapping[str, int], where: Where, things: str) -> bool:
        """Report whether a product is small enough to be made; note a fault that names the factors when it is not."""
        count = prod(factors.values())
        if count > MOST:
            many = [f"{key} ({size:,})" for key, size in factors.items() if size > 1]
            product = " x ".join(many[:5]) + (f" x {len(many) - 5} more keys" if many[5:] else "")
            number = f"{count:,}" if count < 10**15 else f"over 10^{len(str(count)) - 1}"
            self.fault(where, f"{product} make {number} {things}; at most {MOST:,} are allowed")
        return count <= MOST

    def _made(self, plugin: type[Stage], keys: Mapping[str, Any], where: Where, at: Mapping[str, int]) -> Any:
        """Make a plugin of its keys; None where they, or those of a plugin inside it, have faults."""
        before = len(self.faults)
        filled = self._filled(plugin, keys, where, at)
        broken = any(value is None and keys[key] is not None for key, value in filled.items())
        return None if broken and len(self.faults) > before else self.validated(plugin, filled, where, at)

    def _find(self, family: str, keys: Mapping[str, Any], where: Where) -> type[Stage] | None:
        kind, allowed = keys.get("kind"), self.registry.names(family)
        message = None
        if kind is None:
            message = f"is required. {choices('', allowed)}"
        elif kind not in allowed:
            given = kind if isinstance(kind, str) else quoted(kind)
            message = f"{choices(given, allowed)} (got {quoted(kind)})"
        else:
            try:
                return self.registry.load(family, kind)
            except PluginError as error:
                message = str(error)
        self.fault((*where, "kind"), message)
        return None

    def _filled(
        self, plugin: type[Stage], keys: Mapping[str, Any], where: Where, at: Mapping[str, int]
    ) -> dict[str, Any]:
        """Fill in variables and anchor relative paths."""
        fields, filled = yaml_keys(plugin), dict(keys)
        for key, value in keys.items():
            if key in fields and isinstance(value, str):
                here = (*where, key, at[key]) if key in at else (*where, key)
                filled[key] = self._text(fields[key].annotation, value, here)
            elif key in fields and isinstance(value, Mapping | list) and (family := _nested(fields[key])):
                filled[key] = self._filled_parts(family, value, (*where, key))
        if variable := variable_of(keys):
            self.fault((*where, "api_key_env"), fault_of_variable(variable, self.allowed))
        return filled

    def _filled_parts(self, family: str, value: Any, where: Where) -> Any:
        """Fill in the mapping of a plugin inside a plugin, or each of a list of them."""
        if isinstance(value, list):
            return [self._filled_parts(family, each, (*where, place)) for place, each in enumerate(value)]
        if not isinstance(value, Mapping):
            return value
        inside = self._find(family, value, where)
        return inside and self._filled(inside, value, where, {})

    def _text(self, annotation: object, value: str, where: Where) -> Any:
        """Read a text, which may be a path or hold `${NAME}`; a relative path starts at the file that it is in."""
        variables = VARIABLE.findall(value)
        if variables and not _holds(annotation, (Path, SecretStr)):
            self.fault(where, "`${...}` is allowed only in path and secret fields")
            return value
        try:
            text = fill(value)
        except KeyError as error:
            self.fault(where, f"environment variable {error.args[0]} is not set")
            return value
        for name in variables if _holds(annotation, (SecretStr,)) else ():
            self.fault(where, fault_of_variable(name, self.allowed))
        if not _is_path(annotation, text):
            return text
        if any(sign == "\0" or category(sign) == "Cs" for sign in text):
            self.fault(where, f"a path must not hold NUL or a lone surrogate (got {quoted(value)})")
            return value
        try:
            path = Path(text).expanduser()
        except RuntimeError as error:  # `~name` of nobody here
            self.fault(where, str(error))
            return value
        path = FilledPath(path if path.is_absolute() else self.source.home(where) / path)
        path.written = value if variables else ""
        return path


def _nested(field: FieldInfo) -> str | None:
    """Return the family of the plugin that a field holds, or of those that it lists, if it holds any."""
    listed = [getattr(part, "__metadata__", ()) for part in get_args(field.annotation)]
    held = (item.func for item in chain(field.metadata, *listed) if isinstance(item, BeforeValidator))
    return next((each.family for each in held if isinstance(each, Nested)), None)


def _is_path(annotation: object, value: str) -> bool:
    """Report whether a text is a path: in a path's field, and where words may be given too, by its looks."""
    words = [word for option in options(annotation) if get_origin(option) is Literal for word in get_args(option)]
    looks = value.startswith((".", "/", "~")) or "/" in value or value.endswith((".yaml", ".yml", ".jsonl"))
    return _holds(annotation, (Path,)) and value not in words and (looks or not _holds(annotation, (str,)))


def _holds(annotation: object, kinds: tuple[type, ...]) -> bool:
    return any(isinstance(option, type) and issubclass(option, kinds) for option in options(annotation))
