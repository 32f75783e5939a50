"""Keys of the store: what decides a result, hashed; never a path, a name of a knowledge base, or a time."""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ohr.contracts import Stage
from ohr.sources import sources


def key(kind: str, *parts: Any) -> str:
    """Hash a step's kind and its sources: JSON values, and the keys of its inputs."""
    # ASCII, since a text may hold lone surrogates, which have no bytes of their own
    canonical = json.dumps([kind, *parts], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


def identity(stage: Stage, without: Sequence[str] = ()) -> list[Any]:
    """Return what decides a stage's results, as JSON values.

    `[family, version, {field: value}]`, and where there is any a mapping with `packages` (the versions of the
    libraries that the stage declares) and `code` (a hash of the source of a plugin that does not come with ohr).
    """
    fields: Mapping[str, Any] = stage.identity()
    kept = {name: value for name, value in fields.items() if name not in without}
    made_with = {"packages": installed(type(stage).packages), "code": code(type(stage).__module__)}
    some = {name: value for name, value in made_with.items() if value}
    return [type(stage).family, type(stage).version, kept, *([some] if some else [])]


def installed(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    versions = {name: installed_version(name) for name in packages}
    return {name: version for name, version in versions.items() if version}


@cache
def installed_version(package: str) -> str | None:
    """Return a distribution's version; None where it is not installed. Read once per process."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def code(module: str) -> str | None:
    """Hash the source that a plugin's module comes with; None for ohr's own, whose `version` is raised instead.

    Of a package these are the module and what it imports of the package, so that an edited retriever changes no key of
    an engine beside it. Read once per process.
    """
    name, _, rest = module.partition(".")
    if name == "ohr":
        return None
    while True:
        found = getattr(sys.modules.get(name), "__file__", None)
        if found is not None or not rest:
            break
        head, _, rest = rest.partition(".")  # a namespace, which several distributions share, has no file
        name = f"{name}.{head}"
    if found is None:
        return None  # typed in by hand, in a notebook say
    path = Path(found)
    if path.name != "__init__.py":
        return file_digest(path)
    root = path.parent
    return _digest(root, sources(root, module.removeprefix(name).removeprefix(".")))


def file_digest(path: Path) -> str:
    """Hash a file's content."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _digest(folder: Path, paths: Sequence[Path]) -> str:
    digest = sha256()
    for path in paths:
        digest.update(f"{path.relative_to(folder).as_posix()}\0{file_digest(path)}\n".encode())
    return digest.hexdigest()
