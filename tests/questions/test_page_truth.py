"""Where the ground truth of each page comes from."""

import json

import pytest
from PIL import Image

from ohr.benchmarks.mini import Mini
from ohr.contracts import Page
from ohr.errors import DataError
from ohr.questions.page_truth import survey, with_silver
from tests.benchmarks.folder.test_documents import encrypted
from tests.files.test_pdf_text import CATALOG, FONT, PAGES, page, shown, stream, written
from tests.paper import Paper, photographed, prose


@pytest.fixture
def scan(tmp_path):
    """The image of a page with 30 lines."""
    return photographed(prose("harbor", 30), tmp_path)


@pytest.fixture
def docs(tmp_path):
    return tmp_path / "docs"


def origins(surveyed, name):
    return [each.origin for each in surveyed.pages[name]]


def test_a_text_layer_that_a_program_wrote_is_ground_truth(docs):
    Paper().page(prose("harbor")).page().save(docs / "law" / "a.pdf")
    surveyed = survey(docs)
    assert origins(surveyed, "law/a") == ["text_layer", "text_layer"]
    assert surveyed.pages["law/a"][0].page.text.startswith("The harbor office of Marren keeps the tide tables")
    assert surveyed.pages["law/a"][1].page.text == ""
    assert not surveyed.wanted and not surveyed.broken and surveyed.notes == ()


def test_every_page_of_minis_pdfs_has_a_good_text_layer():
    surveyed = survey(Mini().truth.parents[1] / "pdfs" / "newspaper")
    pages = [each.origin for name in surveyed.pages for each in surveyed.pages[name]]
    assert pages == ["text_layer"] * 12


@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (lambda scan: Paper().page(picture=scan), "it has no text layer"),
        (
            lambda scan: Paper().page(prose("harbor", 30), hidden=True, picture=scan),
            "glyphs are hidden: an earlier OCR's text",
        ),
        (
            lambda scan: Paper().page(prose("harbor", 30), picture=scan, over=True),
            "glyphs are hidden: an earlier OCR's text",
        ),
        (
            lambda scan: Paper().page(["COPY No 17 of 20"], picture=scan),
            "its text layer has 5 words, and 99% of the ink is outside of them",
        ),
    ],
    ids=["scan", "invisible", "beneath", "stamped"],
)
def test_a_page_without_a_good_text_layer_is_wanted_with_the_reason(docs, scan, draw, reason):
    draw(scan).save(docs / "law" / "a.pdf")
    surveyed = survey(docs)
    assert surveyed.pages["law/a"] == []
    assert list(surveyed.wanted["law/a"]) == [0]
    assert reason in surveyed.wanted["law/a"][0]


def test_glyphs_without_unicode_are_counted(docs):
    # hexadecimal codes that the font has no character for
    content = f"{shown('The first line is known to readers')}BT /F 12 Tf 20 90 Td <0102030405> Tj ET"
    written(docs / "law" / "a.pdf", CATALOG, PAGES.format("4 0 R", 1), FONT, page(5), stream(content))
    assert survey(docs).wanted["law/a"] == {0: "5 of 39 glyphs have no Unicode"}


def test_page_images_are_wanted(docs, scan):
    (docs / "law" / "photos").mkdir(parents=True)
    Image.fromarray(scan).save(docs / "law" / "photos" / "1.png")
    assert survey(docs).wanted == {"law/photos": {0: "it is an image"}}


def test_files_that_cannot_be_read_are_said_by_name(docs):
    Paper().page(prose("harbor")).save(docs / "law" / "a.pdf")
    (docs / "law" / "empty.pdf").write_bytes(b"")
    (docs / "law" / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    (docs / "law" / "notes.docx").write_bytes(b"PK")
    encrypted(Paper().page(prose("harbor")).save(docs / "law" / "locked.pdf"))
    surveyed = survey(docs)
    assert list(surveyed.pages) == ["law/a"]
    broken, empty, locked, other = surveyed.notes
    assert broken.startswith("left out: law/broken.pdf: it is not a PDF, or damaged")
    assert empty == "left out: law/empty.pdf: the file is empty"
    assert locked.startswith("left out: law/locked.pdf: it is encrypted with a password")
    assert other.startswith("left out: 1 file that cannot be read as a PDF or an image: law/notes.docx")


def test_a_page_that_is_claimed_and_missing_is_broken(docs):
    blank = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 160] >>"
    written(docs / "law" / "a.pdf", CATALOG, PAGES.format("3 0 R 9 0 R", 2), blank)
    surveyed = survey(docs)
    assert surveyed.broken == {"law/a": {1: "it is missing or damaged"}}
    truth = with_silver(surveyed)
    assert [page.filter for page in truth.missing] == ["damaged"]


