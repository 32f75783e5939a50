"""Output of Tesseract and its image library beside the text."""

import subprocess
import sys

import numpy as np
import pytest

from ohr.ocr import tesseract
from ohr.ocr.tesseract import Tesseract

READ = """
import cv2, numpy as np
from ohr.benchmarks.mini import Mini
from ohr.noise.image.rotation import Rotation
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
