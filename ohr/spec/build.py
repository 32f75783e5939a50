"""Builds plugins from their mappings, and gathers the faults on the way.

A plugin is validated by its own class, which its `kind` names, once for each combination of its swept values. Only
that class is imported, not the whole family, and what is wrong is known by its place in the file.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin
from unicodedata import category

from pydantic import BaseModel, BeforeValidator, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from ohr.contracts import Stage, Treatment, yaml_keys
from ohr.errors import PluginError
from ohr.messages.variables import VARIABLE, FilledPath, fill
from ohr.messages.wording import quoted
from ohr.registry import Nested, Registry, choices
from ohr.spec.file_keys import SpecFile
from ohr.spec.model import Named, names
from ohr.spec.servers import fault_of_variable, variables_of
from ohr.spec.source import Note, Source, Where, refuse
from ohr.spec.sweep import Aim, Swept, fault_of_size, faults_of_aim, options, sizes, suffix, variants

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Built:
    """A plugin, its swept fields, and its target dose, if any."""

    stage: Any
    swept: Swept
    aim: Aim | None


@dataclass
class Builder:
    """Builds plugins; `notes` collects the faults of their keys.

    Args:
        allowed: environment variables that may be sent to a server whatever their names are.
    """

    source: Source
    registry: Registry
    allowed: frozenset[str] = frozenset()
    notes: list[Note] = field(default_factory=list)

    def note(self, where: Where, message: str | None) -> bool:
        """Add a fault, if there is one; reports whether there is."""
        if message:
            self.notes.append((where, message))
        return bool(message)

    def refuse(self) -> None:
        """Raise a SpecError that lists all faults, those of the file among them; nothing without faults."""
        refuse([*self.source.faults, *(self.source.fault(*note) for note in self.notes)])

    def validated(self, model: type[M], keys: Any, where: Where, at: Mapping[str, int] | None = None) -> M | None:
        """Validate a mapping; None when it has faults.

        Args:
            at: the places of swept values in their lists.
        """
        try:
            return model.model_validate(keys, context={"registry": self.registry})
        except ValidationError as error:
            self.notes += faults_of(error, model, self.source.keys, where, at or {})
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
        stage = self.one(family, keys, (family,))
        self.refuse()
        return stage

    def spread(self, family: str, keys: Mapping[str, Any], where: Where) -> list[Built]:
        """Build a plugin for every combination of its swept values, and of its targets if it has any."""
        plugin = self._find(family, keys, where)
        if plugin is None:
            return []
        is_noise = issubclass(plugin, Treatment) and plugin.purpose == "noise"
        aimed = {key: keys[key] for key in Aim.model_fields if key in keys and is_noise}
        own = {key: value for key, value in keys.items() if key not in aimed}
        swept = sizes(plugin, own) | sizes(Aim, aimed)
        wrong = list(faults_of_aim(aimed, own, plugin)) if aimed else []
        self.notes += [((*where, key), message) for key, message in wrong]
        if wrong or self.note(where, fault_of_size(swept, "variants")):
            return []
        found = []
        for chosen, at in variants(own | aimed, swept):
            stage = self._made(plugin, {key: chosen[key] for key in own}, where, at)
            aim = self.validated(Aim, {key: chosen[key] for key in aimed}, where, at) if aimed else None
            if stage and (aim or not aimed):
                found.append(Built(stage, [(key, chosen[key]) for key in at], aim))
        return found

    def named(self, family: str, entries: Sequence[tuple[Where, Mapping[str, Any]]]) -> tuple[Named[Any], ...]:
        """Build named plugins; each entry may have a `name`, by default its kind, and swept values are added."""
        plugins = []
        for where, entry in entries:
            name = entry.get("name", str(entry.get("kind")))
            if not isinstance(name, str):
                self.note((*where, "name"), f"must be text (got {quoted(name)})")
            keys = {key: value for key, value in entry.items() if key != "name"}
            for built in self.spread(family, keys, where):
                plugins.append(Named(f"{name}{suffix(built.swept)}", built.stage))
                self.note((*where, "name"), fault_of_name(plugins[-1].name))
        for message in repeats(names(plugins)):
            self.note(entries[0][0][:1], message)
        return tuple(plugins)

    def _made(self, plugin: type[Stage], keys: Mapping[str, Any], where: Where, at: Mapping[str, int]) -> Any:
        """Make a plugin of its keys; None where they, or those of a plugin inside it, have faults."""
        before = len(self.notes)
        filled = self._filled(plugin, keys, where, at)
        broken = any(_lacks(value) and not _lacks(keys[key]) for key, value in filled.items())
        return None if broken and len(self.notes) > before else self.validated(plugin, filled, where, at)

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
        self.note((*where, "kind"), message)
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
        for key, variable in variables_of(keys):
            self.note((*where, key), fault_of_variable(variable, self.allowed))
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
            self.note(where, "`${...}` is allowed only in path and secret fields")
            return value
        try:
            text = fill(value)
        except KeyError as error:
            self.note(where, f"environment variable {error.args[0]} is not set")
            return value
        for name in variables if _holds(annotation, (SecretStr,)) else ():
            self.note(where, fault_of_variable(name, self.allowed))
        if not _is_path(annotation, text):
            return text
        if any(sign == "\0" or category(sign) == "Cs" for sign in text):
            self.note(where, f"a path must not hold NUL or a lone surrogate (got {quoted(value)})")
            return value
        try:
            path = Path(text).expanduser()
        except RuntimeError as error:  # `~name` of nobody here
            self.note(where, str(error))
            return value
        path = FilledPath(path if path.is_absolute() else self.source.home(where) / path)
        path.written = value if variables else ""
        return path


def fault_of_name(name: str) -> str | None:
    """Explain why no figure, table or terminal can show a name; None when they can."""
    if any(category(sign) in ("Cc", "Cn", "Cs") for sign in name):
        return f"must not hold control characters or lone surrogates (got {quoted(name)})"
    return None


def repeats(given: Sequence[str]) -> Iterator[str]:
    """Yield a message for each name that several entries have."""
    for name, count in Counter(given).items():
        if count > 1:
            yield f"{count} entries are named {quoted(name)}: give each a `name` of its own"


def _lacks(value: Any) -> bool:
    """Report whether a value, or one of a list, is absent."""
    return value is None or (isinstance(value, list) and any(map(_lacks, value)))


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


_PLAIN = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "string": "must be text",
    "list": "must be a list",
    "tuple": "must be a list",
    "dict": "must be a mapping with a `kind`",
    "model": "must be a mapping",
}
_SHOULD = re.compile(r"^(?:Input|String|Tuple|List|Dictionary|Set) should\b")
"""The beginning of pydantic's messages."""
_OF_TYPE = re.compile(r"(\w+?)_(?:type|parsing|from_float|unicode)")
"""pydantic's names for a value of the wrong type, such as `int_parsing`."""


