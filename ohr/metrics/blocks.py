r"""Semantic errors of a page, block by block: what OHRBench's Table S3 counts.

The paper matches "corresponding TXT/FOR/TAB blocks" of about 130 tokens and reports the share with textual and with
structural errors, without saying how; these are our rules.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import LCSseq

from ohr.markup import html, markdown
from ohr.markup.regions import regions
from ohr.markup.strip import strip_markup
from ohr.markup.tabular import tabulars
from ohr.text.words import normalise, words

Kind = Literal["text", "formula", "table"]
KINDS: tuple[Kind, ...] = ("text", "formula", "table")
COUNTS = (
    *(f"{what}_{kind}" for kind in KINDS for what in ("blocks", "matched", "text_errors")),
    *(f"structure_errors_{kind}" for kind in KINDS[1:]),
)
"""Counts that `block_errors` returns."""
SIMILAR = 50.0
"""Formulas and tables match when at least this percentage of their characters agrees (Indel similarity)."""
WORDS = 100
"""Least words of a block of text that has a neighbor: about the paper's 130 tokens."""

# A formula or table is compared with at most this many before and behind its own place among those of its kind, so
# that a page of thousands takes linear time. No page of OHRBench has more than 20.
_NEAR = 100
_STRUCTURE = re.compile(
    r"\\(?:frac|dfrac|tfrac|sqrt|sum|prod|int|begin|end|over(?:line|set|brace)|under(?:line|set|brace)|binom|matrix)\b"
    r"|[\^_]|\\\\|(?<!\\)&"
)
_WRAPPED = re.compile(r"\\begin ?\{table\*?\}")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


class Block(NamedTuple):
    """One block of a page."""

    kind: Kind
    text: str


def blocks(text: str) -> list[Block]:
    """Cut a page into blocks: tables, display formulas, and the text between them, by paragraphs of WORDS words.

    Blank lines separate paragraphs; a short one is joined with those that follow. Of a LaTeX `table`, only the
    tabulars are tables: its caption is text.
    """
    found: list[Block] = []
    end = 0
    for kind, first, last in _spans(text):
        found += _paragraphs(text[end:first])
        found.append(Block(kind, text[first:last]))
        end = last
    found += _paragraphs(text[end:])
    return found


def _spans(text: str) -> Iterator[tuple[Kind, int, int]]:
    for kind, start, end, _ in regions(text):
        if kind == "block_formula":
            yield "formula", start, end
        elif kind == "table" and _WRAPPED.match(text, start):
            yield from (("table", one.start, one.end) for one in tabulars(text, start, end))
        elif kind == "table":
            yield "table", start, end


def _paragraphs(text: str) -> Iterator[Block]:
    held: list[str] = []
    count = 0
    for part in filter(str.strip, _BLANK_LINE.split(text)):
        if count >= WORDS:
            yield Block("text", "\n\n".join(held))
            held, count = [], 0
        held.append(part.strip())
        count += len(part.split())
    if held:
        yield Block("text", "\n\n".join(held))


def block_errors(text: str, truth: str) -> Counter[str]:
    """Count a page's matching blocks and those with errors.

    A block of text matches when at least half of its words, without markup, occur on the page in order; it has a
    textual error when not all of them do. So it does not matter where either side ends its paragraphs. A formula or
    table is matched with the most similar one on the page, if any is similar enough. It has a textual error when the
    signs of the two differ after markup is stripped; a structural one when fractions, roots, scripts and alignments
    come in another order, or rows have other numbers of cells. A page equal to its ground truth has no errors.

    Returns:
        For each kind `blocks_<kind>` (of the ground truth), `matched_<kind>` and `text_errors_<kind>`; for formulas and
        tables also `structure_errors_<kind>`.
    """
    wanted = blocks(truth)
    counts = Counter(f"blocks_{block.kind}" for block in wanted)
    if text == truth:
        return counts + Counter(f"matched_{block.kind}" for block in wanted)
    page, here, places = words(strip_markup(text)), _by_kind(text, wanted), Counter[Kind]()
    for block in wanted:
        if block.kind == "text":
            _count_text(block.text, page, counts)
        else:
            place = places[block.kind]
            places[block.kind] += 1
            _count_match(block, here[block.kind][max(place - _NEAR, 0) : place + _NEAR], counts)
    return counts


def _by_kind(text: str, wanted: Sequence[Block]) -> dict[Kind, list[str]]:
    """Find the formulas and tables of a page that may match those of its ground truth."""
    found: dict[Kind, list[str]] = {kind: [] for kind in KINDS}
    if any(block.kind != "text" for block in wanted):
        for kind, start, end in _spans(text):
            found[kind].append(text[start:end])
    return found


def _count_text(block: str, page: Sequence[str], counts: Counter[str]) -> None:
    wanted = words(strip_markup(block))
    share = LCSseq.similarity(page, wanted) / len(wanted) if wanted else 1.0
    if share >= SIMILAR / 100:
        counts["matched_text"] += 1
        counts["text_errors_text"] += share < 1


def _count_match(block: Block, candidates: Sequence[str], counts: Counter[str]) -> None:
    kind = block.kind
    if block.text in candidates:
        counts[f"matched_{kind}"] += 1
    elif found := process.extractOne(block.text, candidates, scorer=fuzz.ratio, score_cutoff=SIMILAR):
        match = found[0]
        counts[f"matched_{kind}"] += 1
        counts[f"text_errors_{kind}"] += _content(match) != _content(block.text)
        counts[f"structure_errors_{kind}"] += _structure(match, kind) != _structure(block.text, kind)


def _content(block: str) -> str:
    return normalise(strip_markup(block))


def _structure(block: str, kind: Kind) -> list[str] | list[int]:
    return _STRUCTURE.findall(block) if kind == "formula" else _row_lengths(block)


def _row_lengths(table: str) -> list[int]:
    """Count the cells of each row, in whichever notation the table is written; rows without content are left out."""
    if table.startswith("\\"):
        rows = [row for one in tabulars(table, 0, len(table)) for row in one.rows]
        return [len(row.cells) for row in rows if row.columns > 1 or row.cells[0].start < row.cells[0].end]
    read = html.rows if table.startswith("<") else markdown.rows
    return [len(row) for row in read(table, 0, len(table))]
