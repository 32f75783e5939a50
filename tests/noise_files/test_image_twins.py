"""Pairs of images, and where a page is in its noisy image."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files.images import write_image
from ohr.noise_files.image_features import features
from ohr.noise_files.image_synthesis import noise_of
from ohr.noise_files.image_twins import CleanPage, pair, registered, shown_elsewhere


def sheet(number: int = 0, height: int = 660, width: int = 510) -> Image:
    """Return a page of drawn words, other ones for each number."""
    rng, page = np.random.default_rng(number), np.full((height, width, 3), 255, dtype=np.uint8)
    for y in range(40, height - 20, 22):
        words = " ".join("".join(rng.choice(list("abcdefghikmnorstuw"), rng.integers(2, 9))) for _ in range(6))
        cv2.putText(page, words, (30, y), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (20,) * 3, 1, cv2.LINE_AA)
    return page


PAGE = sheet()
CLEAN = CleanPage(PAGE)


def folders(root: Path, clean: dict[str, Image], noisy: dict[str, Image]) -> tuple[Path, Path]:
    """Write images into two folders."""
    for folder, images in (("clean", clean), ("noisy", noisy)):
        (root / folder).mkdir()
        for name, image in images.items():
            write_image(root / folder / name, image)
    return root / "clean", root / "noisy"


@pytest.mark.parametrize(
    ("clean", "noisy", "message"),
    [
        (["a.png", "b.png", "c.png"], ["a.png", "b.png", "c.png"], "share 3 pages: give 4 or more"),
        (["a.png", "b.png", "x.png"], ["a.png", "b.png", "y.png"], "without a twin: x, y"),
        (["a.png", "a.bmp"], ["a.png"], "two images are named a"),
        ([], ["a.png"], "share 0 pages"),
    ],
)
def test_folders_that_are_no_twins_are_refused(
    tmp_path: Path, clean: list[str], noisy: list[str], message: str
) -> None:
    blank = np.full((8, 8, 3), 255, dtype=np.uint8)
    paths = folders(tmp_path, dict.fromkeys(clean, blank), dict.fromkeys(noisy, blank))
    with pytest.raises(DataError, match=message):
        pair(*paths)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="absent: no such folder"):
        pair(tmp_path / "absent", tmp_path)


def test_an_image_that_is_too_small_for_a_page_is_refused(tmp_path: Path) -> None:
    tiny = {f"{name}.png": np.full((3, 700, 3), 255, dtype=np.uint8) for name in "abcd"}
    (twin, *_), _ = pair(*folders(tmp_path, tiny, tiny))
    with pytest.raises(DataError, match=r"a.png: 700 x 3 pixels are too few for a page"):
        twin.images()


def test_twins_may_have_other_suffixes_and_some_may_lack_one(tmp_path: Path) -> None:
    blank = np.full((8, 8, 3), 255, dtype=np.uint8)
    clean = {f"{name}.png": blank for name in "abcde"}
    twins, alone = pair(*folders(tmp_path, clean, {f"{name}.jpg": blank for name in "abcd"}))
    assert ([twin.name for twin in twins], alone) == (["a", "b", "c", "d"], ["e"])


@pytest.mark.parametrize("degrees", [0, 7, 90, 180])
def test_a_page_is_found_where_it_was_moved_to(degrees: float) -> None:
    matrix = cv2.getRotationMatrix2D((255, 330), degrees, 0.8)
    moved = cv2.warpAffine(PAGE, matrix, (520, 700), borderValue=(255,) * 3)
    homography, share = registered(CLEAN, cv2.cvtColor(moved, cv2.COLOR_RGB2GRAY))
    assert homography is not None and share > 0.5
    corners = np.array([[0, 0, 1], [509, 0, 1], [509, 659, 1]]).T
    there = homography @ corners
    np.testing.assert_allclose(there[:2] / there[2], matrix @ corners, atol=1.5)


@pytest.mark.parametrize("other", [PAGE[:, ::-1], sheet(1), np.full_like(PAGE, 255)])
def test_a_mirrored_or_other_page_is_not_found(other: Image) -> None:
    grey = cv2.cvtColor(np.ascontiguousarray(other), cv2.COLOR_RGB2GRAY)
    assert registered(CLEAN, grey) == (None, 0.0)


def test_another_page_is_named() -> None:
    clean = [CleanPage(sheet(number)) for number in range(3)]
    assert shown_elsewhere(clean, sheet(2), 0) == 2
    assert shown_elsewhere(clean, sheet(4), 0) is None


@pytest.mark.parametrize(
    ("kind", "feature"),
    [
        ("salt_and_pepper", "dark_dots"),
        ("rollers", "lines"),
        ("stamps", "added_cells"),
        ("bleed_through", "added_faint"),
        ("quarter_turns", "turned"),
        ("jpeg", "grain"),
        ("off_axis", "around"),
        ("folds", "bend"),
        ("cropped", "cut_off"),
        ("background", "light_texture"),
        ("shadows", "light_slope"),
    ],
)
def test_noise_raises_the_feature_that_shows_it(kind: str, feature: str) -> None:
    before = features(CLEAN, PAGE)
    noise = noise_of(kind, 1.0 if kind == "quarter_turns" else 0.8)
    after = features(CLEAN, noise.treat(PAGE, [], np.random.default_rng(1)).image)
    assert after[feature] > before[feature] + 0.05


@pytest.mark.parametrize("kind", ["low_dpi", "psf_blur", "defocus"])
def test_blur_lowers_the_finest_detail(kind: str) -> None:
    blurred = noise_of(kind, 0.8).treat(PAGE, [], np.random.default_rng(1)).image
    assert features(CLEAN, blurred)["detail_0"] < -0.2


def test_a_rotation_is_measured_in_degrees() -> None:
    noise = noise_of("rotation", 1.0).treat(PAGE, [], np.random.default_rng(2))
    assert noise.homography is not None
    degrees = abs(np.degrees(np.arctan2(noise.homography[1, 0], noise.homography[0, 0])))
    assert features(CLEAN, noise.image)["skew"] == pytest.approx(degrees, abs=0.1)


@pytest.mark.parametrize("shape", [(40, 40), (33, 900)])
def test_any_size_of_a_noisy_image_has_finite_features(shape: tuple[int, int]) -> None:
    for value in (0, 255):
        found = features(CLEAN, np.full((*shape, 3), value, dtype=np.uint8))
        assert np.isfinite(list(found.values())).all()


@pytest.mark.parametrize("shape", [(64, 64), (64, 3000)])
def test_any_size_of_a_clean_image_has_finite_features(shape: tuple[int, int]) -> None:
    image = np.full((*shape, 3), 200, dtype=np.uint8)
    assert np.isfinite(list(features(CleanPage(image), PAGE).values())).all()
