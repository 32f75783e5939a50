import subprocess
import sys
from time import perf_counter

import numpy as np
import pytest

from ohr.errors import PluginError
from ohr.ocr import tesseract
from ohr.ocr.faster_paddle import FasterPaddle
from ohr.ocr.rapidocr import RapidOcr, parts
from ohr.ocr.tesseract import Tesseract
from ohr.testing import odd_images

from ..conftest import typeset


def sheet(*lines):
    """Lines on a square page, which RapidOCR does not enlarge as it does a strip."""
    page = np.full((800, 800, 3), 255, dtype=np.uint8)
    for place, line in enumerate(map(typeset, lines)):
        page[140 * place : 140 * (place + 1), : line.shape[1]] = line
    return page


ENGINES = {
    "tesseract": Tesseract(),
    "rapidocr": RapidOcr(),
    "tiny": FasterPaddle(),
    "small": FasterPaddle(size="small"),
}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_a_typeset_line_is_read_and_nothing_printed(engine, capfd):
    (read,) = engine.recognise([sheet("Rent of 1250 francs is due in May")])
    assert " ".join(read.text.split()) == "Rent of 1250 francs is due in May"
    assert capfd.readouterr() == ("", "")  # the output of `--json` must stay JSON


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_words_or_lines_have_their_places_and_a_confidence_each(engine):
    (read,) = engine.recognise([sheet("Rent of 1250 francs", "is due in May")])
    assert " ".join(word.text for word in read.words) == "Rent of 1250 francs is due in May"
    assert all(0.5 < word.confidence <= 1 for word in read.words) and 0.5 < read.confidence <= 1
    (left, top, right, bottom), below = read.words[0].box, read.words[-1].box
    assert 0 <= left < right <= 800 and 0 <= top < bottom < 140 < below[1]
    (blank,) = engine.recognise([np.full((400, 400, 3), 255, dtype=np.uint8)])
    assert (blank.words, blank.confidence) == ((), None)


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_lines_are_read_from_top_to_bottom(engine):
    lines = ["First line of text", "Second line of it", "Third line at last"]
    (read,) = engine.recognise([sheet(*lines)])
    assert [line for line in read.text.split("\n") if line] == lines


def test_a_missing_language_pack_is_reported_before_any_work(tmp_path):
    with pytest.raises(PluginError, match=rf"^ocr tesseract: no language pack 'chi_sim' in {tmp_path}\. Put chi_sim"):
        Tesseract(languages=("chi_sim",), tessdata=tmp_path).check()


@pytest.mark.parametrize(
    ("engine", "reads_chinese"),
    [
        (Tesseract(), False),
        (Tesseract(languages=("eng", "chi_sim")), True),
        (RapidOcr(), True),
        (FasterPaddle(), True),
    ],
)
def test_an_engine_reads_the_languages_of_its_packs(engine, reads_chinese):
    assert [engine.reads(language) for language in ("en", "zh", "fr")] == [True, reads_chinese, False]


def test_a_strip_of_an_image_is_not_blown_up():
    began = perf_counter()
    assert RapidOcr().recognise([np.full((1, 60, 3), 255, dtype=np.uint8)])[0].error is None
    assert perf_counter() - began < 20  # it took a minute


@pytest.mark.parametrize("engine", [RapidOcr(min_confidence=1.0), FasterPaddle(min_confidence=1.0)])
def test_a_line_below_the_least_confidence_is_dropped(engine):
    assert engine.recognise([sheet("The quick brown fox")])[0].text == ""


@pytest.mark.parametrize("engine", [Tesseract(), pytest.param(RapidOcr(), marks=pytest.mark.acceptance)])
def test_an_engine_prints_nothing_about_odd_images(engine, capfd):
    engine.recognise(odd_images())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "engine", [Tesseract(batch_size=4), pytest.param(RapidOcr(batch_size=4), marks=pytest.mark.acceptance)]
)
def test_a_batch_is_read_as_its_pages_one_by_one(engine, line_image):
    images = [line_image, np.full((40, 40, 3), 255, dtype=np.uint8), typeset("A second page")]
    assert engine.recognise(images) == [engine.recognise([image])[0] for image in images]


