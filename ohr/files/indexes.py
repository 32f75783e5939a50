"""Indexes of retrievers as folders: arrays, which are mapped into memory, JSON values, and files of other libraries."""

import json
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np

from ohr.contracts import Index
from ohr.errors import PluginError

_ABOUT = "index.json"


def save(index: Index, folder: Path) -> None:
    """Write an index into an empty folder, without pickle.

    Raises:
        PluginError: a content is neither an array of numbers, nor a JSON value, an index or a function.
    """
    kinds: dict[str, list[str]] = {"arrays": [], "indexes": [], "files": []}
    values: dict[str, Any] = {}
    for name, content in index.contents.items():
        if not name.isidentifier():
            raise PluginError(f"an index names its contents as Python does variables, not {name!r}")
        if isinstance(content, np.ndarray):
            if content.dtype.hasobject:
                raise PluginError(f"the index has objects in the array {name!r}: use numbers, or a list of JSON values")
            np.save(folder / f"{name}.npy", content, allow_pickle=False)
            kinds["arrays"].append(name)
        elif isinstance(content, Index):
            (folder / name).mkdir()
            save(content, folder / name)
            kinds["indexes"].append(name)
        elif callable(content):
            content(folder / name)
            kinds["files"].append(name)
        else:
            values[name] = content
    (folder / _ABOUT).write_text(_text({**kinds, "values": values, "notes": list(map(str, index.notes))}))


def is_index(folder: Path) -> bool:
    """Report whether a folder has an index; one of a version before has files of its retriever."""
    return (folder / _ABOUT).is_file()


def load(folder: Path) -> Index:
    """Open an index."""
    about = json.loads((folder / _ABOUT).read_text())
    # plain arrays over the mapped files: each slice of a memmap would cost several microseconds
    contents = {name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in about["arrays"]}
    indexes = {name: load(folder / name) for name in about["indexes"]}
    files = {name: folder / name for name in about["files"]}
    return Index({**about["values"], **contents, **indexes, **files}, about["notes"])


def reopened(index: Index) -> Index:
    """Open an index as one that was stored, from a folder that lasts as long as the result."""
    folder = Path(mkdtemp())
    try:
        save(index, folder)
        opened = load(folder)
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    finalize(opened, rmtree, folder, ignore_errors=True)
    return opened


def _text(about: dict[str, Any]) -> str:
    try:
        return json.dumps(about)
    except (TypeError, ValueError) as error:
        raise PluginError(
            f"an index has arrays, JSON values, indexes and functions that write files: {error}"
        ) from None
