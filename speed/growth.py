"""Shows how commands grow with the questions and conditions of a run, the runs of a folder, the entries of a store.

Each command runs in a process of its own: CPU seconds and peak memory, and both for a unit of size beside the size
before, which is `linear` up to 1.2. Documents of five pages have ten questions, and domains of a thousand questions an
index of their own, so that a search costs the same in each size. Bytecode is written. Each line is a JSON line in
OUT/growth.jsonl as well; `--plot FILE` draws all of them.

    python -m speed.growth OUT [--axes questions,conditions,runs,store] [--plot FILE]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ohr.keys import key
from ohr.store import open_store
from speed.bytecode import require_bytecode

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
SIZES = {
    "questions": (1_000, 10_000, 100_000),
    "conditions": (2, 10, 40),
    "runs": (5, 50, 500),
    "store": (10_000, 100_000, 1_000_000),
}
QUESTIONS = 1_000
"""Of each run on the axis of conditions."""
LINEAR = 1.2
AT_ONCE = 10_000
RUN = ("run", "spec.yaml", "--trust-plugins", "--executor", "inline")
PLUGIN = '''
from ohr.contracts import Benchmark, Document, Page, Question
from ohr.keys import key

class Grown(Benchmark, kind="grown"):
    """Documents of five pages with ten questions, in domains of a hundred documents."""
    size: int

    def documents(self):
        return [Document(f"d{n // 100}/{n}", f"d{n // 100}", "en", 5) for n in range(self.size // 10)]

    def _sentences(self, name, page):
        return [f"The mill {name.replace('/', 'x')}p{page}n{half} was built in 19{page}{half}." for half in range(2)]

    def pages(self, document):
        return [Page(document.name, page, " ".join(self._sentences(document.name, page))) for page in range(5)]

    def questions(self):
        return [
            Question(
                f"{document.name}.{page}.{half}", f"When was {said[4:].partition(' was')[0]} built?",
                (f"19{page}{half}",), document.name, (page,), (said,), ("text", "table")[half], document.domain
            )
            for document in self.documents()
            for page in range(5)
            for half, said in enumerate(self._sentences(document.name, page))
        ]

    def page_image(self, document, index):
        raise NotImplementedError("no condition reads images")

    def fingerprint(self, document, *, images):
        return key("grown", images, document.name)
'''
SPEC = """\
name: growth
replicates: 1
plugins: [plugin.py]
benchmark: {{kind: grown, size: {questions}}}
knowledge_bases: [{{name: clean}}, {{name: noisy, text_noise: {{kind: channel, rate: {rates}}}}}]
chunker: {{kind: page}}
retrievers: [{{kind: bm25, top_k: 5}}]
index_scope: domain
evaluate: [retrieval]
limits: {{seconds: 7200}}
"""


def spent(home: Path, *command: str) -> tuple[float, float]:
    """Run `ohr`; returns its CPU seconds, and the MB that its largest process had at most."""
    with (home / "output.txt").open("w") as output:
        begun = subprocess.Popen([sys.executable, "-m", "ohr", *command], cwd=home, stdout=output, stderr=output)
        _, status, used = os.wait4(begun.pid, 0)
    if status:
        sys.exit((home / "output.txt").read_text())
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def write_spec(home: Path, questions: int, conditions: int) -> None:
    """Write the spec of a run whose conditions are clean text and levels of a noise that costs little."""
    rates = [round(level / conditions, 4) for level in range(1, conditions)]
    (home / "plugin.py").write_text(PLUGIN)
    (home / "spec.yaml").write_text(SPEC.format(questions=questions, rates=rates))


def commands_of_a_run(home: Path, questions: int, conditions: int) -> Iterator[tuple[str, ...]]:
    """Yield the commands of a run of a size."""
    write_spec(home, questions, conditions)
    yield RUN
    yield RUN
    yield "show", "growth"
    yield "show", "growth", "--questions"
    yield "report", "growth", "--force"


def commands_of_a_folder(home: Path, count: int) -> Iterator[tuple[str, ...]]:
    """Yield the commands that look at a folder with copies of a run."""
    write_spec(home, 100, 4)
    spent(home, *RUN)
    (first,) = (home / "runs" / "growth").glob("*-*")
    for number in range(1, count):
        shutil.copytree(first, first.with_name(f"{first.name}.{number}"), copy_function=os.link)
    yield ("runs",)
    yield "runs", "--diff"
    yield "show", "growth"


def commands_of_a_store(home: Path, count: int) -> Iterator[tuple[str, ...]]:
    """Yield the commands that go through a store, of which a run has pinned a tenth."""
    store = open_store(home / ".ohr")
    for first in range(0, count, AT_ONCE):
        keys = [key("growth", number) for number in range(first, first + AT_ONCE)]
        store.put_many(dict.fromkeys(keys, "some words"))
        store.pin("growth/run", keys[::10])
    yield "cache", "info"
    yield "cache", "prune", "--older-than", "0", "--dry-run"
    yield "cache", "prune", "--older-than", "0"


COMMANDS = {
    "questions": lambda home, size: commands_of_a_run(home, size, 2),
    "conditions": lambda home, size: commands_of_a_run(home, QUESTIONS, size),
    "runs": commands_of_a_folder,
    "store": commands_of_a_store,
}


def measure(out: Path, axis: str) -> None:
    """Measure the sizes of an axis, and print each beside the size before."""
    before: dict[str, tuple[int, float, float]] = {}
    for size in SIZES[axis]:
        home = out / f"{axis}-{size}"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        known: set[str] = set()
        for command in COMMANDS[axis](home, size):
            name = " ".join(command).removesuffix(" ".join(("", *RUN[1:]))).replace("growth", "RUN")
            name += ", again" * (name in known)
            known.add(name)
            seconds, megabytes = spent(home, *command)
            print(f"{size:>9,} {axis:10}  ohr {name:34} {seconds:8.2f} s {megabytes:7.0f} MB", end="")
            if earlier := before.get(name):
                times = size / earlier[0]
                ratios = (seconds / earlier[1] / times, megabytes / earlier[2] / times)
                said = ["linear" if ratio <= LINEAR else f"{ratio:.2f} times linear" for ratio in ratios]
                print(f"   x {ratios[0]:.2f} a unit ({said[0]}), x {ratios[1]:.2f} ({said[1]})", end="")
            print(flush=True)
            before[name] = size, seconds, megabytes
            with (out / "growth.jsonl").open("a") as file:
                line = {"axis": axis, "size": size, "command": name, "seconds": seconds, "megabytes": megabytes}
                file.write(json.dumps(line) + "\n")
        shutil.rmtree(home)


def plot(lines: Path, file: Path) -> None:
    """Draw CPU seconds and memory by size, an axis in each column."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = [json.loads(line) for line in lines.read_text().splitlines()]
    figure, panels = pyplot.subplots(2, len(SIZES), figsize=(11, 5.4), layout="constrained")
    for (axis, sizes), column in zip(SIZES.items(), panels.T, strict=True):
        newest = {(line["command"], line["size"]): line for line in drawn if line["axis"] == axis}
        for panel, unit in zip(column, ("seconds", "megabytes"), strict=True):
            for name in dict.fromkeys(name for name, _ in newest):
                known = [size for size in sizes if (name, size) in newest]
                values = [newest[name, size][unit] for size in known]
                panel.plot(known, values, marker="o", markersize=4, label=f"ohr {name}")
            panel.set(xscale="log", yscale="log")
            panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
            panel.yaxis.set_major_formatter("{x:g}")
            panel.tick_params(which="minor", labelleft=False, labelbottom=False)
            panel.set_ylim(*((0.1, 300) if unit == "seconds" else (30, 2000)))
            panel.grid(alpha=0.3)
        column[0].set_title({"runs": "runs in a folder", "store": "entries of a store"}.get(axis, axis), fontsize=9)
        column[1].legend(frameon=False, fontsize=6, loc="upper left")
    panels[0, 0].set_ylabel("CPU seconds")
    panels[1, 0].set_ylabel("MB")
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--axes", default=",".join(SIZES))
    parser.add_argument("--plot", type=Path, help="draw OUT/growth.jsonl, and measure nothing")
    options = parser.parse_args()
    if options.plot:
        plot(options.out / "growth.jsonl", options.plot)
        return
    require_bytecode()
    for axis in options.axes.split(","):
        measure(options.out.resolve(), axis)


if __name__ == "__main__":
    main()
