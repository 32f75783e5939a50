"""The blocks of a page beside the lines that a prediction has for them, as OmniDocBench's two versions match them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..versions import Version
from . import formula_arrays
from .block_matching import Pair, match, match_beside_ignored
from .markdown_parts import Kind, Part, parts_of
from .matched_tables import TableMatch, cells, match_tables
from .normalization import latex_to_text, letters, normalized_formula, normalized_text
from .page_records import FORMULA, IGNORED, TABLE, TEXTS, PageRecord, Region

_INLINE = "equation_inline"
_DISPLAY = "equation_isolated"


class Line(NamedTuple):
    """One text to match: as written, as compared, and its place on its side."""

    written: str
    compared: str
    category: str
    place: float | None


@dataclass(frozen=True, slots=True)
class Matched:
    """A pair of blocks and lines, with the texts that are compared and the places of the blocks."""

    pair: Pair
    truth: str
    predicted: str
    category: str
    places: tuple[float | None, ...]
    first_line: Line | None


@dataclass(frozen=True, slots=True)
class PageMatches:
    """All matches of a page, and the places of its text in the truth's order and in that of the prediction."""

    text: Sequence[Matched]
    formulas: Sequence[Matched]
    tables: Sequence[TableMatch]
    order: tuple[Sequence[float], Sequence[float]]


def page_matches(record: PageRecord, prediction: str, version: Version) -> PageMatches:
    """Match an annotated page with Markdown."""
    parts = parts_of(prediction, version)
    return _by_kind(record, parts) if version == "1.0" else _together(record, parts)


def markdown_matches(truth: str, prediction: str, version: Version) -> PageMatches:
    """Match Markdown with Markdown, kind by kind in both versions."""
    blocks, parts = parts_of(truth, version), parts_of(prediction, version)
    text = _parts_matched("text", blocks, parts, version)
    formulas = _parts_matched("formula", blocks, parts, version)
    tables: list[Matched] = []
    for kind in ("latex_table", "html_table"):
        if not tables and any(part.kind == kind for part in parts):
            tables = _parts_matched(kind, blocks, parts, version)
    return PageMatches(
        text,
        [each for each in formulas if each.pair.truth and each.category != _INLINE],
        [TableMatch(each.truth, each.predicted, each.places[0], None) for each in tables if each.pair.truth],
        _order(text),
    )


def _by_kind(record: PageRecord, parts: Sequence[Part]) -> PageMatches:
    """Match text with text and formulas with formulas, as version 1.0 does."""
    matched = []
    for kind, categories in (("text", TEXTS), ("formula", (FORMULA,))):
        truth = _filled(_truth_lines(record.of(*categories), "1.0"))
        predicted = _filled_prediction(_line(part, "1.0") for part in parts if part.kind == kind)
        pairs = match([line.compared for line in truth], [line.compared for line in predicted], "1.0")
        matched.append(_matched(pairs, truth, predicted))
    text = [each for each in matched[0] if each.category not in IGNORED] if record.of(*TEXTS) else []
    html = [part.content for part in parts if part.kind == "html_table"]
    tables, _ = match_tables(record.of(TABLE), html)
    return PageMatches(text, [each for each in matched[1] if each.pair.truth], tables, _order(text))


def _together(record: PageRecord, parts: Sequence[Part]) -> PageMatches:
    """Match text, formulas and cells of superfluous tables together, as version 1.5 does."""
    latex = [part for part in parts if part.kind == "latex_table"]
    html = [part for part in parts if part.kind == "html_table"]
    # a page with more LaTeX tables than others has none that can be compared
    tables, unmatched = match_tables(
        record.of(TABLE), [] if len(latex) > len(html) else [part.content for part in html]
    )
    truth = _filled(_truth_lines(_rows_apart(record.of(*TEXTS, FORMULA)), "1.5"))
    mixed = [part for kind in dict.fromkeys(part.kind for part in parts) for part in parts if part.kind == kind]
    mixed = [part for part in mixed if part.kind in ("text", "formula")]
    mixed += [part for number in unmatched for part in _cells_as_text(html[number])]
    predicted = _filled_prediction(_line(part, "1.5") for part in _in_order(mixed))
    ignored = [number for number, line in enumerate(truth) if line.category in IGNORED]
    pairs = match_beside_ignored([line.compared for line in truth], [line.compared for line in predicted], ignored)
    matched = _matched(pairs, truth, predicted)
    text = [each for each in matched if each.category in TEXTS and each.category not in IGNORED]
    formulas, as_text = [], []
    for each in matched:
        if each.category == FORMULA and each.first_line and each.first_line.category not in (_INLINE, _DISPLAY):
            as_text.append(_formula_as_text(each, truth))
        elif each.category == FORMULA:
            formulas.append(each)
    return PageMatches([*text, *as_text], formulas, tables, _order(text))


