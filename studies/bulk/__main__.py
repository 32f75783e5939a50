"""Reads folders of PDFs and of OCR results, each file in a process of its own with limits, beside a second reader.

    python -m studies.bulk FOLDER [FOLDER ...] [--results FOLDER] [--seconds 60] [--memory 2G] [--out table.csv]

Of a PDF, the text layers are read and judged as `ohr data build` does, and all pages are drawn; a result is converted
as `ohr data convert` does. The second reader of a PDF is pdfplumber; pypdf and MuPDF confirm a loss where they are
installed. Of a result it is all that the file says. A word is lost where the second reader has it and the page's
letters, without spaces, do not. A page lost words where those are five or all of them, and a twentieth at least;
without a warning where ohr says nothing of that page. A page is lost that cannot be read, or is drawn blank and has
words.

The status is 1 after a crash, a limit that was reached, or a loss without a warning.
"""

import argparse
import csv
import json
import os
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from ohr.child import call
from ohr.registry import Registry
from ohr.text.layer import clean_layer, unreadable

LEAST, SHARE = 5, 0.05
"""Words, and their share of a page's, from which on they are a loss: fewer are misread signs, or parted otherwise."""
SHORT = 3
"""Letters of a word that is looked for; shorter ones are in any text."""
GLUED, PIECE = 20, 6
"""Letters above which a word is a line without spaces, and of the pieces that it is looked for in."""
WORST = 12
FAILED = ("crashed", "too slow", "too much memory", "lost pages", "lost words")
"""Outcomes that fail, the worst first."""
OUTCOMES = (*FAILED, "lost pages, warned", "lost words, warned", "refused", "read alone", "whole")

