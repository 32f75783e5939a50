"""Whether the reply contains the answer."""

from math import nan

from ohr.contracts import Metric
from ohr.text.words import normalise


class Example(Metric, kind="example"):
    """1 where the reply contains the accepted answer as whole words, else 0; undefined for an empty answer."""

    def score(self, prediction: str, reference: str) -> float:
        """Compare after the published normalisation."""
        wanted = normalise(reference)
        return float(f" {wanted} " in f" {normalise(prediction)} ") if wanted else nan
