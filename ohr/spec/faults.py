"""Turns pydantic's errors into messages that name the key, the choices and the nearest one."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from ohr.contracts import yaml_keys
from ohr.messages.wording import quoted
from ohr.registry import choices
from ohr.spec.file_keys import SpecFile
from ohr.spec.source import Note, Where

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
