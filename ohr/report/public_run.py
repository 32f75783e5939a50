"""A run as it may be passed on: without what may quote a text, and without what names the machine."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from ohr.results.run import Run

_OF_THIS_MACHINE = ("process", "store")
_LEFT_OUT = "the reason is left out"


class PublicRun(Run):
    """A run whose items and reasons of failures, which may quote a prompt, are left out, and whose folders are `…`."""

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest without the machine's process and store."""
        full = {name: value for name, value in Run(self.folder).manifest.items() if name not in _OF_THIS_MACHINE}
        if reasons := full.get("failures", {}).get("reasons"):
            public = [{**reason, "reason": _LEFT_OUT, "first": ""} for reason in reasons]
            full["failures"] = {**full["failures"], "reasons": public}
        folders = {
            str(folder) for value in _strings(full) if value.startswith("/") for folder in PurePath(value).parents
        }
        folders |= {str(Path.home()), str(Path.cwd())}
        return dict(_without(full, sorted(folders - {"/"}, key=len, reverse=True)))

    def rows(self, name: str, /, columns: Sequence[str] | None = None, **equal: Any) -> list[dict[str, Any]]:
        """Read rows of a table; those of failures name neither item nor reason."""
        rows = super().rows(name, columns, **equal)
        return [{**row, "item": "", "reason": _LEFT_OUT} for row in rows] if name == "failures" else rows


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _without(value: Any, folders: Sequence[str]) -> Any:
    """Write `…` in place of the folders, the longest first, in every text of a JSON value."""
    if isinstance(value, str):
        for folder in folders:
            value = value.replace(f"{folder}/", "…/")
        return value
    if isinstance(value, dict):
        return {name: _without(each, folders) for name, each in value.items()}
    return [_without(each, folders) for each in value] if isinstance(value, list) else value
