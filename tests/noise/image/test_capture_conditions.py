"""FCMBench's ten capture conditions: strengths, maps of coordinates, and what they do to a page's truth."""

from itertools import pairwise

import numpy as np
import pytest

from ohr.contracts import Image
from ohr.noise.image.capture.camera import Capture
from ohr.noise.image.capture.exposure import Defocus, Specular, UnevenIllumination
from ohr.noise.image.capture.secondary_capture import SecondaryCapture
from ohr.noise.image.capture.surroundings import ClutteredBackground, MultiDoc
from ohr.noise.image.capture.viewpoint import Cropped, OffAxis, SmallRoi
from ohr.noise.image.capture.watermark import Watermark
from ohr.noise.image.picture import joined, split
from ohr.registry import Registry

THIRDS = (1 / 3, 2 / 3, 1.0)
MOVING = (OffAxis, SmallRoi, SecondaryCapture, ClutteredBackground, Cropped, MultiDoc)
WHITE = np.full((584, 414, 3), 255, dtype=np.uint8)


def distort(noise, image, seed=0, others=()):
    return noise.perturb(image, others, np.random.default_rng(seed))


def moved(matrix, points):
    place = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    return place[:, :2] / place[:, 2:]


def corners(image):
    height, width = image.shape[:2]
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=float) - 0.5


def area(quad):
    x, y = quad[:, 0], quad[:, 1]
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.acceptance) for seed in (1, 2))])
@pytest.mark.parametrize("severity", [0.2, 0.7])
@pytest.mark.parametrize("kind", MOVING, ids=lambda kind: kind.__name__)
def test_a_mark_is_found_where_the_map_says(kind, severity, seed):
    page = np.full((1170, 827, 3), 255, dtype=np.uint8)
    page[584:596, 407:419] = (255, 0, 0)
    noisy = distort(kind(severity=severity), page, seed, [np.full_like(page, 250)] * 3)
    red = (noisy.image[:, :, 0].astype(int) - noisy.image[:, :, 1] > 90) & (noisy.image[:, :, 2] < 110)
    found = np.argwhere(red).mean(axis=0)[::-1]
    assert found == pytest.approx(moved(noisy.homography, np.array([[412.5, 589.5]]))[0], abs=1.0)


@pytest.mark.parametrize("kind", [UnevenIllumination, Specular, Defocus, Watermark], ids=lambda kind: kind.__name__)
def test_light_blur_and_ink_move_nothing(kind, page):
    noisy = distort(kind(severity=1.0), page)
    assert noisy.homography is None
    assert noisy.image.shape == page.shape


@pytest.mark.parametrize(
    ("kind", "severity", "effect"),
    [
        (OffAxis, 1.0, "none"),
        (Watermark, 1.0, "none"),
        (SmallRoi, 1.0, "none"),
        (Specular, 0.3, "occluded"),
        (ClutteredBackground, 0.3, "none"),
        (ClutteredBackground, 0.7, "occluded"),
        (Cropped, 0.3, "cropped"),
        (MultiDoc, 0.3, "joined"),
    ],
)
def test_each_says_what_it_does_to_the_truth(kind, severity, effect):
    assert distort(kind(severity=severity), WHITE).label_effect == effect


@pytest.mark.parametrize(("severity", "further"), [(0, 0), (1 / 3, 1), (2 / 3, 2), (1, 4)])
def test_a_picture_of_several_sheets_says_how_many_it_takes_from_the_documents_other_pages(severity, further):
    looked_at: list[int] = []

    class Watched(list):
        def __getitem__(self, place):
            looked_at.append(place)
            return super().__getitem__(place)

    noise = MultiDoc(severity=severity, camera=0)
    distort(noise, WHITE, others=Watched([WHITE] * 9))
    assert noise.joined == further
    assert looked_at == list(range(further))
    assert Cropped(severity=1).joined == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_small_region_has_its_share_of_the_frame(seed):
    maps = [distort(SmallRoi(severity=severity), WHITE, seed).homography for severity in THIRDS]
    shares = [area(moved(found, corners(WHITE))) / WHITE[:, :, 0].size for found in maps]
    assert shares == pytest.approx([0.20, 0.12, 0.06], rel=0.01)


@pytest.mark.parametrize("seed", range(6))
def test_a_crop_takes_its_share_of_the_page(seed):
    left = [distort(Cropped(severity=severity), WHITE, seed).image.size / WHITE.size for severity in THIRDS]
    assert left == pytest.approx([0.90, 0.80, 0.65], abs=0.005)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("severity", [0.1, *THIRDS])
