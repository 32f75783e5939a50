"""The text of one document: where noise may touch it, noise at its dose of edits, repairs, page orders."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from operator import index
from time import perf_counter
from typing import Any, Self

from ohr import seeds
from ohr.contracts import (
    Completion,
    Correction,
    NoisyText,
    Page,
    PageOrder,
    Placed,
    Question,
    Span,
    TextNoise,
    TextTreatment,
    TreatedPage,
    Treatment,
    Where,
)
from ohr.errors import StageError
from ohr.text import edits
from ohr.text.chinese import HAS_HAN
from ohr.text.unspaced import HAS_UNSPACED
from ohr.text.words import IN_WORD, normalise, searched_words, typed

_HALVINGS = 24  # of the rate's range: closer than the share of one unit in any document


_MOST_PAGES = 1 << 31  # numbers of pages
_NEAR = 0.002  # of the edits: nearer to the aim is not searched for


Ledger = list[dict[str, Any]]
"""The edits of one page as JSON values: `step` numbers the text noises, whose offsets are in what each found."""


@dataclass(slots=True)
class TreatedPages:
    """Pages of a document on their way through a list of treatments.

    Args:
        ledgers: of each page.
        steps: how many text noises have acted.
        aimed: how many edits were to be made in all; more than were made where there was no room for them.
        records: what each treatment but noise did: {treatment, page, seconds, changed, ...}, JSON values.
    """

    pages: list[Page]
    ledgers: list[Ledger]
    steps: int = 0
    aimed: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, pages: Sequence[Page]) -> Self:
        """Return pages that nothing was done to."""
        return cls(list(pages), [[] for _ in pages])


Replies = Mapping[int, Completion | None]
"""By the place of a page, what a model replied about it; None where it failed."""


def treat(
    treated: TreatedPages,
    treatments: Sequence[Treatment],
    questions: Sequence[Question],
    seed: int,
    dosed_as: Sequence[Treatment] = (),
    *,
    earlier: Sequence[Treatment] = (),
    replies: Replies | None = None,
) -> TreatedPages:
    """Lead a document's pages through treatments of their text; changes and returns them.

    A noise that is placed makes as many edits in the document as it would make everywhere: its rate is raised, to 1 at
    most, until it does.

    Args:
        treated: pages of one document.
        questions: the questions about it; only placed noise looks at them.
        seed: the run's seed plus the number of the replicate.
        dosed_as: one for each text noise, which is to make as many edits as this one makes everywhere; itself.
        earlier: the treatments that acted before these.
        replies: of the model of a correction, which is the first treatment.

    Raises:
        StageError: a treatment gives what its contract rules out.
    """
    likes = iter(dosed_as)
    for treatment, number in numbered(treatments, earlier) if treated.pages else ():
        began = perf_counter()
        if isinstance(treatment, TextNoise):
            like = next(likes, treatment)
            assert isinstance(like, TextNoise)
            _perturb(treated, treatment, like, number, questions, seed, matched=bool(dosed_as))
        elif isinstance(treatment, PageOrder):
            _arrange(treated, treatment, number, seed)
            if not treated.pages:
                break
        else:
            results = _results(treated.pages, treatment, number, seed, replies)
            replies = replies if isinstance(treatment, Correction) else None
            _take(treated, treatment, number, results, perf_counter() - began, replies)
    return treated


def _results(
    pages: Sequence[Page], treatment: Treatment, number: int, seed: int, replies: Replies | None
) -> Sequence[TreatedPage]:
    if isinstance(treatment, TextTreatment):
        rng = seeds.generator(seed, treatment.kind, pages[0].document, "document", number)
        try:
            return list(treatment.treat(tuple(pages), rng))
        except (Exception, SystemExit) as error:  # somebody else's plugin may raise anything
            raise _fault(treatment, pages[0].document, error) from error
    assert isinstance(treatment, Correction)
    return [
        treatment.corrected(page, replies[place]) if replies and place in replies else TreatedPage(page.text)
        for place, page in enumerate(pages)
    ]


def _take(
    treated: TreatedPages,
    treatment: Treatment,
    number: int,
    results: Sequence[TreatedPage],
    seconds: float,
    replies: Replies | None,
) -> None:
    """Take the pages that a treatment gives; a page that failed has no text, and stays so."""
    pages = treated.pages
    name = f"{treatment.family} {treatment.kind}"
    if len(results) != len(pages):
        raise StageError(name, pages[0].document, f"{len(results)} pages came back of {len(pages)}")
    for place, (page, result) in enumerate(zip(pages, results, strict=True)):
        if not isinstance(result, TreatedPage) or not isinstance(result.text, str):
            raise StageError(name, f"{page.document} page {page.index + 1}", "a page must be a TreatedPage with text")
        if page.error is not None:
            continue
        further = (
            {**result.record, "outcome": str(result.record["outcome"])} if "outcome" in result.record else result.record
        )
        record = {
            **further,
            "treatment": label(treatment, number),
            "document": page.document,
            "page": page.index,
            "seconds": round(seconds / len(pages), 6),
            "changed": result.text != page.text,
        }
        if replies and (reply := replies.get(place)) is not None:
            names = ("seconds", "tokens_in", "tokens_out")
            record |= {name: getattr(reply, name) for name in names}
        treated.records.append(record)
        pages[place] = replace(page, text=result.text)


def label(treatment: Treatment, number: int) -> str:
    """Name a treatment, with its number where others of its kind come before it."""
    return f"{treatment.kind} {number + 1}" if number else treatment.kind


def _arrange(treated: TreatedPages, order: PageOrder, number: int, seed: int) -> None:
    numbers = [page.index for page in treated.pages]
    placed = arranged(order, number, treated.pages[0].document, numbers, seed)
    treated.pages = [replace(treated.pages[place], index=index) for place, index in placed]
    before = sum(map(len, treated.ledgers))
    treated.ledgers = [list(treated.ledgers[place]) for place, _ in placed]
    treated.aimed += sum(map(len, treated.ledgers)) - before


def arranged(order: PageOrder, number: int, document: str, numbers: Sequence[int], seed: int) -> list[Placed]:
    """Return the pages of a document as an order arranges them.

    Raises:
        StageError: it names a page that is not there.
    """
    if not order.acts or not numbers:
        return [Placed(*page) for page in enumerate(numbers)]
    try:
        rng = seeds.generator(seed, order.kind, document, "document", number)
        placed = [Placed(index(place), index(new)) for place, new in order.arrange(tuple(numbers), rng)]
    except (Exception, SystemExit) as error:  # somebody else's plugin may raise anything
        raise _fault(order, document, error) from error
    if any(not 0 <= page.place < len(numbers) or not 0 <= page.number < _MOST_PAGES for page in placed):
        raise StageError(f"{order.family} {order.kind}", document, "it names a page that is not there")
    return placed


def _fault(treatment: Treatment, document: str, error: BaseException) -> StageError:
    return StageError(f"{treatment.family} {treatment.kind}", document, f"{type(error).__name__}: {error}")


def _perturb(
    treated: TreatedPages,
    noise: TextNoise,
    like: TextNoise,
    number: int,
    questions: Sequence[Question],
    seed: int,
    *,
    matched: bool,
) -> None:
    """Perturb all pages with a text noise, at its dose of edits."""
    pages = treated.pages
    name = pages[0].document
    noise, like = (
        each.for_document(pages, seeds.generator(seed, each.kind, name, "document", number)) for each in (noise, like)
    )
    step = _Step(tuple(pages), noise, number, seed)
    noisy = step.at(like, [[(0, len(page.text))] for page in pages])
    aim = count(noisy)
    if noise.where != "everywhere" or matched:
        spans = [eligible(noise.where, page.text, page.index, questions) for page in pages]
        noisy = step.matched(spans, aim)
    treated.aimed += aim
    treated.pages = [replace(page, text=text.text) for page, text in zip(pages, noisy, strict=True)]
    for ledger, text in zip(treated.ledgers, noisy, strict=True):
        ledger += [{"step": treated.steps} | edit._asdict() for edit in text.edits]
    treated.steps += 1


def numbered(chain: Sequence[Treatment], earlier: Sequence[Treatment] = ()) -> Iterator[tuple[Any, int]]:
    """Yield each treatment of a list and how many of its kind come before it.

    The number is part of the seed, so a treatment draws the same whatever other kinds are in the list.
    """
    before = Counter(each.kind for each in earlier)
    for treatment in chain:
        yield treatment, before[treatment.kind]
        before[treatment.kind] += 1


def count(made: Sequence[NoisyText]) -> int:
    """Count edits."""
    return sum(len(page.edits) for page in made)


@dataclass(frozen=True, slots=True)
class _Step:
    """One noise of a chain on one document's pages."""

    pages: tuple[Page, ...]
    noise: TextNoise
    place: int
    seed: int

    def matched(self, spans: Sequence[Sequence[Span]], aim: int) -> list[NoisyText]:
        """Return the texts at the rate whose number of edits is nearest to the aim; edits grow with the rate."""
        low, high = 0.0, 1.0
        best = self.rated(high, spans)
        for _ in range(_HALVINGS if count(best) > aim else 0):
            middle = (low + high) / 2
            made = self.rated(middle, spans)
            if abs(count(made) - aim) < abs(count(best) - aim):
                best = made
            if abs(count(made) - aim) <= _NEAR * aim:
                break
            low, high = (middle, high) if count(made) < aim else (low, middle)
        return best

    def rated(self, rate: float, spans: Sequence[Sequence[Span]]) -> list[NoisyText]:
        return self.at(self.noise.model_copy(update={self.noise.knob: rate}), spans)

    def at(self, noise: TextNoise, spans: Sequence[Sequence[Span]]) -> list[NoisyText]:
        return [self._page(noise, page, span) for page, span in zip(self.pages, spans, strict=True)]

    def _page(self, noise: TextNoise, page: Page, spans: Sequence[Span]) -> NoisyText:
        if not spans:
            return NoisyText(page.text)
        rng = seeds.generator(self.seed, noise.kind, page.document, page.index, self.place)
        made = noise.perturb(page.text, spans, rng)
        if edits.apply(page.text, made.edits).text != made.text:  # doses and undo need the ledger
            where = f"{page.document} page {page.index + 1}"
            raise StageError(f"text noise {noise.kind}", where, "its edits do not give its text")
        return made


