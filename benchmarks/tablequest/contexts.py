"""Contexts of TableQuest as pages: their text, and what of it a question needs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser

from .figures import Figure, figures

_TAGS = re.compile(r"(?:</?[A-Za-z][^<>]*>|<!--.*?-->)+", re.DOTALL)
_BLOCK_TAG = re.compile(r"<(?!/?(?:a|b|i|u|s|em|strong|su[bp]|span|font|small)\b)", re.IGNORECASE)
_ENTITY = re.compile(r"&(?!(?:lt|gt|#0*6[02]|#x0*3[ce]);)(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});", re.I)
_BLOCKS = frozenset((
    "address", "article", "blockquote", "br", "caption", "center", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4",
    "h5", "h6", "hr", "li", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
))  # fmt: skip
_CELLS = frozenset(("td", "th"))
_UNSEEN = frozenset(("head", "script", "style", "title"))
_SMALLEST = 100
"""Whole numbers below it, without a unit, are days or numbers of steps in a reasoning, not figures of a report."""


@dataclass(frozen=True, slots=True)
class Block:
    """A row of a table or a paragraph, as a reader sees it: words, with one space between them."""

    text: str
    is_row: bool


def as_page(context: str) -> str:
    """Return a context in HTML as the text of a page: the same tags and words, each word apart from the tags.

    Otherwise, `<td>57.9</td>` is the word `td579td` where words are compared. Entities become their characters, but for
    those of `<` and `>`.
    """
    plain = _ENTITY.sub(lambda found: unescape(found[0]).replace("\xa0", " "), context)
    return _TAGS.sub(_apart, plain)


def _apart(found: re.Match[str]) -> str:
    before, after = found.string[: found.start()][-1:], found.string[found.end() : found.end() + 1]
    if before.isalpha() and after.isalpha() and not _BLOCK_TAG.search(found[0]):  # a tag inside a word
        return found[0]
    return f"{' ' if before.strip() else ''}{found[0]}{' ' if after.strip() else ''}"


@lru_cache(maxsize=512)
def blocks(page: str) -> tuple[Block, ...]:
    """List the rows of tables and the paragraphs of a page in HTML, in order."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    reader.end_block()
    return tuple(reader.found)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Block] = []
        self._parts: list[str] = []
        self._row, self._unseen = False, 0

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:  # noqa: ARG002 # its contract
        self._at(tag)
        self._unseen += tag in _UNSEEN
        self._row = self._row or tag == "tr"

    def handle_endtag(self, tag: str) -> None:
        self._at(tag)
        self._unseen = max(self._unseen - (tag in _UNSEEN), 0)
        self._row = self._row and tag not in ("tr", "table")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._parts.append(data)

    def _at(self, tag: str) -> None:
        """End a block at its tag; within a row, only another row or the table's end does."""
        if tag in ("tr", "table") or (tag in _BLOCKS and not self._row):
            self.end_block()
        elif tag in _BLOCKS | _CELLS:
            self._parts.append(" ")

    def end_block(self) -> None:
        """Keep the text so far as a block, if there is any."""
        if text := " ".join("".join(self._parts).split()):
            self.found.append(Block(text, self._row))
        self._parts.clear()


def facts_of(page: str, answer: str, steps: str) -> tuple[str, ...]:
    """List the figures of a gold answer and its reasoning that a page has, as digits, each once; years are no facts."""
    there = {one.digits for block in blocks(page) for one in figures(block.text)}
    wanted = [one for one in figures(answer) if not one.is_year]
    wanted += [one for one in figures(steps) if not (one.is_year or _is_small(one))]
    return tuple(dict.fromkeys(one.digits for one in wanted if one.digits in there))


def evidence_of(page: str, facts: Sequence[str]) -> tuple[Block, ...]:
    """List the blocks of a page that have some facts, in order: for each fact the block with most of them.

    Edge cases: without facts, all blocks.
    """
    held = blocks(page)
    values = [{one.digits for one in figures(block.text)}.intersection(facts) for block in held]
    places = set()
    for fact in facts:
        having = [place for place, found in enumerate(values) if fact in found]
        places.add(max(having, key=lambda place: (len(values[place]), -place)))
    return tuple(held[place] for place in sorted(places)) or held


def _is_small(figure: Figure) -> bool:
    return figure.bare and figure.step == 1 and abs(figure.value) < _SMALLEST
