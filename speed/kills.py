"""Kills runs at random moments, resumes them, and compares the results with those of a run that nobody disturbed.

    python speed/kills.py [--kills 40] [--seed 0] [--workers 2]

Each trial kills one study several times (SIGKILL or SIGTERM of the run or its whole group, SIGKILL of one worker, two
SIGINTs), then lets it end. Checked: every table equal (but for measured seconds), every page and answer made once
except for what was in flight at a kill, no process left after three seconds, no temporary file and no unfinished run.
"""

import argparse
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
import pyarrow.parquet as parquet

OHR = Path(sys.executable).with_name("ohr")
PLUGINS = Path(__file__).parents[1] / "tests" / "plugins.py"
SPEC = f"""\
name: kills
plugins: [{PLUGINS}]
replicates: 1
benchmark: {{kind: tiny, size: 24}}
knowledge_bases:
  - {{name: clean, ocr: {{kind: pixels, seconds: 0.02, log: pages.log}}}}
  - name: noisy
    image_noise: {{kind: salt_and_pepper, severity: [0.2, 0.4]}}
    ocr: {{kind: pixels, seconds: 0.02, log: pages.log}}
  - {{name: formatting, text_noise: {{kind: formatting, rate: 0.3}}}}
chunker: {{kind: page}}
retrievers: [{{kind: bm25}}]
generators: [{{kind: parrot, log: answers.log}}]
"""
TABLES = ("questions", "texts", "scores", "hits", "answers", "pages", "edits", "failures")
KINDS = ("kill", "kill group", "term", "kill worker", "interrupt twice")


def start(home: Path, workers: int) -> subprocess.Popen[bytes]:
    command = [str(OHR), "run", "spec.yaml", "--trust-plugins", "--workers", str(workers)]
    with (home / "output.txt").open("ab") as output:
        return subprocess.Popen(command, cwd=home, stdout=output, stderr=output, start_new_session=True)


def disturb(run: subprocess.Popen[bytes], kind: str, rng: random.Random) -> None:
    if kind == "kill":
        run.kill()
    elif kind == "kill group":
        os.killpg(run.pid, signal.SIGKILL)
    elif kind == "term":
        run.terminate()
    elif kind == "interrupt twice":
        run.send_signal(signal.SIGINT)
        time.sleep(rng.random() / 2)
        run.send_signal(signal.SIGINT)
    else:
        workers = [p for p in psutil.Process(run.pid).children(recursive=True) if not p.children()]
        if workers:
            rng.choice(workers).kill()


def processes(home: Path) -> list[psutil.Process]:
    """List the processes that work in the folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(home) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def gone(home: Path) -> bool:
    """Wait for three seconds at most until no process works in the folder."""
    until = time.monotonic() + 3
    while processes(home) and time.monotonic() < until:
        time.sleep(0.05)
    return not processes(home)


def results(home: Path) -> dict[str, object]:
    """Read everything that must be equal."""
    (folder,) = (home / "runs" / "kills").iterdir()
    found: dict[str, object] = {}
    for name in TABLES:
        table = parquet.read_table(folder / f"{name}.parquet")
        kept = [column for column in table.column_names if column != "seconds"]
        found[name] = table.select(kept).to_pylist()
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as opened:
            found[path.name] = list(csv.reader(opened))
    return found


def leftovers(home: Path) -> list[str]:
    """List temporary files and unfinished runs."""
    return [str(path) for path in home.rglob(".new-*")] + [str(p) for p in (home / "runs" / "kills").iterdir()][1:]


def made(home: Path) -> Counter[str]:
    return Counter(
        line for name in ("pages.log", "answers.log") if (home / name).exists() for line in (home / name).open()
    )


def trial(folder: Path, rng: random.Random, workers: int, seconds: float, most: int) -> tuple[Path, Counter[str], int]:
    """Disturb one study up to `most` times, then let it end; returns folder, kills, and times that processes stayed."""
    home = Path(tempfile.mkdtemp(dir=folder))
    (home / "spec.yaml").write_text(SPEC)
    hits: Counter[str] = Counter()
    stayed = 0
    for _ in range(most):
        run = start(home, workers)
        time.sleep(rng.uniform(0.2, seconds))
        if run.poll() is None:
            kind = rng.choice(KINDS)
            disturb(run, kind, rng)
            hits[kind] += 1
            if kind == "kill worker":
                run.wait(timeout=300)
        run.wait(timeout=300)
        stayed += not gone(home)
    run = start(home, workers)
    if run.wait(timeout=300):
        raise SystemExit((home / "output.txt").read_text())
    stayed += not gone(home)
    return home, hits, stayed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    began = time.monotonic()
    calm, _, _ = trial(folder, rng, given.workers, 1, 0)
    seconds = time.monotonic() - began
    wanted, once = results(calm), made(calm)
    print(f"undisturbed: {seconds:.1f} s, {once.total()} pages and answers", flush=True)
    hits: Counter[str] = Counter()
    differing = repeated = stayed = left = trials = 0
    while hits.total() < given.kills:
        home, more, processes_left = trial(folder, rng, given.workers, seconds, 5)
        trials += 1
        hits += more
        differing += results(home) != wanted
        twice = made(home).total() - once.total()
        repeated += twice
        stayed += processes_left
        left += len(names := leftovers(home))
        for name in names:
            print(f"left: {name}")
        print(f"trial {trials}: {dict(more)}, made again {twice}", flush=True)
        shutil.rmtree(home)
    print(f"\n{hits.total()} kills in {trials} trials: {dict(hits)}")
    print(f"results that differ: {differing}")
    print(f"pages and answers made again: {repeated} (at most {given.workers} in flight at each kill)")
    print(f"processes left after 3 s: {stayed}; temporary files and unfinished runs left: {left}")
    shutil.rmtree(folder)
    return bool(differing or stayed or left or repeated > given.workers * hits.total())


if __name__ == "__main__":
    sys.exit(main())
