"""An engine that reads capitals as small letters."""

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ohr.contracts import Edit, NoisyText, Span, TextNoise
from ohr.text import edits


class LostCase(TextNoise):
    """Makes each capital letter small with probability `rate`."""

    kind: Literal["acme_case"] = "acme_case"

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        found = [match.start() for match in re.finditer(r"[A-Z]", text)]
        lost = [place for place, draw in zip(found, rng.random(len(found)), strict=True) if draw < self.rate]
        inside = [place for place in lost if any(low <= place < high for low, high in eligible)]
        return edits.apply(text, [Edit("case", p, p + 1, text[p].lower(), removed=text[p]) for p in inside])
