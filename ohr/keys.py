"""Keys of the store: what decides a result, hashed; never a path, a name of a knowledge base, or a time."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from ohr.contracts import Stage


def key(kind: str, *parts: Any) -> str:
    """Hash a step's kind and what it is made from: JSON values, and the keys of its inputs."""
    # ASCII, since a text may hold lone surrogates, which have no bytes of their own
    canonical = json.dumps([kind, *parts], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


def identity(stage: Stage, without: Sequence[str] = ()) -> list[Any]:
    """Give what decides a stage's results: family, kind, version and its result-changing fields."""
    fields: Mapping[str, Any] = stage.identity()
    kept = {name: value for name, value in fields.items() if name not in without}
    return [type(stage).family, type(stage).version, kept]


def file_digest(path: Path) -> str:
    """Hash a file's content."""
    digest = sha256()
    with path.open("rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def folder_digest(folder: Path) -> str:
    """Hash a folder's files, by relative name and content."""
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{file_digest(path)}\n".encode())
    return digest.hexdigest()