def faults_of(
    error: ValidationError, model: type[BaseModel], known: Collection[str | int], where: Where, at: Mapping[str, int]
) -> Iterator[Note]:
    """Translate what pydantic found wrong with the mapping at `where`.

    Args:
        model: what the mapping was to be.
        known: every key of the spec.
        at: the place in its list of each value that was swept.
    """
    details = error.errors(include_url=False)
    for detail in details:
        if detail["type"] == "too_short" and any(_is_below(other, detail) for other in details):
            continue  # pydantic counts only the items that are right
        if any(_is_nearer(other, detail) for other in details):
            continue
        loc = _location(detail, model, known)
        swept = [at[key] for key in map(str, loc[:1]) if key in at]
        yield (*where, *loc[:1], *swept, *loc[1:]), _message(detail, model, loc)


def _message(detail: Any, model: type[BaseModel], loc: Where) -> str:
    kind, given = detail["type"], detail["input"]
    wrong = _OF_TYPE.fullmatch(kind)
    plain = _PLAIN.get(wrong[1]) if wrong else None
    message = plain or _SHOULD.sub("must", detail["msg"].removeprefix("Value error, "))
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        inner = _inner(model, loc[:-1])
        allowed = [*yaml_keys(inner), *(["extends"] if inner is SpecFile else [])]
        return f"unknown key. {choices(str(loc[-1]), allowed)}"
    if kind in ("literal_error", "enum"):
        allowed = detail["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        message = choices(given if isinstance(given, str) else quoted(given), allowed)
    elif kind == "value_error" and isinstance(given, dict):  # about several keys of the mapping
        return message
    elif given == [] and kind != "too_short":
        message = "must have at least one value to sweep"
    return f"{message} (got {quoted(given)})"


def _location(detail: Any, model: type[BaseModel], known: Collection[str | int]) -> Where:
    """Drop the parts of a location that are no keys of the file: pydantic's branches of unions."""
    loc: Where = detail["loc"]
    given, absent = (loc[:-1], loc[-1:]) if detail["type"] == "missing" else (loc, ())
    keys = yaml_keys(model)
    kept = tuple(part for part in given if isinstance(part, int) or part in keys or part in known)
    return (*kept, *absent) or loc[:1]


def _inner(model: type[BaseModel], loc: Where) -> type[BaseModel]:
    """Find the model that a field's own keys belong to, where a field is a model itself."""
    for part in loc:
        field = model.model_fields.get(str(part))
        inside = [] if field is None else list(_models(field.annotation))
        if len(inside) == 1:
            model = inside[0]
    return model


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """List the models that an annotation names, those in a list or a union too."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _is_below(detail: Any, other: Any) -> bool:
    """Report whether an error is about a part of what another is about."""
    depth = len(other["loc"])
    return len(detail["loc"]) > depth and detail["loc"][:depth] == other["loc"]


def _is_nearer(detail: Any, other: Any) -> bool:
    """Report whether two errors are about a value that may be plain or a mapping, and only the first one fits it."""
    loc, plain = detail["loc"], other["loc"]
    if not plain or loc[: len(plain) - 1] != plain[:-1] or loc == plain:
        return False
    if isinstance(other["input"], dict):
        return bool(len(loc) > len(plain) and other["type"] == f"{plain[-1]}_type")
    return bool(other["type"] == "model_type" and detail["type"] == f"{loc[-1]}_type")
