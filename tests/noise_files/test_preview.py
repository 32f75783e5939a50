"""A page under noise: which part of it is shown at full size."""

import numpy as np
import pytest

from ohr.contracts import TreatedImage
from ohr.noise_files.preview import _detail


@pytest.mark.parametrize(("rows", "columns"), [(slice(20, 40), slice(50, 900)), (slice(900, 950), slice(700, 800))])
def test_the_part_that_is_shown_has_print(rows, columns):
    page = np.full((1000, 1000, 3), 255, dtype=np.uint8)
    page[rows, columns] = 0
    assert _detail(TreatedImage(page), page, (240, 100)).min() == 0


def test_a_blank_page_is_shown_as_it_is():
    page = np.full((1000, 1000, 3), 255, dtype=np.uint8)
    assert _detail(TreatedImage(page), page, (240, 100)).shape == (100, 240, 3)
