"""Measures the studies of real documents (a, c, e of studies/PLAN.md) and keeps their numbers, without any text.

    OHRBENCH_DATA=DIR python -m studies.real_pages WORK --out FOLDER

Pages of MinerU's knowledge base against the ground truth; retrieval with some of them replaced by clean text; and the
scores of `pipelines/real-retrievers.yaml`. WORK keeps the store, so a killed study continues where it was.
"""

import argparse
import json
import math
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from ohr.noise_files.page_changes import FEATURES, CleanPage, changes
from ohr.results.run import Run
from ohr.runner.run import run
from ohr.spec.read import read_spec
from ohr.text.words import words
from studies.runs import run_spec

KEPT = Path(__file__).parent / "kept" / "real"
RETRIEVERS = Path(__file__).parents[1] / "pipelines" / "real-retrievers.yaml"
DOMAINS = ("law", "manual", "textbook")
PAGES = 3_445
"""Pages with words in the copy that was measured."""
SHARES = (5, 10, 20)
"""Percent of the pages that are replaced."""
DRAWS = (1, 2, 3)
"""Seeds of the random choice."""
MEASURED = (
    "edit distance", "edit distance of the content", "words lost in order", "numbers lost", "words invented",
)  # fmt: skip
Place = tuple[str, int]
Texts = Mapping[Place, str]

SPEC = """
name: {name}
replicates: 1
benchmark: {{kind: ohrbench, root: "${{OHRBENCH_DATA}}", domains: [law, manual, textbook], protocol: reference}}
retrievers: [{{kind: bm25_reference, top_k: 2}}]
evaluate: [retrieval]
knowledge_bases:
  - name: gt
{bases}
"""


def documents(base: str) -> dict[str, list[Path]]:
    """Return the files of a knowledge base by domain; ends where the copy of the data lacks one."""
    if "OHRBENCH_DATA" not in os.environ:
        sys.exit("OHRBENCH_DATA must name a copy of OHRBench: `ohr data get ohrbench` says how to have one")
    root = Path(os.environ["OHRBENCH_DATA"]) / "retrieval_base" / base
    files = {domain: sorted((root / domain).glob("*.json")) for domain in DOMAINS}
    for domain, listed in files.items():
        if not listed:
            sys.exit(f"{root / domain} has no documents: OHRBENCH_DATA must hold the domains {', '.join(DOMAINS)}")
    return files


def read(base: str) -> Texts:
    """Return the text of each page of a knowledge base, by document and number."""
    texts = {}
    for domain, files in documents(base).items():
        for file in files:
            for page in json.loads(file.read_text(encoding="utf-8")):
                texts[f"{domain}/{file.stem}", page["page_idx"]] = page["text"] or ""
    return texts


def page_rows(truth: Texts, engine: Texts) -> Iterator[dict[str, Any]]:
    """Yield a row for each page with words: what the engine changed, and signals that need no truth."""
    held_by = Counter(word for text in engine.values() for word in set(words(text)))
    for (document, page), text in truth.items():
        clean = CleanPage(page, text)
        if not clean.words:
            continue
        other = engine.get((document, page))
        changed = dict(zip(FEATURES, changes([clean], {} if other is None else {page: other}).tolist(), strict=True))
        if not (other or "").strip():  # an absent or empty page has lost everything
            numbers = sum(any(map(str.isdigit, word)) for word in clean.words)
            sizes = (len(text), len(clean.content), len(clean.words), numbers, 0)
            changed |= dict(zip(MEASURED, sizes, strict=True))
        read_words = words(other or "")
        rare = sum(held_by[word] == 1 for word in read_words)
        yield {
            "document": document,
            "page": page,
            "characters": len(text),
            "words": len(clean.words),
            **{name: changed[name] for name in MEASURED},
            "read words": len(read_words),
            "rare words": rare / max(len(read_words), 1),
        }


