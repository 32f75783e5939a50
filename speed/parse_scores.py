"""Prints how long `teds` takes beside apted, the library of the published code, on the same tables of figures.

Both sides are timed in one go, medians of several pairs, and must agree. Without apted (`pip install apted`, in an
environment of its own: it has had no release since 2017) only ours is timed, and the script says so. The largest pair
is ours alone, with the memory of the process. Medians in CPU time.

    OMP_NUM_THREADS=1 python speed/parse_scores.py [--pairs 3]
"""

import argparse
import random
import resource
import statistics
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

from rapidfuzz.distance import Levenshtein

from ohr.extras import load
from ohr.parse_scores.teds import teds

html = load("lxml.html", "parse_scores")
APTED: Any = import_module("apted").APTED if find_spec("apted") else None

SIZES = ((5, 4), (20, 8), (60, 12))
LARGEST = (500, 10)
LIMIT, LARGEST_LIMIT, MEMORY = 1.0, 60.0, 1000
"""Seconds for 60 x 12 cells and for the largest pair; MB."""


def table(rng, rows, columns):
    cells = [f"<td>{rng.randint(0, 10**6):,}.{rng.randint(0, 9)}</td>" for _ in range(rows * columns)]
    lines = ["".join(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


class Costs:
    valuecls = float

    def delete(self, node):
        return 1

    insert = delete

    def rename(self, left, right):
        if left.tag != right.tag:
            return 1
        return Levenshtein.normalized_distance(left.text or "", right.text or "") if left.tag == "td" else 0

    def children(self, node):
        return list(node)


def by_apted(prediction, truth):
    trees = [html.fromstring(text) for text in (prediction, truth)]
    elements = max(sum(1 for _ in tree.iterdescendants()) for tree in trees)
    return 1 - APTED(*trees, Costs()).compute_edit_distance() / elements


def timed(function, *tables):
    start = process_time()
    value = function(*tables)
    return process_time() - start, value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3, help="pairs of tables of each size")
    pairs = parser.parse_args().pairs
    rng = random.Random(0)
    timed(teds, table(rng, 2, 2), table(rng, 2, 2))  # imports
    if APTED is None:
        print("apted is not installed: nothing to compare with")
    for rows, columns in SIZES:
        times = []
        for _ in range(pairs):
            tables = table(rng, rows, columns), table(rng, max(1, rows - 3), columns)
            ours, value = timed(teds, *tables)
            theirs, other = timed(by_apted, *tables) if APTED else (0, value)
            assert abs(value - other) < 1e-9, (value, other)
            times.append((ours, theirs))
        ours, theirs = (statistics.median(side) for side in zip(*times, strict=True))
        ratio = f", apted {theirs:.3f} s, {theirs / ours:.0f} times as long" if APTED else ""
        limit = f" (limit {LIMIT:g} s)" if (rows, columns) == SIZES[-1] else ""
        print(f"{rows} x {columns} cells: {ours:.4f} s{limit}{ratio}", flush=True)
    seconds, _ = timed(teds, table(rng, *LARGEST), table(rng, *LARGEST))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    size = " x ".join(map(str, LARGEST))
    print(f"{size} cells: {seconds:.1f} s (limit {LARGEST_LIMIT:g} s), {memory:.0f} MB in all (limit {MEMORY} MB)")


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    from speed.bytecode import require_bytecode

    require_bytecode()
    main()
