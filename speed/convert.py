"""Prints how long `ohr data convert` takes for 10,000 pages of results in each layout, and its memory beside a tenth.

The folders are made from a seed, as large as real ones: 400 words a page, of which MinerU writes 12 blocks with boxes
and lines, docling 12 texts with places, Azure each word with its polygon (some 100 kB a page). Seconds are of the clock
on two cores, and of all cores together. The peak is that of the largest process: the number of pages must not move it.

    python -m speed.convert [LAYOUT ...]
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import psutil

PAGES, EACH, WORDS, BLOCKS = 10_000, 20, 400, 12
TURNS, SECONDS, FLAT = 3, 60, 1.3
OHR = str(Path(sys.executable).with_name("ohr"))


def blocks(rng: Random) -> list[str]:
    """Return the paragraphs of a page."""
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(WORDS)]
    step = -(-WORDS // BLOCKS)
    return [" ".join(words[start : start + step]) for start in range(0, WORDS, step)]


def box(rng: Random, corners: int = 2) -> list[float]:
    """Return coordinates as engines write them."""
    return [round(rng.uniform(0, 800), 4) for _ in range(2 * corners)]


def mineru(pages: list[list[str]], rng: Random) -> Iterator[tuple[str, str]]:
    """Return a content list, and the larger file beside it, which is not read."""
    flat = [
        {"type": "text", "text": text, "bbox": box(rng), "page_idx": number}
        for number, page in enumerate(pages)
        for text in page
    ]
    lines = [
        {
            "page_idx": number,
            "page_size": [595, 842],
            "para_blocks": [
                {
                    "type": "text",
                    "bbox": box(rng),
                    "lines": [
                        {"bbox": box(rng), "spans": [{"bbox": box(rng), "type": "text", "content": word, "score": 1.0}]}
                        for word in text.split()[::6]
                    ],
                }
                for text in page
            ],
        }
        for number, page in enumerate(pages)
    ]
    yield "{0}/auto/{0}_content_list.json", json.dumps(flat, indent=4)
    yield "{0}/auto/{0}_middle.json", json.dumps({"pdf_info": lines, "_version_name": "2.5.4"})


def docling(pages: list[list[str]], rng: Random) -> Iterator[tuple[str, str]]:
    """Return a DoclingDocument."""
    texts = [(number, text) for number, page in enumerate(pages, 1) for text in page]
    yield (
        "{0}.json",
        json.dumps(
            {
                "schema_name": "DoclingDocument",
                "body": {"children": [{"$ref": f"#/texts/{place}"} for place in range(len(texts))]},
                "texts": [
                    {
                        "self_ref": f"#/texts/{place}",
                        "parent": {"$ref": "#/body"},
                        "label": "text",
                        "prov": [{"page_no": number, "bbox": dict(zip("ltrb", box(rng), strict=True))}],
                        "orig": text,
                        "text": text,
                    }
                    for place, (number, text) in enumerate(texts)
                ],
                "pages": {str(number): {"page_no": number} for number in range(1, len(pages) + 1)},
            },
            indent=2,
        ),
    )


def azure(pages: list[list[str]], rng: Random) -> Iterator[tuple[str, str]]:
    """Return an analysis result."""
    content = "\n\n<!-- PageBreak -->\n\n".join("\n\n".join(page) for page in pages)
    found = [
        {
            "pageNumber": number,
            "words": [
                {"content": word, "polygon": box(rng, 4), "confidence": 0.994, "span": {"offset": place, "length": 7}}
                for place, word in enumerate(" ".join(page).split())
            ],
            "lines": [
                {"content": text, "polygon": box(rng, 4), "spans": [{"offset": 0, "length": 9}]} for text in page
            ],
        }
        for number, page in enumerate(pages, 1)
    ]
    result = {"apiVersion": "2024-11-30", "content": content, "contentFormat": "markdown", "pages": found}
    yield "{0}.json", json.dumps({"status": "succeeded", "analyzeResult": result}, indent=2)


def markdown(pages: list[list[str]], _rng: Random) -> Iterator[tuple[str, str]]:
    """Return a file with page breaks."""
    yield "{0}.md", "\n\n\f".join("\n\n".join(page) for page in pages)


def single_pages(pages: list[list[str]], _rng: Random) -> Iterator[tuple[str, str]]:
    """Return a file for each page."""
    yield from ((f"{{0}}/page_{number}.md", "\n\n".join(page)) for number, page in enumerate(pages, 1))


LAYOUTS: dict[str, Callable[[list[list[str]], Random], Iterator[tuple[str, str]]]] = {
    made.__name__: made for made in (mineru, docling, azure, markdown, single_pages)
}


def write(folder: Path, layout: str, pages: int) -> int:
    """Write a folder of results, of which all documents have the same text; returns its bytes."""
    size, rng = 0, Random(0)
    files = list(LAYOUTS[layout]([blocks(rng) for _ in range(EACH)], rng))
    for number in range(pages // EACH):
        for name, text in files:
            path = folder / name.format(f"report-{number:04}")
            path.parent.mkdir(parents=True, exist_ok=True)
            size += path.write_text(text, encoding="utf-8")
    return size


def spent(words: list[str]) -> tuple[float, float, float]:
    """Return seconds of the clock and of cores, and the peak megabytes of the largest process of a command."""
    began, before, peak = perf_counter(), sum(getrusage(RUSAGE_CHILDREN)[:2]), 0
    with psutil.Popen(words, stdout=DEVNULL) as process:
        while process.poll() is None:
            peak = max([peak, *map(memory, [process, *children(process)])])
            try:
                process.wait(0.05)
            except psutil.TimeoutExpired:
                continue
    if process.returncode:
        sys.exit(f"status {process.returncode}: {' '.join(words)}")
    return perf_counter() - began, sum(getrusage(RUSAGE_CHILDREN)[:2]) - before, peak / 2**20


def children(process: Any) -> list[Any]:
    """Return the processes that a command has started."""
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def memory(process: Any) -> int:
    """Return the bytes of memory that a process has now."""
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def measured(layout: str, pages: int) -> tuple[list[float], int]:
    """Return the median seconds, core seconds and peak megabytes of converting some pages, and the results' bytes."""
    with TemporaryDirectory() as home:
        size = write(Path(home, "results"), layout, pages)
        command = [OHR, "data", "convert", str(Path(home, "results"))]
        turns = [spent([*command, str(Path(home, f"out{turn}"))]) for turn in range(TURNS)]
    return [median(column) for column in zip(*turns, strict=True)], size


def main(layouts: list[str]) -> bool:
    """Print each layout, and report whether all are within the limits."""
    good = True
    print(f"{PAGES:,} pages in documents of {EACH}, medians of {TURNS}; limits {SECONDS} s, {FLAT} times the memory")
    print(f"{'layout':14}{'results':>10}{'seconds':>10}{'of cores':>10}{'pages/s':>10}{'peak':>10}{'of a tenth':>12}")
    for layout in layouts:
        (seconds, cores, peak), size = measured(layout, PAGES)
        (_, _, before), _ = measured(layout, PAGES // 10)
        within = seconds <= SECONDS and peak <= FLAT * before
        good &= within
        numbers = (
            f"{size / 1e6:7,.0f} MB{seconds:8.1f} s{cores:8.1f} s{PAGES / seconds:10,.0f}{peak:7.0f} MB{before:9.0f} MB"
        )
        print(f"{layout:14}{numbers}{'' if within else '  FAILED'}", flush=True)
    return good


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:] or list(LAYOUTS)))
