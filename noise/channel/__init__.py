"""Channel noise: the errors of one OCR engine, from a fitted model, without running it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from ohr.contracts import NoisyText, Page, Span, TextNoise
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.keys import file_digest
from ohr.text import edits

from .donors import FEATURES, Apart, Donors, Losses, alone, describe
from .donors import transplant as losses_of  # a module had its name (`ohr.moved`)
from .page_model import PageWords, Pattern, Values, read, within
from .profile import Profile, load
from .writing import Habits, Writer

_seen = lru_cache(maxsize=256)(read)  # a document's pages are read twice: for its donor, and to be perturbed

_REMEMBERED = 50_000
"""Characters of the longest page that is kept in memory."""


@kept_until_changed()
def _made_ready(path: Path) -> tuple[Profile, Donors, Habits]:
    profile = load(path)
    return profile, Donors(profile), Habits(profile)


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Path]:
    return {file.stem: file for file in (Path(__file__).parent / "profiles").glob("*.json")}


WARNED = 1.35
"""Distance from a profile (`Donors.apart`) beyond which a study is warned: the largest at which the channel was tried
(docs/noise/channel.md)."""

_LOOKED_AT = 100
"""Documents of a domain that are looked at: each of them has many pages."""

_TITLES = {
    "log_words": "words of a page", "log_line_words": "words of a line", "log_pages": "pages of a document",
    "number": "words that are numbers", "formula": "words in formulas", "cell": "words in tables",
}  # fmt: skip


def _difference(found: Apart) -> str:
    """Return which feature is farthest from the profile's, and by how much, in words."""
    here, there = (np.expm1(each) if found.feature in ("log_words", "log_line_words") else each for each in found[2:])
    if found.feature == "log_pages":
        here, there = np.exp(here), np.exp(there)
    if found.feature.startswith("log"):
        return f"{here:.3g} {_TITLES[found.feature]}, {there:.3g} on its most similar ones"
    return f"{_TITLES[found.feature]} are {here**2:.1%}, {there**2:.1%} on its most similar ones"


