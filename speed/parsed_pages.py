"""Prints how long 1,000 pages take to be scored by block and TEDS, by each version, on two cores: at most 120 s.

    OMP_NUM_THREADS=1 python -m speed.parsed_pages [ANNOTATIONS.json RESULTS]

Without arguments the pages are those of the sample, which are small; those of your own set are repeated until
there are 1,000. Median of three passes; no store is involved, nor is a page scored from a cache.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter

from ohr.benchmarks.omnidocbench import SAMPLE, OmniDocBench
from ohr.benchmarks.omnidocbench.annotations import read_annotations
from ohr.parse_scores.omnidocbench import VERSIONS, Version, score_page

PAGES, CORES, PASSES, LIMIT = 1_000, 2, 3, 120.0


def scored(page: tuple[dict[str, object], str, Version]) -> int:
    """Score a page; returns its number of tables."""
    return len(score_page(*page).tables)


def main() -> int:
    """Time both versions; the status is 1 where one is too slow."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("annotations", type=Path, nargs="?", default=SAMPLE / "annotations.json")
    parser.add_argument("results", type=Path, nargs="?", default=SAMPLE / "results" / "hasty")
    given = parser.parse_args()
    results = OmniDocBench(root=given.annotations).results(given.results) or {}
    annotated = read_annotations(given.annotations).pages
    pages = [(dict(annotated[name].record), text) for name, (text,) in results.items()]
    slow = False
    with ProcessPoolExecutor(CORES) as pool:
        for version in VERSIONS:
            seconds = []
            for _ in range(PASSES):
                begun = perf_counter()
                tables = sum(pool.map(scored, ((*page, version) for page in islice(cycle(pages), PAGES)), chunksize=10))
                seconds.append(perf_counter() - begun)
            took = median(seconds)
            slow |= took > LIMIT
            print(f"version {version}: {PAGES:,} pages with {tables:,} tables in {took:.1f} s (limit {LIMIT:.0f})")
    return int(slow)


if __name__ == "__main__":
    raise SystemExit(main())
