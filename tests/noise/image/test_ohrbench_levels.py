"""The distortions of OHRBench's section III.2, and its recipes of them."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from ohr.noise.image.copier import Binarization, Rollers, SaltAndPepper
from ohr.noise.image.light import Shadows
from ohr.noise.image.ohrbench_levels import STRONG, WEAK, OhrBenchNoise
from ohr.noise.image.psf_blur import PsfBlur
from ohr.noise.image.textures import PAPERS, Background, paper
from ohr.noise.image.warping import Rotation, Warping

from ...conftest import typeset

WHITE = np.full((400, 300, 3), 255, dtype=np.uint8)


def distort(noise, image, seed=0):
    return noise.perturb(image, (), np.random.default_rng(seed))


def test_there_are_fifteen_papers_that_look_different():
    sheets = [paper(number) for number in range(len(PAPERS))]
    assert len(sheets) == 15
    assert len({sheet.tobytes() for sheet in sheets}) == 15
    assert all(sheet.std() > 2 for sheet in sheets)


def test_the_background_is_blended_eighty_to_twenty_at_its_published_point():
    black = np.zeros((400, 300, 3), dtype=np.uint8)
    for seed in range(5):
        on_black = distort(Background(severity=Background.published), black, seed).image.astype(int)
        on_white = distort(Background(severity=Background.published), WHITE, seed).image.astype(int)
        assert np.abs(on_white - on_black - 0.8 * 255).max() <= 1
        assert 0.2 * 100 < on_black.mean() < 0.2 * 255


def test_pages_get_different_papers():
    tones = {tuple(distort(Background(severity=1.0), WHITE, seed).image[::50, ::50].ravel()) for seed in range(20)}
    assert len(tones) == 20


def streaks(severity, seed):
    """Which columns (or rows) of a white page carry a dark line."""
    dark = 255 - distort(Rollers(severity=severity), np.full((1200, 1000, 3), 255, dtype=np.uint8), seed).image[:, :, 0]
    along, across = (dark.max(axis=0), dark.max(axis=1))
    return along > 8 if along.mean() < across.mean() else across > 8


def runs(flags):
    edges = np.diff(np.concatenate([[0], flags.astype(int), [0]]))
    return np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)


def test_rollers_leave_lines_of_one_to_three_pixels_at_one_in_twenty_columns():
    found = [streaks(Rollers.published, seed) for seed in range(6)]
    # lines overlap: 1 - (1 - .05 x .7) (1 - .05 x .7 x 2/3) (1 - .05 x .7 / 3) of the columns, by dark lines alone
    assert np.mean([flags.mean() for flags in found]) == pytest.approx(0.068, abs=0.015)
    lengths = Counter(np.concatenate([runs(flags) for flags in found]).tolist())
    assert {length for length, _ in lengths.most_common(3)} == {1, 2, 3}


@pytest.mark.parametrize("seed", range(4))
def test_the_lines_at_a_lower_severity_are_among_those_at_a_higher(seed):
    low, high = streaks(0.2, seed), streaks(0.8, seed)
    assert 0 < low.sum() < high.sum()
    assert (high | ~low).all()


def test_binarization_at_its_published_point_leaves_black_white_and_little_between(page):
    for seed in range(6):
        made = distort(Binarization(severity=Binarization.published), page, seed).image
        assert (made[:, :, 0] == made[:, :, 2]).all()
        assert ((made > 60) & (made < 200)).mean() < 0.06


def test_binarization_spreads_ink_on_some_pages_and_loses_it_on_others(page):
    before = (page < 128).mean()
    after = [(distort(Binarization(severity=1.0), page, seed).image < 128).mean() for seed in range(12)]
    assert min(after) < 0.8 * before
    assert max(after) > 1.3 * before


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("severity", [0.3, 1.0])
def test_warping_moves_a_mark_near_to_where_its_tilt_says(severity, seed):
    page = np.full((1170, 827, 3), 255, dtype=np.uint8)
    page[500:507, 300:307] = (255, 0, 0)
    noisy = distort(Warping(severity=severity), page, seed)
    red = np.argwhere(noisy.image[:, :, 0].astype(int) - noisy.image[:, :, 1] > 100).mean(axis=0)[::-1]
    x, y, w = noisy.homography @ (303, 503, 1)
    assert np.hypot(*(red - (x / w, y / w))) < 50 * severity


def test_a_warp_grows_with_its_severity(page):
    plain = page.astype(int)
    moved = [np.abs(distort(Warping(severity=s), page, 3).image - plain).mean() for s in (0.02, 0.1, 0.5, 1.0)]
    assert moved == sorted(moved)


def test_shadows_darken_every_pixel_more_the_more_severe_they_are():
    levels = [distort(Shadows(severity=severity), WHITE, 2).image for severity in (0.1, 0.4, 0.7, 1.0)]
    for light, dark in pairwise(levels):
        assert (dark <= light).all()
    assert levels[0].mean() > 230
    assert levels[-1].min() < 60


def test_the_levels_of_ohrbench_are_one_weak_one_strong_and_two_of_all():
    drawn = {
        level: [OhrBenchNoise(level=level).chosen(np.random.default_rng(seed)) for seed in range(400)]
        for level in ("mild", "moderate", "severe")
    }
    assert {names[0] for names in drawn["mild"]} == set(WEAK)
    assert {names[0] for names in drawn["moderate"]} == set(STRONG)
    assert all(len(set(names)) == 2 for names in drawn["severe"])
    shares = Counter(name for names in drawn["severe"] for name in names)
    assert set(shares) == set(WEAK + STRONG)
    assert min(shares.values()) > 60  # 100 expected


def test_a_page_of_ohrbench_is_what_its_distortion_makes_at_its_published_point(page):
    seed = next(s for s in range(50) if OhrBenchNoise().chosen(np.random.default_rng(s)) == [Shadows])
    rng = np.random.default_rng(seed)
    OhrBenchNoise().chosen(rng)
    alone = Shadows(severity=Shadows.published).perturb(page, (), rng)
    assert (distort(OhrBenchNoise(level="moderate"), page, seed).image == alone.image).all()


def test_two_distortions_of_a_page_give_one_map_of_coordinates():
    white = np.full((300, 200, 3), 255, dtype=np.uint8)
    maps = [distort(OhrBenchNoise(level="severe"), white, seed).homography for seed in range(40)]
    assert any(found is None for found in maps)
    assert any(found is not None and abs(found[0, 1]) > 0.01 for found in maps)


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
