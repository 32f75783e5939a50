"""Compares ohr's store (SQLite) with LMDB, Arrow segments and a file for each value; the table is in docs/store.md.

Every contestant keeps JSON values of about 1 kB with a checksum that is verified on reading, and survives a kill of the
process at any moment. `lmdb` flushes no more than SQLite does; `lmdb-sync` flushes each commit to the disk, as `files`
flushes each value: both are given a tenth of the values where each value is a commit. Arrow segments are one IPC stream
for each writing process; a reader scans them once for keys. LMDB is needed only here: pip install lmdb.

    python speed/store.py [VALUES] [ROUNDS] [CONTESTANT ...]
"""

import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import isnan
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile, TemporaryDirectory
from time import perf_counter
from typing import Any

from ohr.store import open_store
from ohr.store.content import digest, dump, framed, load, unframed

BATCH = 256
KILLS, FLIPS = 10, 20


def values(count: int) -> dict[str, dict[str, object]]:
    """Make answers of about 1 kB under keys that look random, as ohr's do."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5000)]
    return {
        sha256(str(n).encode()).hexdigest(): {"reply": " ".join(rng.choices(words, k=150)), "tokens": n}
        for n in range(count)
    }


class Sqlite:
    """ohr's own store."""

    def __init__(self, folder: Path) -> None:
        store = open_store(folder)
        self.put, self.has, self.get = store.put_many, store.has_many, store.get_many


class Files:
    """A file for each value, flushed and renamed: ohr's format 1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, batch: Mapping[str, Any]) -> None:
        for key, value in batch.items():
            path = self.folder / key[:2] / key[2:]
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=path.parent, delete=False) as new:
                new.write(framed(value))
                new.flush()
                os.fsync(new.fileno())
            Path(new.name).replace(path)

    def has(self, keys: Iterable[str]) -> set[str]:
        return {key for key in keys if (self.folder / key[:2] / key[2:]).is_file()}

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        found = {}
        for key in self.has(keys):
            try:
                found[key] = unframed((self.folder / key[:2] / key[2:]).read_bytes())
            except ValueError:
                continue
        return found


class Lmdb:
    """LMDB: a memory-mapped B+ tree, whose largest size must be named beforehand."""

    sync = False

    def __init__(self, folder: Path) -> None:
        import lmdb

        self.env = lmdb.open(str(folder), map_size=1 << 36, sync=self.sync)

    def put(self, batch: Mapping[str, Any]) -> None:
        with self.env.begin(write=True) as transaction:
            for key, value in batch.items():
                payload = dump(value)
                transaction.put(key.encode(), digest(key, payload) + payload)

    def has(self, keys: Iterable[str]) -> set[str]:
        with self.env.begin() as transaction, transaction.cursor() as cursor:
            return {key for key in keys if cursor.set_key(key.encode())}

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        found = {}
        with self.env.begin() as transaction:
            for key in keys:
                content = transaction.get(key.encode())
                if content and digest(key, content[32:]) == content[:32]:
                    found[key] = load(content[32:])
        return found


class LmdbSync(Lmdb):
    """LMDB as it comes."""

    sync = True


class Arrow:
    """Segments of Arrow's IPC stream format, one for each process that writes."""

    def __init__(self, folder: Path) -> None:
        import pyarrow

        self.arrow, self.folder = pyarrow, folder
        self.writer: Any = None
        self.index: dict[str, tuple[Any, int]] = {}
        for segment in sorted(folder.glob("*.arrow")):
            for batch in self.batches(segment):
                self.index.update((key, (batch, row)) for row, key in enumerate(batch.column(0).to_pylist()))

    def batches(self, segment: Path) -> Iterator[Any]:
        source = self.arrow.memory_map(str(segment))
        try:
            with self.arrow.ipc.open_stream(source) as stream:
                yield from stream
        except (self.arrow.ArrowInvalid, OSError):  # what a killed process was writing
            return

    def put(self, batch: Mapping[str, Any]) -> None:
        payloads = {key: dump(value) for key, value in batch.items()}
        columns = [list(payloads), list(payloads.values()), [digest(*pair) for pair in payloads.items()]]
        kinds = [self.arrow.string(), self.arrow.binary(), self.arrow.binary()]
        made = self.arrow.record_batch(
            [self.arrow.array(column, kind) for column, kind in zip(columns, kinds, strict=True)],
            names=["key", "value", "digest"],
        )
        if self.writer is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.file = (self.folder / f"{os.getpid()}-{random.getrandbits(32)}.arrow").open("wb")
            self.writer = self.arrow.ipc.new_stream(self.file, made.schema)
        self.writer.write_batch(made)
        self.file.flush()
        self.index.update((key, (made, row)) for row, key in enumerate(payloads))

    def has(self, keys: Iterable[str]) -> set[str]:
        return {key for key in keys if key in self.index}

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        found = {}
        for key in self.has(keys):
            batch, row = self.index[key]
            payload = batch.column(1)[row].as_py()
            if digest(key, payload) == batch.column(2)[row].as_py():
                found[key] = load(payload)
        return found


