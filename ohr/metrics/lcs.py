"""LCS: how much of the evidence a text still says, in order. The published score of retrieval."""

from collections.abc import Sequence
from math import isnan, nan
from typing import Annotated, Literal

from pydantic import Field
from rapidfuzz.distance import LCSseq

from ohr.contracts import Metric
from ohr.text import words


def lcs(retrieved: str, evidence: str, segment_chinese: bool = True) -> float:
    """Share of the evidence's words found in `retrieved` in the same order, in [0, 1], higher is better.

    Formula: length of the longest common subsequence of the two sequences of normalised words, divided by the number
        of words of the evidence; a recall, so longer retrieved texts never score less.
    Source: OHRBench (arXiv:2412.02592), `lcs_score` of `metric/common.py`.

    Args:
        retrieved: what was retrieved or read; for retrieval, the retrieved chunks of the evidence's own pages joined
            with a blank line in rank order.
        evidence: the ground-truth passage.
        segment_chinese: cut runs of Chinese characters into words (clean protocol) or not (reference protocol).

    Edge cases: evidence without a word -> nan (the reference gives .5); nothing retrieved -> 0.
    """
    return lcs_of_words(words(retrieved, segment_chinese), words(evidence, segment_chinese))


def lcs_of_words(retrieved: Sequence[str], evidence: Sequence[str]) -> float:
    """Give `lcs` of texts that are cut into words already."""
    return LCSseq.similarity(retrieved, evidence) / len(evidence) if evidence else nan


class Lcs(Metric):
    """Share of the evidence's words that the text still has, in order; the published retrieval score."""

    kind: Literal["lcs"] = "lcs"
    segment_chinese: Annotated[bool, Field(description="Cut Chinese runs into words; the reference does not.")] = True
    wordless: Annotated[
        float | None, Field(description="Score where the evidence has no word; the reference gives 0.5. Undefined.")
    ] = None

    def score(self, prediction: str, reference: str) -> float:
        """Give `lcs` of a retrieved text against the evidence."""
        found = lcs(prediction, reference, self.segment_chinese)
        return found if self.wordless is None or not isnan(found) else self.wordless
