"""Conformance of OCR formats."""

import json
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from ohr.contracts import Block, OcrFormat
from ohr.testing.stage import TEXTS, check_stage, require, suite

_ODD: tuple[Any, ...] = (
    None, True, 17, [], {}, [[]], [None], [17], ["text"], [{}], {"pages": []},
    {"pages": [3], "content": "", "body": {}}, [{"type": "text", "page_idx": -1}], [{"page_idx": "1", "text": None}],
)  # fmt: skip
"""JSON that other programs may have written."""


@suite
def check_ocr_format(format: OcrFormat, folder: Path | None = None) -> None:
    """Check the reader of an OCR format.

    Args:
        format: the format.
        folder: results of the system, of which each file with one of the format's endings must be read, and fit.
    """
    check_stage(format)
    names = (*format.endings, *format.ignored, *format.omits_blank)
    require(format, bool(format.endings), "`endings` must say how the names of its files end")
    require(format, all(name and isinstance(name, str) for name in names), "an ending must be a text")
    require(format, {*format.omits_blank} <= {*format.endings}, "`omits_blank` must be among `endings`")
    odd = _ODD if any(ending.endswith((".json", ".jsonl")) for ending in format.endings) else TEXTS
    for content in odd:
        try:
            found: Any = format.pages(content)
        except Exception:  # a file that cannot be read costs its own pages
            continue
        _check_pages(format, found, repr(content)[:60])
    if folder is not None:
        _check_files(format, folder)


def _check_files(format: OcrFormat, folder: Path) -> None:
    results = [
        path
        for path in sorted(folder.rglob("*"))
        if path.name.endswith(format.endings) and not path.name.endswith(format.ignored)
    ]
    require(format, bool(results), f"no file in {folder} has one of its endings")
    for path in results:
        text = path.read_text(encoding="utf-8-sig")
        contents: list[Any] = [text]
        if path.suffix == ".json":
            contents = [json.loads(text)]
        elif path.suffix == ".jsonl" and format.lists_documents:
            contents = [json.loads(line) for line in text.split("\n") if line.strip()]
        for content in contents:
            pages: Any = format.pages(content)
            _check_pages(format, pages, path.name)
            require(format, bool(pages), f"{path.name} gave no page")
            _check_words(format, format.words(content), {*pages}, path.name)
            require(format, format.pages(content) == pages, f"{path.name} must give the same pages each time")
            require(format, format.fits(content) is True, f"{path.name} must fit it")
            if path.suffix == ".jsonl" and format.lists_documents:
                require(format, bool(format.document_of(content)), f"a line of {path.name} must name its document")


def _check_words(format: OcrFormat, words: Any, pages: Set[int], what: str) -> None:
    require(format, {*words} <= pages, f"words of {what} must be on its pages")
    sure = all(word.text and 0 <= (word.confidence or 0) <= 1 for found in words.values() for word in found)
    require(format, sure, f"words of {what} must have a text and a confidence in [0, 1]")


def _check_pages(format: OcrFormat, pages: Any, what: str) -> None:
    require(format, isinstance(pages, Mapping), f"{what} must give blocks by page")
    for number, blocks in pages.items():
        require(
            format,
            isinstance(number, int) and number >= 0,
            f"{what} gave page {number!r}: pages are numbered from 0",
        )
        require(
            format,
            all(isinstance(block, Block) and isinstance(block.text, str) for block in blocks),
            f"page {number} of {what} must be blocks",
        )
