"""Scores 10 made-up runs of 10,000 topics x 100 documents with `ohr score hits`, beside ir_measures on the same files.

The peer reads each run with ir_measures and computes the same measures per topic; it has no intervals, and no
comparisons, which ohr's time holds. Both are processes of their own, taken in turns, on two cores; seconds are of the
clock. The files are made from a seed: each run finds a topic's relevant documents with a skill of its own.

    python speed/hits.py
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import sys
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

RUNS, TOPICS, HITS, JUDGED, DOCUMENTS = 10, 10_000, 100, 10, 200_000
TURNS, PEER_TURNS = 3, 1
SECONDS, MEGABYTES = 60, 1000
MEASURES = ("nDCG@10", "R@100", "RR")
OHR = str(Path(sys.executable).with_name("ohr"))
PEER = f"""
import sys, warnings
warnings.simplefilter("ignore")
import ir_measures
qrels, *runs = sys.argv[1:]
measures = [ir_measures.parse_measure(name) for name in {MEASURES}]
evaluator = ir_measures.evaluator(measures, ir_measures.read_trec_qrels(qrels))
for run in runs:
    print(evaluator.calc(ir_measures.read_trec_run(run)).aggregated)
"""


def write(folder: Path, seed: int = 0) -> tuple[Path, list[Path]]:
    """Write qrels and runs; the skill of a run is how far it lifts the scores of judged documents."""
    rng = np.random.default_rng(seed)
    judged = rng.integers(0, DOCUMENTS, (TOPICS, 2 * JUDGED))
    judged = np.array([rng.permutation(np.unique(row))[:JUDGED] for row in judged])
    grades = rng.integers(0, 3, judged.shape)
    qrels, runs = folder / "qrels.txt", [folder / f"run{number}.trec" for number in range(RUNS)]
    with qrels.open("w") as file:
        for topic, (documents, row) in enumerate(zip(judged.tolist(), grades.tolist(), strict=True)):
            file.writelines(f"t{topic} 0 doc{d} {grade}\n" for d, grade in zip(documents, row, strict=True))
    for number, path in enumerate(runs):
        with path.open("w") as file:
            for topic in range(TOPICS):
                documents = np.unique(np.concatenate([judged[topic], rng.integers(0, DOCUMENTS, 2 * HITS)]))
                lift = number / RUNS * np.isin(documents, judged[topic])
                scores = (rng.random(len(documents)) + lift).round(4)
                best = np.argsort(-scores)[:HITS]
                lines = zip(documents[best].tolist(), scores[best].tolist(), strict=True)
                file.writelines(f"t{topic} Q0 doc{d} {rank} {s} run{number}\n" for rank, (d, s) in enumerate(lines, 1))
    return qrels, runs


def spent(words: list[str]) -> tuple[float, float]:
    """Return seconds and peak megabytes of a command, which starts no process of its own."""
    began = perf_counter()
    with Popen(words, stdout=DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"status {process.returncode}: {' '.join(words)}")
    return perf_counter() - began, usage.ru_maxrss / 1024


def main() -> bool:
    """Print both sides, and report whether ohr is within its limits."""
    with TemporaryDirectory() as home:
        qrels, runs = write(Path(home))
        named = [word for measure in MEASURES for word in ("--measure", measure)]
        ours, theirs = [], []
        for turn in range(TURNS):
            ours.append(spent([OHR, "score", "hits", *map(str, runs), "--qrels", str(qrels), *named]))
            if turn < PEER_TURNS:
                theirs.append(spent([sys.executable, "-c", PEER, str(qrels), *map(str, runs)]))
    print(f"{RUNS} runs x {TOPICS:,} topics x {HITS} documents, {', '.join(MEASURES)}")
    for name, turns in (("ohr score hits", ours), ("ir_measures", theirs)):
        seconds, megabytes = (median(column) for column in zip(*turns, strict=True))
        print(f"{name:16}{seconds:7.1f} s{megabytes:8.0f} MB   (median of {len(turns)})")
    seconds, megabytes = (median(column) for column in zip(*ours, strict=True))
    ratio = median(each for each, _ in theirs) / seconds
    print(f"{ratio:.2f} times as fast as the peer; limits {SECONDS} s, {MEGABYTES} MB")
    return seconds <= SECONDS and megabytes <= MEGABYTES


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    from speed.bytecode import require_bytecode

    require_bytecode()
    sys.exit(not main())
