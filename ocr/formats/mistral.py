"""Mistral OCR: a reply as JSON, Markdown by page, or a batch of them, one a line (mistralai 3.7, OCR 4)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Block, OcrFormat, Word

from .markdown import page as page_of_markdown
from .markdown import read as read_markdown
from .values import Pages, Unreadable, by_number, confidence, known, mapping, page_number, sequence, string


class Mistral(OcrFormat, kind="mistral"):
    """Mistral OCR: a reply, replies of a batch, or Markdown."""

    endings = (".json", ".jsonl", ".md")

    def pages(self, content: Any) -> Pages:
        """Read a document's JSON or Markdown."""
        return read_markdown(content) if isinstance(content, str) else _read(content)

    def words(self, content: Any) -> Mapping[int, Sequence[Word]]:
        """Return the words of each page, without boxes; asked for with `confidence_scores_granularity`."""
        pages = [] if isinstance(content, str) else _pages(content)
        return {page_number(page.get("index")): tuple(_words(page)) for page in pages}

    def document_of(self, line: Any) -> str:
        """Return the name that a batch's request has."""
        return string(mapping(line, "a line").get("custom_id"), "custom_id")


def _read(found: Any) -> Pages:
    """Read a reply; its page numbers start at 0."""
    pages = _pages(found)
    known(pages, ("markdown",), "page")
    return by_number((page_number(page.get("index")), tuple(_blocks(page))) for page in pages)


def _pages(found: Any) -> list[Mapping[str, Any]]:
    data = mapping(found, "the file")
    if "response" in data:  # of a batch
        data = mapping(mapping(data["response"], "the response").get("body"), "the response's body")
    if "pages" not in data:
        raise Unreadable("not Mistral's: it has no `pages`")
    return [mapping(page, "a page") for page in sequence(data["pages"], "pages")]


def _words(page: Mapping[str, Any]) -> Iterator[Word]:
    for part in (page.get("confidence_scores"), *sequence(page.get("tables"), "tables")):
        for each in sequence(mapping(part or {}, "the scores").get("word_confidence_scores"), "the words"):
            word = mapping(each, "a word")
            yield Word(string(word.get("text"), "a word"), None, confidence(word.get("confidence")))


def _blocks(page: Mapping[str, Any]) -> Iterator[Block]:
    text = string(page.get("markdown"), "markdown")
    for each in sequence(page.get("tables"), "tables"):  # with `table_format`, the Markdown has links to them
        found = mapping(each, "a table")
        name = string(found.get("id"), "a table's id")
        text = text.replace(f"[{name}]({name})", string(found.get("content"), "a table"))
    header, footer = (string(page.get(key), key) for key in ("header", "footer"))
    yield from [Block("header", header)] if header else []
    yield from page_of_markdown(text)
    for each in sequence(page.get("images"), "images"):
        said = mapping(each, "a picture").get("image_annotation")
        yield from [Block("description", said)] if isinstance(said, str) and said else []
    yield from [Block("footer", footer)] if footer else []
