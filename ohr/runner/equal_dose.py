"""Noisy texts at the dose of an engine: each noise of texts, brought to what the engine has done to the same pages.

The dose is equal domain by domain, in `r_noise` or in the loss of evidence words; or page by page, in words lost.
Channel noise is fitted to the engine twice: on the pages of the other domains, and on the other half of the documents
of the domain itself; never on the page that it is laid on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rapidfuzz.distance import LCSseq

from ohr.contracts import Benchmark, Page, Question, TextNoise
from ohr.errors import DataError
from ohr.metrics.dose import Dose, by_page, dose, question_dose
from ohr.registry import Registry
from ohr.runner.calibration.bracket import Unreachable, search
from ohr.steps.documents.treat import TreatedPages, treat
from ohr.text.words import normalise

PUBLISHED = (0.1, 0.3, 0.6)
"""Rates of OHRBench's formatting noise: mild, moderate, severe."""
SEEDS = (0, 1)
DOSES = ("r_noise", "evidence_loss")

_SCAN, _PASSES, _TOLERANCE = (0.02, 0.1, 0.3, 0.6, 0.9), 9, 0.005
_BY_PAGE = (0.02, 0.06, 0.13, 0.24, 0.38, 0.54, 0.72, 0.88, 1.0)
"""Rates of which each page takes the one at which it loses as many words as with the engine."""

Texts = Mapping[str, Sequence[Page]]
Made = Callable[[float, int], Texts]
"""A rate and a seed to the noisy pages of a domain."""


@dataclass(frozen=True)
class Domain:
    """A domain: its documents on both sides, and the questions about them."""

    name: str
    truth: Texts
    engine: Texts
    questions: Sequence[Question]

    @cached_property
    def halves(self) -> tuple[Texts, Texts]:
        """Every second document, and the others."""
        names = sorted(self.truth)
        return {name: self.truth[name] for name in names[::2]}, {name: self.truth[name] for name in names[1::2]}

    def dose(self, texts: Texts) -> Dose:
        """Measure a knowledge base's dose."""
        truth, held = (by_page(page for pages in each.values() for page in pages) for each in (self.truth, texts))
        return dose([question_dose(question, truth, held) for question in self.questions], [])

    def by_page(self, made: Made, seed: int) -> Texts:
        """Take each page at the rate at which it loses as many words as with the engine."""
        lost = {key: _lost(page, other) for key, page, other in self._pairs(self.engine)}
        best = {key: (lost[key], page) for key, page, _ in self._pairs(self.engine)}
        for rate in _BY_PAGE:
            for key, page, noisy in self._pairs(made(rate, seed)):
                if noisy is not None and (off := abs(_lost(page, noisy) - lost[key])) < best[key][0]:
                    best[key] = off, noisy
        return {name: [best[name, page.index][1] for page in pages] for name, pages in self.truth.items()}

    def _pairs(self, texts: Texts) -> Iterator[tuple[tuple[str, int], Page, Page | None]]:
        for name, pages in self.truth.items():
            other = {page.index: page for page in texts.get(name, ())}
            yield from (((name, page.index), page, other.get(page.index)) for page in pages)


def _lost(page: Page, other: Page | None) -> int:
    """Count the words of a page that are not on the other in their order, as the published scores see words."""
    wanted = normalise(page.text).split()
    read = normalise(other.text).split() if other is not None and other.error is None else []
    return len(wanted) - LCSseq.similarity(wanted, read)


def domains_of(benchmark: Benchmark, engine: Texts) -> list[Domain]:
    """Return the domains of a benchmark with the documents that the engine has read too.

    Raises:
        DataError: no question is about such a document.
    """
    names: dict[str, list[str]] = {}
    questions = benchmark.questions()
    for document in benchmark.documents():
        if document.name in engine:
            names.setdefault(document.domain, []).append(document.name)
    truth = {document.name: benchmark.pages(document) for document in benchmark.documents()}
    found = []
    for name, held in names.items():
        if asked := [question for question in questions if question.document in held]:
            found.append(Domain(name, _of(truth, held), _of(engine, held), asked))
    if not found:
        raise DataError("no question of the benchmark is about a document that both sides have")
    return found


