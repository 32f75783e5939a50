"""Keys of the store: what decides a result, hashed; never a path, a name of a knowledge base, or a time."""

import hashlib
import json
import sys
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, PackagePath, distribution, version
from importlib.util import find_spec
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


_RIVALS = {"cv2": ("opencv-python-headless", "opencv-python"), "faiss": ("faiss-cpu", "faiss-gpu")}
"""Distributions that write one module, first the one that ohr asks for: the last installed has replaced the others."""


def installed(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed.

    Of distributions that write the same module, only the version of the module that is there counts: one more of them,
    which another package brought along, changes no key unless it has replaced the module by another version.
    """
    versions = {name: version for name in packages if (version := installed_version(name))}
    for module, rivals in _RIVALS.items():
        if len(there := tuple(name for name in rivals if name in versions)) > 1 and (owned := _owned(module, there)):
            versions = {name: version for name, version in versions.items() if name not in rivals} | owned
    return versions


@cache
def _owned(module: str, rivals: tuple[str, ...]) -> dict[str, str]:
    """Return the version of a module by the first of the distributions that wrote it; nothing where none surely did."""
    spec = find_spec(module)
    folder = Path(spec.origin).parent.resolve() if spec and spec.origin else None
    written = {name: _written(name, folder) for name in rivals} if folder else {}
    writers = [name for name in rivals if written.get(name)]
    whole = [name for name in writers if all(map(_is_there, written[name]))]
    return {writers[0]: version(whole[0])} if whole else {}


def _written(package: str, folder: Path) -> list[PackagePath]:
    """List the Python files in a folder that a distribution has written, with their hashes."""
    files = (file for file in distribution(package).files or () if file.suffix == ".py" and file.hash)
    return [file for file in files if Path(file.locate()).parent.resolve() == folder]


def _is_there(file: PackagePath) -> bool:
    assert file.hash is not None, "it is one of _written"
    path = Path(file.locate())
    if not path.is_file():
        return False
    digest = hashlib.new(file.hash.mode, path.read_bytes()).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=") == file.hash.value


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
