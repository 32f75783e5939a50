"""Bounds of a run of OHRBench's retrieval: what it cannot do without, each part by bare library calls.

    OHRBENCH_DATA=DIR python -m speed.lower_bound

The parts are those of `ohr run pipelines/ohrbench-retrieval.yaml` on gt and MinerU. Each is done once, on the same
texts, in the shortest way: files are parsed once, each different page is cut into words once, nothing is checked,
hashed or found again. The core (chunks, index, search and score) is that of `speed/ohrbench_retrieval.py`, a process
each. The sums are bounds for a run in Python with these libraries, from an empty store and with another top_k; the runs
themselves are beside them.
"""

import json
import random
import sqlite3
import string
import subprocess
import sys
from hashlib import sha256
from io import BytesIO
from tempfile import TemporaryDirectory
from time import process_time

from speed import ohrbench_retrieval as bench
from speed.bytecode import require_bytecode

IMPORTS = {
    "libraries: numpy, pydantic, typer, YAML": "import numpy, pydantic, typer, ruamel.yaml, psutil, sqlite3",
    "libraries: pyarrow, rapidfuzz, the tokenizer": (
        "import pyarrow.parquet, pyarrow.compute, rapidfuzz.distance, quicktok; quicktok.get_encoding('cl100k_base')"
    ),
    "libraries: scipy.special, of intervals": "import numpy, scipy.special",
    "libraries: matplotlib and jinja2, of figures and report": (
        "import numpy, matplotlib.figure, matplotlib.backends.backend_agg, matplotlib.backends.backend_svg, jinja2"
    ),
}
FIGURES = 2
"""Of a run without levels of noise: its summary and its comparison, each as SVG and PNG."""


def imported() -> dict[str, float]:
    """Import libraries, each group in a process of its own, less numpy, which the first group has."""
    codes = {"numpy": "import numpy", **IMPORTS}
    command = "from time import process_time; began = process_time(); {}; print(process_time() - began)"
    seconds = {}
    for name, code in codes.items():
        runs = [subprocess.run([sys.executable, "-c", command.format(code)], capture_output=True) for _ in range(5)]
        seconds[name] = sorted(float(run.stdout) for run in runs)[2]
    return {name: seconds[name] - (seconds["numpy"] if name != next(iter(IMPORTS)) else 0) for name in IMPORTS}


def cut(text: str) -> list[str]:
    """Cut a text into words as the published score does, without its odd cases."""
    bare = text.lower().encode("utf-8", "replace").translate(None, string.punctuation.encode())
    return [word for word in bare.decode().split() if word not in ("a", "an", "the")]


def damage(texts: dict[str, dict], questions: list[dict]) -> None:
    """Cut each page once, with and without markup, and compare it with the evidence."""
    from rapidfuzz.distance import LCSseq

    from ohr.markup.strip import strip_markup

    for pages in texts.values():
        words = {place: cut(text) for place, text in pages.items()}
        bare = {place: cut(strip_markup(text)) for place, text in pages.items()}
        for question in questions:
            LCSseq.similarity(words.get(question["page"], []), question["words"])
            LCSseq.similarity(bare.get(question["page"], []), question["words"])


def floors(texts: dict[str, dict], questions: list[dict]) -> None:
    """Compare the evidence with a page of another document, each page cut once."""
    from rapidfuzz.distance import LCSseq

    words, rng = {place: cut(text) for place, text in texts["gt"].items()}, random.Random(0)
    places = list(words)
    for question in questions:
        for _ in bench.RUNS:
            LCSseq.similarity(words[rng.choice(places)], question["words"])