CONTESTANTS: dict[str, Callable[[Path], Any]] = {
    "sqlite": Sqlite, "lmdb": Lmdb, "lmdb-sync": LmdbSync, "arrow": Arrow, "files": Files,
}  # fmt: skip


def parts(given: Mapping[str, Any], size: int) -> Iterator[dict[str, Any]]:
    items = list(given.items())
    for first in range(0, len(items), size):
        yield dict(items[first : first + size])


def write(name: str, folder: Path, given: Mapping[str, Any], size: int) -> None:
    store = CONTESTANTS[name](folder)
    for part in parts(given, size):
        store.put(part)


def timed(work: Callable[[], Any], count: int) -> tuple[tuple[float, float], Any]:
    """Return microseconds a value, by the clock and of CPU time, child processes included."""
    began, before = perf_counter(), cpu()
    result = work()
    return ((perf_counter() - began) / count * 1e6, (cpu() - before) / count * 1e6), result


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def write_twice(name: str, folder: Path, given: Mapping[str, Any]) -> None:
    """Write half of the values in each of two processes at once."""
    halves = [dict(list(given.items())[place::2]) for place in range(2)]
    fork = multiprocessing.get_context("fork")
    both = [fork.Process(target=write, args=(name, folder, half, BATCH)) for half in halves]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]


