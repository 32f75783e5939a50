"""Edit distance of a page's text from its ground truth."""

from ohr.contracts import Metric
from ohr.text.distance import edits_between


def edit_distance(prediction: str, reference: str) -> float:
    """Levenshtein distance over the length of the longer text, in [0, 1], lower is better.

    Characters are compared as they are: notation, case and white space count. For the content alone, pass both texts
    through `ohr.markup.strip.strip_markup` first.
    Source: OHRBench (arXiv:2412.02592), Table 2 (mean over pages); OmniDocBench for the division by the longer text.

    Edge cases: two empty texts -> 0; one empty text -> 1.
    """
    # The result is exact with and without a hint. That it is near 0.1 halves the time for most pages of engines, and
    # doubles it for texts without likeness, which matters where they are long.
    longer = max(len(prediction), len(reference))
    hint = longer // 10 if len(reference) < 20_000 else None
    return edits_between(prediction, reference, hint) / longer if longer else 0.0


class EditDistance(Metric, kind="edit_distance"):
    """Characters to insert, delete or replace, over the length of the longer text; lower is better."""

    def score(self, prediction: str, reference: str) -> float:
        """Return `edit_distance`."""
        return edit_distance(prediction, reference)
