import numpy as np
import pytest

from ohr.noise.image.copier import SaltAndPepper
from ohr.noise.image.psf_blur import PsfBlur
from ohr.noise.image.warping import Rotation

from ...conftest import typeset


def distort(noise, image, seed=0):
    return noise.perturb(image, (), np.random.default_rng(seed))


def test_salt_and_pepper_at_its_published_point_changes_one_percent_of_the_pixels():
    grey = np.full((1000, 1000, 3), 128, dtype=np.uint8)
    changed = distort(SaltAndPepper(severity=SaltAndPepper.published), grey).image
    touched = (changed != 128).all(axis=2)
    assert touched.mean() == pytest.approx(0.01, abs=0.001)
    assert (changed[touched][:, 0] == 255).mean() == pytest.approx(0.5, abs=0.03)
    assert set(np.unique(changed)) == {0, 128, 255}


def test_the_pixels_of_a_lower_severity_are_among_those_of_a_higher():
    grey = np.full((200, 200, 3), 128, dtype=np.uint8)
    low, high = (distort(SaltAndPepper(severity=severity), grey).image for severity in (0.2, 0.7))
    assert (high[low != 128] == low[low != 128]).all()


def angle(noisy):
    return float(np.degrees(np.arctan2(noisy.homography[0, 1], noisy.homography[0, 0])))


def test_rotation_at_its_published_point_turns_by_up_to_three_degrees():
    white = np.full((30, 20, 3), 255, dtype=np.uint8)
    angles = [angle(distort(Rotation(severity=Rotation.published), white, seed)) for seed in range(400)]
    assert -3 <= min(angles) < -2.9
    assert 2.9 < max(angles) <= 3


def test_a_grey_page_is_rotated_as_a_colored_one():
    grey = typeset("Rent is due each May")
    colored = grey.copy()
    colored[0, 0] = (255, 250, 255)
    turned = [distort(Rotation(severity=1.0), page).image for page in (grey, colored)]
    assert (turned[0][9:, 9:] == turned[1][9:, 9:]).all()
    assert (turned[0] < 128).any()


def test_levels_of_rotation_turn_the_same_way():
    white = np.full((30, 20, 3), 255, dtype=np.uint8)
    low, high = (angle(distort(Rotation(severity=severity), white, 5)) for severity in (0.2, 0.8))
    assert high == pytest.approx(4 * low)


def test_the_homography_of_a_rotation_says_where_a_point_went():
    image = np.full((101, 101, 3), 255, dtype=np.uint8)
    image[20:23, 70:73] = 0
    noisy = distort(Rotation(severity=1.0), image)
    x, y, _ = noisy.homography @ (71, 21, 1)
    dark = np.argwhere(noisy.image[:, :, 0] < 128).mean(axis=0)
    assert dark == pytest.approx((y, x), abs=0.7)


def sharpness(image):
    return float(np.abs(np.diff(image.astype(int), axis=1)).mean())


def test_blur_takes_more_sharpness_the_more_severe_it_is():
    page = np.repeat(np.repeat(typeset("Rent is due each May"), 3, axis=0), 3, axis=1)
    left = [sharpness(distort(PsfBlur(severity=severity), page).image) for severity in (0, 0.3, 0.6, 1.0)]
    assert left == sorted(left, reverse=True)


def test_blur_keeps_the_brightness():
    page = typeset("Rent is due each May")
    assert distort(PsfBlur(severity=1.0), page).image.mean() == pytest.approx(page.mean(), abs=1)


def test_blur_has_a_hundred_kernels():
    dot = np.zeros((25, 1600, 3), dtype=np.uint8)
    dot[12, 800] = 255
    shapes = {distort(PsfBlur(severity=1.0), dot, seed).image[:, 780:821].tobytes() for seed in range(300)}
    assert 90 <= len(shapes) <= 100
