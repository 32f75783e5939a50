"""Noisy images against ohr's own noise, from folder to report."""

from pathlib import Path

import numpy as np
import pytest

from ohr.contracts import Image
from ohr.engine.progress import Quiet
from ohr.errors import DataError
from ohr.noise_files.image_synthesis import image_kinds, noise_of
from ohr.noise_files.validate_images import ImageReport, KindRow, evenly, validate_images
from tests.noise_files.test_image_twins import folders, sheet

PAGES = {f"{number}.png": sheet(number, 280, 220) for number in range(5)}


def validate(root: Path, noisy: dict[str, Image]) -> ImageReport:
    """Validate noisy images of the pages."""
    clean_folder, noisy_folder = folders(root, PAGES, noisy)
    return validate_images(clean_folder, noisy_folder, progress=Quiet(), kinds=["salt_and_pepper"], processes=1)


@pytest.mark.acceptance
def test_kind_and_severity_of_our_own_noise_are_recovered(tmp_path: Path) -> None:
    noise = noise_of("salt_and_pepper", 0.55)
    noisy = {
        name: noise.treat(page, [], np.random.default_rng(seed)).image
        for seed, (name, page) in enumerate(PAGES.items())
    }
    report = validate(tmp_path, noisy)
    assert report.match == report.rows[0].kind == "salt_and_pepper"
    assert report.rows[0].severity == pytest.approx(0.55, abs=0.05)
    heads, rows = report.table()
    assert len(heads) == len(rows[0]) and rows[0][5] == "matched"


@pytest.mark.acceptance
def test_a_color_filter_is_not_matched(tmp_path: Path) -> None:
    filtered = {name: np.array(page * (1.0, 0.8, 0.5), dtype=np.uint8) for name, page in PAGES.items()}
    report = validate(tmp_path, filtered)
    assert report.match is None
    assert [row.verdict for row in report.rows] == ["not matched"]


def test_equal_images_have_no_noise(tmp_path: Path) -> None:
    report = validate(tmp_path, PAGES)
    assert (report.match, report.rows[0].severity) == ("none", 0.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"0.png": PAGES["1.png"], "1.png": PAGES["0.png"]}, "0.png: shows the page of .*1.png, not of .*0.png"),
        ({"2.png": np.full((3, 3, 3), 255, dtype=np.uint8)}, "2.png: 3 x 3 pixels are too few"),
    ],
)
def test_images_of_other_pages_are_refused(tmp_path: Path, changed: dict[str, Image], message: str) -> None:
    with pytest.raises(DataError, match=message):
        validate(tmp_path, {**PAGES, **changed})


def test_a_file_that_is_no_image_is_named(tmp_path: Path) -> None:
    clean, noisy = folders(tmp_path, PAGES, PAGES)
    (noisy / "3.png").write_text("no image")
    with pytest.raises(DataError, match=r"3.png: cannot be read as an image"):
        validate_images(clean, noisy, progress=Quiet(), processes=1)


def test_only_kinds_with_a_severity_are_tried() -> None:
    kinds = image_kinds()
    assert {"fax", "off_axis", "warping"} <= set(kinds)
    assert "augraphy" not in kinds  # its effects have parameters of their own


def test_a_kind_that_is_far_has_no_numbers() -> None:
    _, rows = ImageReport(None, 4, (), (), (KindRow("fax", "far"),)).table()
    assert rows == [("fax", "", "", "", "", "far", "")]


@pytest.mark.parametrize(("count", "most", "places"), [(3, 5, [0, 1, 2]), (9, 3, [0, 4, 8]), (4, 4, [0, 1, 2, 3])])
def test_pages_are_spread_evenly(count: int, most: int, places: list[int]) -> None:
    assert evenly(count, most) == places