def measure(name: str, given: dict[str, Any], top: Path) -> dict[str, tuple[float, float]]:
    """Measure one contestant."""
    tenth = dict(list(given.items())[: len(given) // 10])
    given = tenth if name == "files" else given
    few = tenth if name == "lmdb-sync" else given
    order, found = random.Random(2).sample(list(given), len(given)), {}
    found["put, each alone"], _ = timed(lambda: write(name, top / "one", few, 1), len(few))
    found["put by 256"], _ = timed(lambda: write(name, top / "many", given, BATCH), len(given))
    found["has_many"], there = timed(lambda: CONTESTANTS[name](top / "many").has(order), len(given))
    assert len(there) == len(given)
    found["get_many"], read = timed(lambda: CONTESTANTS[name](top / "many").get(order), len(given))
    assert read == given
    found["put by 256, two processes"], _ = timed(lambda: write_twice(name, top / "two", given), len(given))
    assert len(CONTESTANTS[name](top / "two").has(given)) == len(given)
    found["open and look for one"], _ = timed(lambda: CONTESTANTS[name](top / "many").has(order[:1]), 1)
    sizes = [path.stat().st_blocks * 512 for path in (top / "many").rglob("*") if path.is_file()]
    found["files"] = (float("nan"), len(sizes))
    found["bytes a value"] = (float("nan"), sum(sizes) / len(given))
    return found


def killed(name: str, given: dict[str, Any], top: Path, rng: random.Random) -> str:
    """Kill a writer at a random moment; all batches that it had reported must be there, whole."""
    lost = 0
    for turn in range(KILLS):
        folder = top / f"killed{turn}"
        command = [sys.executable, __file__, "write", name, str(folder), str(len(given))]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            reported = sum(1 for _ in zip(range(rng.randint(1, 60)), process.stdout, strict=False))
            process.send_signal(signal.SIGKILL)
        expected = list(given)[: reported * BATCH]
        lost += len(expected) - len(CONTESTANTS[name](folder).get(expected))
    return f"{lost} lost"


def flipped(name: str, given: dict[str, Any], top: Path, rng: random.Random) -> tuple[str, str]:
    """Flip one bit of the files, or cut the largest one to half, and read everything in a process of its own."""
    found = []
    for how in [*["flip"] * FLIPS, "cut"]:
        folder = top / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(top / "many", folder)
        path = max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
        if how == "cut":
            os.truncate(path, path.stat().st_size // 2)
        else:
            with path.open("r+b") as file:
                file.seek(rng.randrange(path.stat().st_size))
                (byte,) = file.read(1)
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte ^ (1 << rng.randrange(8))]))
        command = [sys.executable, __file__, "read", name, str(folder), str(len(given))]
        read = subprocess.run(command, capture_output=True, text=True, check=False)
        found.append(int(read.stdout) if read.returncode == 0 else -1)
    lost = [number for number in found[:-1] if number >= 0]
    died = found[:-1].count(-1)
    whole = f"at most {max(lost, default=0)} lost" + (f", {died} of {FLIPS} readers died" if died else "")
    return whole, f"{found[-1]} lost" if found[-1] >= 0 else "reader died"


def table(count: int, rounds: int, names: Sequence[str]) -> None:
    """Print the medians of several rounds."""
    given = values(count)
    print(
        f"{count:,} values, {rounds} rounds, medians: microseconds by the clock / of CPU time (ratio of the latter)\n"
    )
    runs: dict[str, list[dict[str, tuple[float, float]]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            with TemporaryDirectory() as folder:
                runs[name].append(measure(name, given, Path(folder)))
            print(f"  {name}: {runs[name][-1]}", file=sys.stderr, flush=True)
    print("| | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1))
    for what in runs[names[0]][0]:
        pairs = [[median(run[what][place] for run in runs[name]) for place in range(2)] for name in names]
        cells = [
            ("" if isnan(first) else f"{first:,.0f} / ") + f"{second:,.0f} ({second / pairs[0][1]:.2f})"
            for first, second in pairs
        ]
        print(f"| {what} | " + " | ".join(cells) + " |")


def harm(count: int, names: Sequence[str]) -> None:
    """Print what kills and damage cost."""
    given = values(count)
    print(
        f"\n| {count:,} values | {KILLS} kills | {FLIPS} bit flips, values lost | file cut to half |\n|---|---|---|---|"
    )
    for name in names:
        with TemporaryDirectory() as folder:
            write(name, Path(folder) / "many", given, BATCH)
            rng = random.Random(3)
            ends = (killed(name, given, Path(folder), rng), *flipped(name, given, Path(folder), rng))
        print(f"| {name} | " + " | ".join(ends) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        target = CONTESTANTS[sys.argv[2]](Path(sys.argv[3]))
        for part in parts(values(int(sys.argv[4])), BATCH):
            target.put(part)
            print("written", flush=True)
    elif sys.argv[1:2] == ["read"]:
        wanted = values(int(sys.argv[4]))
        read = CONTESTANTS[sys.argv[2]](Path(sys.argv[3])).get(wanted)
        assert all(wanted[key] == value for key, value in read.items())
        print(len(wanted) - len(read))
    else:
        chosen = sys.argv[3:] or list(CONTESTANTS)
        table(int((sys.argv[1:2] or ["100000"])[0]), int((sys.argv[2:3] or ["3"])[0]), chosen)
        harm(10_000, chosen)
