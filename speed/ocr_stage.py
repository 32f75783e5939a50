"""Times the OCR stage with two workers against a bare loop of the same engine in two processes.

python speed/ocr_stage.py [RUNS] [tesseract|pp_structure] [PAGES]
"""

import os
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter

os.environ |= {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"}

from ohr.benchmarks.mini import Mini
from ohr.dataset.inputs import read_inputs
from ohr.engine.executors.local import Local
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.compile import compile_graph
from ohr.graph.graph import BasePart
from ohr.ocr.pp_structure import PpStructure
from ohr.ocr.tesseract import Tesseract
from ohr.spec.model import KnowledgeBase, Spec
from ohr.store import open_store

BENCHMARK = Mini(languages=("en",), max_pages=1)
RUNS, KIND, PAGES = [*sys.argv[1:], *("3", "tesseract", "25")[len(sys.argv) - 1 :]]
ENGINE = {"tesseract": Tesseract(), "pp_structure": PpStructure()}[KIND]


def bare_page(document: object) -> int:
    (read,) = ENGINE.recognise([BENCHMARK.page_image(document, 0)])
    return len(ENGINE.written(read))


def bare(documents: list[object]) -> float:
    began = perf_counter()
    with get_context("spawn").Pool(2) as pool:
        for _ in pool.imap_unordered(bare_page, documents):
            pass
    return perf_counter() - began


def stage() -> float:
    base = KnowledgeBase("clean_ocr", "clean_ocr", (), ENGINE, ())
    spec = Spec("speed", 0, BENCHMARK, (base,), (), (), (), (), limit=int(PAGES))
    inputs = read_inputs(spec)
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        graph = compile_graph(Keys(spec, inputs))
        documents = [name for part in graph.parts if isinstance(part, BasePart) for name in part.documents]
        session = Session(inputs, open_store(Path(folder)), Local(2))
        with session.started(spec):
            scheduler = session.scheduler(spec)
            scheduler.add(graph, documents)
            scheduler.settle(documents)
        return perf_counter() - began


if __name__ == "__main__":
    documents = list(BENCHMARK.documents())[: int(PAGES)]
    pairs = [(stage(), bare(documents)) for _ in range(int(RUNS))]
    ratios = [ours / theirs for ours, theirs in pairs]
    print(f"{len(documents)} pages, seconds (ours, bare): {[(round(a, 1), round(b, 1)) for a, b in pairs]}")
    print(f"{KIND}: OCR stage over bare loop, 2 processes each: {median(ratios):.3f} (limit 1.05)")
