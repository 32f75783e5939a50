"""PaddleOCR: `save_to_json` of PP-StructureV3 and PaddleOCR-VL, one file a page, and replies of PaddleX's server.

Jobs of its service (PaddleOCR-VL 1.5) end in JSON Lines: on each line a reply with the next page or pages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat, Word

from .markdown import page as page_of_markdown
from .markdown import read as read_markdown
from .values import (
    LABELS,
    Pages,
    Unreadable,
    box,
    confidence,
    formula,
    json_lines,
    known,
    mapping,
    page_number,
    picture,
    sequence,
    string,
    table,
)

_KINDS: Mapping[str, BlockKind] = {**LABELS, "seal": "image", "number": "page_number"}

_ABOUT = ("layout_bbox", "layout", "sub_label", "block_bbox", "block_label", "block_id", "block_order", "bbox", "label")
"""Keys that hold no text."""
_DIV = re.compile(r"\A\s*<div\b[^<>]*>(.*)</div>\s*\Z", re.DOTALL | re.IGNORECASE)
_IMG = re.compile(r"<img\b[^<>]*>", re.IGNORECASE)


class PaddleOcr(OcrFormat, kind="paddleocr"):
    """Pages of PP-StructureV3, PaddleOCR-VL and PaddleX, or their Markdown."""

    version = 3
    endings = ("_res.json", ".json", ".jsonl", ".md")
    lists_documents = False
    numbers_pages = False  # of an image, the number is null

    def pages(self, content: Any) -> Pages:
        """Read a document's JSON, lines of it, or its Markdown."""
        content = _joined(content)
        return read_markdown(content) if isinstance(content, str) else _read(content)

    def words(self, content: Any) -> Mapping[int, Sequence[Word]]:
        """Return the lines of each page, which have one score each; PaddleOCR-VL has none."""
        content = _joined(content)
        results = {} if isinstance(content, str) else _results(content)
        return {number: tuple(_scored(page)) for number, page in results.items()}


def _joined(content: Any) -> Any:
    """Return the replies on the lines of a text as one; any other content is as it was."""
    if not isinstance(content, str) or not content.lstrip().startswith('{"'):
        return content
    replies = [mapping(mapping(line, "a line").get("result"), "the result") for line in json_lines(content)]
    return {
        key: [page for reply in replies for page in sequence(reply.get(key), key)]
        for key in ("layoutParsingResults", "ocrResults")
        if any(key in reply for reply in replies)
    }


def _results(content: Any) -> dict[int, Mapping[str, Any]]:
    """Return the result of each page; one of a server that has only Markdown keeps it."""
    data = mapping(content, "the file")
    data = mapping(data.get("result", data.get("res", data)), "the result")
    for key in ("layoutParsingResults", "ocrResults"):
        if key in data:
            pages = [mapping(page, "a page") for page in sequence(data[key], key)]
            return {number: _pruned(page) for number, page in enumerate(pages)}
    number = data.get("page_index")  # null where an image was read
    return {0 if number is None else page_number(number): data}


def _pruned(page: Mapping[str, Any]) -> Mapping[str, Any]:
    inside = mapping(page.get("prunedResult") or {}, "prunedResult")
    return (
        inside if "markdown" not in page or "parsing_res_list" in inside else {**inside, "markdown": page["markdown"]}
    )


def _read(content: Any) -> Pages:
    return {number: _page(page) for number, page in _results(content).items()}


def _page(data: Mapping[str, Any]) -> tuple[Block, ...]:
    if "parsing_res_list" in data:
        return tuple(_blocks(data))
    if "markdown" not in data:
        return _lines(data)
    markdown = mapping(data["markdown"], "markdown")
    known([markdown], ("text",), "page")
    return page_of_markdown(string(markdown.get("text"), "markdown"))


def _scored(data: Mapping[str, Any]) -> Iterator[Word]:
    data = mapping(data.get("overall_ocr_res") or data, "overall_ocr_res")
    texts, scores = (sequence(data.get(key), key) for key in ("rec_texts", "rec_scores"))
    places = sequence(data.get("rec_polys") or data.get("rec_boxes"), "rec_polys")
    if len(scores) != len(texts) and scores:
        raise Unreadable(f"with {len(scores)} scores of {len(texts)} lines")
    for text, score, place in zip(
        texts, scores, places if len(places) == len(texts) else [None] * len(texts), strict=False
    ):
        yield Word(string(text, "a line"), box(place), confidence(score))


def _lines(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """Read the lines of PaddleOCR's other pipelines, which know no blocks."""
    data = mapping(data.get("overall_ocr_res", data), "overall_ocr_res")
    found = data["rec_texts"] if "rec_texts" in data else data.get("rec_text")
    if found is None:
        raise Unreadable("not PaddleOCR's: it has no `parsing_res_list` and no `rec_texts`")
    texts = [found] if isinstance(found, str) else sequence(found, "rec_texts")
    return (Block("text", "\n".join(string(text, "a line") for text in texts)),)


def _labeled(block: Mapping[str, Any]) -> tuple[str, Any]:
    """Return a block's label and content; release candidates of version 3 have the content under its label."""
    for label, content in (("block_label", "block_content"), ("label", "content"), ("label", "text")):
        if content in block and (label in block or content == "block_content"):
            return str(block.get(label)), block[content]
    found = next((item for item in block.items() if item[0] not in _ABOUT), ("", None))
    return found[0], found[1].get("image_text") if isinstance(found[1], dict) else found[1]


def _blocks(data: Mapping[str, Any]) -> Iterator[Block]:
    blocks = [mapping(each, "a block") for each in sequence(data["parsing_res_list"], "parsing_res_list")]
    known(blocks, ("block_content", "text", "content", *_KINDS), "block")
    for block in blocks:
        label, content = _labeled(block)
        text = string(content, "a block's content")
        text = wrapped[1].strip() if (wrapped := _DIV.match(text)) else text  # centered, in PaddleOCR-VL
        text = text if "<table" in text else _IMG.sub("", text).strip("\n")
        match _KINDS.get(label, "text"):
            case "table":
                yield Block("table", table(text))
            case "formula":
                yield Block("formula", formula(text))
            case "image":
                yield picture(None)
                yield Block("description", text)  # what was read on a seal or in a chart
            case "heading":
                level = len(text) - len(text.lstrip("#"))
                yield Block("heading", text.lstrip("# "), level or (1 if label == "doc_title" else 2))
            case kind:
                yield Block(kind, text)
