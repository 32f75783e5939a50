"""Table noise: tables in another notation (OHRBench, section 3.2 and Fig. 4)."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import Edit, NoisyText, Span, TextNoise
from ohr.markup import Notation
from ohr.markup.convert import converted, table_spans
from ohr.text import edits

from .formatting.units import Units, touched


class TableFormat(TextNoise, kind="table_format"):
    """Writes a share of a page's tables, those of charts too, in one notation: LaTeX, Markdown or HTML.

    The words stay. What Markdown cannot hold is expanded: a merged cell is repeated at each of its places.
    """

    version: ClassVar[int] = 2  # blocks within a cell part words
    noise_type: ClassVar[Literal["semantic", "formatting"]] = "formatting"
    rate: Annotated[float, Field(ge=0, le=1, description="Share of the tables that are converted.")] = 1.0
    to: Annotated[Notation, Field(description="Notation of the tables afterwards.")] = "html"

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Convert the tables that lie within the eligible spans."""
        spans = table_spans(text)
        places = np.array(spans, dtype=np.int64).reshape(-1, 2)

        def changed(chosen: list[int]) -> list[Edit]:
            return [edit for place in chosen if (edit := converted(text, spans[place], self.to))]

        units = Units(rng.random(len(spans)), places[:, 0], places[:, 1], changed)
        return edits.apply(text, touched([units], self.rate, eligible, len(text)))
