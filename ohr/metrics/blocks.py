r"""Semantic errors of a page, block by block: what OHRBench's Table S3 counts.

The paper matches "corresponding TXT/FOR/TAB blocks" of about 130 tokens and gives the share with textual and with
structural errors, without saying how; these are our rules.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz, process
from rapidfuzz.distance import LCSseq

from ohr.markup.strip import strip_markup
from ohr.text.words import normalise, words

Kind = Literal["text", "formula", "table"]
KINDS: tuple[Kind, ...] = ("text", "formula", "table")
COUNTS = (
    *(f"{what}_{kind}" for kind in KINDS for what in ("blocks", "matched", "text_errors")),
    *(f"structure_errors_{kind}" for kind in KINDS[1:]),
)
"""What `block_errors` counts."""
ALIKE = 50.0
"""Formulas and tables match when at least this percentage of their characters agrees (Indel similarity)."""
WORDS = 100
"""Least words of a block of text that has a neighbour: about the paper's 130 tokens."""

_TABLE = (
    r"\\begin\{(?P<env>tabular[*xy]?|array|longtable)\}.*?\\end\{(?P=env)\}"
    r"|<table\b.*?</table>"
)
_ROWS = r"(?:^[ \t]*\|.*\|[ \t]*(?:\n|\Z)){2,}"
_EQUATION = r"equation|align|gather|multline|eqnarray|displaymath"
_FORMULA = rf"\$\$.+?\$\$|\\\[.+?\\\]|\\begin\{{(?P<eq>(?:{_EQUATION})\*?)\}}.*?\\end\{{(?P=eq)\}}"
_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_BLOCK = re.compile(rf"(?P<table>{_TABLE}|{_ROWS})|(?P<formula>{_FORMULA})", _FLAGS)
_BLOCK_WITHOUT_ROWS = re.compile(rf"(?=[\\<$])(?:(?P<table>{_TABLE})|(?P<formula>{_FORMULA}))", _FLAGS)
"""The same for a page without a bar, where a block begins with one of three signs: as quick as looking for these."""
_STRUCTURE = re.compile(
    r"\\(?:frac|dfrac|tfrac|sqrt|sum|prod|int|begin|end|over(?:line|set|brace)|under(?:line|set|brace)|binom|matrix)\b"
    r"|[\^_]|\\\\|(?<!\\)&"
)
_FRAME = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule)\b|\\cline\{[^}]*\}|\\end\{[^}]*\}"
    r"|\\begin\{[^}]*\}(?:\[[^\]]*\])?(?:\{(?:[^{}]|\{[^{}]*\})*\})?"
)
_RULING = re.compile(r"[\s|:-]*")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a page."""

    kind: Kind
    text: str


def blocks(text: str) -> list[Block]:
    """Cut a page into blocks: tables, display formulas, and the text between them, by paragraphs of WORDS words.

    Paragraphs are parted by blank lines; short ones are taken together with those that follow.
    """
    found: list[Block] = []
    end = 0
    for match in (_BLOCK if "|" in text else _BLOCK_WITHOUT_ROWS).finditer(text):
        found += _paragraphs(text[end : match.start()])
        found.append(Block("table" if match["table"] else "formula", match[0]))
        end = match.end()
    return found + _paragraphs(text[end:])


def block_errors(text: str, truth: str) -> Counter[str]:
    """Count a page's matching blocks and those with errors.

    A block of text matches when at least half of its words, markup aside, stand on the page in order; it has a textual
    error when not all of them do. So it does not matter where either side parts its paragraphs. A formula or table is
    matched with the likest one on the page, if any is alike enough. It has a textual error when the signs of the two
    differ after markup is stripped; a structural one when fractions, roots, scripts and alignments come in another
    order, or rows have other numbers of cells. A page that is as its ground truth has no errors.

    Returns:
        For each kind `blocks_<kind>` (of the ground truth), `matched_<kind>` and `text_errors_<kind>`; for formulas and
        tables also `structure_errors_<kind>`.
    """
    if text == truth:
        kinds = Counter(block.kind for block in blocks(truth))
        return Counter({f"{what}_{kind}": count for kind, count in kinds.items() for what in ("blocks", "matched")})
    counts: Counter[str] = Counter()
    here, page = blocks(text), words(strip_markup(text))
    for block in blocks(truth):
        counts[f"blocks_{block.kind}"] += 1
        if block.kind == "text":
            _count_text(block.text, page, counts)
        else:
            _count_match(block, [other.text for other in here if other.kind == block.kind], counts)
    return counts


def _count_text(block: str, page: Sequence[str], counts: Counter[str]) -> None:
    wanted = words(strip_markup(block))
    share = LCSseq.similarity(page, wanted) / len(wanted) if wanted else 1.0
    if share >= ALIKE / 100:
        counts["matched_text"] += 1
        counts["text_errors_text"] += share < 1


def _count_match(block: Block, candidates: Sequence[str], counts: Counter[str]) -> None:
    match = _match(block.text, candidates)
    if match is None:
        return
    counts[f"matched_{block.kind}"] += 1
    counts[f"text_errors_{block.kind}"] += match != block.text and _content(match) != _content(block.text)
    counts[f"structure_errors_{block.kind}"] += _structure(match, block.kind) != _structure(block.text, block.kind)


def _match(block: str, candidates: Sequence[str]) -> str | None:
    if block in candidates:
        return block
    found = process.extractOne(block, candidates, scorer=fuzz.ratio, score_cutoff=ALIKE)
    return found[0] if found else None


def _content(block: str) -> str:
    return normalise(strip_markup(block))


def _structure(block: str, kind: Kind) -> list[str] | list[int]:
    if kind == "formula":
        return _STRUCTURE.findall(block)
    return _row_lengths(block)


def _row_lengths(table: str) -> list[int]:
    """Count the cells of each row, in whichever notation the table is written."""
    if "</t" in table.lower():
        rows = re.split(r"</tr>", table, flags=re.IGNORECASE)
        lengths = [len(re.findall(r"</t[dh]>", row, flags=re.IGNORECASE)) for row in rows]
    elif "\\begin" in table:
        rows = [_FRAME.sub("", row) for row in re.split(r"\\\\", table)]
        lengths = [len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows if row.strip()]
    else:
        rows = [row for row in table.splitlines() if not _RULING.fullmatch(row)]
        lengths = [len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows]
    return [length for length in lengths if length > 0]


def _paragraphs(text: str) -> list[Block]:
    found: list[list[str]] = [[]]
    for part in filter(str.strip, re.split(r"\n[ \t]*\n", text)):
        if sum(len(held.split()) for held in found[-1]) >= WORDS:
            found.append([])
        found[-1].append(part.strip())
    return [Block("text", "\n\n".join(held)) for held in found if held]
