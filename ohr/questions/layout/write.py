"""Writes a set as files: ground truth, questions, PDFs, datasheet and `set.json`."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ohr.contracts import Benchmark, Document, Image
from ohr.errors import DataError
from ohr.files import pdf
from ohr.files.built_set import FILE, read_set
from ohr.files.ohrbench_json import set_names, write_pages
from ohr.keys import file_digest
from ohr.questions.candidate import Candidate
from ohr.questions.truth import Truth
from ohr.unfinished import unfinished

from .about import About
from .datasheet import datasheet
from .records import check, record
from .set_file import set_file

QUESTIONS, DATASHEET = "qas_v2.json", "README.md"
_DPI = 200
"""Resolution at which `ohrbench` renders PDFs by default: page images come back pixel by pixel."""
_BLANK = np.full((280, 200, 3), 255, dtype=np.uint8)


def write_set(out: Path, truth: Truth, candidates: Sequence[Candidate], about: About) -> None:
    """Write a set in OHRBench's layout; of an earlier one of this program what is not in the new one is removed.

    The questions are written last, so that a folder that was left half written is no benchmark.

    Args:
        out: a new folder, or one that holds an earlier set.
        truth: all of its documents get their pages and their PDF, also those without a question.
        candidates: the questions, in their order.
        about: how they were made.

    Raises:
        DataError: the folder holds another benchmark, a question cannot be in the set (all faults are listed), or a
            file cannot be written.
    """
    check(candidates, truth)
    names = set_names(document.name for document in truth.documents)
    before = read_set(out)
    if before is None and ((out / "retrieval_base").exists() or (out / QUESTIONS).exists()):
        raise DataError(f"{out}: holds a benchmark that was not built here: name another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / QUESTIONS).unlink(missing_ok=True)
        for name in (before.pages if before else {}).keys() - set(names.values()):
            _truth_file(out, name).unlink(missing_ok=True)
            _pdf_file(out, name).unlink(missing_ok=True)
        for document in truth.documents:
            write_pages(_truth_file(out, names[document.name]), truth.texts[document.name])
            images = before.images.get(names[document.name]) if before else None
            _write_pdf(_pdf_file(out, names[document.name]), document, truth.benchmark, images)
        digests = {name: file_digest(_pdf_file(out, name)) for name in names.values()}
        content = set_file(truth, candidates, about, names, digests)
        _write(out / FILE, json.dumps(content, ensure_ascii=False, indent=1))
        _write(out / DATASHEET, datasheet(content, truth.notes, about, _text(out / DATASHEET)))
        asked = [record(candidate, names) for candidate in candidates]
        _write(out / QUESTIONS, json.dumps(asked, ensure_ascii=False, indent=1))
    except OSError as error:
        raise DataError(f"{error.filename or out}: cannot be written: {error.strerror}") from None


def _write_pdf(target: Path, document: Document, benchmark: Benchmark, images: str | None) -> None:
    """Copy a PDF, or make one of page images, which takes seconds a page: not again if they are those of an old set."""
    source = benchmark.pdf(document)
    if source is None and target.is_file() and images == benchmark.fingerprint(document, images=True):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    new = unfinished(target.parent, ".pdf")
    if source:
        shutil.copyfile(source, new)
    else:
        pdf.write(new, _images(benchmark, document), _DPI)
    new.replace(target)


def _images(benchmark: Benchmark, document: Document) -> Iterator[Image]:
    """Yield a document's pages; in the place of a damaged one a blank one, so that the others keep their numbers."""
    for index in range(document.pages):
        try:
            yield benchmark.page_image(document, index)
        except DataError:
            yield _BLANK


def _truth_file(out: Path, name: str) -> Path:
    return out / "retrieval_base" / "gt" / f"{name}.json"


def _pdf_file(out: Path, name: str) -> Path:
    return out / "pdfs" / f"{name}.pdf"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _write(path: Path, text: str) -> None:
    new = unfinished(path.parent, path.suffix)
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(path)
