"""Presets: the fields of `http` for a service, in a file."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

_PRESETS = files("ohr.systems.presets")


def with_preset(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put a preset below the fields that are given; raises ValueError where it is unknown, or has no service."""
    name, root = given.get("preset"), given.get("base_url")
    if name is None:
        return given
    path = _PRESETS.joinpath(f"{name}.yaml") if isinstance(name, str) and re.fullmatch(r"\w+", name) else None
    if path is None or not path.is_file():
        known = sorted(each.name[:-5] for each in _PRESETS.iterdir() if each.name.endswith(".yaml"))
        raise ValueError(f"preset: there is no {name!r}, only {', '.join(known)}")
    if not isinstance(root, str):
        raise ValueError(f"preset: {name} needs `base_url`, the service's root")
    fields = _rooted(YAML(typ="safe", pure=True).load(path.read_text("utf-8")), root.rstrip("/"))
    return {**with_preset({"base_url": root, **fields}), **given}  # one preset may build on another


def _rooted(value: Any, root: str) -> Any:
    if isinstance(value, str):
        return value.replace("{base_url}", root)
    if isinstance(value, list):
        return [_rooted(part, root) for part in value]
    return {name: _rooted(part, root) for name, part in value.items()} if isinstance(value, dict) else value
