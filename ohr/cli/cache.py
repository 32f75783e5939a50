"""`ohr cache`: the size of the store, its pins, and pruning."""

from collections import Counter
from time import localtime, strftime, time
from typing import Annotated

import typer

from ohr.cli.display.console import say, say_json
from ohr.cli.options import STORE, AsJson, StoreUrl
from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.store import Store, open_store, prune

app = typer.Typer(no_args_is_help=True, help="Show or shrink the store.", rich_markup_mode=None)


@app.command()
def info(store: StoreUrl = str(STORE), as_json: AsJson = False) -> None:
    """Print how much the store holds."""
    opened = _existing(store)
    kinds: Counter[str] = Counter()
    oldest: float | None = None
    for entry in opened.entries():
        kinds[entry.kind] += 1
        oldest = min(entry.used, oldest or entry.used)
    size, pins = opened.size(), opened.pins()
    since = strftime("%Y-%m-%d", localtime(oldest)) if oldest is not None else None
    if as_json:
        counts = {"values": kinds["value"], "folders": kinds["folder"], "leftovers": kinds["leftover"]}
        say_json({"store": store, **counts, "bytes": size, "unused_since": since, "pins": pins})
        return
    left = f", {counted(kinds['leftover'], 'leftover')}" if kinds["leftover"] else ""
    age = f", the oldest last used on {since}" if since else ""
    say(f"{store}: {counted(kinds['value'], 'value')}, {counted(kinds['folder'], 'folder')}{left}, {_size(size)}{age}")
    for run, count in sorted(pins.items()):
        say(f"  {counted(count, 'key')} pinned by {run}")


@app.command("prune")
def prune_old(
    older_than: Annotated[
        float, typer.Option(min=0, metavar="DAYS", help="Remove what was last used so long ago.", show_default=False)
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Remove nothing, only print what would go.")] = False,
    store: StoreUrl = str(STORE),
    as_json: AsJson = False,
) -> None:
    """Remove results that were not used for long, except those that a run has pinned or is making.

    A later run makes again what it needs of the rest.
    """
    pruned = prune(_existing(store), time() - older_than * 86400, dry_run)
    if as_json:
        removed = 0 if dry_run else pruned.parts
        kept = {"pinned": dict(pruned.pinned), "claimed": pruned.claimed}
        say_json({"store": store, "removed": removed, "old": pruned.parts, "bytes": pruned.bytes, "kept": kept})
        return
    done = "would remove" if dry_run else "removed"
    say(f"{store}: {done} {counted(pruned.parts, 'part')}, {_size(pruned.bytes)}")
    for run, count in sorted(pruned.pinned.items()):
        say(f"  kept {counted(count, 'old part')} pinned by {run}")
    if pruned.claimed:
        say(f"  kept {counted(pruned.claimed, 'old part')} that a run is making now")


@app.command()
def unpin(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, as `ohr cache info` lists it.", show_default=False)],
    store: StoreUrl = str(STORE),
) -> None:
    """Remove a run's pins, so that `prune` may remove its results."""
    opened = _existing(store)
    if run not in opened.pins():
        raise DataError(f"{store}: nothing is pinned by {run}")
    say(f"{store}: {counted(opened.unpin(run), 'key')} unpinned")


def _existing(url: str) -> Store:
    store = open_store(url)
    if not store.exists():
        raise DataError(f"no store at {url}")
    return store


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