_FOUND = 75.0
"""Least similarity (0 to 100) at which a passage of evidence counts as found on a page."""

_WORD = re.compile(rf"{IN_WORD}+(?:[.,'’-]{IN_WORD}+)*")


def eligible(where: Where, text: str, index: int, questions: Sequence[Question]) -> list[Span]:
    """Return the spans of a page's text that noise may touch, ascending and not overlapping.

    Args:
        where: the part that is wanted.
        text: the page as the noise finds it; after OCR the evidence is aligned with what was read.
        index: the page's index.
        questions: the questions about the page's document.
    """
    if where == "everywhere":
        return [(0, len(text))]
    asked = [question for question in questions if index in question.pages]
    if where == "query_terms":
        return _merged(_terms(text, asked), text)
    evidence = _merged((span for question in asked for span in _evidence(text, index, question)), text)
    return evidence if where == "evidence" else _rest(evidence, len(text))


def _evidence(text: str, index: int, question: Question) -> Iterable[Span]:
    paired = len(question.evidence) == len(question.pages)
    passages = [question.evidence[question.pages.index(index)]] if paired else question.evidence
    return (span for passage in passages for span in aligned(text, passage.strip()))


def aligned(text: str, passage: str) -> Iterable[Span]:
    """Find a passage in a text: verbatim, else the most similar stretch of each of its lines, to whole words."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    for part in [passage] if passage and passage in text else filter(None, map(str.strip, passage.split("\n"))):
        place = text.find(part)
        if place >= 0:
            yield place, place + len(part)
        elif len(part) > 3:  # shorter ones are similar to something everywhere
            match = partial_ratio_alignment(part, text, score_cutoff=_FOUND)
            if match is not None and match.dest_start < match.dest_end:
                yield _to_words(text, match.dest_start, match.dest_end)


def _to_words(text: str, start: int, end: int) -> Span:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _terms(text: str, questions: Sequence[Question]) -> Iterable[Span]:
    terms = {word for question in questions for word in searched_words(question.text)} - _stopwords()
    for match in _WORD.finditer(text):
        if normalise(typed(match[0])) in terms:
            yield match.span()
    for term in (
        term for term in terms if HAS_HAN.search(term) or HAS_UNSPACED.search(term)
    ):  # words without spaces between them
        yield from (match.span() for match in re.finditer(re.escape(term), text))


@cache
def _stopwords() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_CHINESE, STOPWORDS_EN_PLUS

    return frozenset(normalise(word) for word in (*STOPWORDS_EN_PLUS, *STOPWORDS_CHINESE))


def _merged(spans: Iterable[Span], text: str) -> list[Span]:
    """Join spans that overlap, or that only white space parts."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def _rest(spans: Sequence[Span], length: int) -> list[Span]:
    borders = [0, *(border for span in spans for border in span), length]
    return [(low, high) for low, high in zip(borders[::2], borders[1::2], strict=True) if low < high]
