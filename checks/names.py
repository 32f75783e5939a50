"""Check that variables are named for what they hold: some words fit every value, and name none.

`baseline.json` has the files that bind such names more often than `MOST`, with today's count, which may only fall.
`python -m checks.names` writes the file again, for files that became cleaner or moved; not if the names became more.
"""

import ast
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from .source import ROOT, files

UNIVERSAL = frozenset({"found", "kept", "made", "one", "some", "wanted"})
MOST = 3
"""Bindings of such names in a file: assignments, loops and arguments."""

BASELINE = Path(__file__).with_name("baseline.json")


def faults(root: Path = ROOT, baseline: Mapping[str, int] | None = None) -> list[str]:
    """Return one line for each file with too many such names, and for each count of the baseline that is too high."""
    allowed, counts = _read() if baseline is None else baseline, _counts(root)
    words = ", ".join(sorted(UNIVERSAL))
    return [
        *(
            f"{file}:1: binds {count} variables named {words}, {allowed.get(file, MOST)} at most: name what they hold"
            for file, count in counts.items()
            if count > allowed.get(file, MOST)
        ),
        *(
            f"checks/baseline.json: {file} binds {counts.get(file, 0)} of {words} now: run python -m checks.names"
            for file, count in allowed.items()
            if counts.get(file, 0) < count
        ),
    ]


def lowered(counts: Mapping[str, int], baseline: Mapping[str, int]) -> dict[str, int]:
    """Return the new baseline, or the old one where the new one allows more names in all."""
    new = {file: count for file, count in counts.items() if count > MOST}
    return dict(baseline) if baseline and sum(new.values()) > sum(baseline.values()) else new


def _read() -> dict[str, int]:
    return json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.is_file() else {}


def _counts(root: Path) -> dict[str, int]:
    return {str(file.relative_to(root)): _bound(file) for file in files(root)}


def _bound(file: Path) -> int:
    """Count the bindings of universal names in a file."""
    count = 0
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                count += name in UNIVERSAL
    return count


if __name__ == "__main__":
    new = lowered(_counts(ROOT), _read())
    BASELINE.write_text(json.dumps(new, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    sys.exit("\n".join(faults(baseline=new)) or 0)
