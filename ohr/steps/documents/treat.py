"""The treatments of the text of one document: noise where it belongs and at its dose of edits, repairs, page orders."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
)
from ohr.errors import StageError
from ohr.steps.documents.placement import eligible
from ohr.text import edits

_HALVINGS = 24  # of the rate's range: closer than the share of one unit in any document


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
        return treatment.treat(pages, rng)
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
        record = {
            "treatment": label(treatment, number),
            "document": page.document,
            "page": page.index,
            "seconds": round(seconds / len(pages), 6),
            "changed": result.text != page.text,
            **result.record,
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
    placed = list(order.arrange(numbers, seeds.generator(seed, order.kind, document, "document", number)))
    if any(not 0 <= place < len(numbers) or index < 0 for place, index in placed):
        raise StageError(f"{order.family} {order.kind}", document, "it names a page that is not there")
    return [Placed(*page) for page in placed]


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