def ranked(rows: list[dict[str, Any]]) -> dict[str, list[Place]]:
    """Return the pages in the order in which each signal flags them; equal ones in an order that a seed draws."""
    drawn = random.Random(0).sample(rows, len(rows))
    keys = {
        "most words lost": lambda row: -row["words lost in order"],
        "few words": lambda row: row["read words"],
        "rare words": lambda row: -row["rare words"],
    }
    orders = {name: sorted(drawn, key=key) for name, key in keys.items()}
    orders |= {f"random {seed}": random.Random(seed).sample(rows, len(rows)) for seed in DRAWS}
    return {name: [(row["document"], row["page"]) for row in order] for name, order in orders.items()}


def write_base(folder: Path, truth: Texts, engine: Texts, replaced: list[Place]) -> None:
    """Write the engine's knowledge base with some pages replaced by the truth."""
    new = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(new, ignore_errors=True)  # of a study that was killed
    texts = {**engine, **{place: truth[place] for place in replaced}}
    documents: dict[str, list[dict[str, Any]]] = {}
    for (document, page), text in sorted(texts.items()):
        documents.setdefault(document, []).append({"page_idx": page, "text": text})
    for document, pages in documents.items():
        file = new / f"{document}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(pages), encoding="utf-8")
    new.rename(folder)


def selective(work: Path, truth: Texts, engine: Texts, rows: list[dict[str, Any]]) -> Run:
    """Search the engine's pages, and those with the flagged ones replaced, by OHRBench's protocol."""
    orders = ranked(rows)
    bases = {"MinerU": list[Place]()}
    for name, order in orders.items():
        for share in SHARES if not name.startswith("random") else (10,):
            bases[f"{name} {share}%"] = order[: math.ceil(len(order) * share / 100)]
    lines = []
    for name, replaced in bases.items():
        folder = work / "bases" / name.replace(" ", "-").rstrip("%") / "MinerU"  # chunks depend on the folder's name
        if not folder.is_dir():
            write_base(folder, truth, engine, replaced)
        lines.append(f'  - {{name: "{name}", ocr: {{kind: precomputed, root: "{folder}", format: ohrbench}}}}')
    return run_spec(SPEC.format(name="selective", bases="\n".join(lines)), work)


def scores_of(of: Run) -> pyarrow.Table:
    """Return the scores of retrieval of each question, without texts."""
    columns = ["question_id", "document", "domain", "evidence_source", "condition", "retriever", "value"]
    table = of.table("scores", [*columns, "stage", "metric"], stage="retrieval", metric="lcs")
    return table.select(columns)


def given(about: str) -> tuple[Path, Path]:
    """Read the folders of the command: of the store and the runs, and of the tables."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("work", type=Path, help="a folder for the store and the runs")
    parser.add_argument(
        "--out", type=Path, required=True, help="a folder for the tables; ours are in studies/kept/real"
    )
    named = parser.parse_args()
    for folder in (named.work, named.out):
        if folder.is_file():
            parser.error(f"{folder} is a file: name a folder")
        folder.mkdir(parents=True, exist_ok=True)
    for base in ("gt", "MinerU"):
        documents(base)
    return named.work.resolve(), named.out


def main() -> None:
    """Measure everything, and keep it."""
    work, out = given("Studies of real documents: measures pages and retrieval.")
    truth, engine = read("gt"), read("MinerU")
    rows = list(page_rows(truth, engine))
    if len(rows) != PAGES:
        print(f"this copy has {len(rows):,} pages with words, ours had {PAGES:,}: the numbers will differ")
    parquet.write_table(pyarrow.Table.from_pylist(rows), out / "pages.parquet", compression="zstd")
    of = selective(work, truth, engine, rows)
    parquet.write_table(scores_of(of), out / "selective.parquet", compression="zstd")
    parquet.write_table(of.table("questions", ["question_id", "pages"]), out / "questions.parquet", compression="zstd")
    retrievers = run(read_spec(RETRIEVERS), store=work / ".ohr", runs=work / "runs", workers=1)
    parquet.write_table(scores_of(Run(retrievers.folder)), out / "retrievers.parquet", compression="zstd")


if __name__ == "__main__":
    main()
