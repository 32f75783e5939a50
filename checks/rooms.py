"""Check that rooms do not grow unnoticed: the lines and the public names of each, and base names of files that repeat.

A room is a package such as `ohr/report` or `benchmarks/ohrbench`, or a family such as `noise`. `rooms.json` has its
lines and its number of public names; both may fall at will, and rise by a few percent in all, so that a correction
needs no ceremony. What is to grow by more says why:

    python -m checks.rooms                               lower what fell, and raise nothing
    python -m checks.rooms --because "bm25 has fields"   raise what grew, and keep the reason beside the room
    python -m checks.rooms ohr/report                    list the public names of a room, by file
"""

import ast
import json
import sys
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .source import FAMILIES, ROOT

BASELINE = Path(__file__).with_name("rooms.json")
PRODUCT = ("ohr", *FAMILIES, "samples")
SPLIT = ("ohr", "benchmarks")
"""Folders of which each package is a room of its own."""

SLACK = {"lines": (0.03, 30), "names": (0.03, 5)}
"""The share by which a room may be above its baseline, and the least that this is."""

FALLEN = 0.1
"""A room that is smaller by more than this share gets a lower baseline."""

MOST_REPEATED = 60
"""Base names that several files may have; more only as far as `rooms.json` says, whose number never rises."""

Counts = Mapping[str, Mapping[str, Any]]
"""Room -> `lines` and `names`, and `because` where it was raised."""


def faults(root: Path = ROOT, baseline: Mapping[str, Any] | None = None) -> list[str]:
    """Return one line for each room that grew, or that is much smaller than its baseline, and for repeated names."""
    known = _read() if baseline is None else baseline
    rooms, counts, repeated = known["rooms"], measured(root), repeated_names(root)
    wrong = [
        f"{room}: has {count} {what}, more than the {rooms.get(room, {}).get(what, 0)} of checks/rooms.json: "
        'shorten it, or run python -m checks.rooms --because "REASON"'
        for room, now in counts.items()
        for what, count in now.items()
        if count > _most(rooms.get(room, {}).get(what, 0), what)
    ]
    wrong += [
        f"checks/rooms.json: {room} has {counts.get(room, {}).get(what, 0)} {what} now: run python -m checks.rooms"
        for room in rooms
        for what in SLACK
        if counts.get(room, {}).get(what, 0) < rooms[room][what] * (1 - FALLEN)
    ]
    if len(repeated) > (most := max(known["repeated"], MOST_REPEATED)):
        wrong.append(f"{len(repeated)} base names of files repeat, {most} at most: {', '.join(repeated)}")
    return wrong


def measured(root: Path = ROOT) -> dict[str, dict[str, int]]:
    """Count the lines and the public names of each room."""
    counts: defaultdict[str, dict[str, int]] = defaultdict(lambda: {"lines": 0, "names": 0})
    for file in _files(root):
        counts[_room(file, root)]["lines"] += file.read_text(encoding="utf-8").count("\n")
        counts[_room(file, root)]["names"] += len(list(public_names(file)))
    return dict(sorted(counts.items()))


def public_names(file: Path) -> Iterator[str]:
    """Yield the functions, classes and variables of a module that have no underscore; what it imports is elsewhere."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        defined = [getattr(node, "name", ""), *(getattr(target, "id", "") for target in targets)]
        yield from (name for name in defined if name and not name.startswith("_"))


def repeated_names(root: Path = ROOT) -> list[str]:
    """List the base names that several files of the product have; every package has an `__init__.py`."""
    places: defaultdict[str, int] = defaultdict(int)
    for file in _files(root):
        places[file.name] += not file.name.startswith("__")
    return sorted(name for name, count in places.items() if count > 1)


def renewed(counts: Counts, baseline: Counts, because: str = "") -> dict[str, dict[str, Any]]:
    """Return the new baseline: what fell is lower; what grew by more than the slack is higher if there is a reason."""
    new: dict[str, dict[str, Any]] = {}
    for room, now in counts.items():
        old = dict(baseline.get(room, {}))
        grown = any(now[what] > _most(old.get(what, 0), what) for what in SLACK)
        if grown and because:
            new[room] = {**now, "because": because}
        elif old:
            new[room] = old | {what: min(now[what], old[what]) for what in SLACK}
    return new


def _most(known: int, what: str) -> float:
    share, least = SLACK[what]
    return known + max(known * share, least) if known else 0


def _files(root: Path) -> Iterator[Path]:
    return (file for folder in PRODUCT for file in sorted((root / folder).rglob("*.py")))


def _room(file: Path, root: Path) -> str:
    parts = file.relative_to(root).parts
    return "/".join(parts[: 2 if parts[0] in SPLIT and len(parts) > 2 else 1])


def _read() -> dict[str, Any]:
    return json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.is_file() else {"repeated": 0, "rooms": {}}


def _write(repeated: int, rooms: Counts) -> None:
    """Write a line for each room, so that branches that change different rooms can be merged."""
    lines = ",\n".join(f"{json.dumps(room)}: {json.dumps(counts)}" for room, counts in rooms.items())
    BASELINE.write_text(f'{{"repeated": {repeated},\n"rooms": {{\n{lines}\n}}}}\n', encoding="utf-8")


def main() -> None:
    """Write the baseline again, or list a room's public names."""
    parser = ArgumentParser(prog="python -m checks.rooms", description="Write rooms.json again, or list a room.")
    parser.add_argument("room", nargs="?", help="list its public names, by file")
    parser.add_argument("--because", default="", metavar="REASON", help="why rooms grew")
    given = parser.parse_args()
    if given.room:
        files = [file for file in _files(ROOT) if _room(file, ROOT) == given.room]
        listed = {str(file.relative_to(ROOT)): list(public_names(file)) for file in files}
        sys.exit("\n".join(f"{file}: {', '.join(names)}" for file, names in listed.items() if names) or "no such room")
    known, repeated = _read(), len(repeated_names())
    _write(min(repeated, known["repeated"] or repeated), renewed(measured(), known["rooms"], given.because))
    sys.exit("\n".join(faults()) or 0)


if __name__ == "__main__":
    main()
