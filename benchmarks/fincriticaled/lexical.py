"""ROUGE-1, ROUGE-L and the edit distance of a page's text, as the published evaluation has them."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Literal

from rapidfuzz.distance import LCSseq, Levenshtein

from ohr.text.porter import stem

from .texts import html_to_text

_WORD = re.compile("[a-z0-9]+")
_SHORTEST = 4
"""Letters of a word from which on rouge-score stems it."""


@dataclass(frozen=True, slots=True)
class Means:
    """Unweighted means over pages, in [0, 1].

    Args:
        rouge1: F1 of single words.
        rougeL: F1 of the longest common subsequence of words.
        edit_distance: the smaller, the better.
        pages: that the means are of.
        coverage: share of all pages that have a prediction.
    """

    rouge1: float
    rougeL: float
    edit_distance: float
    pages: int
    coverage: float


def rouge_f1(reference: str, prediction: str) -> dict[str, float]:
    """Return the F1 of ROUGE-1 and ROUGE-L with stemmed words, as rouge-score 0.1.2 computes them.

    Signs and letters beyond a to z are not part of a word: `(10,234)` equals `10 234`, and Chinese text has no words.
    Two texts without words score 0. The longest common subsequence is rapidfuzz's: rouge-score fills a table in Python,
    which takes a quarter of a second for a page.
    """
    gold, made = _words(reference), _words(prediction)
    both = (Counter(gold) & Counter(made)).total()
    return {
        "rouge1": _f1(both, len(gold), len(made)),
        "rougeL": _f1(LCSseq.similarity(gold, made), len(gold), len(made)),
    }


def edit_distance_norm(reference: str, prediction: str) -> float:
    """Levenshtein distance over the length of the longer text: 0 where both are empty, 1 where one is."""
    return Levenshtein.normalized_distance(reference, prediction)


def page_scores(gold_html: str, prediction: str) -> dict[str, float]:
    """Score a prediction against the untagged HTML of a page: `rouge1`, `rougeL` and `edit_distance`."""
    gold, made = html_to_text(gold_html), html_to_text(prediction.strip())
    return {**rouge_f1(gold, made), "edit_distance": edit_distance_norm(gold, made)}


def mean_scores(
    gold: Mapping[int, str], predictions: Mapping[int, str], mode: Literal["reference", "clean"] = "clean"
) -> Means:
    """Average the scores of pages.

    Args:
        gold: untagged HTML of the pages, by index.
        predictions: of some of them.
        mode: `reference` leaves out pages without a prediction, as published; `clean` scores them as wrong.

    Edge cases: nan where there is no page to average over.
    """
    scores = [page_scores(html, predictions[index]) for index, html in gold.items() if index in predictions]
    missing = len(gold) - len(scores) if mode == "clean" else 0
    pages = len(scores) + missing

    def mean(name: str, worst: float) -> float:
        return (sum(score[name] for score in scores) + worst * missing) / pages if pages else nan

    coverage = len(scores) / len(gold) if gold else nan
    return Means(mean("rouge1", 0), mean("rougeL", 0), mean("edit_distance", 1), pages, coverage)


def _words(text: str) -> list[str]:
    return [stem(word) if len(word) >= _SHORTEST else word for word in _WORD.findall(text.lower())]


def _f1(both: int, gold: int, made: int) -> float:
    precision, recall = both / max(made, 1), both / max(gold, 1)
    return 2 * precision * recall / (precision + recall) if both else 0.0