def _of(side: Texts, names: Sequence[str]) -> Texts:
    return {name: side[name] for name in names}


def noisy_texts(domain: Domain, domains: Sequence[Domain], work: Path) -> Iterator[tuple[tuple[str, str], int, Texts]]:
    """Yield each noise and dose, the seed, and the noisy pages."""
    for name, made, fixed in _noises(domain, domains, work):
        levels: dict[str, float] = {f"rate {rate:g}": rate for rate in fixed}
        levels |= _at_doses(domain, made)
        for seed in SEEDS:
            for level, rate in levels.items():
                yield (name, level), seed, made(rate, seed)
            if name != "formatting":  # which leaves the words alone, and loses those that a command glues to
                yield (name, "page by page"), seed, domain.by_page(made, seed)


def _noises(domain: Domain, domains: Sequence[Domain], work: Path) -> Iterator[tuple[str, Made, Sequence[float]]]:
    registry = Registry()
    load = registry.load
    family = registry.noise_family("text")
    formatting: Any = load(family, "formatting")()
    yield "formatting", lambda rate, seed: _laid(domain.truth, formatting, rate, seed), PUBLISHED
    channel: Any = load(family, "channel")

    def fitted(name: str, parts: Sequence[tuple[Texts, Texts]]) -> TextNoise:
        path = work / f"{domain.name}-{name}.json".replace("/", "-")
        pages = [
            (page.document, page.text, other.text)
            for truth, engine in parts
            for document, known in truth.items()
            for page, other in zip(known, _matching(known, engine[document]), strict=True)
            if other is not None
        ]
        path.write_text(channel.fitted(pages, "engine").dumps(), encoding="utf-8")
        noise: TextNoise = channel(profile=str(path))
        return noise

    others = [(other.truth, other.engine) for other in domains if other is not domain]
    if others:
        far = fitted("other-domains", others)
        yield "channel, other domains", lambda rate, seed: _laid(domain.truth, far, rate, seed), (0.5,)
    if all(domain.halves):
        near = [fitted(f"half-{place}", [(half, domain.engine)]) for place, half in enumerate(domain.halves)]

        def of_halves(rate: float, seed: int) -> Texts:
            sides = zip(domain.halves, reversed(near), strict=True)
            return {name: pages for half, noise in sides for name, pages in _laid(half, noise, rate, seed).items()}

        yield "channel, other documents", of_halves, (0.5,)


def _matching(pages: Sequence[Page], others: Sequence[Page]) -> list[Page | None]:
    by_index = {page.index: page for page in others if page.error is None}
    return [by_index.get(page.index) if page.error is None else None for page in pages]


def _laid(truth: Texts, noise: TextNoise, rate: float, seed: int) -> Texts:
    stage = noise.model_copy(update={noise.knob: rate})
    return {name: treat(TreatedPages.of(pages), [stage], (), seed).pages for name, pages in truth.items() if pages}


def _at_doses(domain: Domain, made: Made) -> dict[str, float]:
    """Find the rates that give the engine's doses; one that no rate gives is left out."""
    known: dict[float, Dose] = {}
    wanted = domain.dose(domain.engine)
    found = {}
    for name in DOSES:

        def measure(rates: Sequence[float], name: str = name) -> list[float]:
            for rate in rates:
                if rate not in known:
                    known[rate] = domain.dose(made(rate, SEEDS[0]))
            return [getattr(known[rate], name) for rate in rates]

        (met,) = search(measure, [getattr(wanted, name)], scan=_SCAN, tolerance=_TOLERANCE, passes=_PASSES)
        if not isinstance(met, Unreachable):
            found[name] = met.value
    return found