def store(texts: dict[str, dict]) -> None:
    """Write and read what the store holds of documents and chunks."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE objects (key TEXT PRIMARY KEY, payload BLOB, digest BLOB)")
    for base, pages in texts.items():
        for kind in ("document", "chunks"):
            rows = []
            for (document, page), text in pages.items():
                payload = json.dumps({"document": document, "page": page, "text": text}).encode()
                rows.append((f"{base} {kind} {document} {page}", payload, sha256(payload).digest()))
            database.executemany("INSERT INTO objects VALUES (?, ?, ?)", rows)
    for (payload,) in database.execute("SELECT payload FROM objects"):
        json.loads(payload)


def tables(texts: dict[str, dict]) -> None:
    """Write the texts of a run, and about as much again as its hits."""
    import pyarrow
    from pyarrow import parquet

    for pages in texts.values():
        for _ in range(2):
            table = pyarrow.table({"text": list(pages.values())})
            parquet.write_table(table, BytesIO(), compression="zstd")


def figures() -> None:
    """Draw figures of two bars."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    for _ in range(FIGURES):
        figure = Figure((6.4, 3))
        FigureCanvasAgg(figure)
        figure.subplots().barh(["gt", "MinerU"], [83, 70])
        for form in ("svg", "png"):
            figure.savefig(BytesIO(), format=form, dpi=200)


def read() -> tuple[dict[str, dict], list[dict]]:
    """Parse each file once: pages by document and number of each base, and the questions with a page each."""
    texts: dict[str, dict] = {}
    for base in bench.RUNS:
        root = bench.ROOT / "retrieval_base" / base
        files = {path.relative_to(root).with_suffix("").as_posix(): path for path in sorted(root.rglob("*.json"))}
        texts[base] = {
            (name, page["page_idx"]): page["text"] or ""
            for name, path in files.items()
            for page in json.loads(path.read_text(encoding="utf-8"))
        }
    domains = {name.split("/")[0] for name, _ in texts["gt"]}
    questions = []
    for each in json.loads((bench.ROOT / "qas.json").read_text(encoding="utf-8")):
        if each["doc_name"].split("/")[0] in domains:
            evidence, page = each["evidence_context"], each["evidence_page_no"]
            passages = evidence if isinstance(evidence, list) else [evidence]
            number = page[0] if isinstance(page, list) else page
            questions.append({"page": (each["doc_name"], number), "words": cut(" ".join(map(str, passages)))})
    return texts, questions


LATER = ("libraries", "floors", "tables", "figures", "core: search", "core: score")
"""Parts that a run with another top_k has, too."""


def main() -> None:
    """Print each part, their sums, the runs, and the plain side."""
    parts = imported()
    texts, questions = read()
    import pyarrow.parquet  # noqa: F401
    import rapidfuzz.distance  # noqa: F401

    steps = {
        "damage: words of each page, LCS": lambda: damage(texts, questions),
        "floors: words of each page, LCS": lambda: floors(texts, questions),
        "store: JSON, SHA-256, SQLite": lambda: store(texts),
        "tables: Parquet": lambda: tables(texts),
        "figures": figures,
    }
    for name, step in steps.items():
        began = process_time()
        step()
        parts[name] = process_time() - began
    domains = sorted({name.split("/")[0] for name, _ in texts["gt"]})
    with TemporaryDirectory() as folder:
        cores = [bench.measure("cold", base, domains, folder, 3)["seconds"] for base in bench.RUNS]
        plain = sum(sum(bench.measure("plain", base, domains, folder)["seconds"].values()) for base in bench.RUNS)
        used = {about: seconds for about, (seconds, _) in bench.runs(domains, folder)}
    for step_name in ("read and chunk", "index", "search", "score"):
        parts[f"core: {step_name}"] = sum(core[step_name] for core in cores)
    for name, seconds in parts.items():
        print(f"{seconds:6.2f} s  {name}")
    later = sum(seconds for name, seconds in parts.items() if name.startswith(LATER))
    print(f"{plain:6.2f} s  plain")
    for about, bound in zip(used, (sum(parts.values()), later), strict=False):
        ours = used[about]
        print(f"{about}: at least {bound:.2f} s, at most {plain / bound:.1f} times as fast as plain", end="")
        print(f"; ohr run {ours:.2f} s, {plain / ours:.1f} times, {ours / bound:.2f} of the bound")


if __name__ == "__main__":
    require_bytecode()
    main()
