"""Passages cut into what can be searched, sentences and table rows, and a question's words weighed against them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise, zip_longest
from math import log

from ohr.markup.strip import strip_markup
from ohr.text.chinese import HAN
from ohr.text.sentences import sentence_spans

_STOP = (
    "a an the what which who whom whose when where why how many much of in on at to for by from with and or is are was "
    "were do does did has have had be been being it its that this these those as into per than then there their they "
    "he she his her not no if but so such will would can could may must should shall about after before over under "
    "between during each any all some one's only more most less least very also up out off s t we you us our your my "
    "me according both because since while however therefore"
)
STOP = frozenset(_STOP.split())
"""Words that say nothing about which sentence or which span is meant."""
NAME = re.compile(r"\b(?:(?:Mr|Mrs|Ms|Dr|St)\.? )?[A-ZÀ-Þ][\w'’-]+(?:(?: of| of the| the| &| de)? [A-ZÀ-Þ][\w'’-]*)*")
"""A run of capitalised words."""

_TOKEN = re.compile(rf"[^\W\d_{HAN}]+|\d+(?:[.,:]\d+)*|(?=([{HAN}]{{2}}))[{HAN}]")
_SUFFIX = re.compile(r"(?:ies|ing|ed|es|s|ly|e|y)$")
_CELL = re.compile(r"(?<!\\)&")
_ROW = re.compile(r"\\\\(?:\[[^\]]*\])?|</tr>")
_HTML_CELL = re.compile(r"</t[dh]>\s*<t[dh][^>]*>")
_PIPES = re.compile(r"^\s*\|(.*?)\|?\s*$", re.MULTILINE)
_GROUP = r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
_FRAME = re.compile(
    rf"\\(?:begin|end)\{{tabular\}}(?:{_GROUP})?|\\hline|\\cline\{{[^}}]*\}}|</?(?:chart|table|tbody|thead)>"
)
_MULTICOLUMN = re.compile(r"\\multicolumn\{(\d+)\}")
_MULTIROW = re.compile(r"\\multirow\{(\d+)\}")
_MARKED = re.compile(r"[^\w\s.,:;()%+–-]")  # to spare most cells the stripping, which is slow
_COLUMN = r"[-–+(]?[€£$]?\d[\d.,:%)]*"
_PLAIN_ROW = re.compile(rf"(?P<label>(?:\S+ ){{1,7}}?)(?P<cells>{_COLUMN}(?:\s+{_COLUMN})+)")
_FIGURE = re.compile(r"[-–−+(~<>≤≥]?\s*(?:[A-Z]{3}\s|[€£$¥])?\s*\d")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:年)?$")
_NUMBERED = re.compile(r"[.,;]?\s*\\tag\{[^}]*\}|[.,;](?=\s*\n\$\$)")
_FORMULA_APART = re.compile(r"(?<=[^\s.!?。])\n\s*\n(?=\$\$)|(?<=\$\$)\n\s*\n(?=[a-z其式])")


@dataclass(eq=False, slots=True)
class Table:
    """A table's columns by their heads, and its rows."""

    heads: tuple[str, ...] = ()
    rows: list["Unit"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or a table row.

    Args:
        stems: of the text's words.
        pairs: stems that stand next to each other.
        around: stems of what stands above it, which tells what it is about.
        cells: of a row.
        title: it is a heading or a caption, which seldom holds an answer.
    """

    text: str
    stems: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    around: frozenset[str]
    cells: tuple[str, ...] = ()
    table: Table | None = None
    title: bool = False

    def head(self, place: int) -> str:
        """Give what stands over a cell of a row, if anything does."""
        heads = self.table.heads if self.table else ()
        return heads[place] if place < len(heads) else ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its text in lower case, the kind of its answer, and the weights of its stems, in their order."""

    text: str
    kind: str
    weights: Mapping[str, float]

    def fit(self, stems: Iterable[str]) -> float:
        """Sum the weights of the question's stems that occur, in the question's order, so that runs agree exactly."""
        occurring = set(stems)
        return sum(weight for stem, weight in self.weights.items() if stem in occurring)


def weigh(question: str, order: Sequence[str], found: Sequence[Unit]) -> dict[str, float]:
    """Weigh the question's stems by their rarity; the words of one name share the weight of one."""
    spread = Counter(stem for unit in found for stem in unit.stems)
    weights = {stem: log(1 + (len(found) + 1) / (spread[stem] + 1)) for stem in order}
    for name in dict.fromkeys(NAME.findall(question)):
        parts = stems(name)
        for stem in weights.keys() & parts:
            weights[stem] /= len(parts)
    return weights


def stems(text: str) -> list[str]:
    """Give the stems of a text's words in order; of Chinese, each pair of neighbouring characters."""
    return [stem for stem, _ in placed(text)]


def placed(text: str) -> list[tuple[str, int]]:
    """Give the stems of a text's words and where each begins."""
    return [(stem, match.start()) for match in _TOKEN.finditer(text) if (stem := _stem(match[1] or match[0]))]


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    word = word.lower()
    if word in STOP:
        return ""
    return _SUFFIX.sub("", word) if len(word) > 4 else word.rstrip("s") or word


def is_figure(cell: str) -> bool:
    """Tell whether a cell is a number rather than a word or a year."""
    return bool(_FIGURE.match(cell)) and not _YEAR.match(cell)


@lru_cache(maxsize=1024)  # a run asks many questions about the same passages
def units(passage: str) -> tuple[Unit, ...]:
    """Cut a passage into sentences and table rows, each with the heading or sentence that stands above it."""
    found: list[Unit] = []
    # a formula belongs to the sentence that it ends or stands in
    passage = _FORMULA_APART.sub("\n", _NUMBERED.sub("", passage))
    for block in re.split(r"\n\s*\n", passage):
        if "$$" not in block and (_ROW.search(block) or len(_PIPES.findall(block)) > 1):
            if found and not found[-1].cells and len(found[-1].stems) < 20:
                found[-1] = replace(found[-1], title=True)
            found += _rows(block, found[-1].stems if found else ())
            continue
        for start, end in sentence_spans(block):
            found += _lines(block[start:end], found[-1].stems if found else ())
    return tuple(found)


def _unit(
    text: str, around: Iterable[str], cells: tuple[str, ...] = (), table: Table | None = None, title: bool = False
) -> Unit:
    order = stems(text)
    return Unit(text, frozenset(order), frozenset(pairwise(order)), frozenset(around), cells, table, title)


def _lines(sentence: str, above: Iterable[str]) -> Iterator[Unit]:
    """Give a sentence, and apart from it the lines that look like rows of a table that was read without its frame."""
    prose, table = [], Table()
    for line in map(str.strip, sentence.split("\n")):
        if row := _PLAIN_ROW.fullmatch(line):
            table.rows.append(_unit(line, above, (row["label"].strip(), *row["cells"].split()), table))
        else:
            prose.append(line)
    yield from table.rows
    if text := " ".join(" ".join(prose).split()):
        yield _unit(text, above, title=text.startswith("#"))


def _rows(block: str, above: Iterable[str]) -> Iterator[Unit]:
    """Give a table's rows; what stands before the first figure is their heads."""
    caption, begin, body = block.partition("\\begin{tabular}")
    if not begin:
        caption, body = "", block
    if not _ROW.search(body):
        body = _PIPES.sub(lambda match: match[1].replace("|", "&") + r"\\", body)
    rows = list(_filled(_FRAME.sub(" ", begin + _HTML_CELL.sub("&", body))))
    first = next((place for place, row in enumerate(rows) if any(map(is_figure, row[1:]))), 1)
    first = first if first < len(rows) else 0
    columns = zip_longest(*rows[:first], fillvalue="")
    table = Table(tuple(" ".join(dict.fromkeys(column)).strip() for column in columns))
    around = {*above, *stems(caption), *stems(" ".join(table.heads))}
    table.rows += [_unit(" ".join(row), around, row, table) for row in rows[first:]]
    yield from table.rows


def _filled(body: str) -> Iterator[tuple[str, ...]]:
    """Give the rows' cells; a cell that spans columns or rows is repeated in each."""
    spanning: dict[int, tuple[int, str]] = {}
    for line in filter(str.strip, _ROW.split(body)):
        cells: list[str] = []
        for cell in _CELL.split(line):
            wide, high = _MULTICOLUMN.search(cell), _MULTIROW.search(cell)
            text, place = strip_markup(cell) if _MARKED.search(cell) else cell.strip(), len(cells)
            rest, held = spanning.get(place, (0, ""))
            if high:
                spanning[place] = (int(high[1]) - 1, text)
            elif not text and rest:
                spanning[place], text = (rest - 1, held), held
            cells += [text] * (min(int(wide[1]), 50) if wide else 1)
        if any(cells):
            yield tuple(cells)
