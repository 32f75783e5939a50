"""Times BM25 search against rank-bm25 with the same words and variant (BM25+), and compares scores and rankings.

First on the questions and pages of OHRBench, where OHRBENCH_DATA names it, then on 100,000 made-up chunks.

    OHRBENCH_DATA=DIR python speed/bm25.py
"""

import json
import os
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from ohr import extras
from ohr.contracts import Chunk
from ohr.retrievers.lexical.bm25 import BM25


def compare(name: str, texts: list[str], queries: list[str], limit: int) -> None:
    chunks = [Chunk(str(n), "d/a", (0,), 0, len(text), text) for n, text in enumerate(texts)]
    index = BM25(variant="bm25+", tokenizer="whitespace").index(chunks)
    peer = extras.load("rank_bm25", "bm25").BM25Plus([text.split() for text in texts], delta=0.5)
    ours, theirs, worst, differ, ties = [], [], 0.0, 0, 0
    index.search(queries[:5], 10)
    for query in queries:
        began = perf_counter()
        (hits,) = index.search([query], 10)
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


if "OHRBENCH_DATA" in os.environ:
    root = Path(os.environ["OHRBENCH_DATA"])
    pages = [
        page["text"].lower()
        for path in sorted((root / "retrieval_base" / "gt").rglob("*.json"))
        for page in json.loads(path.read_text(encoding="utf-8"))
        if page["text"].strip()
    ]
    asked = [question["questions"].lower() for question in json.loads((root / "qas.json").read_text(encoding="utf-8"))]
    compare("OHRBench, ground truth", pages, asked[:: max(1, len(asked) // 150)], 60)
rng = np.random.default_rng(0)
words = np.array([f"w{number}" for number in range(50_000)])
drawn = np.minimum(rng.zipf(1.2, 100_000 * 80) - 1, len(words) - 1).reshape(100_000, 80)
made = [" ".join(words[row]) for row in drawn]
compare("made up", made, [" ".join(words[rng.choice(drawn[n * 4000], 8)]) for n in range(25)], 100)
