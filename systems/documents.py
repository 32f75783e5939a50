"""Requests that hold documents themselves: a JSON body for each file, or lines of JSON for many files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .templates import filled, filled_url

FILE_PLACES = frozenset({"text", "file", "number"})
"""Places that a request has for each file: its text, its name, and its number from 1 on."""
_LARGEST = 4 << 20
"""Bytes of lines in a request; the smallest limit of the services with a preset is some 10 MB."""


class Sent(NamedTuple):
    """A request: what a message says of its files, its URL, and its arguments for httpx."""

    place: str
    url: str
    request: Mapping[str, Any]


def bodies(
    url: str, body: Mapping[str, Any] | None, paths: Sequence[Path], values: Mapping[str, Any]
) -> Iterator[Sent]:
    """Yield a request for each file."""
    for number, path in enumerate(paths, 1):
        own = {**values, "text": _text(path), "file": path.name, "number": number}
        request = {} if body is None else {"json": filled(body, own)}
        yield Sent(f"file {number} of {len(paths)} ({path.name}): ", filled_url(url, own), request)


def batches(
    url: str, lines: Sequence[Mapping[str, Any]], paths: Sequence[Path], values: Mapping[str, Any]
) -> Iterator[Sent]:
    """Yield requests of lines of JSON, with as many files as fit into one."""
    first, content = 1, b""
    for number, path in enumerate([*paths, None], 1):
        own = {} if path is None else {**values, "text": _text(path), "file": path.name, "number": number}
        more = b"".join(json.dumps(filled(line, own)).encode() + b"\n" for line in lines) if own else b""
        if content and (path is None or len(content) + len(more) > _LARGEST):
            files = f"file {first}" if first == number - 1 else f"files {first} to {number - 1}"
            yield Sent(f"{files} of {len(paths)}: ", filled_url(url, values), {"content": content})
            first, content = number, b""
        content += more


def _text(path: Path) -> str:
    """Return a file's text, "" of one that is none: a spec that asks for texts is handed none but texts."""
    return path.read_text("utf-8") if path.suffix in (".md", ".txt") else ""
