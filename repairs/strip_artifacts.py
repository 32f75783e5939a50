"""Artifacts that programs and models write into a page's text are removed: loops, fences, coordinates, refusals."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from ohr.contracts import Page, TextTreatment, TreatedPage
from ohr.markup.artifacts import KINDS, Kind, covered, without_artifacts


class StripArtifacts(TextTreatment, kind="strip_artifacts"):
    """Removes what a page does not have: loops but for their first round, and the other kinds of `hygiene`.

    A page that is a refusal becomes empty. Text without artifacts stays as it is.
    """

    kinds: Annotated[tuple[Kind, ...], Field(min_length=1, description="Kinds that are removed; by default all.")] = (
        KINDS
    )

    def treat(self, pages: Sequence[Page], rng: np.random.Generator) -> list[TreatedPage]:  # noqa: ARG002
        """Remove artifacts. The record has how many of each kind there were, and `characters`, how many went."""
        return [self._page(page.text) for page in pages]

    def _page(self, text: str) -> TreatedPage:
        left, removed = without_artifacts(text, self.kinds)
        counts = Counter[str](artifact.kind for artifact in removed)
        characters = sum(end - start for start, end in covered(removed))
        return TreatedPage(left, {**counts, "characters": characters} if removed else {})