def _parts_matched(kind: Kind, truth: Sequence[Part], prediction: Sequence[Part], version: Version) -> list[Matched]:
    """Match all parts of one kind, none of them ignored; without any in the truth there is nothing to match."""
    parts = [part for part in prediction if part.kind == kind]
    if version == "1.5":
        parts = _in_order(parts)
    blocks = [_line(part, version) for part in truth if part.kind == kind]
    if kind == "formula" and version == "1.5":  # as published: only the prediction's formulas are normalized
        blocks = [line._replace(compared=line.written) for line in blocks]
    filled, lines = _filled(blocks), _filled_prediction(_line(part, version) for part in parts)
    pairs = match([line.compared for line in filled], [line.compared for line in lines], version) if blocks else []
    return _matched(pairs, filled, lines)


def _truth_lines(regions: Iterable[Region], version: Version) -> list[Line]:
    return [
        Line(
            region.content,
            normalized_formula(region.content, version)
            if region.category == FORMULA
            else normalized_text(region.content),
            region.category,
            region.order,
        )
        for region in regions
    ]


def _line(part: Part, version: Version) -> Line:
    match part.kind:
        case "text":
            compared = normalized_text(part.content)
        case "formula":
            compared = normalized_formula(part.content, version)
        case _:
            compared = part.content
    return Line(part.content, compared, part.category, part.place)


def _filled(lines: Sequence[Line]) -> list[Line]:
    """Leave out blocks without text; as published, the n-th that remains has the place of the n-th of all."""
    filled = [line for line in lines if line.written and line.compared]
    return [line._replace(place=shifted.place) for line, shifted in zip(filled, lines, strict=False)]


def _filled_prediction(lines: Iterable[Line]) -> list[Line]:
    """Leave out lines without text; as published, the n-th that remains has place and category of the n-th of all."""
    everything = list(lines)
    filled = [line for line in everything if line.written and line.compared]
    return [
        line._replace(place=shifted.place, category=shifted.category)
        for line, shifted in zip(filled, everything, strict=False)
    ]


def _in_order(parts: Iterable[Part]) -> list[Part]:
    """Sort parts by their places, formulas between single dollars last, and divide arrays of formulas into rows."""
    ordered = []
    for part in sorted(parts, key=lambda part: (part.category == _INLINE, part.place)):
        rows = formula_arrays.rows(part.content) if part.kind == "formula" else []
        ordered += [part._replace(content=row, place=part.place + start) for start, row in rows] or [part]
    return ordered


def _rows_apart(regions: Iterable[Region]) -> list[Region]:
    """Divide arrays of formulas into rows, with places that are tenths apart."""
    divided = []
    for region in regions:
        rows = formula_arrays.rows(region.content) if region.category == FORMULA else []
        for number, (_, row) in enumerate(rows, 1):
            order = None if region.order is None else round(float(region.order) + number / 10, 1)
            divided.append(replace(region, content=row, order=order))
        divided += [] if rows else [region]
    return divided


def _cells_as_text(table: Part) -> list[Part]:
    return [table._replace(kind="text", content=cell) for cell in cells(table.content)]


def _matched(pairs: Iterable[Pair], truth: Sequence[Line], predicted: Sequence[Line]) -> list[Matched]:
    return [
        Matched(
            pair,
            "".join(truth[block].compared for block in pair.truth),
            "".join(predicted[line].compared for line in pair.predicted),
            _category([truth[block].category for block in pair.truth]),
            tuple(truth[block].place for block in pair.truth),
            predicted[pair.predicted[0]] if pair.predicted else None,
        )
        for pair in pairs
    ]


def _category(categories: Sequence[str]) -> str:
    """Return the category of most blocks, those that are scored first; the earlier of two equal ones."""
    scored = [category for category in categories if category not in IGNORED]
    return Counter(scored or categories).most_common(1)[0][0] if categories else ""


def _formula_as_text(matched: Matched, truth: Sequence[Line]) -> Matched:
    """Return a formula that was matched with text as text: its characters in Unicode, or else its LaTeX."""
    written = [truth[block].written for block in matched.pair.truth]
    latex = written[0] if len(written) == 1 else formula_arrays.joined(written)
    text = latex_to_text(latex)
    text = latex if text is None else text
    return replace(matched, truth=letters(text) or text)


def _order(text: Sequence[Matched]) -> tuple[list[float], list[float]]:
    """Return the places of blocks in the order of the truth and of the prediction; a place of 0 counts as none."""
    both = [(each.first_line.place or 0, each) for each in text if each.pair.truth and each.first_line]
    read = [each for _, each in sorted(both, key=lambda item: item[0])]
    return (
        sorted(place for each in text for place in each.places if place),
        [place for each in read for place in each.places if place],
    )
