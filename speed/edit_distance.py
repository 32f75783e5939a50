"""Times the page distances of a knowledge base at one and two workers, as a run measures them.

Every document's pages are compared with the ground truth by `ohr.engine.damage.measure` on the local executor; the work
is repeated until one worker needs SECONDS. Starting the processes is in the time. On a machine that is not quiet, look
at the CPU time: it shows what the second worker cost.

    OHRBENCH_DATA=DIR python speed/edit_distance.py [SECONDS] [BASE] [DOMAIN ...]
"""

import os
import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from ohr.benchmarks.ohrbench import OhrBench
from ohr.engine.executors.local import LocalExecutor
from ohr.ocr.precomputed import Precomputed
from ohr.steps.damage import DamageTask, measure

ROOT = Path(os.environ.get("OHRBENCH_DATA", "data/ohrbench"))
LIMIT = 1.8


def tasks(base: str, domains: tuple[str, ...] | None, store: Path) -> list[DamageTask]:
    bench, engine = OhrBench(root=ROOT, domains=domains), Precomputed(root=ROOT / "retrieval_base" / base)
    return [
        DamageTask(
            document=document,
            truth=tuple(bench.pages(document)),
            pages=tuple(engine.recorded(document)),
            questions=(),
            segment_chinese=False,
            bare=False,
            key=f"{place:064x}",
            store=store,
        )
        for place, document in enumerate(bench.documents())
    ]


def timed(work: list[DamageTask], workers: int) -> tuple[float, float]:
    """Give wall and CPU seconds, those of the workers included."""
    began, before = perf_counter(), cpu()
    failed = [outcome for outcome in LocalExecutor(workers).map(measure, work, 0) if outcome.error]
    assert not failed, failed[0].error
    return perf_counter() - began, cpu() - before


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(seconds: float, base: str, domains: tuple[str, ...] | None) -> None:
    with TemporaryDirectory() as folder:
        once = tasks(base, domains, Path(folder))
        first, _ = timed(once, 1)
        work = once * max(1, round(seconds / first + 0.5))
        print(f"{sum(len(task.truth) for task in work)} page pairs of {base}, {len(work) // len(once)} times the same")
        found = {workers: timed(work, workers) for workers in (1, 2)}
    for workers, (wall, used) in found.items():
        print(f"{workers} worker{'s' * (workers > 1)}: {wall:6.2f} s, {used:6.2f} s CPU")
    print(f"speed-up: {found[1][0] / found[2][0]:.2f}x (limit {LIMIT}); CPU {found[2][1] / found[1][1]:.2f}x")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(float(given[0]) if given else 30.0, given[1] if len(given) > 1 else "MinerU", tuple(given[2:]) or None)
