"""The camera that ends each capture condition: as sharp, noisy and grey as photographs are, and coupled."""

from itertools import pairwise

import numpy as np
import pytest

from ohr.contracts import Image
from ohr.noise.image.capture.camera import Capture
from ohr.noise.image.capture.viewpoint import Cropped, OffAxis
from ohr.noise.image.capture.watermark import Watermark
from ohr.noise.image.picture import joined, split
from ohr.registry import Registry

REGISTRY = Registry()
CAPTURES = [
    kind for name in REGISTRY.names("image_noise") if issubclass(kind := REGISTRY.load("image_noise", name), Capture)
]


class Photograph(Capture):
    """Nothing but the camera."""

    kind: str = "photograph"

    def distort(self, image, others, rng):
        from ohr.contracts import NoisyImage

        return NoisyImage(self.photographed(self.printed(image), rng))


def taken(image, camera=1.0, severity=1.0, seed=0):
    return Photograph(severity=severity, camera=camera).perturb(image, (), np.random.default_rng(seed)).image


def halves(height=2339, width=400, dark=0, light=255) -> Image:
    """A page dark on its left half and light on its right one."""
    page = np.full((height, width, 3), light, dtype=np.uint8)
    page[:, : width // 2] = dark
    return page


def rise(profile):
    """Pixels from 10% to 90% of an edge."""
    low, high = profile[:40].mean(), profile[-40:].mean()
    share = (profile - low) / (high - low)
    return np.interp(0.9, share[190:212], np.arange(22)) - np.interp(0.1, share[190:212], np.arange(22))


def test_all_ten_capture_conditions_end_in_the_camera():
    assert len(CAPTURES) == 10


def test_an_edge_is_as_wide_as_on_the_median_photograph_and_has_its_halo():
    profiles = [taken(halves(), seed=seed)[:, :, 1].mean(axis=0) for seed in range(8)]
    assert np.median([rise(profile) for profile in profiles]) == pytest.approx(1.5, abs=0.3)
    light = halves(dark=60, light=200)
    profile = np.mean([taken(light, seed=seed)[:, :, 1].mean(axis=0) for seed in range(8)], axis=0)
    assert (profile.max() - profile[-40:].mean()) / (200 - 60) == pytest.approx(0.05, abs=0.03)


def test_flat_paper_has_the_grain_of_the_median_photograph():
    paper = np.full((600, 600, 3), 180, dtype=np.uint8)
    spreads = [taken(paper, seed=seed)[:, :, 1].std() for seed in range(8)]
    assert np.median(spreads) == pytest.approx(1.3, abs=0.3)
    shots = [taken(paper, seed=seed) for seed in (0, 1)]
    assert (shots[0] != shots[1]).mean() > 0.3


def test_ink_is_grey():
    assert taken(halves())[:, :150].mean() == pytest.approx(0.13 * 255, abs=3)


@pytest.mark.parametrize("knob", ["camera", "severity"])
def test_the_camera_takes_more_the_stronger_it_is(knob, page):
    levels = (0, 0.05, 0.1, 0.2, 0.33) if knob == "severity" else (0, 0.25, 0.5, 1, 2)
    off = [np.abs(taken(page, **{knob: level}).astype(int) - page).mean() for level in levels]
    assert off[0] == 0
    assert all(low < high for low, high in pairwise(off))


def test_the_camera_is_whole_from_a_third_of_the_severity(page):
    assert (taken(page, severity=1 / 3) == taken(page, severity=1.0)).all()


def test_without_a_camera_only_the_condition_is_left():
    white = np.full((600, 400, 3), 255, dtype=np.uint8)
    assert (Watermark(severity=1.0, camera=0).perturb(white, (), np.random.default_rng(0)).image == 255).mean() > 0.5
    assert len(np.unique(Cropped(severity=0.01, camera=0).perturb(white, (), np.random.default_rng(0)).image)) < 9


def test_without_a_camera_color_keeps_its_resolution():
    stripes = np.full((600, 400, 3), 255, dtype=np.uint8)
    stripes[:, ::2] = (255, 0, 0)
    with_and_without = [
        Cropped(severity=0.5, camera=camera).perturb(stripes, (), np.random.default_rng(0)).image[50:-50, 50:-50]
        for camera in (0, 0.1)
    ]
    kept, lost = (np.abs(np.diff(image[:, :, 0].astype(int) - image[:, :, 1])).mean() for image in with_and_without)
    assert kept > 150
    assert lost < 20


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (3, 2), (129, 40), (256, 257), (700, 501)])
def test_light_and_color_are_put_together_as_they_were_parted(shape):
    import cv2

    down, across = np.indices(shape) / 700
    image = np.stack([255 * down, 255 * across, 200 - 100 * down], axis=-1).astype(np.uint8)
    picture = split(image, whole=False)
    differences = cv2.cvtColor(picture.planes[1], cv2.COLOR_RGB2YCrCb)
    again = joined(picture.frame, (differences[:, :, 1].copy(), differences[:, :, 2].copy()))
    assert np.abs(again.astype(int) - image).max() <= 3


def test_the_camera_changes_no_draw_of_the_condition():
    white = np.full((600, 400, 3), 255, dtype=np.uint8)
    maps = [
        OffAxis(severity=0.7, camera=camera).perturb(white, (), np.random.default_rng(3)).homography
        for camera in (0, 1)
    ]
    assert (maps[0] == maps[1]).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 3000), (2, 2), (33_000, 2), (3, 900)])
@pytest.mark.parametrize("kind", CAPTURES, ids=lambda kind: kind.__name__)
def test_no_shape_is_too_odd(kind, shape):
    image = np.full((*shape, 3), 200, dtype=np.uint8)
    for severity in (0.1, 1.0):
        made = kind(severity=severity).perturb(image, (), np.random.default_rng(0)).image
        assert made.dtype == np.uint8
        assert made.ndim == 3
        assert made.size
