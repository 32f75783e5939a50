"""The study of image noise that is found again."""

import numpy as np
import pytest

from studies.image_recovery import FOREIGN, best
from tests.noise_files.test_image_twins import PAGE


def test_the_best_that_few_pages_allow() -> None:
    """Of 2 pages none is within .05 of .4 turned; the larger of two angles is in the upper quarter with 7 of 16."""
    assert best(2, 0.4) == pytest.approx((7 / 16, 0.0))
    assert best(12, 0.1) == pytest.approx((1.0, 12 * 0.1 * 0.9**11))


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_noise_changes_the_page_and_not_its_size(name: str) -> None:
    changed = FOREIGN[name](PAGE)
    assert (changed.shape, changed.dtype) == (PAGE.shape, np.uint8)
    assert not np.array_equal(changed, PAGE)
