"""Times the sandbox on 1,200 mixed programs, beside a bare loop in one process and a new interpreter for each.

    python speed/programs.py [PROGRAMS] [WORKERS]

Starting and ending the sandbox is in its time. The bare loop has no walls and no limits; the new interpreters
(`python -I`, as many at once as the sandbox has workers) have no walls either, and are timed on a twentieth of the
programs. All are medians of RUNS runs, in turns.
"""

import contextlib
import io
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

from ohr.sandbox import isolation, run_programs

RUNS = 5
LIMIT = 90.0
PART = 20

MIXED = (
    "def solution():\n    revenue, costs = 1520.4, 1311.9\n    return (revenue - costs) / revenue * 100\n",
    "def solution():\n    return 'growth'[:0] + str(round((438.2 / 401.7 - 1) * 100, 2))\n",
    "import numpy as np\ndef solution():\n    flows = np.array([-100.0, 30, 40, 50])\n"
    "    return float(np.sum(flows / 1.08 ** np.arange(4)))\n",
    "import numpy as np\ndef solution():\n    prices = np.linspace(10, 20, 250)\n"
    "    return np.std(np.diff(np.log(prices))) * np.sqrt(250)\n",
    "import math\ndef solution():\n    d = (math.log(100 / 95) + 0.05) / 0.2\n    return 100 * math.exp(-d)\n",
    "import statistics\ndef solution():\n    return statistics.stdev([4.1, 3.9, 5.2, 4.8])\n",
    "from datetime import date\ndef solution():\n    return (date(2024, 6, 30) - date(2023, 12, 31)).days / 365\n",
    "from decimal import Decimal\ndef solution():\n    return Decimal('1043.25') * Decimal('0.0725')\n",
    "def solution():\n    low, high = 0.0, 1.0\n    for _ in range(100):\n        rate = (low + high) / 2\n"
    "        value = sum(30 / (1 + rate) ** year for year in range(1, 6)) - 100\n"
    "        low, high = (rate, high) if value > 0 else (low, rate)\n    return rate\n",
    "def solution():\n    total = 0\n    for year in range(20_000):\n        total += year % 7\n    return total\n",
    "def solution():\n    for quarter in range(4):\n        print('quarter', quarter)\n    return None\n",
    "def solution():\n    return 1 / 0\n",
)


def bare(programs: Sequence[str]) -> None:
    for program in programs:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            space: dict[str, Callable[[], object]] = {}
            exec(program, space)
            space["solution"]()


def new_interpreter(program: str) -> None:
    command = [sys.executable, "-I", "-c", f"{program}print(solution())"]
    subprocess.run(command, capture_output=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})


def timed(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def isolated(programs: Sequence[str], workers: int) -> None:
    outcomes = list(run_programs(programs, workers=workers))
    failed = sum(outcome.how != "returned" for outcome in outcomes)
    assert failed == sum(program == MIXED[-1] for program in programs), f"{failed} programs failed"


def main(count: int, workers: int) -> None:
    print(isolation())
    programs = [MIXED[place % len(MIXED)] for place in range(count)]
    part = programs[: max(1, count // PART)]
    ours, loop, fresh = [], [], []
    with ThreadPoolExecutor(workers) as pool:
        for _ in range(RUNS):
            ours.append(timed(lambda: isolated(programs, workers)))
            loop.append(timed(lambda: bare(programs)))
            fresh.append(timed(lambda: list(pool.map(new_interpreter, part))) * count / len(part))
    seconds, bare_loop, interpreters = (statistics.median(times) for times in (ours, loop, fresh))
    print(
        f"{count} programs, {workers} at once: {seconds:.1f} s (limit {LIMIT:g} s), {count / seconds:.0f} a second; "
        f"{seconds / bare_loop:.0f} times as long as a bare loop without walls, "
        f"{interpreters / seconds:.0f} times as fast as `python -I` for each"
    )


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    from speed.bytecode import require_bytecode

    require_bytecode()
    given = [int(word) for word in sys.argv[1:]]
    main(given[0] if given else 1200, given[1] if len(given) > 1 else 2)
