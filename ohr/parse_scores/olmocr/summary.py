"""How olmOCR-bench names the texts of pages, adds tests, and sums up which passed."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import PurePosixPath

import numpy as np

from .page_tests import BaselineTest, PageTest

BASELINE = "baseline"
"""The name under which the tests that are added count, beside the names of files."""

TestsByFile = Mapping[str, Sequence[PageTest]]


def with_baselines(tests: TestsByFile, pdfs: Iterable[str]) -> dict[str, list[PageTest]]:
    """Return tests by file, with one of page 1 for each PDF that has no baseline test in any file.

    Args:
        tests: The tests of each JSON Lines file.
        pdfs: The PDFs below `pdfs/`, with their folders and endings.

    Raises:
        ValueError: For a test whose id another one of its file has.
    """
    for file, of_file in tests.items():
        repeated, times = max(Counter(test.id for test in of_file).items(), key=itemgetter(1), default=("", 0))
        if times > 1:
            raise ValueError(f"{file}: id: {repeated!r} is that of {times} tests")
    tested = {test.pdf for of_file in tests.values() for test in of_file if isinstance(test, BaselineTest)}
    added = [BaselineTest(pdf=pdf, page=1, id=f"{pdf}_baseline", type="baseline") for pdf in pdfs if pdf not in tested]
    return {file: list(of_file) for file, of_file in tests.items()} | ({BASELINE: [*added]} if added else {})


def texts_of(test: PageTest, names: Iterable[str]) -> list[str]:
    """Return which texts of a candidate a test reads: `<pdf>_pg<page>_repeat<number>.md`, in the PDF's folder.

    Args:
        test: The test.
        names: Paths below the candidate's folder, with `/`.
    """
    pattern = re.compile(re.escape(str(PurePosixPath(test.pdf).with_suffix(""))) + rf"_pg{test.page}_repeat\d+\.md")
    return sorted(filter(pattern.fullmatch, names))


def passes(repeats: Sequence[bool]) -> bool:
    """Return whether a test is passed: by more than half of the texts of its page, and not without a text."""
    return 2 * sum(repeats) > len(repeats)


def score(passed: Mapping[str, Sequence[bool]]) -> float:
    """Return the mean, over files, of the share of tests that are passed: the benchmark's number; nan without tests."""
    shares = [sum(of_file) / len(of_file) for of_file in passed.values() if of_file]
    return sum(shares) / len(shares) if shares else float("nan")


def interval(
    passed: Mapping[str, Sequence[bool]], rng: np.random.Generator, samples: int = 1000, level: float = 0.95
) -> tuple[float, float]:
    """Return the percentile interval of `score` when the tests of each file are drawn with replacement, as published.

    Tests of one page are drawn as if they were independent, so the interval is too narrow.
    """
    files = [of_file for of_file in passed.values() if of_file]
    if not files:
        return float("nan"), float("nan")
    # the sum of n draws of passed or not, with replacement, is binomial
    means = np.mean([rng.binomial(len(file), sum(file) / len(file), samples) / len(file) for file in files], axis=0)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
