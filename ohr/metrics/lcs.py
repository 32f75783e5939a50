"""LCS: how much of the evidence a text still says, in order. The published score of retrieval."""

from collections.abc import Sequence
from itertools import chain
from math import isnan, nan
from typing import Annotated, ClassVar

from pydantic import Field
from rapidfuzz.distance import LCSseq

from ohr.contracts import Edit, Metric
from ohr.markup.strip import strip_markup
from ohr.text.edits import undo
from ohr.text.words import words


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


def lcs_of_passages(passages: Sequence[str], evidence: str, segment_chinese: bool = True) -> float:
    """Return `lcs` of passages joined with a blank line; a passage that many questions find is cut into words once."""
    found = list(chain.from_iterable(words(passage, segment_chinese) for passage in passages))
    return lcs_of_words(found, words(evidence, segment_chinese))


def lcs_of_words(retrieved: Sequence[str], evidence: Sequence[str]) -> float:
    """Return `lcs` of texts that are cut into words already."""
    return LCSseq.similarity(retrieved, evidence) / len(evidence) if evidence else nan


def lcs_without_formatting(
    retrieved: str, evidence: str, edits: Sequence[Edit] | None = None, start: int = 0, segment_chinese: bool = True
) -> float:
    r"""Return `lcs` of what formatting leaves alone: the words, whatever notation is around them.

    `lcs` counts a word as lost when a command is glued to it: `\textbf{rent` normalises to `textbfrent`. Here the
    formatting is taken back first: with the ledger of the noise that made it, exactly; without one (an OCR engine's
    text), by stripping the markup of both sides.
    Source: ours.

    Args:
        retrieved: a page's text after formatting noise, or the part of it that one chunk holds.
        evidence: the ground-truth passage.
        edits: all edits that formatting noise made on the page, in its order; None where nobody kept them.
        start: where `retrieved` begins in the page's noisy text.
        segment_chinese: as in `lcs`.

    Edge cases: as in `lcs`; without a ledger, evidence of markup only -> nan.
    """
    if edits is None:
        return lcs(strip_markup(retrieved), strip_markup(evidence), segment_chinese)
    return lcs(undo(retrieved, edits, start), evidence, segment_chinese)


class Lcs(Metric, kind="lcs"):
    """Share of the evidence's words that the text still has, in order; the published retrieval score."""

    packages: ClassVar[tuple[str, ...]] = ("rjieba",)
    segment_chinese: Annotated[bool, Field(description="Cut Chinese runs into words; the reference does not.")] = True
    wordless: Annotated[
        float | None, Field(description="Score where the evidence has no word; the reference gives 0.5. Undefined.")
    ] = None

    def score(self, prediction: str, reference: str) -> float:
        """Return `lcs` of a retrieved text against the evidence."""
        return self.score_passages([prediction], reference)

    def score_passages(self, passages: Sequence[str], reference: str) -> float:
        """Return `lcs_of_passages`."""
        found = lcs_of_passages(passages, reference, self.segment_chinese)
        return found if self.wordless is None or not isnan(found) else self.wordless


class LcsContent(Lcs, kind="lcs_content"):
    """`lcs` of both sides without their markup: tables in HTML and in Markdown have the same words."""

    def score_passages(self, passages: Sequence[str], reference: str) -> float:
        """Return `lcs_of_passages` of what is left of each passage."""
        return super().score_passages([strip_markup(passage) for passage in passages], strip_markup(reference))