def test_a_file_in_the_place_of_a_folder_is_refused(docs):
    path = Paper().page(prose("harbor")).save(docs / "a.pdf")
    with pytest.raises(DataError, match=f"a.pdf: is a file: name its folder, {docs}"):
        survey(path)


class TestCorrections:
    @pytest.fixture
    def corrected(self, tmp_path):
        def write(name, *pages):
            path = tmp_path / "corrected" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps([{"page_idx": index, "text": text} for index, text in pages]))
            return tmp_path / "corrected"

        return write

    def test_a_corrected_page_counts_before_the_text_layer(self, docs, corrected):
        Paper().page(prose("harbor")).page(prose("ferry")).save(docs / "law" / "a.pdf")
        surveyed = survey(docs, corrected("law/a", (1, "The ferry leaves at noon.")))
        assert origins(surveyed, "law/a") == ["text_layer", "corrected"]
        assert surveyed.pages["law/a"][1].page == Page("law/a", 1, "The ferry leaves at noon.")

    @pytest.mark.parametrize("name", ["a", "documents/a"])
    def test_a_document_in_the_folder_itself_needs_no_domain(self, docs, corrected, name):
        Paper().page(prose("harbor")).save(docs / "a.pdf")
        surveyed = survey(docs, corrected(name, (0, "Noon.")))
        assert origins(surveyed, "documents/a") == ["corrected"]

    def test_names_of_a_built_set_are_known(self, docs, corrected):
        Paper().page(prose("harbor")).save(docs / "law" / "2020" / "a.pdf")
        assert origins(survey(docs, corrected("law/2020__a", (0, "Noon."))), "law/2020/a") == ["corrected"]

    def test_what_is_not_used_is_said_by_name(self, docs, corrected):
        Paper().page(prose("harbor")).save(docs / "law" / "a.pdf")
        corrected("law/a", (0, None), (4, "Noon."))
        surveyed = survey(docs, corrected("law/aa", (0, "Noon.")))
        assert origins(surveyed, "law/a") == ["text_layer"]
        assert surveyed.notes == (
            "2 corrected pages that cannot be used: law/a page 1 (text is null, not a string), "
            "law/a page 5 (the document has 1)",
            "1 corrected file of no document, not used: law/aa.json",
        )

    def test_an_absent_folder_and_a_damaged_file_are_refused(self, docs, tmp_path):
        Paper().page(prose("harbor")).save(docs / "law" / "a.pdf")
        with pytest.raises(DataError, match="corrected: no such folder of corrected pages"):
            survey(docs, tmp_path / "corrected")
        (tmp_path / "corrected" / "law").mkdir(parents=True)
        (tmp_path / "corrected" / "law" / "a.json").write_text("[")
        with pytest.raises(DataError, match=r"law/a\.json: not readable as JSON"):
            survey(docs, tmp_path / "corrected")


class TestSilver:
    @pytest.fixture
    def surveyed(self, docs, scan):
        Paper().page(prose("harbor")).page(picture=scan).page(picture=scan).save(docs / "law" / "a.pdf")
        Paper().page(picture=scan).save(docs / "law" / "scan.pdf")
        return survey(docs)

    def test_without_an_engine_wanted_pages_are_left_out_and_counted(self, surveyed):
        truth = with_silver(surveyed)
        assert [document.name for document in truth.documents] == ["law/a"]
        assert truth.engine == ""
        assert dict(truth.removed) == {"unread": 3}
        assert truth.missing[0] == ("law/a", 1, "unread", "it has no text layer, and no engine read it")
        assert truth.notes == (
            "3 pages without a good text layer, read by no engine, left out: law/a page 2 (it has no text layer), "
            "law/a page 3 (it has no text layer), law/scan page 1 (it has no text layer)",
        )

    def test_pages_that_an_engine_read_are_silver(self, surveyed):
        read = "\n".join(prose("ferry"))
        silver = {"law/a": {1: Page("law/a", 1, read), 2: Page("law/a", 2, "", "timed out")}}
        truth = with_silver(surveyed, silver, "tesseract 5.3.4")
        assert [(each.origin, each.reason) for each in truth.pages["law/a"]] == [
            ("text_layer", ""),
            ("silver", "it has no text layer"),
        ]
        assert truth.engine == "tesseract 5.3.4"
        assert dict(truth.origins) == {"text_layer": 1, "silver": 1}
        assert truth.missing[0].reason == "it has no text layer, and the engine failed: timed out"
        assert [page.index for page in truth.usable["law/a"]] == [0, 1]

    def test_an_engine_must_be_named(self, surveyed):
        with pytest.raises(DataError, match="need its name and version"):
            with_silver(surveyed, {"law/a": {1: Page("law/a", 1, "x")}})
