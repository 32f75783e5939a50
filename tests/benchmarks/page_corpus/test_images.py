"""Images are read row by row, in any order, and never all held."""

import sys
from io import BytesIO
from random import Random
from subprocess import run

import numpy as np
import pytest
from PIL import Image

from ohr.benchmarks.page_corpus import PageCorpus

from .conftest import judged, page

COUNT = 40


@pytest.fixture
def many(pages):
    """Forty pages of one document in row groups of seven."""
    pages.corpus = [page(number, index=number) for number in range(COUNT)]
    pages.save()
    pages.write("corpus", pages.corpus, row_group_size=7)
    return PageCorpus(root=pages.root)


@pytest.mark.parametrize("order", ["forward", "backward", "shuffled", "repeated"])
def test_images_are_those_of_their_rows_in_any_order(many, order):
    places = {
        "forward": list(range(COUNT)),
        "backward": list(range(COUNT))[::-1],
        "shuffled": Random(0).sample(range(COUNT), COUNT),
        "repeated": [3, 3, 4, 3, 20, 20, 0, 39, 39],
    }[order]
    (document,) = many.documents()
    assert [many.page_image(document, place)[0, 0, 0] for place in places] == places


def test_an_image_after_a_change_of_the_file_is_the_new_one(pages, many):
    (document,) = many.documents()
    assert many.page_image(document, 5)[0, 0, 0] == 5
    pages.write("corpus", [page(number, index=COUNT - number) for number in range(COUNT)])
    assert many.page_image(document, 5)[0, 0, 0] == COUNT - 6


MEASURED = """
import resource
import sys
from ohr.benchmarks.page_corpus import PageCorpus
benchmark = PageCorpus(root=sys.argv[1])
(document,) = benchmark.documents()
benchmark.questions(), benchmark.page_image(document, 0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for place in range(document.pages):
    benchmark.page_image(document, place)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.acceptance
def test_a_row_group_of_large_images_is_not_held(pages):
    noise = np.random.default_rng(0)
    pages.corpus = [page(number, index=number) for number in range(60)]
    for row in pages.corpus:
        row["image"] = {"bytes": _bmp(noise.integers(0, 256, (700, 500, 3), np.uint8)), "path": ""}  # 1 MB each
    pages.qrels = [judged(0, 0)]
    done = run([sys.executable, "-c", MEASURED, str(pages.save())], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 30_000  # kilobytes: the group has 60 MB


def _bmp(values: np.ndarray) -> bytes:
    content = BytesIO()
    Image.fromarray(values).save(content, "BMP")
    return content.getvalue()
