"""olmOCR-bench's tests as a metric of pages."""

import json
from collections.abc import Sequence
from functools import lru_cache

from ohr.contracts import PageMetric, Question
from ohr.parse_scores.olmocr import PageTest, read_test, run


class OlmOcrTest(PageMetric, kind="olmocr_test"):
    """Whether a page passes its tests: 1 or 0 for each."""

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:  # noqa: ARG002
        """Return 1 for each test that the text passes, else 0."""
        return [float(run(_test(question.answers[0]), text).passed) for question in questions]


@lru_cache(maxsize=1024)
def _test(record: str) -> PageTest:
    return read_test(json.loads(record))
