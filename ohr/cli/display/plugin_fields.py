"""A plugin's parameters in words, from its JSON Schema."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ohr.contracts import Stage

_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "mapping",
    "null": "null",
}
_LIMITS = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key of a plugin, in words; a key without a default is `required`."""

    name: str
    type: str
    default: str
    range: str
    description: str
    changes_results: bool


def parameters(plugin: "type[Stage]") -> list[Parameter]:
    """List a plugin's keys, `kind` aside."""
    schema = plugin.model_json_schema()
    definitions = schema.get("$defs", {})
    return [
        Parameter(
            name=name,
            type=_type(field, definitions),
            default=_default(name, field, schema.get("required", ())),
            range=_range(field),
            description=field.get("description", ""),
            changes_results=not field.get("execution", False),
        )
        for name, field in schema["properties"].items()
        if name != "kind"
    ]


def _default(name: str, field: Mapping[str, Any], required: Collection[str]) -> str:
    if name in required:
        return "required"
    return json.dumps(field["default"], ensure_ascii=False) if "default" in field else "none"


def _type(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return _type(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in field:
        return " or ".join(_type(option, definitions) for option in field["anyOf"])
    if "enum" in field or "const" in field:
        return ", ".join(str(value) or '""' for value in field.get("enum", [field.get("const")]))
    if field.get("type") == "array":
        return f"list of {_type(field['items'], definitions)}" if "items" in field else "list"
    if "kind" in field.get("required", ()):
        return "plugin"
    if field.get("format") in ("path", "file-path", "directory-path"):
        return "path"
    return _WORDS.get(field.get("type", ""), "anything")


def _range(field: Mapping[str, Any]) -> str:
    limited = next((option for option in field.get("anyOf", ()) if option.keys() & _LIMITS.keys()), field)
    return ", ".join(f"{sign} {limited[limit]:g}" for limit, sign in _LIMITS.items() if limit in limited)
