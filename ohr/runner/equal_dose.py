"""Noisy texts at the dose of an engine: each noise of texts, brought to what the engine has done to the same pages.

The dose is equal domain by domain, in `r_noise` or in the loss of evidence words; or page by page, in words lost.
Channel noise is fitted to the engine twice: on the pages of the other domains, and on the other half of the documents
of the domain itself; never on the page that it changes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from rapidfuzz.distance import LCSseq

from ohr.contracts import Benchmark, Page, Question, TextNoise
from ohr.errors import DataError
from ohr.metrics.dose import Dose, by_page, dose, question_dose
from ohr.noise_files.text_twins import Pages, readings
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

Made = Callable[[float, int], Pages]
"""A rate and a seed to the noisy pages of a domain."""
Parts = Sequence[tuple[Pages, TextNoise]]
"""Parts of a domain, each with the noise that it gets."""


@dataclass(frozen=True)
class Domain:
    """A domain: its documents on both sides, and the questions about them."""

    name: str
    truth: Pages
    engine: Pages
    questions: Sequence[Question]

    @cached_property
    def halves(self) -> tuple[Pages, Pages]:
        """Every second document, and the others."""
        names = sorted(self.truth)
        return {name: self.truth[name] for name in names[::2]}, {name: self.truth[name] for name in names[1::2]}

    def dose(self, texts: Pages) -> Dose:
        """Measure a knowledge base's dose."""
        truth, held = (by_page(page for pages in each.values() for page in pages) for each in (self.truth, texts))
        return dose([question_dose(question, truth, held) for question in self.questions], [])

    def by_page(self, made: Made, seed: int) -> Pages:
        """Take each page at the rate at which it loses as many words as with the engine."""
        lost = {key: _lost(page, other) for key, page, other in self._pairs(self.engine)}
        best = {key: (lost[key], page) for key, page, _ in self._pairs(self.engine)}
        for rate in _BY_PAGE:
            for key, page, noisy in self._pairs(made(rate, seed)):
                if noisy is not None and (off := abs(_lost(page, noisy) - lost[key])) < best[key][0]:
                    best[key] = off, noisy
        return {name: [best[name, page.index][1] for page in pages] for name, pages in self.truth.items()}

    def _pairs(self, texts: Pages) -> Iterator[tuple[tuple[str, int], Page, Page | None]]:
        for name, pages in self.truth.items():
            other = {page.index: page for page in texts.get(name, ())}
            yield from (((name, page.index), page, other.get(page.index)) for page in pages)


def _lost(page: Page, other: Page | None) -> int:
    """Count the words of a page that are not on the other in their order, as the published scores see words."""
    true_words = normalise(page.text).split()
    read_words = normalise(other.text).split() if other is not None and other.error is None else []
    return len(true_words) - LCSseq.similarity(true_words, read_words)


def domains_of(benchmark: Benchmark, engine: Pages) -> list[Domain]:
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
    domains = []
    for name, held in names.items():
        if asked := [question for question in questions if question.document in held]:
            domains.append(Domain(name, _of(truth, held), _of(engine, held), asked))
    if not domains:
        raise DataError("no question of the benchmark is about a document that both sides have")
    return domains


def _of(side: Pages, names: Sequence[str]) -> Pages:
    return {name: side[name] for name in names}


def noisy_texts(domain: Domain, domains: Sequence[Domain], work: Path) -> Iterator[tuple[tuple[str, str], int, Pages]]:
    """Yield each noise and dose, the seed, and the noisy pages."""
    registry = Registry()
    formatting: Any = registry.load(registry.noise_family("text"), "formatting")()
    noises = {"formatting": [(domain.truth, formatting)]} | {
        f"channel, {name}": parts for name, parts in channels(domain, domains, work).items()
    }
    for name, parts in noises.items():
        made = partial(_under, parts)
        fixed = PUBLISHED if name == "formatting" else (0.5,)
        levels = {f"rate {rate:g}": rate for rate in fixed} | _at_doses(domain, made)
        for seed in SEEDS:
            for level, rate in levels.items():
                yield (name, level), seed, made(rate, seed)
            if name != "formatting":  # which leaves the words alone, and loses those that a command glues to
                yield (name, "page by page"), seed, domain.by_page(made, seed)


def channels(domain: Domain, domains: Sequence[Domain], work: Path) -> dict[str, Parts]:
    """Fit channel noise to the engine on the other domains, and on the other half of the domain's documents.

    Args:
        domain: whose pages it is for.
        domains: all.
        work: a folder for the profiles.
    """
    registry, by_fit = Registry(), dict[str, Parts]()
    channel: Any = registry.load(registry.noise_family("text"), "channel")

    def fitted(name: str, sides: Sequence[tuple[Pages, Pages]]) -> TextNoise:
        path = work / f"{domain.name}-{name}.json"
        pages = [(each.document, each.truth, each.read) for side in sides for each in readings(*side)]
        path.write_text(channel.fitted(pages, "engine").dumps(), encoding="utf-8")
        noise: TextNoise = channel(profile=str(path))
        return noise

    if others := [(other.truth, other.engine) for other in domains if other is not domain]:
        by_fit["other domains"] = [(domain.truth, fitted("others", others))]
    if all(domain.halves):
        near = [fitted(f"half-{place}", [(half, domain.engine)]) for place, half in enumerate(domain.halves)]
        by_fit["other documents"] = list(zip(domain.halves, reversed(near), strict=True))
    return by_fit


def _under(parts: Parts, rate: float, seed: int) -> Pages:
    noisy: dict[str, Sequence[Page]] = {}
    for truth, noise in parts:
        stage = noise.model_copy(update={noise.knob: rate})
        noisy |= {name: treat(TreatedPages.of(pages), [stage], (), seed).pages for name, pages in truth.items()}
    return noisy


def _at_doses(domain: Domain, made: Made) -> dict[str, float]:
    """Find the rates that give the engine's doses; one that no rate gives is left out."""
    known: dict[float, Dose] = {}
    engine = domain.dose(domain.engine)
    rates_of = {}
    for name in DOSES:

        def measure(rates: Sequence[float], name: str = name) -> list[float]:
            for rate in rates:
                if rate not in known:
                    known[rate] = domain.dose(made(rate, SEEDS[0]))
            return [getattr(known[rate], name) for rate in rates]

        (met,) = search(measure, [getattr(engine, name)], scan=_SCAN, tolerance=_TOLERANCE, passes=_PASSES)
        if not isinstance(met, Unreachable):
            rates_of[name] = met.value
    return rates_of
