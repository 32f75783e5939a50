"""Judge-free verdicts on the facts of a page: the published substring search, and a strict one.

The published search is what the code applies on top of the judge's reply. It calls `5` correct where the text has only
`2015`, and calls two values correct that changed places. Without a judge it equals the published FFA but for values
that the judge finds under another text.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rapidfuzz import fuzz

from ohr.text.recent import recent

from .facts import TYPES, Entity, Fact, extract_entities, read_facts
from .occurrences import Occurrence, PageText, context_of, edges_of, lowered, pattern_of
from .texts import strip_html_tags
from .totals import Diagnostic, Record, record

LEAST_AGREEMENT = 0.3
"""Agreement of contexts below which `context_veto` refuses an occurrence: at most the nearest word of one side agrees,
which comes to .25 to .29 where each side has three words or more."""

LEAST_SIMILAR = 80.0
"""Percent of similarity from which on the best window of a text counts as a damaged value: a number of five characters
may have lost its comma (80 to 89), one of four with another digit is another number (75)."""

_LEAST_WITHOUT_SPACES = 4  # characters of a value that is searched without spaces (published)


def compat_det(gold: str, prediction: str) -> Record:
    """Score a prediction by the published substring search alone, as if the judge had found nothing.

    Args:
        gold: tagged HTML of the page.
        prediction: HTML or text.
    """
    entities = extract_entities(gold)
    return record((entity["type"] for entity in entities), override(map(not_found, entities), prediction))


def not_found(entity: Entity) -> Diagnostic:
    """Return the verdict on an entity that nobody has found."""
    return {**entity, "found_in_prediction": False, "correct": False, "matched_text": ""}


def override(diagnostics: Iterable[Mapping[str, object]], prediction: str) -> list[Diagnostic]:
    """Correct a judge's verdicts by searching for the values, as published; returns copies.

    An entity that the judge has not found, or without quoting it, is found where its value is part of the text, in any
    case; a value of at least 4 characters also where both match without whitespace. One whose quoted text equals the
    value, but for case and whitespace, is correct. A text that the judge has quoted is never replaced.
    """
    made = []
    for given in diagnostics:
        one = dict(given)
        value, quoted = _text(one.get("value")), _text(one.get("matched_text"))
        if value and not (one.get("found_in_prediction") and quoted) and is_part(value, prediction):
            quoted = quoted or value
            one |= {"found_in_prediction": True, "matched_text": quoted}
        if _normal(quoted) and _normal(quoted) == _normal(value):
            one["correct"] = True
        made.append(one)
    return made


def is_part(value: str, prediction: str) -> bool:
    """Report whether a value is part of a prediction's text by the published search."""
    text, joined = _searched(prediction)
    without = "".join(value.lower().split())
    return value.lower() in text or (len(without) >= _LEAST_WITHOUT_SPACES and without in joined)


@recent
def _searched(prediction: str) -> tuple[str, str]:
    """Return a prediction's text in lower case, and the same without whitespace."""
    low = strip_html_tags(prediction).lower()
    return low, "".join(low.split())


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _normal(text: str) -> str:
    return " ".join(text.split()).lower()


def strict_det(gold: str, prediction: str, context_veto: bool = False) -> Record:
    """Score a prediction by whole values, each occurrence of which counts once.

    A value is correct where the text has it in any case, not merged with letters or digits, and with its sign: `5` is
    not in `2015` or `1.5`, and `10,234` is not `(10,234)`. An occurrence satisfies one fact of a type; among several,
    the one whose context agrees best. A value is found, but not correct, where its occurrences are used up, or where
    the text has something similar. A page always is correct against itself.

    Args:
        gold: tagged HTML of the page.
        prediction: HTML or text.
        context_veto: facts whose context agrees by less than LEAST_AGREEMENT are not correct: their values are in
            another row or column. A page read in another order loses facts by this, too.
    """
    facts, page = read_facts(gold), PageText(prediction)
    diagnostics = [
        one
        for type_name in TYPES.values()
        for one in _of_type([fact for fact in facts if fact.type == type_name], page, context_veto)
    ]
    return record((fact.type for fact in facts), diagnostics)


def _of_type(facts: Sequence[Fact], page: PageText, context_veto: bool) -> Iterator[Diagnostic]:
    """Yield the verdicts on the facts of one type."""
    matched = _matched(facts, page)
    rest = page.low
    for used in matched.values():
        rest = rest[: used.start] + "\0" * len(used.text) + rest[used.end :]
    for place, fact in enumerate(facts):
        occurrence = matched.get(place)
        text = occurrence.text if occurrence else _similar(lowered(" ".join(fact.seen)), rest)
        correct = occurrence is not None and not (context_veto and _is_elsewhere(fact, occurrence))
        yield {
            "type": fact.type,
            "value": fact.value,
            "context_hint": fact.hint,
            "found_in_prediction": bool(text),
            "correct": correct,
            "matched_text": text,
        }


def _is_elsewhere(fact: Fact, occurrence: Occurrence) -> bool:
    return context_of(fact).agreement(occurrence.context) < LEAST_AGREEMENT


def _matched(facts: Sequence[Fact], page: PageText) -> dict[int, Occurrence]:
    """Match facts of one type, by their places, with occurrences that are whole and do not overlap.

    Long values come first: `net income` is no second value in `net income per share`.
    """
    equal: dict[str, list[int]] = defaultdict(list)
    for place, fact in enumerate(facts):
        equal[pattern_of(fact)].append(place)
    matched: dict[int, Occurrence] = {}
    taken = bytearray(len(page.low))
    for pattern in sorted(equal, key=len, reverse=True):
        for place, occurrence in _pairs(facts, equal[pattern], page.find(pattern)):
            span = slice(occurrence.start, occurrence.end)
            if place in matched or (any(taken[span]) and not facts[place].is_inner):
                continue
            matched[place] = occurrence
            taken[span] = b"\1" * len(occurrence.text)
    return matched


def _pairs(facts: Sequence[Fact], places: Sequence[int], found: Sequence[Occurrence]) -> list[tuple[int, Occurrence]]:
    """Pair facts of one value with the occurrences that fit them, the best agreement of contexts first."""
    gold = {place: edges_of(facts[place]) for place in places}
    here = [occurrence.edges(facts[places[0]].type) for occurrence in found]
    pairs = [(p, o) for p in places for o, edges in zip(found, here, strict=True) if edges.fit(gold[p])]
    if len(places) == 1 == len(found):
        return pairs
    contexts = {place: context_of(facts[place]) for place in places}
    return sorted(pairs, key=lambda pair: -contexts[pair[0]].agreement(pair[1].context))


def _similar(value: str, text: str) -> str:
    """Return the window of a text that is most similar to a value, or nothing where none is similar enough."""
    if len(value) > len(text):
        return text if fuzz.ratio(value, text) >= LEAST_SIMILAR else ""
    found = fuzz.partial_ratio_alignment(value, text, score_cutoff=LEAST_SIMILAR)
    return text[found.dest_start : found.dest_end] if found else ""
