"""Text that a reader does not see, and ink that is no text."""

import numpy as np
import pytest

from ohr.errors import DataError
from ohr.files.pdf_text import sights
from tests.paper import Paper, prose

GREY = np.full((842, 595, 3), 120, dtype=np.uint8)
GREY[:, :300] = 240


def look(path):
    (sight,) = sights(path)
    return sight


def test_text_that_a_program_wrote_is_visible(tmp_path):
    sight = look(Paper().page(["Gulls nest here."]).save(tmp_path / "a.pdf"))
    assert (sight.glyphs, sight.hidden, sight.unread) == (14, 0, 0)
    assert 0 < sight.ink < 0.01


@pytest.mark.parametrize("kind", [{"hidden": True}, {"hidden": True, "picture": GREY}, {"picture": GREY, "over": True}])
def test_text_in_the_invisible_mode_and_text_under_an_image_is_hidden(tmp_path, kind):
    sight = look(Paper().page(["Gulls nest here."], **kind).save(tmp_path / "a.pdf"))
    assert (sight.glyphs, sight.hidden) == (14, 14)


def test_text_on_an_image_is_visible(tmp_path):
    sight = look(Paper().page(["Gulls nest here."], picture=GREY).save(tmp_path / "a.pdf"))
    assert sight.hidden == 0
    assert sight.unread > 0.99


def test_a_turned_page_is_looked_at_where_its_text_is(tmp_path):
    import pypdfium2

    path = Paper().page(["Gulls nest here."]).save(tmp_path / "a.pdf")
    document = pypdfium2.PdfDocument(path)
    document[0].set_rotation(90)
    document.save(tmp_path / "turned.pdf")
    assert look(tmp_path / "turned.pdf")[:2] == (14, 0)


def test_a_blank_page_has_no_ink(tmp_path):
    assert look(Paper().page().save(tmp_path / "a.pdf")) == (0, 0, 0, 0)


def test_looking_changes_no_file(tmp_path):
    path = Paper().page(prose("ferry")).save(tmp_path / "a.pdf")
    before = path.read_bytes()
    look(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_pdf_is_reported(tmp_path):
    (tmp_path / "a.pdf").write_text("Gulls")
    with pytest.raises(DataError, match="not a PDF, or damaged"):
        list(sights(tmp_path / "a.pdf"))
