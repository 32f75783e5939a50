"""A run as it may be passed on: without what may quote a text, and without what names the machine."""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from ohr.results.run import Run

_OF_THIS_MACHINE = ("process", "store")
_LEFT_OUT = "the reason is left out"
_PATH = re.compile(r'"/(?:[^"\\]|\\.)*"')
"""A text of JSON that is an absolute path."""


class PublicRun(Run):
    """A run whose items and reasons of failures, which may quote a prompt, are left out, and whose folders are `…`."""

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest without the machine's process and store."""
        full = {name: value for name, value in Run(self.folder).manifest.items() if name not in _OF_THIS_MACHINE}
        if reasons := full.get("failures", {}).get("reasons"):
            public = [{**reason, "reason": _LEFT_OUT, "first": ""} for reason in reasons]
            full["failures"] = {**full["failures"], "reasons": public}
        text = json.dumps(full, ensure_ascii=False)
        paths = (PurePath(json.loads(path)) for path in _PATH.findall(text))
        folders = {str(folder) for path in paths for folder in path.parents} | {str(Path.home()), str(Path.cwd())}
        for folder in sorted(folders - {"/"}, key=len, reverse=True):
            text = text.replace(f"{json.dumps(folder, ensure_ascii=False)[1:-1]}/", "…/")
        return dict(json.loads(text))

    def rows(self, name: str, /, columns: Sequence[str] | None = None, **equal: Any) -> list[dict[str, Any]]:
        """Read rows of a table; those of failures name neither item nor reason."""
        rows = super().rows(name, columns, **equal)
        return [{**row, "item": "", "reason": _LEFT_OUT} for row in rows] if name == "failures" else rows
