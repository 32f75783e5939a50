"""Turns pydantic's errors into faults that name file, line, key, choices and the nearest one."""

from typing import Any

from pydantic import BaseModel

from ohr.contracts import yaml_keys
from ohr.registry import choices
from ohr.spec.model import SpecFile
from ohr.spec.source import Fault, Source, Where

_PLAIN = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping with a `kind`",
    "model_type": "must be a mapping",
    "missing": "is required",
}


def told(source: Source, where: Where, detail: Any, model: type[BaseModel]) -> Fault:
    """Tell one of pydantic's errors about the mapping at `where`."""
    given = detail["loc"][:-1] if detail["type"] == "missing" else detail["loc"]
    loc = tuple(part for part in given if part in yaml_keys(model) or _is_key(part, source))
    loc += detail["loc"][len(given) :]  # a key that is not there
    key = (*where, *(loc or detail["loc"][:1]))
    kind, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return source.fault(key, f"unknown key. {choices(str(key[-1]), _keys(_inner(model, loc[:-1])))}")
    if kind == "missing":
        return source.fault(key, _PLAIN[kind])
    if kind in ("literal_error", "enum"):
        allowed = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return source.fault(key, f"{choices(str(given), allowed)} (got {given!r})")
    if kind == "value_error" and isinstance(given, dict):  # about several keys of the mapping
        return source.fault(key, detail["msg"].removeprefix("Value error, "))
    message = _PLAIN.get(kind) or detail["msg"].removeprefix("Value error, ").replace("Input should", "must")
    return source.fault(key, f"{message} (got {given!r})")


def _keys(model: type[BaseModel]) -> list[str]:
    return [*yaml_keys(model), *(["extends"] if model is SpecFile else [])]


def _inner(model: type[BaseModel], loc: tuple[Any, ...]) -> type[BaseModel]:
    """Find the model that a field's own keys belong to, where a field is a model itself."""
    for part in loc:
        field = model.model_fields.get(str(part))
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            break
        model = field.annotation
    return model


def _is_key(part: object, source: Source) -> bool:
    """Keep list places and real keys; drop the union branches that pydantic adds to a location."""
    return isinstance(part, int) or any(part in place for place in source.places)