def test_a_page_seen_from_the_side_stays_in_the_frame(severity, seed):
    noisy = distort(OffAxis(severity=severity), WHITE, seed)
    quad = moved(noisy.homography, corners(WHITE))
    assert quad.min() >= -0.51
    assert (quad.max(axis=0) <= (WHITE.shape[1], WHITE.shape[0])).all()


def test_a_page_seen_from_the_side_leans_one_way_at_each_severity():
    low, high = (distort(OffAxis(severity=s), WHITE, 4).homography for s in (0.2, 0.9))
    assert np.sign(low[0, 1]) == np.sign(high[0, 1])
    assert np.sign(low[2, :2]).tolist() == np.sign(high[2, :2]).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_reflections_burn_out_their_share_of_the_page(seed):
    grey = np.full((800, 600, 3), 200, dtype=np.uint8)
    burnt = [(distort(Specular(severity=s), grey, seed).image.min(axis=2) >= 250).mean() for s in THIRDS]
    assert burnt == pytest.approx([0.03, 0.08, 0.15], abs=0.02)
    assert burnt == sorted(burnt)


@pytest.mark.parametrize("seed", range(4))
def test_the_deepest_shadow_leaves_its_share_of_the_light(seed):
    for severity, left in zip(THIRDS, (0.7, 0.5, 0.3), strict=True):
        image = distort(UnevenIllumination(severity=severity), WHITE, seed).image.astype(float)
        # the camera's exposure takes up to 12 + 18% more
        assert 0.6 * left < image[:, :, 1].min() / 255 < left + 0.02
        assert image[:, :, 1].max() / 255 > 0.65


def test_defocus_spreads_a_point_over_a_disc():
    point = np.zeros((1000, 700, 3), dtype=np.uint8)
    point[500:503, 350:353] = 255
    for severity, radius in zip(THIRDS, (1, 2, 4), strict=True):
        spread = distort(Defocus(severity=severity, camera=0), point).image[:, :, 0].astype(float)
        inside = spread > spread.max() / 2
        assert np.sqrt(inside.sum() / np.pi) == pytest.approx(radius, rel=0.35, abs=1.0)
        assert 0.4 * 9 * 255 < spread.sum() < 1.05 * 9 * 255  # the camera's exposure takes some


def test_a_watermark_is_as_opaque_as_it_says():
    for severity, opacity in zip(THIRDS, (0.15, 0.30, 0.45), strict=True):
        darkest = min(distort(Watermark(severity=severity, camera=0), WHITE, seed).image.min() for seed in range(8))
        assert (255 - darkest) / (255 - 40) == pytest.approx(opacity, abs=0.02)


def test_a_watermark_is_at_one_place_at_each_severity():
    low, high = (
        distort(Watermark(severity=severity, camera=0), WHITE, 1).image.min(axis=2) < 255 for severity in (0.3, 1.0)
    )
    assert 0.01 < low.mean() < 0.5
    assert (high | ~low).all()


@pytest.mark.parametrize(("severity", "number"), [(0.3, 2), (0.5, 3), (1.0, 5)])
def test_several_pages_lie_in_one_picture_apart_from_each_other(severity, number):
    tones = [np.full((1170, 827, 3), tone, dtype=np.uint8) for tone in ((255, 0, 0), (0, 255, 0), (0, 0, 255))]
    tones += [np.full((1170, 827, 3), tone, dtype=np.uint8) for tone in ((255, 255, 0), (255, 0, 255))]
    noisy = distort(MultiDoc(severity=severity), tones[0], 3, tones[1:])
    counts = []
    for sheet in tones:
        color = sheet[0, 0].astype(bool)
        counts.append(((noisy.image > 110) == color).all(axis=2).sum())
    seen = [count for count in counts[:number] if count > 0.05 * noisy.image[:, :, 0].size]
    assert len(seen) == number
    assert noisy.image[:, :, 0].size == pytest.approx(1170 * 827, rel=0.01)
    assert max(seen) < 1.1 * min(seen)  # none covers another


def test_a_lone_page_gets_sheets_of_unrelated_words_beside_it(page):
    assert (distort(MultiDoc(severity=0.3), page).image < 90).mean() > 0.001


def test_moire_is_colored_and_grows_with_the_severity():
    colors = [distort(SecondaryCapture(severity=s), WHITE, 2).image[80:-80, 80:-80].astype(int) for s in THIRDS]
    spreads = [(image - image.mean(axis=2, keepdims=True)).std() for image in colors]
    assert all(low < high for low, high in pairwise(spreads))


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
        odd = kind(severity=severity).perturb(image, (), np.random.default_rng(0)).image
        assert odd.dtype == np.uint8 and odd.ndim == 3 and odd.size
