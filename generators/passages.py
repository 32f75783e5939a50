"""Passages cut into what can be searched: sentences and table rows, each with the stems of its words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ohr.sentences import sentence_spans
from ohr.text import HAN, strip_markup

STOP = frozenset(
    "a an the what which who whom whose when where why how many much of in on at to for by from with and or is are was "
    "were do does did has have had be been being it its that this these those as into per than then there their they "
    "he she his her not no if but so such will would can could may must should shall about after before over under "
    "between during each any all some one's only more most less least very also up out off s t we you our us your my "
    "me if according both because since while however therefore".split()
)
"""Words that say nothing about which sentence or which span is meant."""

_TOKEN = re.compile(rf"[^\W\d_{HAN}]+|\d+(?:[.,:]\d+)*|(?=([{HAN}]{{2}}))[{HAN}]")
_SUFFIX = re.compile(r"(?:ies|ing|ed|es|s|ly|e|y)$")
_CELL = re.compile(r"(?<!\\)&")
_ROW = re.compile(r"\\\\(?:\[[^\]]*\])?|</tr>")
_FRAME = re.compile(
    r"\\(?:begin|end)\{tabular\}(?:\{[^\n]*\})?|\\hline|\\cline\{[^}]*\}|</?(?:chart|table|tbody|thead)>"
)
_MULTICOLUMN = re.compile(r"\\multicolumn\{(\d+)\}\{[^}]*\}")
_MULTIROW = re.compile(r"\\multirow\{(\d+)\}")
_PIPES = re.compile(r"^\s*\|(.*?)\|?\s*$", re.MULTILINE)
_PLAIN_ROW = re.compile(r"(?P<label>(?:\S+ ){1,7}?)(?P<cells>(?:[-–+(]?[€£$]?\d[\d.,:%)]*\s*)+)$")
_FIGURE = re.compile(r"[-–−+(~<>≤≥]?\s*(?:[A-Z]{3}\s|[€£$¥])?\s*\d")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:年)?$")


@dataclass(eq=False, slots=True)
class Table:
    """A table's columns by their heads, and its rows."""

    heads: tuple[str, ...] = ()
    rows: list["Unit"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or a table row: its text, its stems, the stems of what stands above it, and a row's cells.

    A title is a heading or a table's caption: it tells what follows is about and seldom holds an answer.
    """

    text: str
    stems: tuple[str, ...]
    around: frozenset[str] = frozenset()
    cells: tuple[str, ...] = ()
    table: Table | None = None
    title: bool = False


def stems(text: str) -> list[str]:
    """Give the stems of a text's words in order; of Chinese, each pair of neighbouring characters."""
    return [stem for stem, _ in placed(text)]


def placed(text: str) -> list[tuple[str, int]]:
    """Give the stems of a text's words and where each begins."""
    found = []
    for match in _TOKEN.finditer(text):
        if stem := _stem(match[1] or match[0]):
            found.append((stem, match.start()))
    return found


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    word = word.lower()
    if word in STOP:
        return ""
    return _SUFFIX.sub("", word) if len(word) > 4 else word.rstrip("s") or word


def is_figure(cell: str) -> bool:
    """Tell whether a cell is a number rather than a word, a range of words or a year."""
    return bool(_FIGURE.match(cell)) and not _YEAR.match(cell)


@lru_cache(maxsize=1024)  # a run asks many questions about the same passages
def units(passage: str) -> tuple[Unit, ...]:
    """Cut a passage into sentences and table rows, each with the heading or sentence that stands above it."""
    found: list[Unit] = []
    # a formula belongs to the sentence that it ends or stands in
    passage = re.sub(r"[.,;]?\s*\\tag\{[^}]*\}|[.,;](?=\s*\n\$\$)", "", passage)
    passage = re.sub(r"(?<=[^\s.!?。])\n\s*\n(?=\$\$)|(?<=\$\$)\n\s*\n(?=[a-z其式])", "\n", passage)
    for block in re.split(r"\n\s*\n", passage):
        above = found[-1].stems if found else ()
        if "$$" not in block and (_CELL.search(block) or _ROW.search(block) or len(_PIPES.findall(block)) > 1):
            if found and not found[-1].cells and len(found[-1].stems) < 20:
                found[-1] = replace(found[-1], title=True)
            found += _rows(block, above)
        else:
            for start, end in sentence_spans(block):
                found += _lines(block[start:end], found[-1].stems if found else ())
    return tuple(found)


def _lines(sentence: str, above: tuple[str, ...]) -> Iterator[Unit]:
    """Give a sentence, and apart from it the lines that look like rows of a table that was read without its frame."""
    prose, table = [], Table()
    for line in sentence.split("\n"):
        row = _PLAIN_ROW.fullmatch(line.strip())
        if row and len(row["cells"].split()) > 1:
            cells = (row["label"].strip(), *row["cells"].split())
            table.rows.append(Unit(line.strip(), tuple(stems(line)), frozenset(above), cells, table))
        else:
            prose.append(line)
    yield from table.rows
    if text := " ".join(" ".join(prose).split()):
        yield Unit(text, tuple(stems(text)), frozenset(above), title=text.startswith("#"))


def _rows(block: str, above: tuple[str, ...]) -> Iterator[Unit]:
    caption, begin, body = block.partition("\\begin{tabular}")
    if not begin:
        caption, body = "", block
    if not _ROW.search(body):
        body = _PIPES.sub(lambda match: match[1].replace("|", "&") + r"\\", body)
    body = re.sub(r"</t[dh]>\s*<t[dh][^>]*>", "&", body)
    rows = list(_filled(_FRAME.sub(" ", begin + body)))
    first = next((place for place, row in enumerate(rows) if any(map(is_figure, row[1:]))), 1)
    first = first if first < len(rows) else 0
    width = max(map(len, rows), default=0)
    heads = tuple(" ".join(dict.fromkeys(row[j] for row in rows[:first] if j < len(row))) for j in range(width))
    table = Table(heads)
    around = frozenset((*above, *stems(caption), *stems(" ".join(heads))))
    for row in rows[first:]:
        text = " ".join(row)
        table.rows.append(Unit(text, tuple(stems(text)), around, row, table))
    yield from table.rows


def _filled(body: str) -> Iterator[tuple[str, ...]]:
    """Give the rows' cells; a cell that spans columns or rows is repeated in each."""
    spanning: dict[int, tuple[int, str]] = {}
    for line in _ROW.split(body):
        cells: list[str] = []
        for cell in _CELL.split(line):
            wide, high = _MULTICOLUMN.search(cell), _MULTIROW.search(cell)
            text, place = strip_markup(cell), len(cells)
            rest, held = spanning.get(place, (0, ""))
            if high:
                spanning[place] = (int(high[1]) - 1, text)
            elif not text and rest:
                spanning[place], text = (rest - 1, held), held
            cells += [text] * (int(wide[1]) if wide else 1)
        if any(cells):
            yield tuple(cells)


def head(unit: Unit, place: int) -> str:
    """Give what stands over a cell of a row, if anything does."""
    heads = unit.table.heads if unit.table else ()
    return heads[place] if place < len(heads) else ""
