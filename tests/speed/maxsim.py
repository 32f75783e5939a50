"""Times MaxSim against colpali-engine's own scorer on the same vectors, and measures memory by block.

Both score every query against every page on one thread; the scorer is given pages of one length, so that it pads
nothing. Needs colpali-engine with its torchvision.

    python tests/speed/maxsim.py [PAGES] [QUERIES]
"""

import os
import sys
import tracemalloc
from statistics import median
from time import perf_counter

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np
import torch
from colpali_engine.utils.processing_utils import BaseVisualRetrieverProcessor

from ohr.retrievers.maxsim import PageVectors

PAGES, QUERIES = (int(given) for given in (*sys.argv[1:], "600", "40")[:2])
DIM = 128


def unit(rng: np.random.Generator, count: int) -> np.ndarray:
    made = rng.normal(size=(count, DIM)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def timed(run):
    began = perf_counter()
    result = run()
    return perf_counter() - began, result


torch.set_num_threads(1)
rng = np.random.default_rng(0)
queries = [unit(rng, int(length)) for length in rng.integers(15, 35, QUERIES)]
for name, lengths in {"one length": [700] * PAGES, "many lengths": rng.integers(400, 760, PAGES).tolist()}.items():
    pages = [unit(rng, length) for length in lengths]
    stored = PageVectors.gather(pages, "cpu", "speed")
    asked, held = [torch.from_numpy(q) for q in queries], [torch.from_numpy(p) for p in pages]
    ours, theirs, worst = [], [], 0.0
    for _ in range(5):
        seconds, found = timed(lambda: torch.cat([block for _, block in stored.blocks(queries)], 1))
        ours.append(seconds)
        seconds, scores = timed(lambda: BaseVisualRetrieverProcessor.score_multi_vector(asked, held, device="cpu"))
        theirs.append(seconds)
    alone = torch.cat([
        BaseVisualRetrieverProcessor.score_multi_vector(asked[:1], held[n : n + 1], device="cpu") for n in range(50)
    ])  # fmt: skip
    worst = float((alone[:, 0] - found[0, :50]).abs().max())
    ratio = median(a / b for a, b in zip(ours, theirs, strict=True))
    print(
        f"{name}: {PAGES} pages x {QUERIES} queries: ohr {median(ours):.2f} s, colpali-engine {median(theirs):.2f} s, "
        f"ratio {ratio:.2f} (limit 1.10); largest difference from unpadded scores {worst:.1e} (limit 1e-4)"
    )

big = np.memmap("/tmp/ohr-maxsim.bin", dtype=np.float16, mode="w+", shape=(20_000 * 300, DIM))
tracemalloc.start()
PageVectors(big, np.arange(300, len(big) + 1, 300)).search(queries[:4], 5)
peak = tracemalloc.get_traced_memory()[1] / 2**20
print(f"memory: {big.nbytes / 2**20:.0f} MB of page vectors on disk searched with {peak:.0f} MB of arrays of its own")
os.unlink("/tmp/ohr-maxsim.bin")
