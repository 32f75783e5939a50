"""`ohr cache`: how big the store is, and how to make it smaller."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import localtime, strftime, time
from typing import Annotated

import typer

from ohr.cli.display.console import say, say_json
from ohr.cli.options import STORE, AsJson, StoreFolder
from ohr.errors import DataError

app = typer.Typer(no_args_is_help=True, help="Show or shrink the store.", rich_markup_mode=None)

OBJECTS, FOLDERS = "objects/*/*", "folders/*"
"""Where a store keeps its two kinds of parts."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder of the store."""

    path: Path
    bytes: int
    made: float


@app.command()
def info(store: StoreFolder = STORE, as_json: AsJson = False) -> None:
    """Say how much the store holds."""
    objects, folders = list(_entries(store, OBJECTS)), list(_entries(store, FOLDERS))
    everything = (*objects, *folders)
    size = sum(entry.bytes for entry in everything)
    since = strftime("%Y-%m-%d", localtime(min(entry.made for entry in everything))) if everything else None
    if as_json:
        say_json({"store": store, "objects": len(objects), "folders": len(folders), "bytes": size, "oldest": since})
        return
    age = f", since {since}" if since else ""
    say(f"{store}: {len(objects)} objects, {len(folders)} folders, {_size(size)}{age}")


@app.command()
def prune(
    older_than: Annotated[
        float, typer.Option(min=0, metavar="DAYS", help="Remove what was made so long ago.", show_default=False)
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Remove nothing, only say what would go.")] = False,
    store: StoreFolder = STORE,
    as_json: AsJson = False,
) -> None:
    """Remove old parts of the store; a later run makes again what it needs of them."""
    limit = time() - older_than * 86400
    old = [entry for pattern in (OBJECTS, FOLDERS) for entry in _entries(store, pattern) if entry.made < limit]
    if not dry_run:
        for entry in old:
            _remove(entry.path)
    size = sum(entry.bytes for entry in old)
    if as_json:
        say_json({"store": store, "removed": 0 if dry_run else len(old), "old": len(old), "bytes": size})
        return
    say(f"{store}: {'would free' if dry_run else 'freed'} {_size(size)} in {len(old)} parts")


def _entries(store: Path, pattern: str) -> Iterator[Entry]:
    """List parts of a store, left-over temporary ones too.

    Raises:
        DataError: there is no store.
    """
    if not store.is_dir():
        raise DataError(f"no store at {store}")
    for path in sorted(store.glob(pattern)):
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        stats = [file.stat() for file in files] or [path.stat()]
        yield Entry(path, sum(stat.st_size for stat in stats), max(stat.st_mtime for stat in stats))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
