"""Descriptions of ohr's own plugins for lists and schemas, from a file: to import all of them takes a second."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ohr.registry import Registry

PATH = Path(__file__).with_name("own_plugins.json")
"""The file, which `python -m checks.reference` writes again."""


def known(registry: Registry, family: str, kind: str) -> Mapping[str, Any] | None:
    """Return what the file has of a plugin, or None for one that does not come with ohr.

    Its keys are `extra`, which may be null, `schema`, and `parts`: the schemas that `schema` refers to, by name.
    """
    return _read().get(f"{family}.{kind}") if registry.is_own(family, kind) else None


@cache
def _read() -> dict[str, dict[str, Any]]:
    plugins: dict[str, dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))
    return plugins
