"""Whether the reply contains the answer."""

from math import nan
from typing import Literal

from ohr.contracts import Metric
from ohr.text.words import normalise


class Example(Metric):
    """1 where the reply contains the accepted answer as whole words, else 0; undefined for an empty answer."""

    kind: Literal["example"] = "example"

    def score(self, prediction: str, reference: str) -> float:
        """Compare after the published normalisation."""
        wanted = normalise(reference)
        return float(f" {wanted} " in f" {normalise(prediction)} ") if wanted else nan
