"""Times the page distances of a knowledge base at one and two workers, as a run measures them.

Every document's pages are compared with the ground truth on the local executor; the work
is repeated until one worker needs SECONDS. Starting the processes is in the time. On a machine that is not quiet, look
at the CPU time: it shows what the second worker cost.

    OHRBENCH_DATA=DIR python speed/edit_distance.py [SECONDS] [BASE] [DOMAIN ...]
"""

import os
import resource
import sys
from pathlib import Path
from time import perf_counter

from ohr.benchmarks.ohrbench import OhrBench
from ohr.contracts import Page
from ohr.engine.executors.base import run_each
from ohr.engine.executors.local import Local
from ohr.engine.setup import Setup
from ohr.metrics.dose import by_page
from ohr.metrics.realism import see
from ohr.ocr.precomputed import Precomputed

ROOT = Path(os.environ.get("OHRBENCH_DATA", "data/ohrbench"))
LIMIT = 1.8


def tasks(base: str, domains: tuple[str, ...] | None) -> list[tuple[tuple[Page, ...], tuple[Page, ...]]]:
    bench, engine = OhrBench(root=ROOT, domains=domains), Precomputed(root=ROOT / "retrieval_base" / base)
    return [(tuple(bench.pages(document)), tuple(engine.recorded(document))) for document in bench.documents()]


def measure(pages: tuple[tuple[Page, ...], tuple[Page, ...]]) -> list[float]:
    truth, here = by_page(pages[0]), by_page(pages[1])
    return [see(page, here.get(place), (), {}).dose.edit_distance for place, page in truth.items()]


def timed(work: list[tuple[tuple[Page, ...], tuple[Page, ...]]], workers: int) -> tuple[float, float]:
    """Return wall and CPU seconds, those of the workers included."""
    began, before = perf_counter(), cpu()
    executor = Local(workers)
    executor.start(Setup())
    failed = [error for _, _, error in run_each(executor, measure, work) if error]
    assert not failed, failed[0]
    return perf_counter() - began, cpu() - before


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(seconds: float, base: str, domains: tuple[str, ...] | None) -> None:
    once = tasks(base, domains)
    first, _ = timed(once, 1)
    work = once * max(1, round(seconds / first + 0.5))
    print(f"{sum(len(truth) for truth, _ in work)} page pairs of {base}, {len(work) // len(once)} times the same")
    found = {workers: timed(work, workers) for workers in (1, 2)}
    for workers, (wall, used) in found.items():
        print(f"{workers} worker{'s' * (workers > 1)}: {wall:6.2f} s, {used:6.2f} s CPU")
    print(f"speed-up: {found[1][0] / found[2][0]:.2f}x (limit {LIMIT}); CPU {found[2][1] / found[1][1]:.2f}x")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(float(given[0]) if given else 30.0, given[1] if len(given) > 1 else "MinerU", tuple(given[2:]) or None)
