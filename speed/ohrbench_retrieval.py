"""Times OHRBench's retrieval evaluation, reference protocol, against a plain implementation of the published code.

Both read, chunk, index, search and score all questions of the same domains and knowledge base, one after the other, in
processes of their own; CPU seconds and peak memory of each (ours: the median of several processes). The plain side is
`tests/benchmarks/ohrbench/naive.py`. Then `ohr run` on gt and MinerU, which does far more (doses, floors, intervals,
tables, figures), against the plain side on both, which runs again beside each: CPU seconds of one process, from an
empty store, with another top_k, and once more. All with bytecode written; else nothing is printed.

    OHRBENCH_DATA=DIR python speed/ohrbench_retrieval.py [BASE] [DOMAIN ...]
"""

import json
import os
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory, TemporaryFile
from time import process_time

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ROOT = Path(os.environ.get("OHRBENCH_DATA", "data/ohrbench"))
LIMITS = {"whole": 8, "index + search + score": 20, "warm": 50}
RUNS = ("gt", "MinerU")
"""Knowledge bases of pipelines/ohrbench-retrieval.yaml."""
seconds: dict[str, float] = defaultdict(float)


@contextmanager
def timed(step: str):
    began = process_time()
    yield
    seconds[step] += process_time() - began


def plain(base: str, domains: list[str]) -> list[float]:
    with timed("import"):
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "benchmarks" / "ohrbench"))
        import naive  # type: ignore[import-not-found]

        from ohr.retrievers.lexical.words import STOPWORDS
    with timed("read"):
        asked = json.loads((ROOT / "qas.json").read_text(encoding="utf-8"))
    scores = []
    for domain in domains:
        questions = [question for question in asked if question["doc_name"].startswith(f"{domain}/")]
        with timed("read and chunk"):
            nodes = naive.read_nodes(ROOT, base, domain)
        with timed("index"):
            bm25 = naive.BM25Okapi([naive.tokenise(node.text, STOPWORDS) for node in nodes])
        for question in questions:
            with timed("search"):
                best = naive.rank(bm25, naive.tokenise(question["questions"], STOPWORDS), 2)
            with timed("score"):
                scores.append(naive.score(question, [nodes[place] for place in best]))
    return scores


def ours(base: str, domains: list[str], kept: Path | None = None, *, warm: bool = False) -> list[float]:
    """Do the same; with `warm`, chunks and indices are read from `kept`, where a cold run has left them."""
    with timed("import"):
        from ohr.benchmarks.ohrbench import OhrBench
        from ohr.chunkers.reference import Reference
        from ohr.contracts import Chunk
        from ohr.files.indexes import load, save
        from ohr.metrics.dose import evidence_text
        from ohr.metrics.lcs import lcs_of_passages
        from ohr.ocr.precomputed import Precomputed
        from ohr.retrievers.lexical.bm25 import BM25Reference
    scores = []
    chunker, retriever, source = Reference(base=base), BM25Reference(), Precomputed(root=ROOT / "retrieval_base" / base)
    with timed("read"):
        bench = OhrBench(root=ROOT, domains=tuple(domains), protocol="reference")
        documents, asked = () if warm else bench.documents(), bench.questions()
    for domain in domains:
        store = kept / domain if kept else Path()
        questions = [question for question in asked if question.domain == domain]
        if warm:
            with timed("read and chunk"):
                columns = json.loads((store / "chunks.json").read_text())
                chunks = [Chunk(name, doc, tuple(pages), 0, 0, text) for name, doc, pages, text in columns]
            with timed("index"):
                index = load(store / "index")
        else:
            with timed("read and chunk"):
                mine = [document for document in documents if document.domain == domain]
                chunks = [c for document in mine for c in chunker.split(source.recorded(document))]
            with timed("index"):
                index = retriever.index(chunks)
            if kept:
                (store / "index").mkdir(parents=True)
                save(index, store / "index")
                (store / "chunks.json").write_text(json.dumps([[c.id, c.document, c.pages, c.text] for c in chunks]))
        with timed("search"):
            ranked = retriever.search(index, [question.text for question in questions], 2)
        with timed("score"):
            for question, hits in zip(questions, ranked, strict=True):
                found = [chunks[hit.place] for hit in hits]
                own = [c.text for c in found if c.document == question.document and c.pages[0] in question.pages]
                scores.append(lcs_of_passages(own, evidence_text(question), False) if own else 0.0)
    return scores


