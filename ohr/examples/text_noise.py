"""Loses words, each by itself."""

import re
from collections.abc import Sequence

import numpy as np

from ohr.contracts import Edit, NoisyText, Span, TextNoise
from ohr.text import edits


class Example(TextNoise, kind="example"):
    """Deletes each word with probability `rate`."""

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Draw once for every word, whatever the rate: so the edits at 0.1 are among those at 0.3."""
        found = [match.span() for match in re.finditer(r"\S+", text)]
        draws = rng.random(len(found))
        lost = [span for span, draw in zip(found, draws, strict=True) if draw < self.rate]
        kept_inside = [(s, e) for s, e in lost if any(low <= s and e <= high for low, high in eligible)]
        return edits.apply(text, [Edit("lost_word", s, e, "", removed=text[s:e]) for s, e in kept_inside])
