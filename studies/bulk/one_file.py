"""Content of one file, as one JSON object on stdout: a process of its own, which may crash, hang or run out of memory.

    python -m studies.bulk.one_file pdf|results|pdfplumber|pypdf|pymupdf FILE BYTES

`pages` are texts, `warned` the pages that ohr says something of, `lost` those without a result, `blank` those that are
drawn without anything on them; numbers from 0. A result is one page, `said` its second reading.
"""

import json
import logging
import os
import re
import resource
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ohr.errors import OhrError

DPI = 72
_TAG = re.compile(r"<[^<>]*>")
_MARKS = re.compile(r"\A\s*---\n.*?\n---\n|<\|(ref|det)\|>.*?<\|/\1\|>", re.DOTALL)
"""Front matter, and what DeepSeek-OCR writes of places: no text of a page."""
_LEAST_SPOKEN = 3
"""Words of a string in JSON from which on it is a text, and no label."""

Seen = dict[str, Any]


def of_pdf(path: Path) -> Seen:
    """Read the text layers as `ohr data build` does, and draw all pages."""
    from ohr.files import pdf
    from ohr.text_layers.looks import looks

    count, blank = pdf.page_count(path), []
    say("the text layers")
    seen = looks(path, 0)
    # a page with print and without a text layer is said to have none, and is read by an engine
    warned = [n for n, look in enumerate(seen) if look.verdict != "whole" and (look.reason or not look.verdict)]
    for index in range(count):
        say(f"drawing page {index + 1} of {count}")
        try:
            if pdf.render(path, index, DPI).std() == 0:
                blank.append(index)
        except OhrError:
            warned.append(index)
    lost = [index for index, look in enumerate(seen) if not look.verdict]
    return {"pages": [look.text for look in seen], "warned": warned, "lost": lost, "blank": blank}


def of_results(path: Path) -> Seen:
    """Read a file alone in a folder as `ohr data convert` does; what it says in whole is the second reading."""
    from ohr.spec.read import make_ocr

    with TemporaryDirectory() as folder:
        Path(folder, path.name).symlink_to(path.resolve())
        reader: Any = make_ocr({"kind": "precomputed", "root": folder, "markup": "as_is"}, "bulk")
        reader.check()
        read = [reader.converted(files) for files in reader.files()]
    pages = [page for each in read for page in each.pages]
    return {
        "pages": [page.text for page in pages],
        "warned": [0] * any(each.faults for each in read),
        "lost": [place for place, page in enumerate(pages) if page.error],
        "blank": [],
        "said": "\n".join(_TAG.sub(" ", text) for text in _spoken(path)),
    }


def _spoken(path: Path) -> Iterator[str]:
    """Yield the texts of a file: all of one that is no JSON, else the strings of some words."""
    content = path.read_text(encoding="utf-8-sig", errors="replace")
    if path.suffix not in (".json", ".jsonl"):
        yield _MARKS.sub(" ", content)
        return
    left = [json.loads(content)] if path.suffix == ".json" else [json.loads(line) for line in content.splitlines()]
    while left:
        value = left.pop()
        if isinstance(value, str) and len(_TAG.sub(" ", value).split()) >= _LEAST_SPOKEN:
            yield value
        elif isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else value


def of_pdfplumber(path: Path) -> Seen:
    """Read the text layers with pdfminer."""
    import pdfplumber

    texts = []
    with pdfplumber.open(path) as document:
        for page in document.pages:
            texts.append(page.filter(partial(_is_printed, page.cropbox)).extract_text())
            page.close()
    return {"pages": texts}


def _is_printed(box: tuple[float, float, float, float], sign: dict[str, Any]) -> bool:
    """Report whether the middle of a sign is in the box that a viewer shows."""
    across, down = (sign["x0"] + sign["x1"]) / 2, (sign["top"] + sign["bottom"]) / 2
    return box[0] <= across <= box[2] and box[1] <= down <= box[3]


def of_pypdf(path: Path) -> Seen:
    """Read the text layers with pypdf."""
    import pypdf

    return {"pages": [page.extract_text() for page in pypdf.PdfReader(path).pages]}


def of_pymupdf(path: Path) -> Seen:
    """Read the text layers with MuPDF, which is under the AGPL: whoever has installed it may use it."""
    with import_module("pymupdf").open(path) as document:
        return {"pages": [page.get_text() for page in document]}


READERS: dict[str, Callable[[Path], Seen]] = {
    "pdf": of_pdf,
    "results": of_results,
    "pdfplumber": of_pdfplumber,
    "pypdf": of_pypdf,
    "pymupdf": of_pymupdf,
}


def say(what: str) -> None:
    """Write what comes next, which is the last line where the process ends there."""
    print(what, file=sys.stderr, flush=True)


def main(reader: str, path: str, memory: str) -> None:
    """Print what the file holds, or why it is refused."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print, too
    resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    logging.disable(logging.CRITICAL)
    try:
        seen = READERS[reader](Path(path))
    except OhrError as error:
        seen = {"refused": str(error)}
    except MemoryError:
        seen = {"memory": "more memory than its limit"}
    seen["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    output.write(json.dumps(seen))
    output.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
