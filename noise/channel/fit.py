"""Fits a profile to pages of truth and what an engine read on them."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ohr.errors import DataError

from .align import Aligned
from .confusions import count_confusions
from .donors import FEATURES, described
from .lines import LOOKS, Values, fit_logistic, looks
from .pattern import Pattern
from .profile import Donor, Fit, Group, Profile
from .reading import count_reading

LEAST_GROUP = (5, 30)
"""Documents and pages of a group with weights of its own, at least."""

MOST_PAGES = 4000
"""Pages that a profile keeps; of more, some documents are drawn."""

_RIDGE = 2.0


def fit(pages: Sequence[Aligned], engine: str, note: str = "") -> Profile:
    """Fit a profile.

    Args:
        pages: aligned pages; the part of a document's name before the first `/` is its group.
        engine: the engine's name.

    Raises:
        DataError: no page has a word.
    """
    pages = [page for page in pages if len(page.page.counted)]
    if not pages:
        raise DataError("nothing to fit: no page of the ground truth has a word")
    documents: dict[str, list[Pattern]] = {}
    seen = [looks(page.page) for page in pages]
    lines = _fit_lines(pages, seen)
    for page, here in zip(pages, seen, strict=True):
        documents.setdefault(page.document, []).append(_pattern(page, here @ lines))
    operations, confusions = count_confusions(pages)
    return Profile(
        fit=Fit(
            engine=engine,
            documents=len(documents),
            pages=len(pages),
            words=int(sum(len(page.page.counted) for page in pages)),
            lost=int(sum(page.lost.sum() for page in pages)),
            note=note,
        ),
        lines={name: round(float(weight), 4) for name, weight in zip(LOOKS, lines, strict=True)},
        groups=_groups(documents),
        reading=count_reading(pages, operations),
        confusions=confusions,
        donors=tuple(
            Donor(group=_group(name), pages=tuple(page.dumps() for page in documents[name]))
            for name in _kept(documents)
        ),
    )


def _fit_lines(pages: Sequence[Aligned], seen: Sequence[Values]) -> Values:
    """Fit the chance that a line is lost whole, by its look, on pages that are not lost as a whole."""
    kept = [(page, here) for page, here in zip(pages, seen, strict=True) if page.share < 1]
    if not kept:
        return np.zeros(len(LOOKS))
    lost = np.concatenate([_pattern(page, np.zeros(len(here))).whole for page, here in kept])
    return np.round(fit_logistic(np.vstack([here for _, here in kept]), lost.astype(float)), 4)


def _pattern(page: Aligned, score: Values) -> Pattern:
    words = page.page
    return Pattern(words.words, page.lost[words.counted], words.size, words.kind, np.round(score, 1))


def _group(name: str) -> str:
    return name.split("/")[0]


def _groups(documents: dict[str, list[Pattern]]) -> dict[str, Group]:
    names = Counter(_group(name) for name in documents)
    pages = Counter(_group(name) for name, found in documents.items() for _ in found)
    large = [name for name in sorted(names) if names[name] >= LEAST_GROUP[0] and pages[name] >= LEAST_GROUP[1]]
    found = {"": _fit_group(list(documents.values()))}
    for group in large if len(names) > 1 else []:
        found[group] = _fit_group([pages for name, pages in documents.items() if _group(name) == group])
    return found


def _fit_group(documents: Sequence[Sequence[Pattern]]) -> Group:
    features = np.vstack([described(pages) for pages in documents])
    share = np.array([page.lost.mean() for pages in documents for page in pages])
    weights = fit_logistic(features, share, _RIDGE)
    return Group(
        pages=len(share),
        lost=round(float(share.mean()), 5),
        weights={name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)},
    )


def _kept(documents: dict[str, list[Pattern]]) -> list[str]:
    """Name the documents that are kept: all, or as many as have MOST_PAGES pages, drawn."""
    names, room = sorted(documents), MOST_PAGES
    if sum(map(len, documents.values())) <= room:
        return names
    kept = []
    for number in np.random.default_rng(0).permutation(len(names)).tolist():
        if len(documents[names[number]]) <= room:
            kept.append(names[number])
            room -= len(documents[names[number]])
    return sorted(kept)
