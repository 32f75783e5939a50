"""Scores of one page by OmniDocBench's end-to-end evaluation: text, formulas, tables and reading order."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.text.distance import edits_between

from ..versions import Version
from .matched_blocks import PageMatches, markdown_matches, page_matches
from .matched_tables import TableMatch
from .page_records import PageRecord, read_record


@dataclass(frozen=True, slots=True)
class PartScore:
    """The normalized edit distance of one part of a page, text for example: 0 is equal, 1 is all different.

    Attributes:
        distance: `edits / length`.
        edits: Edits of all pairs of a block and what it was matched with.
        length: The longer lengths of these pairs, summed, so that pages can be pooled.
    """

    distance: float
    edits: int
    length: int


@dataclass(frozen=True, slots=True)
class TableScore:
    """The scores of one table of the truth; where none was predicted for it the distance is 1, and TEDS 0.

    Attributes:
        order: Its place in the reading order, or nothing.
        anno_id: Its name in the annotation, or nothing.
        distance: Normalized edit distance of the normalized HTML; of the text as written where it is no HTML.
        teds: At most 1, maybe negative. Where the published code stops, at two tables without cells or a span that is
            no number: nan in version 1.0, 0 in 1.5.
        teds_s: The same of the structure only.
        teds_raw: TEDS of the tables as they are, without the published normalization.
    """

    order: float | None
    anno_id: int | str | None
    distance: float
    teds: float
    teds_s: float
    teds_raw: float


@dataclass(frozen=True, slots=True)
class Match:
    """Blocks of the truth and parts of the prediction that were matched, by number; one side may be empty.

    Attributes:
        distance: What the published code stores with a match; 1 for leftovers that are paired, whatever their text.
        category: The category of most of the blocks; empty without blocks.
    """

    truth: tuple[int, ...]
    predicted: tuple[int, ...]
    distance: float
    category: str


@dataclass(frozen=True, slots=True)
class PageScores:
    """Scores of a page; a part that the truth does not have is None, and counts nowhere."""

    version: Version
    text: PartScore | None
    formula: PartScore | None
    order: PartScore | None
    table: PartScore | None
    tables: tuple[TableScore, ...]
    matches: tuple[Match, ...]


def score_page(page: Mapping[str, Any] | PageRecord, prediction: str, version: Version) -> PageScores:
    """Score the Markdown of a page against its annotation, as the published code does with `quick_match`.

    Args:
        page: One record of the JSON file, or what `read_record` made of it.
        prediction: Markdown with HTML, LaTeX or Markdown tables; may be empty.
        version: Of the evaluation; the values of two versions cannot be compared.

    Raises:
        ValueError: the record is not of OmniDocBench's form.
        MissingExtra: the page has tables, and the libraries that read HTML are not installed.
    """
    record = page if isinstance(page, PageRecord) else read_record(page)
    return _scores(page_matches(record, prediction, version), version)


def score_markdown(truth: str, prediction: str, version: Version) -> PageScores:
    """Score Markdown against Markdown, the published `md2md` method with `quick_match`.

    Nothing is ignored, tables are scored only where both sides have them in one notation, and the reading order is
    that of places in the text, the very first of which does not count.

    Raises:
        ValueError: the two have more pairs of blocks than are compared, 2 * 10^8.
        MissingExtra: both have tables, and the libraries that read HTML are not installed.
    """
    return _scores(markdown_matches(truth, prediction, version), version)


def _table(table: TableMatch, version: Version) -> tuple[TableScore, tuple[str, str]]:
    """Return the scores of a table, and the texts whose distance it has."""
    from ohr.parse_scores.tables import defined, normalized_html, scores_of_normal
    from ohr.parse_scores.teds import teds

    truth, predicted = (normalized_html(text, version) for text in (table.truth, table.predicted))
    similarities: tuple[float, ...] = (0.0, 0.0, 0.0)
    if truth and predicted:
        raw = defined(teds(table.predicted, table.truth), version)
        similarities = (*scores_of_normal(predicted, truth, version), raw)
    texts = (truth or table.truth, predicted or table.predicted)
    distance = edits_between(*texts) / max(map(len, texts))
    return TableScore(table.order, table.anno_id, distance, *similarities), texts


def _scores(matches: PageMatches, version: Version) -> PageScores:
    tables = [_table(table, version) for table in matches.tables]
    matched = (*matches.text, *matches.formulas)
    return PageScores(
        version,
        _part((match.truth, match.predicted) for match in matches.text),
        _part((match.truth, match.predicted) for match in matches.formulas),
        _part([matches.order]),
        _part(texts for _, texts in tables),
        tuple(score for score, _ in tables),
        tuple(Match(*match.pair, match.category) for match in matched),
    )


def _part(pairs: Iterable[tuple[Sequence[Hashable], Sequence[Hashable]]]) -> PartScore | None:
    """Return the score of pairs of sequences, or nothing if all are empty."""
    edits = length = 0
    for truth, predicted in pairs:
        edits += edits_between(truth, predicted)
        length += max(len(truth), len(predicted))
    return PartScore(edits / length, edits, length) if length else None
