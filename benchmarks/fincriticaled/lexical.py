"""ROUGE-1, ROUGE-L and the edit distance of a page's text, as the published evaluation has them."""

import re
from collections import Counter

from rapidfuzz.distance import LCSseq, Levenshtein

from ohr.text.porter import stem

from .texts import html_to_text

_WORD = re.compile("[a-z0-9]+")
_SHORTEST = 4
"""Letters of a word from which on rouge-score stems it."""


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


def _words(text: str) -> list[str]:
    return [stem(word) if len(word) >= _SHORTEST else word for word in _WORD.findall(text.lower())]


def _f1(both: int, gold: int, made: int) -> float:
    precision, recall = both / max(made, 1), both / max(gold, 1)
    return 2 * precision * recall / (precision + recall) if both else 0.0
