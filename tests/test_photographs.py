"""The page on realism has the numbers that the study of photographs kept."""

import json
from pathlib import Path

import pytest

from ohr.files.images import write_image
from studies.photographs import KEPT, Source, fitted, plain, said, shares_kept, sources
from tests.noise_files.test_image_twins import PAGE

NUMBERS = json.loads(KEPT.read_text(encoding="utf-8"))
TEXT = (Path(__file__).parents[1] / "docs" / "noise" / "realism.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", [*fitted(NUMBERS), *said(NUMBERS)], ids=lambda row: " ".join(row[:3]))
def test_each_row_of_the_page_is_that_of_the_numbers(row: tuple[str, ...]) -> None:
    assert "| " + " | ".join(row) + " |" in TEXT


def test_only_names_and_numbers_are_kept() -> None:
    for by_page in NUMBERS["shares"].values():
        assert set(by_page) <= set(NUMBERS["pages"])
        shares = [share for page in by_page.values() for images in page.values() for image in images for share in image]
        assert all(0 <= share <= 1 for share in shares)


def test_words_and_passages_are_counted_without_accents() -> None:
    page = Source("a", Path(), (), (plain("Där är ett åtta ord långt stycke"), "kurz"))
    assert shares_kept(page, "Dar ar ett åtta ord") == pytest.approx([5 / 8, 5 / 7], abs=1e-4)


def test_photographs_belong_to_the_page_whose_name_they_begin_with(tmp_path: Path) -> None:
    names = ("x_1.png", "x_1_light.jpg", "x_1_dark.jpg", "x_10.png")
    block = {"category_type": "title", "order": 1, "text": "Été"}
    listing = [{"page_info": {"image_path": name}, "layout_dets": [block]} for name in names]
    (tmp_path / "demo.json").write_text(json.dumps(listing))
    for name in names[:2]:
        write_image(tmp_path / name, PAGE)
    (page,) = sources(tmp_path)
    assert (page.name, [path.name for path in page.photographs], page.blocks) == ("x_1", ["x_1_light.jpg"], ("Ete",))
