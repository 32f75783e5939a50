"""Channel noise: the errors of one OCR engine, from a fitted model, without running it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr import edits
from ohr.contracts import NoisyText, Page, Span, TextNoise
from ohr.errors import DataError
from ohr.keys import file_digest

from .events import candidates
from .misreading import confusions
from .page import read
from .profile import ALL, Profile, choose, load
from .severity import describe, score, shifted, target, usual_share, usual_table
from .taking import take
from .writing import Writer

_SHIPPED = Path(__file__).parent / "profiles"


class Channel(TextNoise):
    """Reads the text as a fitted OCR engine would: words, lines, formulas and cells lost, misread, joined, moved.

    A page's severity is drawn from that of the engine's pages, given its content; part of it is common to the
    document. Rate 0.5 is the engine as it was fitted; lower and higher rates move each page along the distribution of
    severities, down to no loss at 0 and up to all words at 1, where only what was moved, repeated or added is left. The
    errors at a lower rate are among those at a higher.
    """

    kind: Literal["channel"] = "channel"
    version: ClassVar[int] = 3
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
    document_effect: Annotated[
        float | None, Field(description="Severity of the document in standard deviations; drawn for each.")
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
        """Refuse a profile that cannot be read, and a group that it does not have."""
        fitted = self._profile()
        if self.group is not None and self.group not in fitted.groups:
            known = ", ".join(name for name in fitted.groups if name) or "none"
            raise DataError(f"profile {self.profile} has no group {self.group!r}; it has: {known}")

    def identity(self) -> Mapping[str, object]:
        """Key the profile by its content."""
        return {**super().identity(), "profile": file_digest(self._path())}

    def for_document(self, pages: Sequence[Page], rng: np.random.Generator) -> Self:
        """Draw the document's part of the severity, and choose its domain's group."""
        effect, domain = float(rng.standard_normal()), pages[0].document.split("/")[0]
        known = self.group is None and domain in self._profile().groups
        return self.model_copy(
            update={
                "document_effect": effect if self.document_effect is None else self.document_effect,
                "pages": max(sum(bool(page.text.strip()) for page in pages), 1),
                "group": domain if known else self.group,
            }
        )

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Make the errors of one page within the eligible spans."""
        fitted, page = self._profile(), read(text, eligible)
        document, own = rng.standard_normal(2).tolist()
        style, silence = rng.random(2).tolist()
        document = document if self.document_effect is None else self.document_effect
        if not page.counted.any() or self.rate == 0:
            return NoisyText(text)
        usual = usual_share(page, usual_table(fitted.usual))
        natural, wanted = self._shares(fitted, describe(page, usual, self.pages), (document, own))
        level = choose(fitted.levels, ALL if natural == 1 else natural / usual, style)
        silent = natural == 1 and silence < fitted.silent
        events = candidates(page, level, self.model, silent, rng)
        words = float(page.counted.sum())
        taken = take(page, events, natural * words, wanted * words)
        draws = rng.random((len(text), 2))
        writer = Writer(page, level, confusions(fitted), fitted.spurious, events, taken, draws)
        return edits.apply(text, writer.edits())

    def _shares(
        self, fitted: Profile, features: NDArray[np.float64], effects: tuple[float, float]
    ) -> tuple[float, float]:
        """Give the share of words lost as fitted, and at the rate."""
        if self.model == "independent":
            mean = fitted.groups[""].mean
            return mean, shifted(mean, self.rate)
        group = fitted.groups[self.group or ""]
        content = score(features, fitted.features, group)
        return target(group, content, *effects, 0.5), target(group, content, *effects, self.rate)

    def _path(self) -> Path:
        shipped = _SHIPPED / f"{self.profile}.json"
        path = shipped if shipped.is_file() else Path(self.profile)
        if not path.is_file():
            known = ", ".join(sorted(file.stem for file in _SHIPPED.glob("*.json")))
            raise DataError(f"profile {self.profile}: no such file, and not one of {known}")
        return path

    def _profile(self) -> Profile:
        path = self._path()
        about = path.stat()
        return load(path, (about.st_size, about.st_mtime_ns))
