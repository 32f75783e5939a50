"""Measures the studies of real documents (a, c, e of studies/PLAN.md) and keeps their numbers, without any text.

    OHRBENCH_DATA=DIR python -m studies.real_pages WORK --out FOLDER

Pages of MinerU's knowledge base against the ground truth; retrieval with some of them replaced by clean text
(`pipelines/real-selective.yaml`); and the scores of `pipelines/real-retrievers.yaml`. WORK keeps the store, so a killed
study continues where it was.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow

from ohr.noise_files.page_changes import FEATURES, CleanPage, changes
from ohr.results.run import Run
from ohr.text.words import words
from studies.real_data import Place, Texts, given, keep, keep_run, read, study, write_base
from studies.runs import run_pipeline

SHARES = (5, 10, 20)
"""Percent of the pages that are replaced."""
DRAWS = (1, 2, 3)
"""Seeds of the random choice."""
MEASURED = (
    "edit distance", "edit distance of the content", "words lost in order", "numbers lost", "words invented",
)  # fmt: skip


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


def selective(work: Path, truth: Texts, engine: Texts, rows: list[dict[str, Any]]) -> Run:
    """Search the engine's pages, and those with the flagged ones replaced, by OHRBench's protocol."""
    for name, order in ranked(rows).items():
        for share in SHARES:
            replaced = {place: truth[place] for place in order[: math.ceil(len(order) * share / 100)]}
            write_base(work / f"{name} {share}%" / "MinerU", {**engine, **replaced})
    return run_pipeline("real-selective", work)


def main() -> None:
    """Measure everything, and keep it."""
    work, out = given("Studies of real documents: measures pages and retrieval.")
    truth, engine = read("gt"), read("MinerU")
    rows = list(page_rows(truth, engine))
    keep(pyarrow.Table.from_pylist(rows), out, "pages.parquet")
    of = selective(work, truth, engine, rows)
    keep_run(of, out, "selective.parquet")
    keep(of.table("questions", ["question_id", "pages"]), out, "questions.parquet")
    keep_run(run_pipeline("real-retrievers", work), out, "retrievers.parquet")


if __name__ == "__main__":
    study(main)
