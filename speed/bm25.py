"""Times BM25 search against rank-bm25 with the same words and variant (BM25+), and compares scores and rankings.

First on the questions and pages of OHRBench, where OHRBENCH_DATA names it, then on 100,000 made-up chunks. Then the
peak memory of indexing 20,000 made-up chunks of 700 words, beside bm25s with each chunk's words in a list, each in a
process of its own.

    OHRBENCH_DATA=DIR python speed/bm25.py [memory]
"""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from ohr import extras
from ohr.contracts import Chunk
from ohr.retrievers.lexical.bm25 import BM25
from ohr.text.words import words


def compare(name: str, texts: list[str], queries: list[str], limit: int) -> None:
    chunks = [Chunk(str(n), "d/a", (0,), 0, len(text), text) for n, text in enumerate(texts)]
    retriever = BM25(variant="bm25+", tokenizer="whitespace")
    index = retriever.index(chunks)
    peer = extras.load("rank_bm25", "bm25").BM25Plus([text.split() for text in texts], delta=0.5)
    ours, theirs, worst, differ, ties = [], [], 0.0, 0, 0
    retriever.search(index, queries[:5], 10)
    for query in queries:
        began = perf_counter()
        (hits,) = retriever.search(index, [query], 10)
        ours.append(perf_counter() - began)
        began = perf_counter()
        scores = peer.get_scores(query.split())
        best = np.argsort(scores)[::-1][:10]
        theirs.append(perf_counter() - began)
        worst = max((worst, *(abs(hit.score - scores[hit.place]) for hit in hits)))
        if [hit.place for hit in hits] != best.tolist():
            differ += 1
            ties += np.allclose([scores[hit.place] for hit in hits], scores[best][: len(hits)], atol=1e-4)
    ratio = median(theirs) / median(ours)
    print(
        f"{name}: {len(texts):,} chunks, {len(queries)} queries: ohr {1 / median(ours):,.0f}/s, rank-bm25 "
        f"{1 / median(theirs):,.1f}/s, {ratio:.0f} times (limit {limit}); largest difference of scores {worst:.1e}; "
        f"top 10 differ for {differ} queries, in the order of ties for {ties} of them"
    )


def zipf(chunks: int, words: int) -> list[str]:
    """Make up chunks of so many words, which follow Zipf's law."""
    vocabulary = np.array([f"word{number}" for number in range(50_000)])
    rng = np.random.default_rng(0)
    return [" ".join(vocabulary[np.minimum(rng.zipf(1.2, words) - 1, len(vocabulary) - 1)]) for _ in range(chunks)]


def indexed(side: str) -> None:
    """Index in this process and print the peak memory above that of the chunks, in kB a chunk."""
    import bm25s

    chunks = [Chunk(str(n), "d/a", (0,), 0, len(text), text) for n, text in enumerate(zipf(20_000, 700))]
    BM25().index(chunks[:1000])  # so that libraries are loaded and caches are full
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if side == "ohr":
        BM25().index(chunks)
    else:
        bm25s.BM25().index([list(words(chunk.text)) for chunk in chunks], show_progress=False)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / len(chunks))


def memory() -> None:
    command = [sys.executable, __file__, "--index"]
    ours, lists = (
        float(subprocess.run([*command, side], check=True, capture_output=True, text=True).stdout)
        for side in ("ohr", "lists")
    )
    print(
        f"20,000 chunks of 700 words, peak memory above the chunks: ohr {ours:.1f} kB a chunk, bm25s with lists of "
        f"words {lists:.1f} kB: {lists / ours:.1f} times (limit 5)"
    )


def speed() -> None:
    if "OHRBENCH_DATA" in os.environ:
        root = Path(os.environ["OHRBENCH_DATA"])
        pages = [
            page["text"].lower()
            for path in sorted((root / "retrieval_base" / "gt").rglob("*.json"))
            for page in json.loads(path.read_text(encoding="utf-8"))
            if page["text"].strip()
        ]
        asked = [question["questions"].lower() for question in json.loads((root / "qas.json").read_bytes())]
        compare("OHRBench, ground truth", pages, asked[:: max(1, len(asked) // 150)], 60)
    made = zipf(100_000, 80)
    rng = np.random.default_rng(1)
    compare("made up", made, [" ".join(rng.choice(made[n * 4000].split(), 8)) for n in range(25)], 100)


if sys.argv[1:2] == ["--index"]:
    indexed(sys.argv[2])
else:
    memory()
    if sys.argv[1:] != ["memory"]:
        speed()
