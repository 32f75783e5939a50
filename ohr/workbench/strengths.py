"""Strengths at which a fitted channel damages as many questions as the engine.

An engine may read documents with questions better or worse than the others, and passages with answers better or worse
than the rest of a page. A profile knows nothing of questions. So each half of the documents is perturbed by a profile
that was fitted to the other half, at several strengths, to find the one at which the share of damaged questions
(r_noise) equals the engine's.
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohr import seeds
from ohr.contracts import Page, Question, TextNoise
from ohr.metrics.dose import DAMAGED, Pages, by_page, evidence_text, own_text
from ohr.metrics.lcs import lcs

from .readings import Reading

Flags = NDArray[np.bool_]

TRIED = (-2.0, -1.2, -0.6, 0.0, 0.6)
"""Strengths that are tried."""

PART = 2 / 3
"""How far a domain's strength goes from 0, where as many words are lost as by the engine, to where r_noise is the
engine's. The strengths of formulas and tables go the whole way, because they hold few of the words."""

KINDS = {"formula": "formula", "table": "table", "chart": "table"}
"""Evidence sources that determine the strength of formulas' and tables' lines; the others determine the domains'."""

LEAST = (5, 50)
"""Documents with questions, and questions, that a group must have for a strength of its own."""


class Strengths(NamedTuple):
    """Logits to be added to the rate: of documents by their domain ("" is all), and of formulas' and tables' lines."""

    groups: Mapping[str, float]
    kinds: Mapping[str, float]


def strengths(channel: Any, readings: Sequence[Reading], questions: Iterable[Question]) -> Strengths:
    """Find the strengths at which as many of the questions are damaged as by the engine.

    Args:
        channel: the plugin, which can be fitted.
        questions: those whose pages were all read count.

    Edge cases: a group with too few questions or documents is left out; a strength beyond TRIED is the nearest of it.
    """
    truth = by_page(Page(one.document, one.page, one.truth) for one in readings)
    read = by_page(Page(one.document, one.page, one.read) for one in readings)
    asked = [q for q in questions if q.evidence and q.pages and all((q.document, n) in truth for n in q.pages)]
    text = [question for question in asked if question.evidence_source not in KINDS]
    others = [question for question in asked if question.evidence_source in KINDS]
    domains = _grouped(text, lambda question: ("", _domain(question.document)))
    kinds = _grouped(others, lambda question: (KINDS[question.evidence_source],))
    if not domains and not kinds:
        return Strengths({}, {})
    halves = [
        (
            half,
            channel.fitted([(one.document, one.truth, one.read) for one in readings if one.document not in half], ""),
        )
        for half in _halves(sorted({document for document, _ in truth}))
    ]

    def measured(asked: Sequence[Question], groups: Mapping[str, float], kinds: Mapping[str, float]) -> Flags:
        profiles = [(half, profile.strengthened(groups, kinds)) for half, profile in halves]
        return _damaged(asked, _perturbed(channel, profiles, truth, asked))

    tries = [measured(text, {"": tried}, {}) for tried in TRIED] if domains else []
    of_domains = _matched(domains, _damaged(text, read), tries)
    groups = {name: round(PART * strength, 3) for name, strength in of_domains.items()}
    tries = [measured(others, groups, dict.fromkeys(kinds, tried)) for tried in TRIED] if kinds else []
    of_kinds = _matched(kinds, _damaged(others, read), tries)
    return Strengths(groups, {name: round(strength, 3) for name, strength in of_kinds.items()})


def _grouped(asked: Sequence[Question], names: Callable[[Question], Sequence[str]]) -> Mapping[str, list[int]]:
    """Return the places of the questions of each name that has enough."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place, question in enumerate(asked):
        for name in names(question):
            groups[name].append(place)
    least_documents, least_questions = LEAST
    return {
        name: places
        for name, places in groups.items()
        if len(places) >= least_questions and len({asked[place].document for place in places}) >= least_documents
    }


def _matched(groups: Mapping[str, list[int]], wanted: Flags, made: Sequence[Flags]) -> Mapping[str, float]:
    """Return the strength at which as many of a group's questions are damaged as are wanted; `made` by TRIED."""
    return {
        name: float(
            np.interp(wanted[places].mean(), np.maximum.accumulate([one[places].mean() for one in made]), TRIED)
        )
        for name, places in groups.items()
    }


def _perturbed(
    channel: Any, profiles: Iterable[tuple[set[str], Any]], truth: Pages, asked: Sequence[Question]
) -> Pages:
    """Perturb the pages that are asked about by the profile that comes with their document."""
    documents: dict[str, list[Page]] = defaultdict(list)
    for page in truth.values():
        documents[page.document].append(page)
    wanted = {(question.document, index) for question in asked for index in question.pages}
    found: dict[tuple[str, int], Page] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (names, profile) in enumerate(profiles):
            path = Path(folder) / f"{number}.json"
            path.write_text(profile.dumps(), "utf-8")
            noise = channel(profile=str(path))
            for name in sorted(names):
                here = [page for page in documents[name] if (name, page.index) in wanted]
                found |= by_page(_noisy(noise, documents[name], here)) if here else {}
    return found


def _noisy(noise: TextNoise, document: Sequence[Page], pages: Sequence[Page]) -> Iterable[Page]:
    name = document[0].document
    drawn = noise.for_document(document, seeds.generator(0, "channel", name, "document"))
    for page in pages:
        rng = seeds.generator(0, "channel", name, page.index)
        yield Page(name, page.index, drawn.perturb(page.text, [(0, len(page.text))], rng).text)


def _halves(names: Sequence[str]) -> tuple[set[str], set[str]]:
    """Halve the documents of each domain."""
    order = [names[place] for place in np.random.default_rng(0).permutation(len(names)).tolist()]
    order.sort(key=_domain)
    return set(order[::2]), set(order[1::2])


def _domain(name: str) -> str:
    return name.split("/")[0]


def _damaged(asked: Sequence[Question], pages: Pages) -> Flags:
    return np.array([lcs(own_text(question, pages), evidence_text(question)) <= DAMAGED for question in asked])
