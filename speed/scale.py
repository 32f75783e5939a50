"""Times `ohr run` on corpora of 10,000, 100,000 and 1,000,000 chunks, for several retrievers, with its memory.

The corpora are made from a seed: documents of ten pages, pages of four chunks of 110 to 150 words, words drawn by
Zipf's law from those that are one token of cl100k_base; each question is eight words of a page. `dense` and `lancedb`
get random unit vectors in place of a model, whose cost is the model's own (docs/backends.md). Memory is the largest
sum of the proportional set sizes (PSS, in which shared pages count once) of all processes of a run, and the largest
resident set of one process. Each run is one JSON line in OUT/scale.jsonl; `--plot FILE` draws all lines.

    python speed/scale.py OUT [--chunks 10000,100000,1000000] [--retrievers bm25,tantivy,dense,lancedb] [--plot FILE]
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import numpy as np

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
PAGES, CHUNKS_A_PAGE, CHUNK, QUESTIONS, DIMENSIONS = 10, 4, 150, 1_000, 384
LIMITS = {"bm25": 4.0, "tantivy": 8.0, "dense": 8.0, "dense-ivf": 8.0, "lancedb": 8.0}
"""GiB of a whole run with 1,000,000 chunks."""
RETRIEVERS = {
    "bm25": "{kind: bm25, top_k: 10}",
    "tantivy": "{kind: tantivy, top_k: 10}",
    "dense": "{kind: random_vectors, top_k: 10}",
    "dense-ivf": "{kind: random_vectors, index_type: ivf, top_k: 10}",
    "lancedb": "{kind: lancedb, embedder: {kind: random_vectors}, top_k: 10}",
}
SPEC = """\
name: scale
replicates: 1
benchmark: {{kind: ohrbench, root: {data}}}
knowledge_bases: [{{name: clean}}]
chunker: {{kind: tokens, size: 150}}
retrievers: [{retriever}]
index_scope: corpus
evaluate: [retrieval]
limits: {{seconds: 7200}}
plugins: [{plugin}]
"""
PLUGIN = f'''
import zlib
import numpy as np
from ohr.retrievers.vector.vectors import EmbeddingRetriever

class RandomVectors(EmbeddingRetriever, kind="random_vectors"):
    """A unit vector for each text, drawn by its checksum."""
    model: str = "none"
    modules = ()

    def check(self):
        """Nothing to load."""

    def identity(self):
        return {{"index_type": self.index_type}}

    def embed_queries(self, queries):
        return self.embed_passages(queries)[0]

    def embed_passages(self, texts):
        seeds = [zlib.crc32(text.encode()) for text in texts]
        drawn = [np.random.default_rng(seed).standard_normal({DIMENSIONS}, np.float32) for seed in seeds]
        vectors = np.stack(drawn) if drawn else np.zeros((0, {DIMENSIONS}), np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), ()
'''


def words() -> np.ndarray:
    """Return the words of three letters and more that are one token with the space before them, in a random order."""
    from ohr.text.tokens import encoding

    coder = encoding()
    pieces = (coder.decode_single_token_bytes(token) for token in range(coder.n_vocab - 300))
    listed = sorted(
        {
            piece[1:].decode()
            for piece in pieces
            if piece[:1] == b" " and piece[1:].isalpha() and len(piece) > 3 and piece.isascii() and piece.islower()
        }
    )
    return np.random.default_rng(0).permutation(np.array(listed))


def make(root: Path, chunks: int) -> None:
    """Write the corpus in OHRBench's layout."""
    rng, vocabulary = np.random.default_rng(1), words()
    shares = np.cumsum(1 / np.arange(1, len(vocabulary) + 1))
    pages = chunks // CHUNKS_A_PAGE
    asked = set(rng.choice(pages, QUESTIONS, replace=False).tolist())
    folder, records = root / "retrieval_base" / "gt" / "law", list[dict]()
    folder.mkdir(parents=True)
    for document in range(-(-pages // PAGES)):
        written = []
        for place in range(PAGES):
            size = CHUNKS_A_PAGE * CHUNK - int(rng.integers(0, 40))
            drawn = vocabulary[np.searchsorted(shares, rng.random(size) * shares[-1])].tolist()
            written.append({"page_idx": place, "text": " ".join(drawn)})
            if document * PAGES + place in asked:
                start = int(rng.integers(0, size - 30))
                records.append(
                    {
                        "ID": f"q{len(records)}", "doc_name": f"law/d{document}", "doc_type": "law",
                        "questions": " ".join(drawn[start : start + 8]) + "?", "answers": drawn[start + 9],
                        "evidence_source": "text", "evidence_page_no": place,
                        "evidence_context": " ".join(drawn[start : start + 12]),
                        "answer_form": "String", "task_type": "understanding",
                    }
                )  # fmt: skip
        (folder / f"d{document}.json").write_text(json.dumps(written))
    (root / "qas_v2.json").write_text(json.dumps(records))


def family(pid: int) -> Iterator[int]:
    """Yield a process and all that it has started."""
    yield pid
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from family(int(child))
    except OSError:
        return


def memory(pid: int) -> tuple[float, float, float]:
    """Return GiB of a run: proportional sizes of all processes and of the first, and the largest resident size."""
    proportional, main, resident = 0.0, 0.0, 0.0
    for each in family(pid):
        try:
            lines = dict(line.split(":") for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()[1:])
            proportional += int(lines["Pss"].split()[0]) / 2**20
            main = main or proportional
            resident = max(resident, int(lines["Rss"].split()[0]) / 2**20)
        except (OSError, ValueError, KeyError):
            continue
    return proportional, main, resident


def timed(home: Path, *command: str) -> dict[str, float]:
    """Run a command; returns its status, seconds, CPU seconds and memory."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), monotonic()
    with (home / "out").open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "ohr", *command], cwd=home, stdout=out, stderr=out)
        most: tuple[float, ...] = (0.0, 0.0, 0.0)
        while process.poll() is None:
            most = tuple(max(pair) for pair in zip(most, memory(process.pid), strict=True))
            sleep(0.25)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "status": process.returncode,
        "seconds": round(monotonic() - began, 1),
        "cpu": round(cpu, 1),
        **{name: round(size, 2) for name, size in zip(("all", "main", "largest"), most, strict=True)},
    }


def measure(out: Path, chunks: int, name: str) -> dict:
    """Run a retriever on a corpus, then with another top_k, which searches the index again.

    The first run of a size makes the documents and the chunks as well, which the others find in the store.
    """
    data = out / f"data-{chunks}"
    if not data.is_dir():
        shutil.rmtree(out / "part", ignore_errors=True)
        make(out / "part", chunks)
        (out / "part").rename(data)
    home = out / f"runs-{chunks}"
    home.mkdir(exist_ok=True)
    shutil.rmtree(home / "runs", ignore_errors=True)
    before = stored(home)
    (home / "vectors.py").write_text(PLUGIN)
    spec = SPEC.format(data=data, retriever=RETRIEVERS[name], plugin=home / "vectors.py")
    (home / "spec.yaml").write_text(spec)
    (home / "deeper.yaml").write_text(spec.replace("top_k: 10", "top_k: 20"))
    first = timed(home, "run", "spec.yaml", "--trust-plugins")
    again = timed(home, "run", "deeper.yaml", "--trust-plugins") if not first["status"] else {}
    manifests = [json.loads(path.read_text()) for path in sorted(home.glob("runs/scale/*/manifest.json"))]
    stages = [manifest["seconds"] for manifest in manifests]
    size = round(stored(home) - before, 2)
    return {"retriever": name, "chunks": chunks, "run": first, "deeper": again, "stages": stages, "store": size}


def stored(home: Path) -> float:
    """Return the GiB of a store."""
    return sum(path.stat().st_size for path in (home / ".ohr").rglob("*") if path.is_file()) / 2**30


def plot(records: list[dict], file: Path) -> None:
    """Draw seconds and memory by the number of chunks."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    titles = ("seconds to index and search", "seconds of a run with another top_k", "memory of a run, GiB")
    values = (lambda r: r["stages"][0]["retrieving"], lambda r: r["deeper"]["seconds"], lambda r: r["run"]["all"])
    for axis, title, value in zip(axes, titles, values, strict=True):
        for name in dict.fromkeys(record["retriever"] for record in records):
            chosen = sorted((r for r in records if r["retriever"] == name), key=lambda r: r["chunks"])
            axis.plot([r["chunks"] for r in chosen], [value(r) for r in chosen], marker="o", markersize=4, label=name)
        axis.set(xscale="log", yscale="log", xlabel="chunks", title=title)
        axis.title.set_fontsize(9)
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False, fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--chunks", default="10000,100000,1000000")
    parser.add_argument("--retrievers", default="bm25,tantivy,dense,lancedb")
    parser.add_argument("--plot", type=Path, help="draw OUT/scale.jsonl, and measure nothing")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    lines = out / "scale.jsonl"
    if options.plot:
        newest = {(r["retriever"], r["chunks"]): r for r in map(json.loads, lines.read_text().splitlines())}
        plot([record for record in newest.values() if not record["run"]["status"]], options.plot)
        return
    for chunks in map(int, options.chunks.split(",")):
        for name in options.retrievers.split(","):
            record = measure(out, chunks, name)
            with lines.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
            run = record["run"]
            if chunks >= 1_000_000 and not run["status"]:
                print(f"  {name}: {run['all']} GiB of {LIMITS[name]}")


if __name__ == "__main__":
    main()
