"""olmOCR-bench's tests of parsed pages (Poznanski et al., 2025): read, run, and summed up as published."""

from .page_tests import Outcome, PageTest
from .read import read_test, run

__all__ = ["Outcome", "PageTest", "read_test", "run"]
