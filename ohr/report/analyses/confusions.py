"""Which words were taken for which: the confusions of each condition, most frequent first."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ohr.markup.strip import strip_markup
from ohr.results.run import Run
from ohr.results.tables.read_table import plain
from ohr.text.words import typed, words

MOST = 25
"""Confusions of a condition that are listed."""
PAGES = 500
"""Pages of a condition that are compared: more take long, and do not change which confusions lead."""

_SIMILAR = 50.0
"""Similarity in percent, by rapidfuzz's ratio, from which one word may be a misreading of another; the word that a page
in another order has at the same place is none."""
_LONGEST = 3
"""Words that are joined or split at once: `some thing` for `something`."""
_CHARACTERS = 50_000
"""Of a page; comparing takes time in the square of its words."""

Pair = tuple[str, str]
Row = dict[str, Any]


def confusions(run: Run) -> list[Row]:
    """Return the words of the text without noise that a condition has as other words, with counts and an example.

    Words are compared as the metrics see them (lower case, no punctuation), without markup; the first draw of each
    condition counts. A word that is not there at all is no confusion. A run without a clean condition has no rows.
    """
    texts = _texts(run)
    clean = next((condition for condition, kind in _noise_types(run).items() if kind == "none"), None)
    if clean is None or clean not in texts:
        return []
    found: list[Row] = []
    truth: dict[tuple[str, int], Sequence[str]] = {}
    for condition, pages in texts.items():
        if condition != clean:
            found += _rows(condition, texts[clean], pages, truth)
    return found


def _noise_types(run: Run) -> dict[str, str]:
    """Return each condition's kind of noise."""
    table = run.table("pages", ["condition", "noise_type"]).unify_dictionaries()
    if not table.num_rows:  # no ground truth was measured: the summary has the conditions too
        table = run.table("summary", ["condition", "noise_type"]).unify_dictionaries()
    rows = table.group_by(["condition", "noise_type"], use_threads=False).aggregate([]).to_pylist()
    return {row["condition"]: row["noise_type"] for row in rows}


def _texts(run: Run) -> Mapping[str, Mapping[tuple[str, int], str]]:
    """Read the pages of each condition's first draw, the first ones of a large run."""
    found: dict[str, dict[tuple[str, int], str]] = defaultdict(dict)
    table = plain(run.table("texts", ["condition", "document", "page", "text"], replicate=0))
    for batch in table.to_batches(10_000):
        columns = (batch[name].to_pylist() for name in ("condition", "document", "page", "text"))
        for condition, document, page, text in zip(*columns, strict=True):
            if len(found[condition]) < PAGES:
                found[condition][document, page] = text or ""
    return found


def _rows(
    condition: str,
    clean: Mapping[tuple[str, int], str],
    pages: Mapping[tuple[str, int], str],
    truth: dict[tuple[str, int], Sequence[str]],
) -> list[Row]:
    counts: Counter[Pair] = Counter()
    total: Counter[str] = Counter()
    examples: dict[Pair, str] = {}
    for place, text in pages.items():
        if place not in clean:
            continue
        before = truth.setdefault(place, words(strip_markup(typed(clean[place][:_CHARACTERS]))))
        total.update(before)
        for pair, context in _confused(before, words(strip_markup(typed(text[:_CHARACTERS])))):
            counts[pair] += 1
            examples.setdefault(pair, f"{place[0]} page {place[1] + 1}: {context}")
    return [
        {
            "condition": condition,
            "truth": a,
            "read": b,
            "count": count,
            "of": total[a] or count,
            "example": examples[a, b],
        }
        for (a, b), count in counts.most_common(MOST)
    ]


def _confused(truth: Sequence[str], read: Sequence[str]) -> Iterator[tuple[Pair, str]]:
    """Yield the confusions of a page, each with the words around it."""
    from rapidfuzz.distance import Levenshtein

    opcodes: list[Any] = Levenshtein.opcodes(truth, read).as_list()
    known = frozenset(truth)
    for tag, a, b, c, d in opcodes:
        if tag != "replace":
            continue
        context = " ".join(truth[max(a - 2, 0) : b + 2])[:120]
        yield from ((pair, context) for pair in _pairs(truth[a:b], read[c:d]) if not _is_border(pair, known))


def _is_border(pair: Pair, known: Collection[str]) -> bool:
    """Report whether one word is another joined to a third of the page, as at borders of lists."""
    short, long = sorted(pair, key=len)
    rests = [long.removeprefix(short), long.removesuffix(short)]
    return any(1 < len(rest) < len(long) and rest.strip() in known for rest in rests)


def _pairs(truth: Sequence[str], read: Sequence[str]) -> Iterator[Pair]:
    """Pair the words of a replaced part one by one, or as one where words were joined or split."""
    from rapidfuzz import fuzz

    pairs = [(" ".join(truth), " ".join(read))]
    if len(truth) == len(read):
        pairs = list(zip(truth, read, strict=True))
    elif max(len(truth), len(read)) > _LONGEST:
        return
    yield from (pair for pair in pairs if pair[0] != pair[1] and all(pair) and fuzz.ratio(*pair) >= _SIMILAR)
