"""Text noise on the pages of one document: a chain of perturbers, each where it belongs, at its dose of edits."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ohr import seeds
from ohr.contracts import Edit, NoisyText, Page, Question, Span, TextNoise
from ohr.errors import StageError
from ohr.steps.documents.placement import eligible
from ohr.text import edits

_HALVINGS = 24  # of the rate's range: closer than the share of one unit in any document


_NEAR = 0.002  # of the edits: nearer to the aim is not searched for


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A document with its noise.

    Args:
        ledgers: for each page, each step of the chain's edits, which are offsets in what the step found.
        aimed: how many edits were to be made in all; more than were made where there was no room for them.
    """

    pages: tuple[Page, ...]
    ledgers: tuple[tuple[tuple[Edit, ...], ...], ...]
    aimed: int

    def records(self) -> list[list[dict[str, Any]]]:
        """Return each page's edits as JSON values."""
        return [
            [{"step": n} | edit._asdict() for n, step in enumerate(steps) for edit in step] for steps in self.ledgers
        ]


def perturb(
    pages: Sequence[Page],
    noises: Sequence[TextNoise],
    questions: Sequence[Question],
    seed: int,
    dosed_as: Sequence[TextNoise] = (),
) -> Perturbed:
    """Perturb a document's pages with a chain of text noises.

    A noise that is placed makes as many edits in the document as it would make everywhere: its rate is raised, to 1 at
    most, until it does.

    Args:
        pages: pages of one document.
        questions: the questions about it; only placed noise looks at them.
        seed: the run's seed plus the number of the replicate.
        dosed_as: one for each of `noises`, which is to make as many edits as this one makes everywhere; itself.

    Raises:
        StageError: the edits of a noise do not give its text.
    """
    ledgers: list[list[tuple[Edit, ...]]] = [[] for _ in pages]
    aimed = 0
    steps = zip(numbered(noises), dosed_as or noises, strict=True) if pages else ()
    for (noise, place), like in steps:
        name = pages[0].document
        noise, like = (
            one.for_document(pages, seeds.generator(seed, one.kind, name, "document", place)) for one in (noise, like)
        )
        step = _Step(tuple(pages), noise, place, seed)
        made = step.at(like, [[(0, len(page.text))] for page in pages])
        aim = count(made)
        if noise.where != "everywhere" or dosed_as:
            spans = [eligible(noise.where, page.text, page.index, questions) for page in pages]
            made = step.matched(spans, aim)
        aimed += aim
        pages = [replace(page, text=found.text) for page, found in zip(pages, made, strict=True)]
        for ledger, found in zip(ledgers, made, strict=True):
            ledger.append(found.edits)
    return Perturbed(tuple(pages), tuple(map(tuple, ledgers)), aimed)


def numbered(chain: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    """Yield each noise of a chain and how many of its kind come before it.

    The number is part of the seed, so a noise draws the same whatever other kinds are in the chain.
    """
    before: Counter[str] = Counter()
    for noise in chain:
        yield noise, before[noise.kind]
        before[noise.kind] += 1


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
