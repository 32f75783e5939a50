"""A strict score."""

from math import nan
from typing import Literal

from ohr.contracts import Metric
from ohr.text.words import words


class FirstWord(Metric):
    """1 where the answer's first word is the reply's; undefined for an answer without words."""

    kind: Literal["acme_first_word"] = "acme_first_word"

    def score(self, prediction: str, reference: str) -> float:
        wanted = words(reference)
        return float(words(prediction)[:1] == wanted[:1]) if wanted else nan
