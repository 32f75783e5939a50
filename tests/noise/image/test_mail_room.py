"""Pages that were saved small, faxed, folded, printed on both sides, stamped and written on."""

from itertools import pairwise

import numpy as np
import pytest

from ohr.noise.image.bleed_through import BleedThrough
from ohr.noise.image.fax import Fax
from ohr.noise.image.overwriting import Handwriting, Stamps
from ohr.noise.image.quarter_turns import QuarterTurns
from ohr.noise.image.saving import Jpeg, LowDpi
from ohr.noise.image.warping import Folds

LEVELS = (0.1, 0.3, 0.6, 1.0)
WHITE = np.full((1170, 827, 3), 255, dtype=np.uint8)


def distort(noise, image, seed=0, others=()):
    return noise.perturb(image, others, np.random.default_rng(seed))


def levels(kind, image, seed=0, others=()):
    return [distort(kind(severity=severity), image, seed, others).image for severity in LEVELS]


@pytest.mark.parametrize("kind", [LowDpi, Jpeg])
def test_a_page_that_is_saved_smaller_differs_more_and_nothing_is_drawn(kind, page):
    away = [np.abs(saved.astype(int) - page).mean() for saved in levels(kind, page)]
    assert away == sorted(away) and away[0] > 0.1
    assert not kind(severity=1).draws
    assert (levels(kind, page, seed=1)[2] == levels(kind, page, seed=2)[2]).all()


def test_the_fewest_pixels_are_those_of_a4_at_50_dpi():
    stripes = np.tile(np.array([0, 255], dtype=np.uint8), (2339, 800))[:, :, None].repeat(3, axis=2)
    assert np.ptp(distort(LowDpi(severity=1), stripes).image[9:-9, 9:-9]) < 9  # stripes of 1 pixel become grey
    small = stripes[:500, :300]
    assert (distort(LowDpi(severity=1), small).image == small).all()


def test_a_jpeg_keeps_colors_and_pages_that_are_longer_than_the_format_allows():
    red = np.full((66_000, 9, 3), (200, 40, 30), dtype=np.uint8)
    saved = distort(Jpeg(severity=0.1), red).image
    assert saved.shape == red.shape
    assert np.abs(saved.astype(int) - red).max() < 12


def test_a_fax_is_black_and_white_with_fewer_lines_the_more_severe_it_is():
    slope = np.add.outer(np.arange(2339) / 2339, -np.arange(1654) / 1654) < 0  # its rows differ
    faxes = levels(Fax, np.where(slope[:, :, None].repeat(3, axis=2), np.uint8(0), np.uint8(255)), 1)
    steps = [(np.diff((level[:, :, 0] < 128).sum(axis=1)) != 0).sum() for level in faxes]
    assert steps == sorted(steps, reverse=True) and steps[0] > 1.3 * steps[-1]
    assert all(((level > 40) & (level < 215)).mean() < 0.01 for level in faxes)


@pytest.mark.parametrize("seed", range(4))
def test_the_lines_that_a_fax_damages_are_among_those_at_a_higher_severity(seed):
    bars = WHITE.copy()
    bars[:, ::40] = bars[:, 1::40] = bars[:, 2::40] = bars[:, 3::40] = 0
    white = [fax[:, 1::40, 0].max(axis=1) for fax in levels(Fax, bars, seed)]
    for low, high in pairwise(white):
        near = np.maximum.reduce([high, np.roll(high, 1), np.roll(high, -1)])
        assert (near[low > 200] > 90).all()  # a line may cover two rows of the page
    assert 0.01 < (white[-1] > 200).mean() < 0.3


def test_a_fax_has_more_streaks_the_more_severe_it_is():
    streaks = [(fax.min(axis=(0, 2)) < 200).sum() for fax in levels(Fax, WHITE, 1)]
    assert streaks == sorted(streaks) and streaks[-1] > 3


@pytest.mark.parametrize("kind", [BleedThrough, Stamps, Handwriting])
@pytest.mark.parametrize("seed", range(3))
def test_ink_is_only_added_and_more_of_it_the_more_severe_it_is(kind, seed, page):
    inked = levels(kind, page, seed, [page[::-1]])
    assert (inked[0] <= page).all()
    for light, dark in pairwise(inked):
        assert (dark <= light).all()
        assert dark.mean() < light.mean()


def test_the_other_side_is_mirrored_and_a_page_without_one_has_a_stranger_behind_it():
    back = WHITE.copy()
    back[500:560, 100:160] = 0
    seen = distort(BleedThrough(severity=1), WHITE, 2, [back]).image
    assert np.argwhere(seen[:, :, 0] < 200).mean(axis=0) == pytest.approx((530, 827 - 130), abs=9)
    assert distort(BleedThrough(severity=1), WHITE).image.min() < 200


@pytest.mark.parametrize(
    ("kind", "effect"),
    [(Stamps, "occluded"), (Handwriting, "occluded"), (Fax, "none"), (BleedThrough, "none"), (Folds, "none")],
)
def test_ink_over_the_text_hides_some_of_it(kind, effect):
    assert distort(kind(severity=0.3), WHITE).label_effect == effect
    assert distort(kind(severity=0), WHITE).label_effect == "none"


def test_stamps_are_colored_and_keep_what_they_lie_on_legible_as_far_as_it_is_darker():
    half = WHITE.copy()
    half[:, 400:] = 0
    stamped = distort(Stamps(severity=1), half, 3).image
    assert (stamped[:, 400:] == 0).all()
    spread = np.ptp(stamped[:, :400].astype(int), axis=2)
    assert (spread > 60).mean() > 0.004


@pytest.mark.parametrize("seed", range(6))
def test_a_fold_moves_a_mark_by_no_more_than_it_records(seed):
    sheet = WHITE.copy()
    sheet[700:707, 600:607] = (255, 0, 0)
    for severity in LEVELS:
        folded = distort(Folds(severity=severity), sheet, seed)
        red = np.argwhere(folded.image[:, :, 0].astype(int) - folded.image[:, :, 1] > 60).mean(axis=0)[::-1]
        assert np.hypot(*(red - (folded.homography @ (603, 703, 1))[:2])) < folded.record["pixels"] + 1
        assert folded.record["folds"] in (1, 2)


def test_a_fold_wears_ink_off():
    black = np.zeros_like(WHITE)
    worn = [(folded > 128).mean() for folded in levels(Folds, black, 4)]
    assert worn == sorted(worn) and worn[-1] > 0.002


@pytest.mark.parametrize(("ways", "angles"), [("upside_down", {2}), ("sideways", {1, 3}), ("any", {1, 2, 3})])
def test_pages_can_lie_upside_down_or_sideways_only(ways, angles):
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    turned = [np.rot90(image, -quarters).tobytes() for quarters in range(4)]
    seen = {distort(QuarterTurns(severity=1, ways=ways), image, seed).image.tobytes() for seed in range(40)}
    assert seen == {turned[angle] for angle in angles}
