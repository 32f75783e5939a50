"""Channel noise: the errors of one OCR engine, from a fitted model, without running it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import NoisyText, Page, Span, TextNoise
from ohr.errors import DataError
from ohr.keys import file_digest
from ohr.text import edits

from .donors import Donors, described
from .lines import LOOKS, Values, looks
from .misreading import Confusions, confusions
from .page import PageWords, read, within
from .pattern import Pattern
from .profile import Profile, load
from .transplant import Losses, alone, transplant
from .writing import Habits, Writer


@dataclass(frozen=True, slots=True)
class _Ready:
    """A profile, and what is made of it once."""

    profile: Profile
    donors: Donors
    confusions: Confusions
    habits: Habits
    lines: Values

    def pattern(self, page: PageWords, seen: Values) -> Pattern:
        """Describe a page as donors are."""
        return Pattern(page.words, np.zeros(len(page.counted), dtype=bool), page.size, page.kind, seen @ self.lines)

    def strength(self, group: str, kind: NDArray[np.int8]) -> Values:
        """Give what is added to the rate's logit in lines of these kinds, (lines,)."""
        own = self.profile.groups[group].strength
        kinds = self.profile.kinds
        strengths = np.array([own, kinds.get("formula", own), kinds.get("table", own)])  # in the order of KINDS
        made: Values = strengths[kind]
        return made


@lru_cache(maxsize=8)
def _made_ready(path: Path, stamp: object) -> _Ready:  # noqa: ARG001 # a changed file is read again
    profile = load(path)
    weights = np.array([profile.lines.get(look, 0.0) for look in LOOKS])
    known = confusions(profile.confusions, profile.reading.misread)
    return _Ready(profile, Donors(profile), known, Habits(profile.reading), weights)


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Path]:
    return {file.stem: file for file in (Path(__file__).parent / "profiles").glob("*.json")}


_REMEMBERED = 50_000
"""Longest page that is kept: a document's pages are looked at twice."""


def _seen(text: str) -> tuple[PageWords, Values]:
    return _look(text) if len(text) <= _REMEMBERED else _look.__wrapped__(text)


@lru_cache(maxsize=256)
def _look(text: str) -> tuple[PageWords, Values]:
    page = read(text)
    return page, looks(page)


class Channel(TextNoise):
    """Reads the text as a fitted OCR engine would: words, lines, formulas and cells lost, misread, joined, moved.

    Each document takes over the losses of one of the documents that the profile was fitted on, page by page and line
    by line. Rate 0.5 is the engine as it was fitted; other rates multiply the odds of every loss by rate / (1 - rate),
    down to no loss at 0 and up to all words at 1, where only what was moved, repeated or added is left. The errors at
    a lower rate are among those at a higher.
    """

    kind: Literal["channel"] = "channel"
    version: ClassVar[int] = 6
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
    donor: Annotated[
        int | None, Field(ge=0, description="Number of the profile's document whose losses are taken; drawn for each.")
    ] = None

    @classmethod
    def fitted(cls, pages: Iterable[tuple[str, str, str]], engine: str, note: str = "") -> Profile:
        """Fit a profile to (document, truth, text read) of pages; a document's name starts with its domain.

        Raises:
            DataError: no page of the truth has a word.
        """
        from .align import align
        from .fit import fit

        return fit([align(*page) for page in pages], engine, note)

    def check(self) -> None:
        """Refuse a profile that cannot be read, and a group or a donor that it does not have."""
        fitted = self._profile()
        self._ready()
        if self.group is not None and self.group not in fitted.groups:
            known = ", ".join(name for name in fitted.groups if name) or "none"
            raise DataError(f"profile {self.profile} has no group {self.group!r}; it has: {known}")
        if self.donor is not None and self.donor >= len(fitted.donors):
            raise DataError(f"profile {self.profile} has {len(fitted.donors)} donors, from 0 on; {self.donor} is none")

    def identity(self) -> Mapping[str, object]:
        """Key the profile by its content."""
        return {**super().identity(), "profile": file_digest(self._path())}

    def for_document(self, pages: Sequence[Page], rng: np.random.Generator) -> Self:
        """Choose the domain's group, and draw the document whose losses are taken over."""
        ready, draw = self._ready(), float(rng.random())
        domain = pages[0].document.split("/")[0]
        group = domain if self.group is None and domain in ready.profile.groups else self.group
        found = [ready.pattern(*seen) for page in pages if len((seen := _seen(page.text))[0].counted)]
        donor = self.donor
        if donor is None and found and self.model != "independent":
            where = ready.donors.groups[group or ""]
            donor = ready.donors.document_like(where, where.place(described(found)), draw)
        return self.model_copy(update={"donor": donor, "pages": max(len(found), 1), "group": group})

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Make the errors of one page within the eligible spans."""
        ready, (page, seen) = self._ready(), _seen(text)
        if not len(page.counted) or self.rate == 0:
            return NoisyText(text)
        losses = self._losses(ready, ready.pattern(page, seen), rng)
        plain = self.model != "channel" or (losses.all and rng.random() < ready.profile.reading.silent)
        draws, signs = rng.random((len(page.counted), 4)), rng.random((len(text), 2))
        inside, joined = within(page, eligible)
        writer = Writer(page, inside, joined, losses, ready.habits, ready.confusions, plain, draws, signs)
        return edits.apply(text, writer.edits(self.rate))

    def _losses(self, ready: _Ready, page: Pattern, rng: np.random.Generator) -> Losses:
        if self.model == "independent":
            return alone(page, ready.profile.groups[""].lost, rng, lines=False)
        known = ready.donors
        group = known.groups[self.group or ""]
        place = group.place(described([page], self.pages))[0]
        draw, own = rng.random(2).tolist()
        donor = known.document_like(group, place[None], draw) if self.donor is None else self.donor
        choice = known.page_like(group, place, donor, own)
        if self.model == "channel":
            return transplant(page, known, choice, rng, ready.strength(self.group or "", page.kind))
        return alone(page, float(known.pages[choice.page].lost.mean()), rng, lines=self.model == "block")

    def _path(self) -> Path:
        shipped = _shipped()
        if self.profile in shipped:
            return shipped[self.profile]
        path = Path(self.profile)
        if not path.is_file():
            known = ", ".join(sorted(shipped))
            raise DataError(f"profile {self.profile}: no such file, and not one of {known}")
        return path

    def _profile(self) -> Profile:
        return self._ready().profile

    def _ready(self) -> _Ready:
        path = self._path()
        about = path.stat()
        return _made_ready(path, (about.st_size, about.st_mtime_ns))