READERS = ("pdfplumber", "pypdf", "pymupdf")
"""Libraries that read text layers, as far as they are installed; MuPDF's is under the AGPL."""
_REPEATED = re.compile(r"(.)\1+")
_NO_UNICODE = re.compile(r"\(cid:\d+\)")
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Row:
    """Outcome of a file: the pages and words that are lost, of how many, and the reason or examples."""

    file: str
    outcome: str
    pages: int = 0
    lost_pages: int = 0
    words: int = 0
    lost_words: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    about: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a process, and the readers that PDFs are held against: each further one confirms a loss."""

    seconds: float
    memory: int
    readers: tuple[str, ...]


def examined(path: Path, kind: str, limits: Limits) -> Row:
    """Read a file with ohr and a second reader, and compare them."""
    began = perf_counter()
    seen, failed = child(kind, path, limits)
    cost = {"seconds": perf_counter() - began, "megabytes": seen.get("peak", 0.0)}
    if failed:
        return Row(str(path), failed, about=seen["about"], **cost)
    if "refused" in seen:
        return Row(str(path), "refused", about=seen["refused"].replace(f"{path}: ", ""), **cost)
    if kind == "results":
        return compared(path, seen, ["\n".join(seen["pages"])], [seen["said"]], cost)
    row, before = Row(str(path), "read alone", len(seen["pages"]), **cost), list[str]()
    for reader in limits.readers:
        other, failed = child(reader, path, limits)
        if failed:
            return row if row.outcome != "read alone" else replace(row, about=other["about"])
        theirs = clean_layer([_NO_UNICODE.sub("", text) for text in other["pages"]])
        if row.outcome != "read alone":  # words that one reader alone has are no loss
            theirs = [_shared(one, another) for one, another in zip(before, theirs, strict=False)]
        row, before = compared(path, seen, seen["pages"], theirs, cost), theirs
        if row.outcome != "lost words":
            return row
    return row


def _shared(theirs: str, others: str) -> str:
    here = letters(others)
    return " ".join(word for word in theirs.split() if _is_in(letters(word), here))


_MEMORY = ("MemoryError", "bad_alloc", "Cannot allocate memory", "can't start new thread")
"""Messages of a process that reached its limit of memory, whoever writes them."""


def child(reader: str, path: Path, limits: Limits) -> tuple[dict[str, Any], str]:
    """Run a reader on a file; returns what it saw, or what there is to say, and how it failed."""
    command = [sys.executable, "-m", "studies.bulk.one_file", reader, str(path), str(limits.memory)]
    with TemporaryDirectory(prefix="ohr-") as folder:
        ended = call(command, limits.seconds, {"TMPDIR": folder, "OMP_NUM_THREADS": "1"}, Path(folder))
    if fault := ended.fault(limits.seconds):
        slow, full = ended.status is None, any(sign in ended.message for sign in _MEMORY)
        return {"about": fault}, "too slow" if slow else "too much memory" if full else "crashed"
    if not ended.output:
        return {"about": "ended without a word"}, "crashed"
    seen = json.loads(ended.output)
    return {**seen, "about": seen.get("memory", "")}, "too much memory" if "memory" in seen else ""


def compared(
    path: Path, seen: dict[str, Any], ours: Sequence[str], theirs: Sequence[str], cost: dict[str, float]
) -> Row:
    """Return what a file lost, page by page; as a whole where the second reader has another number of pages."""
    warned, lost, count = set(seen["warned"]), dict.fromkeys(seen["lost"], True), len(seen["pages"])
    lost |= dict.fromkeys(range(count, len(theirs)), False)
    if len(ours) != len(theirs):
        ours, theirs, warned = ["\n".join(ours)], ["\n".join(theirs)], {0} if warned else set()
    pages = [(*lost_words(one, other), other) for one, other in zip(ours, theirs, strict=True)]
    short = {
        index
        for index, (gone, words, other) in enumerate(pages)
        if len(gone) >= max(min(LEAST, words), 1) and len(gone) >= SHARE * words and not unreadable(other)
    }
    lost |= {index: index in warned for index in seen["blank"] if pages[index : index + 1] and pages[index][1]}
    silent = short - warned
    outcome = (
        "lost pages" * (not all(lost.values()))
        or "lost words" * bool(silent)
        or "lost pages, warned" * bool(lost)
        or "lost words, warned" * bool(short)
        or "whole"
    )
    shown = sorted(index for index, is_warned in lost.items() if not is_warned) or sorted(silent or short)
    about = [f"page {index + 1}: {' '.join(pages[index][0][:6]) if index < len(pages) else 'gone'}" for index in shown]
    words, gone = sum(words for _, words, _ in pages), sum(len(pages[index][0]) for index in short)
    return Row(str(path), outcome, count, len(lost), words, gone, about="; ".join(about[:3]), **cost)


def lost_words(ours: str, theirs: str) -> tuple[list[str], int]:
    """Return the words of the second reader that are not among our letters, and how many words it has.

    Spaces do not count, which readers set as they see fit, nor the direction of a word, nor how often it is there. A
    word of Chinese, Japanese or Korean is a sign; of a line without spaces, which may run through two columns, half of
    its pieces are enough.
    """
    here, there = letters(ours), {word for part in theirs.split() for word in _words(letters(part))}
    return [word for word in sorted(there) if not _is_in(word, here) and not _is_in(word[::-1], here)], len(there)


def _is_in(word: str, here: str) -> bool:
    if word in here or len(word) <= GLUED:
        return word in here
    parts = [word[start : start + PIECE] for start in range(0, len(word) - PIECE + 1, PIECE)]
    return 2 * sum(part in here for part in parts) >= len(parts)


def letters(text: str) -> str:
    """Return the letters and digits of a text in one form and case, each once in a row: bold is drawn several times."""
    alone = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
    return _REPEATED.sub(r"\1", alone)


def _words(part: str) -> Sequence[str]:
    return _HAN.findall(part) if _HAN.search(part) else [part] if len(part) >= SHORT else []


def files(folders: Sequence[Path], results: Sequence[Path]) -> list[tuple[Path, str]]:
    """List PDFs and results with the reader of each."""
    registry = Registry()
    formats: list[Any] = [registry.load("ocr_format", name) for name in registry.names("ocr_format")]
    endings = tuple(ending for format in formats for ending in format.endings)
    left_out = tuple(ending for format in formats for ending in format.ignored)
    pdfs = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix.lower() == ".pdf"]
    others = [path for folder in results for path in sorted(folder.rglob("*")) if path.name.endswith(endings)]
    listed = [(path, "pdf") for path in pdfs] + [(path, "results") for path in others]
    return [(path, kind) for path, kind in listed if path.is_file() and not path.name.endswith(left_out or ("\0",))]


def show(rows: Sequence[Row]) -> None:
    """Print the outcomes, and the worst files."""
    by_outcome = defaultdict(list)
    for row in rows:
        by_outcome[row.outcome].append(row)
    print(
        f"{'outcome':20}{'files':>7}{'pages':>9}{'lost':>7}{'words':>11}{'lost':>8}{'seconds':>9}{'most':>7}{'MB':>7}"
    )
    for outcome in OUTCOMES:
        if of := by_outcome[outcome]:
            counts = [sum(getattr(row, name) for row in of) for name in ("pages", "lost_pages", "words", "lost_words")]
            seconds, peak = [row.seconds for row in of], max(row.megabytes for row in of)
            numbers = "".join(f"{count:{width},}" for count, width in zip(counts, (9, 7, 11, 8), strict=True))
            print(f"{outcome:20}{len(of):7,}{numbers}{median(seconds):9.1f}{max(seconds):7.1f}{peak:7,.0f}")
    worst = sorted(rows, key=lambda row: (OUTCOMES.index(row.outcome), -row.lost_pages, -row.lost_words))
    for row in worst[:WORST]:
        if row.outcome not in ("whole", "read alone", "refused"):
            print(f"{row.outcome}: {row.file}: {row.about}")


def size(text: str) -> int:
    """Read a size in bytes, such as 2G or 500M."""
    units = {"K": 10, "M": 20, "G": 30}
    return int(float(text.rstrip("KMGB")) * (1 << units.get(text.rstrip("B")[-1], 0)))


def main() -> bool:
    """Read all files, print and write the table; report whether nothing crashed and nothing is lost without a word."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*", help="of PDFs")
    parser.add_argument("--results", type=Path, action="append", default=[], help="folder of OCR results")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--memory", type=size, default="2G", help="of a process, as 2G")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="CSV file with a line for each file")
    given = parser.parse_args()
    limits = Limits(given.seconds, given.memory, tuple(filter(find_spec, READERS)))
    work = files(given.folders, given.results)
    rows = []
    if given.out and given.out.exists():
        parser.error(f"{given.out} exists: name a new file")
    with ThreadPoolExecutor(given.jobs) as executor, Path(given.out or os.devnull).open("w", newline="") as file:
        table = csv.DictWriter(file, [field.name for field in fields(Row)])
        table.writeheader()
        for row in executor.map(lambda each: examined(each[0], each[1], limits), work):
            rows.append(row)
            table.writerow(asdict(row))
            file.flush()
    show(rows)
    return not any(row.outcome in FAILED for row in rows)


if __name__ == "__main__":
    sys.exit(not main())
