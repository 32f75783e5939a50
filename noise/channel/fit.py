"""Fits a profile to pages of truth and what an engine read on them."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from ohr.errors import DataError

from .align import Aligned
from .confusions import count_confusions
from .levels import concentration, fit_level
from .page import CLASSES, LINE_BINS
from .profile import ALL, Fit, Level, Profile
from .severity import FEATURES, describe, usual_share
from .spread import fit_group
from .tuning import tune

MOST_LEVELS = 9
MOST_STYLES = 4
LEAST_PAGES = 12
"""Pages in a level, at least."""

_PRIOR = 20.0
Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

LEAST_GROUP = (5, 30)
"""Documents and pages of a group with a severity of its own, at least."""


def fit(pages: Sequence[Aligned], engine: str, note: str = "") -> Profile:
    """Fit a profile.

    Args:
        pages: aligned pages; the part of a document's name before the first `/` is its group.
        engine: the engine's name.

    Raises:
        DataError: no page has a word.
    """
    pages = [page for page in pages if page.page.counted.any()]
    if not pages:
        raise DataError("nothing to fit: no page of the ground truth has a word")
    shares = np.array([page.share for page in pages])
    usual = _usual(pages)
    owed = np.array([usual_share(page.page, usual) for page in pages])
    size = Counter(page.document for page in pages)
    features = np.array(
        [describe(page.page, share, size[page.document]) for page, share in zip(pages, owed.tolist(), strict=True)]
    )
    scaling = {
        name: (round(float(column.mean()), 4), round(float(column.std()), 4) or 1.0)
        for name, column in zip(FEATURES, features.T, strict=True)
    }
    centre, width = np.array(list(scaling.values())).T
    scaled = np.clip((features - centre) / width, -3, 3)
    documents = np.array([page.document for page in pages])
    members = {"": np.ones(len(pages), dtype=bool)} | _groups(documents)
    groups = {name: fit_group(shares[here], scaled[here], documents[here]) for name, here in members.items()}
    misread, confusions = count_confusions(pages)
    profile = Profile(
        fit=Fit(
            engine=engine,
            documents=len(set(documents.tolist())),
            pages=len(pages),
            words=int(sum(page.page.counted.sum() for page in pages)),
            lost=int(sum(page.lost.sum() for page in pages)),
            note=note,
        ),
        features=scaling,
        groups=groups,
        silent=_silent(pages),
        usual={name: tuple(round(float(v), 5) for v in row) for name, row in zip(CLASSES, usual, strict=True)},
        levels=fit_levels(pages, shares, owed),
        misread=misread,
        confusions=confusions,
        spurious=_spurious(pages),
    )
    return tune(profile, pages)


def fit_levels(pages: Sequence[Aligned], shares: Values, owed: Values) -> tuple[Level, ...]:
    """Cut the pages into levels of as many pages each, by the share of lost words over what is usual."""
    hit, all_lost = (shares > 0) & (shares < 1), shares == 1
    whole = fit_level([page for page, share in zip(pages, shares.tolist(), strict=True) if share], ALL, None)
    count = max(1, min(MOST_LEVELS, int(hit.sum()) // LEAST_PAGES))
    severity = shares / owed
    steps = np.linspace(0, 1, count + 1)[1:-1]
    edges = [*np.unique(np.quantile(severity[hit], steps)).tolist(), ALL / 2] if hit.any() else [ALL / 2]
    level = np.where(all_lost, len(edges), np.searchsorted(edges, severity))
    made = []
    for number, upto in enumerate([*edges, ALL]):
        chosen = [
            page
            for page, own, share in zip(pages, level.tolist(), shares.tolist(), strict=True)
            if share and own == number
        ]
        made += [fit_level(part, round(float(upto), 5), whole) for part in _styles(chosen)]
    return tuple(made)


def _usual(pages: Sequence[Aligned]) -> Values:
    """Give the share of lost words by class and length of line, drawn towards that of the class and of all."""
    shape = (len(CLASSES), len(LINE_BINS))
    lost, words = np.zeros(shape), np.zeros(shape)
    for page in pages:
        here = page.page
        place = (here.cls, here.line_bin[here.line])
        np.add.at(words, place, here.counted)
        np.add.at(lost, place, page.lost)
    mean = (lost.sum() + 1) / (words.sum() + 2)
    row = (lost.sum(1, keepdims=True) + _PRIOR * mean) / (words.sum(1, keepdims=True) + _PRIOR)
    made: Values = (lost + _PRIOR * row) / (words + _PRIOR)
    return made


def _styles(pages: Sequence[Aligned]) -> list[list[Aligned]]:
    """Divide pages of like severity by how much of the loss lies in long runs."""
    count = max(1, min(MOST_STYLES, len(pages) // LEAST_PAGES))
    ordered = sorted(pages, key=concentration)
    return [ordered[len(pages) * n // count : len(pages) * (n + 1) // count] for n in range(count)]


def _groups(
    documents: np.ndarray[tuple[int], np.dtype[np.str_]],
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    names = np.array([name.split("/")[0] for name in documents.tolist()])
    found = {}
    for name in sorted(set(names.tolist())):
        here = names == name
        if len(set(documents[here].tolist())) >= LEAST_GROUP[0] and here.sum() >= LEAST_GROUP[1]:
            found[name] = here
    return found if len(found) > 1 else {}


def _silent(pages: Sequence[Aligned]) -> float:
    lost = [page.silent for page in pages if page.share == 1]
    return round(sum(lost) / len(lost), 4) if lost else 1.0


def _spurious(pages: Sequence[Aligned], most: int = 60) -> tuple[str, ...]:
    """List the words that are most often read where none is, as often as they should be drawn."""
    tally: Counter[str] = Counter()
    holders: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        for difference in page.differences:
            if difference.operation == "insert":
                tally.update(difference.read)
                for word in difference.read:
                    holders[word].add(page.document)
    common = [(word, count) for word, count in tally.most_common(400) if len(holders[word]) > 1 and len(word) <= 20]
    return tuple(word for word, _ in common[:most])
