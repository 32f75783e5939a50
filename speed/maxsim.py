"""Times MaxSim against colpali-engine's own scorer on the same vectors, and measures memory by block.

Both score every query against every page on one thread; the scorer is given pages of one length, so that it pads
nothing. Needs colpali-engine with its torchvision.

    python speed/maxsim.py [PAGES] [QUERIES]
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile
from threading import Event, Thread
from time import perf_counter

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np
import torch
from numpy.typing import NDArray

from ohr import extras
from ohr.retrievers.vector.maxsim import PageVectors

PAGES, QUERIES = (int(given) for given in (*sys.argv[1:], "600", "40")[:2])
DIM = 128
PEER = extras.load("colpali_engine.utils.processing_utils", "colqwen").BaseVisualRetrieverProcessor
Vectors = NDArray[np.float32]


def unit(rng: np.random.Generator, count: int) -> Vectors:
    made = rng.normal(size=(count, DIM)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))


def own_memory() -> float:
    """Memory that is not mapped from a file, MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


def score(stored: PageVectors, queries: list[Vectors]) -> tuple[float, torch.Tensor]:
    began = perf_counter()
    found = torch.cat([block for _, block in stored.blocks(queries)], 1)
    return perf_counter() - began, found


def peer(queries: list[torch.Tensor], pages: list[torch.Tensor]) -> tuple[float, torch.Tensor]:
    began = perf_counter()
    found = PEER.score_multi_vector(queries, pages, device="cpu")
    return perf_counter() - began, found


def watched(work: Callable[[], object]) -> float:
    """Measure by how much the memory grows at most, MB."""
    before, peaks, done = own_memory(), [0.0], Event()

    def watch() -> None:
        while not done.wait(0.02):
            peaks.append(own_memory())

    watcher = Thread(target=watch)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return max(peaks) - before


torch.set_num_threads(1)
rng = np.random.default_rng(0)
queries = [unit(rng, int(length)) for length in rng.integers(15, 35, QUERIES)]
with NamedTemporaryFile() as file:
    big = np.memmap(file.name, dtype=np.float16, mode="w+", shape=(20_000 * 300, DIM))
    stored = PageVectors(big, np.arange(300, len(big) + 1, 300))
    grown = watched(lambda: stored.search(queries[:4], 5))
print(f"memory: {big.nbytes / 2**20:.0f} MB of page vectors on disk, searched with {grown:.0f} MB")

for name, lengths in {"one length": [700] * PAGES, "many lengths": rng.integers(400, 760, PAGES).tolist()}.items():
    pages = [unit(rng, length) for length in lengths]
    stored = PageVectors.gather(pages, "cpu", "speed")
    asked, held = [torch.from_numpy(q) for q in queries], [torch.from_numpy(p) for p in pages]
    ours, theirs = [], []
    for _ in range(5):
        seconds, found = score(stored, queries)
        ours.append(seconds)
        theirs.append(peer(asked, held)[0])
    alone = torch.cat([peer(asked[:1], [page])[1] for page in held[:50]])
    worst = float((alone[:, 0] - found[0, :50]).abs().max())
    ratio = median(a / b for a, b in zip(ours, theirs, strict=True))
    print(
        f"{name}: {PAGES} pages x {QUERIES} queries: ohr {median(ours):.2f} s, colpali-engine {median(theirs):.2f} s, "
        f"ratio {ratio:.2f} (limit 1.10); largest difference from unpadded scores {worst:.1e} (limit 1e-4)"
    )
