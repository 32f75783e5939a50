"""olmOCR-bench's tests as a metric of pages."""

import json
from collections.abc import Sequence
from functools import lru_cache
from math import nan
from typing import ClassVar

from ohr.contracts import PageMetric, Question
from ohr.parse_scores.olmocr import PageTest, read_test, run


class OlmOcrTest(PageMetric, kind="olmocr_test"):
    """Whether a page passes its tests: 1 or 0 for each."""

    version: ClassVar[int] = 2  # a page of blanks alone is empty

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:  # noqa: ARG002
        """Return 1 for each test that the text passes, else 0; nan for a question that is none."""
        tests = [None if question.asked else _test(question.answers[0]) for question in questions]
        said = text if text.strip() else ""  # an empty file of results is a page with a line's end
        return [nan if test is None else float(run(test, said).passed) for test in tests]


@lru_cache(maxsize=1024)
def _test(record: str) -> PageTest:
    return read_test(json.loads(record))
