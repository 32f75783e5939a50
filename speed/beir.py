"""Times the reading of BEIR corpora through ohr against a plain loop, and `ohr run` of BM25 on corpora of two sizes.

The corpora are made up from a seed: 150 words a document, drawn by Zipf's law, and queries of six words of a document.
`ohr` lists documents and questions, reads every page and hashes every document; the plain loop is what beir's
GenericDataLoader does: `json.loads` of each line into a dictionary, and the judgments by `csv`. Each side is measured
in processes of its own: seconds, and peak memory of the whole process.

    python speed/beir.py [DOCUMENTS]
"""

import csv
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
DOCUMENTS, QUERIES, WORDS, VOCABULARY, REPEATS = 100_000, 2_000, 150, 30_000, 3
LIMITS = {"seconds": 20.0, "MB": 500.0}
SIZES = (5_000, 20_000)
"""Documents of the two runs: four times as many may take little more than four times as long."""
SPEC = """
name: beir-speed
replicates: 1
benchmark: {{kind: beir, root: {root}}}
knowledge_bases:
  - {{name: clean}}
  - {{name: formatting, text_noise: {{kind: formatting, rate: 0.3}}}}
chunker: {{kind: page}}
retrievers: [{{kind: bm25, top_k: 100}}]
evaluate: [retrieval]
"""


def make(root: Path, documents: int, queries: int) -> None:
    """Write a data set; half of the queries have a second relevant document, of a lower grade."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, rng.integers(3, 10))) for _ in range(VOCABULARY)])
    shares = 1 / np.arange(1, VOCABULARY + 1)
    (root / "qrels").mkdir(parents=True)
    asked = set(rng.choice(documents, queries, replace=False).tolist())
    rows, texts = [], []
    with (root / "corpus.jsonl").open("w") as out:
        for place in range(documents):
            drawn = words[rng.choice(VOCABULARY, WORDS, p=shares / shares.sum())]
            out.write(
                json.dumps({"_id": f"d{place}", "title": " ".join(drawn[:8]), "text": " ".join(drawn[8:])}) + "\n"
            )
            if place in asked:
                texts.append(json.dumps({"_id": f"q{place}", "text": " ".join(rng.choice(drawn, 6))}))
                rows.append(f"q{place}\td{place}\t2")
                rows += [f"q{place}\td{(place + 1) % documents}\t1"] * (place % 2)
    (root / "queries.jsonl").write_text("\n".join(texts) + "\n")
    (root / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(rows) + "\n")


def ohr(root: Path) -> None:
    """Read everything that a run reads."""
    from ohr.benchmarks.beir import Beir

    benchmark = Beir(root=root)
    documents, questions = benchmark.documents(), benchmark.questions()
    assert len(questions) == QUERIES
    for document in documents:
        assert benchmark.pages(document)[0].text
        assert benchmark.fingerprint(document, images=False)


def plain(root: Path) -> None:
    """Read the files into dictionaries."""
    corpus, queries = {}, {}
    judged: dict[str, dict[str, int]] = {}
    for line in (root / "corpus.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        corpus[record["_id"]] = {"text": record.get("text"), "title": record.get("title")}
    for line in (root / "queries.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        queries[record["_id"]] = record.get("text")
    with (root / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t")
        next(rows)
        for query, document, score in rows:
            judged.setdefault(query, {})[document] = int(score)
    assert len({name: queries[name] for name in judged}) == QUERIES


def measured(side: str, root: Path) -> dict[str, float]:
    """Run one side in a process of its own."""
    done = subprocess.run([sys.executable, __file__, side, str(root)], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def whole_run(root: Path, folder: Path) -> float:
    """Return the seconds of `ohr run` from an empty store."""
    folder.mkdir()
    (folder / "spec.yaml").write_text(SPEC.format(root=root))
    began = perf_counter()
    command = [str(Path(sys.executable).with_name("ohr")), "run", "spec.yaml", "--store", "store", "--workers", "1"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return perf_counter() - began


def main(documents: int) -> int:
    with TemporaryDirectory() as name:
        home = Path(name)
        make(home / "whole", documents, QUERIES)
        middle = {}
        for side in ("ohr", "plain"):
            times = [measured(side, home / "whole") for _ in range(REPEATS)]
            middle[side] = {unit: median(each[unit] for each in times) for unit in LIMITS}
            seconds, megabytes = middle[side]["seconds"], middle[side]["MB"]
            print(f"reading {documents:,} documents, {side}: {seconds:.1f} s, {megabytes:.0f} MB")
        runs = []
        for size in SIZES:
            make(home / f"of-{size}", size, QUERIES)
            runs.append(whole_run(home / f"of-{size}", home / f"run-{size}"))
            print(f"ohr run, BM25, 2 knowledge bases of {size:,} documents, {QUERIES:,} queries: {runs[-1]:.1f} s")
    growth = runs[1] / runs[0] / (SIZES[1] / SIZES[0])
    print(f"time for {SIZES[1] // SIZES[0]} times the documents grows by {growth:.2f} times that")
    return int(growth > 1.2 or any(middle["ohr"][unit] > limit for unit, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    from speed.bytecode import require_bytecode

    require_bytecode()
    if len(sys.argv) == 3:
        began = perf_counter()
        {"ohr": ohr, "plain": plain}[sys.argv[1]](Path(sys.argv[2]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": perf_counter() - began, "MB": peak}))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) == 2 else DOCUMENTS))
