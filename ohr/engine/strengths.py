"""How strong a fitted channel must be for as much of what is asked for to be damaged as by the engine.

Documents that questions are asked about need not be read as well or as badly as the others, nor the passages that hold
the answers as the rest of a page. A profile knows nothing of questions. So each half of the documents is perturbed by a
profile that was fitted to the other half, at several rates, to see at which the share of damaged questions (r_noise) is
the engine's.
"""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import exp
from pathlib import Path
from typing import Any

import numpy as np

from ohr import seeds
from ohr.contracts import Page, Question, TextNoise
from ohr.metrics.dose import DAMAGED, Pages, by_page, evidence_text, own_text
from ohr.metrics.lcs import lcs

from .readings import Reading

TRIED = (-1.2, -0.8, -0.4, 0.0, 0.4)
"""Strengths: logits of the rate."""

PART = 0.4
"""How far a strength goes from 0, where as many words are lost as by the engine, to where r_noise is the engine's. One
rate cannot do both; two fifths of the way both are nearly right (docs/channel.md)."""

LEAST = (5, 50)
"""Documents with questions, and questions, that a group must have for a strength of its own."""


def strengths(channel: Any, readings: Sequence[Reading], questions: Iterable[Question]) -> dict[str, float]:
    """Find the strength of each domain, and of all documents as "".

    Args:
        channel: the plugin, which can be fitted.
        questions: those whose pages were all read count.

    Edge cases: a group with too few questions or documents is left out; a strength beyond TRIED is the nearest of it.
    """
    truth = by_page(Page(one.document, one.page, one.truth) for one in readings)
    asked = [q for q in questions if q.evidence and q.pages and all((q.document, n) in truth for n in q.pages)]
    read = by_page(Page(one.document, one.page, one.read) for one in readings)
    wanted = _shares(asked, _damaged(asked, read))
    if not wanted:
        return {}
    made = [_shares(asked, _damaged(asked, pages)) for pages in _perturbed(channel, readings, truth, asked)]
    return {
        name: round(PART * float(np.interp(share, np.maximum.accumulate([each[name] for each in made]), TRIED)), 3)
        for name, share in wanted.items()
    }


def _perturbed(channel: Any, readings: Sequence[Reading], truth: Pages, asked: Sequence[Question]) -> Sequence[Pages]:
    """Perturb the pages that are asked about at each strength, by profiles that have not seen their documents."""
    documents: dict[str, list[Page]] = defaultdict(list)
    for page in truth.values():
        documents[page.document].append(page)
    wanted = {(question.document, index) for question in asked for index in question.pages}
    found: list[dict[tuple[str, int], Page]] = [{} for _ in TRIED]
    with tempfile.TemporaryDirectory() as folder:
        for number, half in enumerate(_halves(sorted(documents))):
            path = Path(folder) / f"{number}.json"
            others = [(one.document, one.truth, one.read) for one in readings if one.document not in half]
            path.write_text(channel.fitted(others, "").dumps(), "utf-8")
            for pages, strength in zip(found, TRIED, strict=True):
                noise = channel(profile=str(path), rate=1 / (1 + exp(-strength)))
                for name in sorted(half):
                    here = [page for page in documents[name] if (name, page.index) in wanted]
                    pages |= by_page(_noisy(noise, documents[name], here)) if here else {}
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


def _damaged(asked: Sequence[Question], pages: Pages) -> list[bool]:
    return [lcs(own_text(question, pages), evidence_text(question)) <= DAMAGED for question in asked]


def _shares(asked: Sequence[Question], damaged: Sequence[bool]) -> Mapping[str, float]:
    """Give the share of damaged questions of each domain that has enough, and of all."""
    groups = defaultdict(list)
    for place, question in enumerate(asked):
        for name in ("", _domain(question.document)):
            groups[name].append(place)
    documents = Counter(name for name, places in groups.items() for _ in {asked[place].document for place in places})
    return {
        name: float(np.mean([damaged[place] for place in places]))
        for name, places in groups.items()
        if len(places) >= LEAST[1] and documents[name] >= LEAST[0]
    }
