"""Times RapidOCR as ohr runs it against its own defaults, on the same pages, and counts the words that each reads.

python speed/rapidocr.py [PAGES] [DPI]
"""

import logging
import resource
import sys
from collections import Counter
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any

import rapidocr

from ohr.benchmarks.mini import Mini
from ohr.contracts import Image
from ohr.ocr.rapidocr import RapidOcr
from ohr.text.words import words

SINGLE = {
    "Global.log_level": "error",
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


def defaults(engine: Any, image: Image) -> str:
    found = engine(image[:, :, ::-1])
    return "\n".join(found.txts or ())


def ours(engine: RapidOcr, image: Image) -> str:
    (read,) = engine.recognise([image])
    assert read.error is None, read.error
    return read.text


def recall(truth: str, read: str) -> tuple[int, int]:
    wanted, got = Counter(words(truth)), Counter(words(read))
    return sum((wanted & got).values()), sum(wanted.values())


def main(pages: int, dpi: int) -> None:
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    benchmark = Mini(dpi=dpi)
    every = [(document, index) for document in benchmark.documents() for index in range(document.pages)]
    chosen = every[:: max(len(every) // pages, 1)][:pages]
    sides = {"its defaults": partial(defaults, rapidocr.RapidOCR(params=SINGLE)), "ohr": partial(ours, RapidOcr())}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in sides}
    for document, index in chosen:
        image, truth = benchmark.page_image(document, index), benchmark.pages(document)[index].text
        for name, read in sides.items():
            began, wall = process_time(), perf_counter()
            text = read(image)
            seconds[name].append(process_time() - began)
            found[name].append(recall(truth, text))
            print(f"{document.name} {index} {name}: {perf_counter() - wall:.2f} s", file=sys.stderr)
    for name in sides:
        kept, wanted = (sum(column) for column in zip(*found[name], strict=True))
        print(f"{name:13} {median(seconds[name]):.2f} s of CPU a page (median of {len(chosen)}), ", end="")
        print(f"{sum(seconds[name]):.1f} s in all; {kept:,} of {wanted:,} words")
    ratios = [before / after for before, after in zip(*seconds.values(), strict=True)]
    whole = sum(seconds["its defaults"]) / sum(seconds["ohr"])
    print(f"ohr is {median(ratios):.2f} times as fast (median), {whole:.2f} times in all")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [12, 150][len(given) :]))