@pytest.mark.parametrize("long", [0, 1], ids=["long", "wide"])
def test_a_very_long_or_wide_page_is_cut_in_gaps_and_nothing_is_lost(long):
    page = np.full((300, 6000, 3), 255, dtype=np.uint8)
    for start in range(100, 6000, 500):  # words of 300 pixels, with gaps of 4 between letters and of 200 between words
        for letter in range(start, start + 300, 20):
            page[100:140, letter : letter + 16] = 0
    image = page.transpose(1, 0, 2) if long == 0 else page
    found = parts(image)
    whole = np.concatenate([part for part, _ in found], axis=long)
    assert len(found) > 5 and np.array_equal(whole, image)
    cuts = [corner[1 - long] for _, corner in found[1:]]
    assert all(not 100 <= cut % 500 < 396 for cut in cuts), cuts


def test_a_page_of_a_usual_shape_is_one_part():
    assert len(parts(np.zeros((2400, 1200, 3), dtype=np.uint8))) == 1
    assert len(parts(np.zeros((1, 60, 3), dtype=np.uint8))) == 1


@pytest.mark.parametrize("engine", [RapidOcr(), FasterPaddle()], ids=["rapidocr", "faster_paddle"])
def test_each_line_of_a_long_page_is_read_at_its_place(engine):
    line = np.full((300, 460, 3), 255, dtype=np.uint8)
    drawn = typeset("Salt herring")[:, :440]
    line[20 : 20 + drawn.shape[0], : drawn.shape[1]] = drawn[:280]
    (read,) = engine.recognise([np.concatenate([line] * 7)])
    assert read.text.count("Salt herring") == 7
    tops = [word.box[1] for word in read.words]
    assert max(tops) > 1_800


# --- what Tesseract and its image library say beside the text ---------------------------------------------

READ = """
import cv2, numpy as np
from ohr.benchmarks.mini import Mini
from ohr.noise.image.warping import Rotation
from ohr.ocr import tesseract
from ohr.ocr.tesseract import Tesseract

mini = Mini(languages=("en",), dpi=200)
document = next(document for document in mini.documents() if document.name == "law/noise_bylaw")
page = cv2.resize(mini.page_image(document, 0), (1654, 2339))[:1100]
small = cv2.resize(page, (700, 465), interpolation=cv2.INTER_AREA)
turned = Rotation(severity=0.5).perturb(small, [], np.random.default_rng(0)).image
{before}
print(Tesseract().recognise([turned])[0].text)
"""
AS_IT_WAS = "from ohr.ocr import tesseract; tesseract.keep_messages = lambda: None"


def read(before=""):
    return subprocess.run(
        [sys.executable, "-c", READ.format(before=before)], capture_output=True, text=True, check=True
    )


@pytest.mark.acceptance  # two processes that load OpenCV and Tesseract
def test_what_leptonica_says_of_a_page_that_is_read_all_the_same_stays_off_the_terminal():
    loud, quiet = read(AS_IT_WAS), read()
    if "box outside rectangle" not in loud.stderr:
        pytest.skip("this build of Tesseract has nothing to say about the page")
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout
    assert "Gannetstow" in quiet.stdout


def test_what_leptonica_says_before_an_error_is_part_of_it(monkeypatch):
    Tesseract().recognise([np.full((40, 40, 3), 255, dtype=np.uint8)])

    class Failing:
        def SetImageBytes(self, *_):
            tesseract._keep(b"Error in pixCreate: pix data too large\n")
            raise RuntimeError("Failed to recognize")

    read = tesseract._read(Failing(), np.full((40, 40, 3), 255, dtype=np.uint8), 150)
    assert read.error == "Failed to recognize; Error in pixCreate: pix data too large"
    assert tesseract.messages() == ""


@pytest.mark.parametrize("shape", [(20, 40_000, 3), (40_000, 20, 3)])
def test_a_side_too_long_for_the_engine_is_an_error_of_that_page(shape):
    fine = np.full((40, 40, 3), 255, dtype=np.uint8)
    first, second = Tesseract().recognise([np.full(shape, 255, dtype=np.uint8), fine])
    assert "at most 32,767 pixels a side" in first.error
    assert second.error is None


@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 2, 3), (1, 3000, 3)])
def test_a_speck_is_an_empty_page(shape):
    assert Tesseract().recognise([np.full(shape, 255, dtype=np.uint8)])[0].text == ""
