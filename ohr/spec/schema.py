"""JSON Schema of a spec, installed plugins included, so that editors complete and check it."""

from typing import Any

from ohr.contracts import Stage, yaml_keys
from ohr.errors import PluginError
from ohr.registry import Registry
from ohr.spec.aims import targets_schema
from ohr.spec.model import KnowledgeBaseEntry, SpecFile
from ohr.spec.sweep import takes_list


def spec_schema(registry: Registry | None = None) -> dict[str, Any]:
    """Make the schema; a plugin whose extra is missing is left open."""
    registry = registry or Registry()
    families = ("benchmark", "ocr", "image_noise", "text_noise", "chunker", "retriever", "generator", "metric")
    definitions: dict[str, Any] = {}
    for family in families:
        options = []
        for kind in registry.names(family):
            name = f"{family}.{kind}"
            definitions[name] = _plugin_schema(registry, family, kind)
            options.append({"$ref": f"#/$defs/{name}"})
        definitions[family] = {"type": "object", "required": ["kind"], "anyOf": options}
    entry = KnowledgeBaseEntry.model_json_schema()
    entry["properties"] |= {
        "ocr": _ref("ocr"),
        "image_noise": _chain("image_noise"),
        "text_noise": _chain("text_noise"),
    }
    definitions["knowledge_base"] = {key: value for key, value in entry.items() if key != "title"}
    schema = SpecFile.model_json_schema()
    definitions |= schema.pop("$defs", {})
    schema["properties"] |= {
        "benchmark": _ref("benchmark"),
        "chunker": _ref("chunker"),
        "knowledge_bases": {"type": "array", "minItems": 1, "items": _ref("knowledge_base")},
        "retrievers": {"type": "array", "items": _ref("retriever")},
        "generators": {"type": "array", "items": _ref("generator")},
        "metrics": {"type": "array", "items": _ref("metric")},
        "extends": {"type": "string", "description": "A spec to merge this one into."},
    }
    if "extends" not in schema.get("required", []):
        schema["required"] = []  # a child spec may leave everything to its parent
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "ohr spec",
        "$defs": definitions,
    }


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _chain(family: str) -> dict[str, Any]:
    return {"anyOf": [_ref(family), {"type": "array", "items": _ref(family)}]}


def _plugin_schema(registry: Registry, family: str, kind: str) -> dict[str, Any]:
    named: dict[str, Any] = (
        {"name": {"type": "string"}} if family in ("chunker", "retriever", "generator", "metric") else {}
    )
    try:
        plugin = registry.load(family, kind)
    except PluginError as error:
        return {"type": "object", "description": str(error), "properties": {"kind": {"const": kind}}}
    schema = plugin.model_json_schema()
    parts = schema.pop("$defs", {})
    schema = _inlined(schema, parts) if parts else schema
    properties = {name: _swept(plugin, name, field) for name, field in schema.get("properties", {}).items()}
    properties["kind"] = {"const": kind}
    if family in ("text_noise", "image_noise"):
        named |= targets_schema()
    schema |= {"properties": named | properties, "required": ["kind", *schema.get("required", [])]}
    schema["description"] = _first_line(plugin)
    return schema


def _swept(plugin: type[Stage], name: str, field: dict[str, Any]) -> dict[str, Any]:
    """Allow a list of values where the field takes one."""
    shown = {key: value for key, value in field.items() if key != "execution"}
    if takes_list(yaml_keys(plugin)[name].annotation):
        return shown
    plain = {key: value for key, value in shown.items() if key in ("description", "default", "title")}
    one = {key: value for key, value in shown.items() if key not in plain}
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}], **plain}


def _inlined(value: Any, parts: dict[str, Any]) -> Any:
    """Put a field's own model in the place of the reference to it; a reference knows its place in one file only."""
    if isinstance(value, list):
        return [_inlined(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    rest = {key: _inlined(item, parts) for key, item in value.items() if key != "$ref"}
    return _inlined(parts[value["$ref"].rsplit("/", 1)[-1]], parts) | rest if "$ref" in value else rest


def _first_line(plugin: type[Stage]) -> str:
    return (plugin.__doc__ or "").strip().split("\n")[0]
