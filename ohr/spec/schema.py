"""JSON Schema of a spec, installed plugins included, so that editors complete and check it."""

from typing import Any

from pydantic import BaseModel

from ohr.contracts import FAMILIES, Stage, Treatment, yaml_keys
from ohr.errors import PluginError
from ohr.registry import Registry
from ohr.spec.file_keys import SpecFile
from ohr.spec.own_plugins import known
from ohr.spec.sweep import Aim, takes_list
from ohr.treatments import SHORT, KnowledgeBaseEntry

_TREATMENTS = [family for family, (contract, _) in FAMILIES.items() if issubclass(contract, Treatment)]
_NAMED = ("chunker", "retriever", "generator", "agent", "system", "metric")


def spec_schema(registry: Registry | None = None) -> dict[str, Any]:
    """Make the schema; a plugin whose extra is missing is left open."""
    registry = registry or Registry()
    definitions: dict[str, Any] = {}
    for family in FAMILIES:
        kinds = registry.names(family)
        for kind in kinds:
            plugin = known(registry, family, kind) or described(registry, family, kind)
            definitions |= {f"{family}.{kind}.{name}": part for name, part in plugin["parts"].items()}
            definitions[f"{family}.{kind}"] = plugin["schema"]
        refs = [_ref(f"{family}.{kind}") for kind in kinds]
        definitions[family] = {"type": "object", "required": ["kind"], "anyOf": refs}
    entry = KnowledgeBaseEntry.model_json_schema()
    entry["properties"]["ocr"] = _ref("ocr")
    lists = [family for family in SHORT if family != "ocr"]
    entry["properties"] |= {family: {"anyOf": [_ref(family), _list_of(family)]} for family in lists}
    entry["properties"]["treatments"]["items"] = {"anyOf": [_ref(family) for family in _TREATMENTS]}
    definitions["knowledge_base"] = {key: value for key, value in entry.items() if key != "title"}
    schema = SpecFile.model_json_schema()
    definitions |= schema.pop("$defs", {})
    schema["properties"] |= {"benchmark": _ref("benchmark"), "chunker": _ref("chunker")}
    schema["properties"] |= {f"{family}s": _list_of(family) for family in _NAMED[1:]}
    schema["properties"]["knowledge_bases"] = {**_list_of("knowledge_base"), "minItems": 1}
    schema["properties"]["extends"] = {"type": "string", "description": "A spec to merge this one into."}
    schema["required"] = []  # a child spec may leave everything to its parent
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | schema | {"title": "ohr spec", "$defs": definitions}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _list_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _ref(name)}


def described(registry: Registry, family: str, kind: str) -> dict[str, Any]:
    """Import a plugin and describe it, with the keys of `own_plugins.known`."""
    try:
        plugin = registry.load(family, kind)
    except PluginError as error:
        unknown = {"type": "object", "description": str(error), "properties": {"kind": {"const": kind}}}
        return {"extra": None, "schema": unknown, "parts": {}}
    schema = _plugin_schema(plugin, family, kind)
    return {"extra": plugin.extra, "parts": schema.pop("$defs", {}), "schema": schema}


def _plugin_schema(plugin: type[Stage], family: str, kind: str) -> dict[str, Any]:
    schema = plugin.model_json_schema(ref_template=f"#/$defs/{family}.{kind}.{{model}}")
    properties: dict[str, Any] = {"name": {"type": "string"}} if family in _NAMED else {}
    if issubclass(plugin, Treatment) and plugin.purpose == "noise":
        properties |= _swept(Aim, Aim.model_json_schema(), "default", "title")
    properties |= _swept(plugin, schema, "execution") | {"kind": {"const": kind}}
    # the engines before one that chooses become its parts
    required = ["kind", *(name for name in schema.get("required", ()) if (family, name) != ("ocr", "parts"))]
    description = (plugin.__doc__ or "").strip().split("\n")[0]
    return schema | {"properties": properties, "required": required, "description": description}


def _swept(model: type[BaseModel], schema: dict[str, Any], *hidden: str) -> dict[str, Any]:
    """Return a model's properties without some of their keys; a list is allowed where a field takes one value."""
    found = {}
    for name, field in schema.get("properties", {}).items():
        shown = {key: value for key, value in field.items() if key not in hidden}
        if not takes_list(yaml_keys(model)[name].annotation):
            plain = {key: value for key, value in shown.items() if key in ("description", "default", "title")}
            one = {key: value for key, value in shown.items() if key not in plain}
            shown = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}], **plain}
        found[name] = shown
    return found
