"""DeepSeek-OCR and DeepSeek-OCR 2: Markdown by page, with a mark before each block where it is as a model wrote it.

Of a document's files the one with marks is read, which its scripts call `_det.mmd`, of a picture `_ori.mmd`. They
leave out a page whose reading did not end by itself (`SKIP_REPEAT`), so that those after it move up.
"""

import re
from collections.abc import Iterator
from typing import Any

from ohr.contracts import Block, OcrFormat

from .markdown import MARK, without_marks
from .page_borders import SPLIT, pages_of
from .values import LABELS, Pages, formula, picture, table

_OWN = re.compile(rf"<\|ref\|>|<\|det\|>|<\|grounding\|>|<｜end▁of▁sentence｜>|{SPLIT}", re.IGNORECASE)
_BETWEEN = re.compile(r"\n[ \t]*\n")
_CENTERED = re.compile(r"\A<center>(.*)</center>\Z", re.DOTALL | re.IGNORECASE)


class DeepSeekOcr(OcrFormat, kind="deepseek_ocr"):
    """Markdown of DeepSeek-OCR, with its marks or without."""

    endings = ("_det.mmd", "_ori.mmd", ".mmd", "_det.md", ".md")

    def pages(self, content: Any) -> Pages:
        """Read a document."""
        return {number: tuple(_page(text)) for number, text in pages_of(content).items()}

    def fits(self, content: Any) -> bool:
        """Report whether a text has marks that no other system writes."""
        return isinstance(content, str) and _OWN.search(content) is not None


def _page(text: str) -> Iterator[Block]:
    before, *parts = MARK.split(text)
    yield from _segment("text", before)
    for label, content in zip(parts[::2], parts[1::2], strict=True):
        is_label = label in LABELS or label == "text" or content.strip()
        yield from _segment(label, content) if is_label else (Block("text", label),)


def _segment(label: str, content: str) -> Iterator[Block]:
    """Read what follows a mark: its first paragraph is what the label says; a caption may have its table below it."""
    if (kind := LABELS.get(label, "text")) == "image":
        yield picture(None)
    text = without_marks(content).strip()
    parts = [text] if kind == "formula" or text.lower().startswith("<table") else _BETWEEN.split(text, 1)
    for place, said in enumerate(part.strip() for part in parts if part.strip()):
        if said.lower().startswith("<table"):
            yield Block("table", table(said))
        elif kind == "formula":
            yield Block("formula", formula(said))
        elif kind == "heading" and place == 0 and "\n" not in said:
            level = len(said) - len(said.lstrip("#"))
            yield Block("heading", said.lstrip("# "), level or (2 if label == "sub_title" else 1))
        elif centered := _CENTERED.match(said):
            yield Block("caption", centered[1].strip())
        else:
            yield Block(kind if place == 0 and kind not in ("table", "image", "heading") else "text", said)
