"""Print the numbers of docs/ten-things.md, and with --write keep them in docs/ten-things.json.

    OHRBENCH_DATA=FOLDER python -m studies.ten_things [THING ...] [--work FOLDER] [--write]

Without OHRBENCH_DATA the things that need its texts are left out, and the record keeps theirs. All take some five
minutes on a busy core; a second time in the same work folder, half a minute.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ohr.errors import OhrError
from studies import on_mini, on_ohrbench, simulated
from studies.runs import Values

RECORD = Path(__file__).parents[1] / "docs" / "ten-things.json"

THINGS: dict[str, tuple[Callable[[Path], Values], ...]] = {
    "damaged-truth": (on_ohrbench.damaged_truth,),
    "signs-of-print": (on_ohrbench.signs_of_print,),
    "lost-headings": (on_ohrbench.lost_headings,),
    "markup": (on_ohrbench.markup_in_the_score, on_mini.markup_and_chunks),
    "reading-in-retrieval": (on_ohrbench.reading_in_retrieval,),
    "what-is-left": (on_ohrbench.two_means,),
    "clustered-errors": (simulated.clustered_errors, on_ohrbench.clustered_loss),
    "one-draw": (on_mini.one_draw,),
    "largest-loss": (simulated.largest_loss,),
    "not-significant": (simulated.not_significant,),
}
"""Each thing by the anchor of its section, with the functions that measure it."""


def measure(thing: str, work: Path) -> dict[str, Values]:
    """Return the values of a thing, by function; without OHRBENCH_DATA those on its texts are left out."""
    has_data = "OHRBENCH_DATA" in os.environ
    possible = (function for function in THINGS[thing] if has_data or function.__module__ != on_ohrbench.__name__)
    return {function.__name__: function(work) for function in possible}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("things", nargs="*", metavar="THING", help=", ".join(THINGS))
    parser.add_argument("--work", type=Path, help="folder of the runs; by default one that is removed")
    parser.add_argument("--write", action="store_true", help=f"keep the numbers in {RECORD.name}")
    chosen = parser.parse_args()
    if unknown := [thing for thing in chosen.things if thing not in THINGS]:
        parser.error(f"no thing {unknown[0]!r}; choose from {', '.join(THINGS)}")
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    with tempfile.TemporaryDirectory() as folder:
        work = chosen.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        for thing in chosen.things or THINGS:
            try:
                measured = measure(thing, work.resolve())
            except OhrError as error:
                sys.exit(f"{thing}: {error}")
            if len(measured) < len(THINGS[thing]):
                print(f"{thing}: {'part of it' if measured else 'it'} needs OHRBENCH_DATA, the folder of OHRBench")
            for name, values in measured.items():
                print(f"{thing}: {name}")
                print("\n".join(f"  {about:<32} {value:>10,}" for about, value in values.items()), flush=True)
                record.setdefault(thing, {})[name] = values
    if chosen.write:
        ordered = {thing: record[thing] for thing in THINGS if thing in record}
        RECORD.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