def _by_domain(truth: Mapping[str, Sequence[Page]]) -> Mapping[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name in truth:
        names.setdefault(name.partition("/")[0] if "/" in name else "", []).append(name)
    return names


class Channel(TextNoise, kind="channel"):
    """Reads the text as a fitted OCR engine would: words, lines, formulas and cells lost, misread, joined, moved.

    Each page takes over the losses of the most similar page that the profile was fitted on. Rate 0.5 is the engine as
    it was fitted; other rates multiply the odds of every loss by rate / (1 - rate), down to no loss at 0 and up to all
    words at 1, where only moved words are left. The errors at a lower rate are among those at a higher.
    """

    version: ClassVar[int] = 7
    rate: Annotated[float, Field(ge=0, le=1, description="0.5 is the engine as fitted, 0 no loss, 1 all words.")] = 0.5
    profile: Annotated[str, Field(description="`tesseract`, `rapidocr`, or a JSON file of `ohr noise fit`.")] = (
        "tesseract"
    )
    model: Annotated[
        Literal["channel", "independent", "scatter", "block"],
        Field(description="A baseline: words lost alone, at one rate or at the page's; or whole lines."),
    ] = "channel"
    group: Annotated[str | None, Field(description="Group of the profile; that of the document's domain.")] = None
    pages: Annotated[int, Field(gt=0, description="Pages of the document, where they are not known.")] = 10

    @classmethod
    def fitted(cls, pages: Iterable[tuple[str, str, str]], engine: str, note: str = "") -> Profile:
        """Fit a profile to (document, truth, text read) of pages; a document's name starts with its domain.

        Raises:
            DataError: no page of the truth has a word.
        """
        from .fit import align, fit

        return fit([align(*page) for page in pages], engine, note)

    def check(self) -> None:
        """Refuse a profile that cannot be read, and a group that it does not have."""
        profile, donors, _ = self._ready()
        if self.group is not None and self.group not in donors.groups:
            known = ", ".join(profile.groups) or "none"
            raise DataError(f"profile {self.profile} has no group {self.group!r}; it has: {known}")

    def notes(self, truth: Mapping[str, Sequence[Page]]) -> Sequence[str]:
        """Warn of domains whose pages are farther from those of the profile than any that the channel was tried on."""
        said = []
        for domain, found in self.apart(truth).items():
            if found.distance > WARNED:
                about = f"channel: pages of {domain or 'these documents'} are unlike those of profile {self.profile}"
                far = f"{about}: {_difference(found)}; distance {found.distance:.1f}"
                said.append(f"{far}, and nothing is known beyond {WARNED}: fit a profile with `ohr noise fit`")
        return said

    def apart(self, truth: Mapping[str, Sequence[Page]]) -> Mapping[str, Apart]:
        """Return how far pages are from those of the profile, by domain; a domain without words is left out."""
        _, donors, _ = self._ready()
        by_domain = {}
        for domain, names in _by_domain(truth).items():
            group = domain if self.group is None and domain in donors.groups else self.group or ""
            pages = np.concatenate([self._described(truth[name]) for name in names[:: -(-len(names) // _LOOKED_AT)]])
            if len(pages):
                by_domain[domain] = donors.apart(group, pages)
        return by_domain

    def _described(self, pages: Sequence[Page]) -> Values:
        """Describe the pages with words, (pages, len(FEATURES))."""
        patterns = [self._words(page.text).pattern() for page in pages if page.error is None]
        worded = [pattern for pattern in patterns if len(pattern.cls)]
        return np.array([describe(pattern, len(worded)) for pattern in worded]).reshape(-1, len(FEATURES))

    def identity(self) -> Mapping[str, object]:
        """Key the profile by its content."""
        return {**super().identity(), "profile": file_digest(self._path())}

    def for_document(self, pages: Sequence[Page], rng: np.random.Generator) -> Self:  # noqa: ARG002 # nothing is drawn
        """Choose the domain's group, and count the document's pages."""
        _, donors, _ = self._ready()
        domain = pages[0].document.split("/")[0]
        group = domain if self.group is None and domain in donors.groups else self.group
        count = sum(len(self._words(page.text).counted) > 0 for page in pages)
        return self.model_copy(update={"pages": max(count, 1), "group": group})

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Make the errors of one page within the eligible spans."""
        page, (_, donors, habits) = self._words(text), self._ready()
        if not len(page.counted) or self.rate == 0:
            return NoisyText(text)
        losses = self._losses(donors, page.pattern(), rng)
        plain = losses.all or self.model != "channel"  # on a page of which no word is left, nothing was read
        draws, signs = rng.random((len(page.counted), 3)), rng.random((len(text), 2))
        writer = Writer(page, *within(page, eligible), losses, habits, plain, draws, signs)
        return edits.apply(text, writer.edits(self.rate))

    def _losses(self, donors: Donors, page: Pattern, rng: np.random.Generator) -> Losses:
        if self.model == "independent":
            return alone(page, float(donors.lost.mean()), rng, lines=False)
        order = donors.nearest(self.group or "", donors.place(page, self.pages))
        if self.model == "channel":
            return losses_of(page, donors, order, rng)
        return alone(page, float(donors.lost[order[0]]), rng, lines=self.model == "block")

    def _words(self, text: str) -> PageWords:
        return _seen(text) if len(text) <= _REMEMBERED else read(text)

    def _path(self) -> Path:
        shipped = _shipped()
        if self.profile in shipped:
            return shipped[self.profile]
        path = Path(self.profile)
        if not path.is_file():
            known = ", ".join(sorted(shipped))
            raise DataError(f"profile {self.profile}: no such file, and not one of {known}")
        return path

    def _ready(self) -> tuple[Profile, Donors, Habits]:
        return _made_ready(self._path())