def measure(side: str, base: str, domains: list[str], kept: str, times: int = 1) -> dict:
    """Run one side in a process of its own; of several times, return the one with the median CPU time."""
    command = [sys.executable, __file__, "--side", side, kept, base, *domains]
    found = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(times)
    ]
    return sorted(found, key=lambda result: sum(result["seconds"].values()))[times // 2]


def run_side(side: str, kept: str, base: str, domains: list[str]) -> None:
    if side == "plain":
        scores = plain(base, domains)
    else:
        scores = ours(base, domains, Path(kept) if side != "cold" else None, warm=side == "warm")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"scores": scores, "seconds": seconds, "peak": peak}))


def report(found: dict[str, dict]) -> None:
    plain_side = found["plain"]
    for side, result in found.items():
        parts = ", ".join(f"{step} {value:.2f}" for step, value in result["seconds"].items())
        spent = sum(result["seconds"].values())
        print(f"{side:6}{spent:8.2f} s CPU, {result['peak']:5.0f} MB   ({parts})")
        same = sum(one == other for one, other in zip(result["scores"], plain_side["scores"], strict=True))
        print(f"{'':6}LCS {100 * fmean(result['scores']):.4f}, equal to plain: {same} of {len(plain_side['scores'])}")

    def total(side: str, *steps: str) -> float:
        return sum(value for step, value in found[side]["seconds"].items() if not steps or step in steps)

    core = ("index", "search", "score")
    work = ("read", "read and chunk", *core)
    print(f"whole, cold: {total('plain', *work) / total('cold', *work):.1f}x (limit {LIMITS['whole']})", end="")
    print(f"; with the imports {total('plain') / total('cold'):.1f}x")
    ratio = total("plain", *core) / total("cold", *core)
    print(f"index + search + score, cold: {ratio:.1f}x (limit {LIMITS['index + search + score']})")
    print(f"whole, chunks and index kept: {total('plain', *work) / total('warm', *work):.1f}x", end="")
    print(f" (limit {LIMITS['warm']}); with the imports {total('plain') / total('warm'):.1f}x")
    print(f"peak memory: {found['cold']['peak'] / plain_side['peak']:.2f} of plain's (limit 1)")


STUDIES: dict[str, tuple[int, list[str]]] = {
    "empty store": (7, []),
    "top 3, chunks and index kept": (16, ["--set", "retrievers.0.top_k=3"]),
    "again": (60, ["--set", "retrievers.0.top_k=3"]),
}
"""Runs of `ohr run`: the ratio to reach, and what is set."""


def spent(command: list[str], folder: str, environment: dict[str, str]) -> tuple[float, float]:
    """Run a command; return its CPU seconds and its peak memory in MB, those of the processes that it awaits included.

    Its status may be 1, which reports pages that are missing.
    """
    with TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        errors.seek(0)
        assert os.waitstatus_to_exitcode(status) < 2, errors.read()
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def runs(domains: list[str], folder: str) -> Iterator[tuple[str, tuple[float, float]]]:
    """Time `ohr run` from an empty store, with chunks and indices in the store, and with everything there.

    It runs in one process: the CPU time of worker processes that others have started is in no process's account.
    """
    spec = Path(__file__).parents[1] / "pipelines" / "ohrbench-retrieval.yaml"
    words = ["run", str(spec), "--set", f"benchmark.domains=[{', '.join(domains)}]", "--executor", "inline"]
    environment = {**os.environ, "OHRBENCH_DATA": str(ROOT.resolve())}
    ohr = str(Path(sys.executable).with_name("ohr"))
    for about, (_, more) in STUDIES.items():
        yield about, spent([ohr, *words, *more], folder, environment)


def print_runs(domains: list[str], folder: str) -> None:
    """Print each run beside the plain side, which runs again after it."""
    for about, (used, peak) in runs(domains, folder):
        plain = sum(sum(measure("plain", base, domains, folder)["seconds"].values()) for base in RUNS)
        ratio = f"{plain / used:.1f}x of plain's {plain:.2f} s (limit {STUDIES[about][0]})"
        print(
            f"ohr run, {' and '.join(RUNS)}, {about}: {used:.2f} s CPU, {ratio}, {peak:.0f} MB (limit 300)", flush=True
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        run_side(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
    else:
        sys.path.append(str(Path(__file__).parents[1]))
        from speed.bytecode import require_bytecode

        require_bytecode()
        chosen = sys.argv[1] if len(sys.argv) > 1 else "gt"
        names = sys.argv[2:] or sorted(path.name for path in (ROOT / "retrieval_base" / chosen).iterdir())
        with TemporaryDirectory() as folder:
            measure("fill", chosen, names, folder)
            sides = {"plain": 1, "cold": 3, "warm": 5}
            report({side: measure(side, chosen, names, folder, times) for side, times in sides.items()})
        with TemporaryDirectory() as folder:
            print_runs(names, folder)
