"""Text layers of PDFs: fields, missing pages, glyphs without Unicode, scripts from right to left, hidden text."""

import numpy as np
import pypdfium2
import pytest

from ohr.contracts import Document, DocumentView
from ohr.errors import DataError
from ohr.files import pdf
from ohr.files.pdf_signs import character
from ohr.files.pdf_text import Layer, flattened, missing_pages, sights, text_layer
from ohr.ocr.structured import MISSING, of_view
from ohr.ocr.text_layer import TextLayer
from ohr.text.layer import clean_layer
from tests.paper import Paper, prose

CATALOG = "<< /Type /Catalog /Pages 2 0 R >>"
PAGES = "<< /Type /Pages /Kids [{}] /Count {} >>"
ONE_PAGE = PAGES.format("4 0 R", 1)
FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def written(path, *objects):
    """Write a PDF by hand: objects numbered from 1; None is one that is missing."""
    body, table = b"%PDF-1.7\n", "0000000000 65535 f \n"
    for number, content in enumerate(objects, start=1):
        table += f"{len(body):010} 00000 n \n" if content else "0000000000 00000 f \n"
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1") if content else b""
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body + f"xref\n0 {len(objects) + 1}\n{table}{end}".encode())
    return path


def stream(content, about=""):
    return f"<< {about} /Length {len(content)} >>\nstream\n{content}\nendstream"


def page(content, more=""):
    held = f"/MediaBox [0 0 420 160] /Contents {content} 0 R /Resources << /Font << /F 3 0 R >> >>"
    return f"<< /Type /Page /Parent 2 0 R {held} {more} >>"


def shown(text, at="20 110"):
    return f"BT /F 14 Tf {at} Td ({text}) Tj ET\n"


@pytest.fixture
def log(tmp_path):
    """Three pages, of which the second is claimed and is not there."""
    return written(
        tmp_path / "log.pdf",
        CATALOG, PAGES.format("4 0 R 5 0 R 6 0 R", 3), FONT,
        page(7), None, page(8), stream(shown("Gulls nest here.")), stream(shown("Kelp grows there.")),
    )  # fmt: skip


@pytest.fixture
def form(tmp_path):
    def field(box, value):
        about = f"/Type /Annot /Subtype /Widget /FT /Tx /T ({value}) /V ({value}) /F 4 /DA (/F 14 Tf 0 g)"
        return f"<< {about} /Rect [{box}] >>"

    note = (
        "<< /Type /Annot /Subtype /FreeText /F 4 /DA (/F 12 Tf 0 g) /Rect [250 130 400 150] /Contents (Seen in May) >>"
    )
    drawn = shown("Name:") + shown("Age:", "20 70") + shown("years", "220 70") + shown("Yes, insured", "60 30")
    fields = "/NeedAppearances true /Fields [6 0 R 7 0 R 8 0 R] /DR << /Font << /F 3 0 R >> >> /DA (/F 14 Tf 0 g)"
    return written(
        tmp_path / "form.pdf",
        f"<< /Type /Catalog /Pages 2 0 R /AcroForm << {fields} >> >>", ONE_PAGE,
        FONT, page(5, "/Annots [8 0 R 7 0 R 6 0 R 9 0 R]"), stream(drawn),
        field("80 105 200 125", "Ottoline"), field("80 65 200 85", "41"), field("30 27 50 45", "X"), note,
    )  # fmt: skip


def read(path, pages, engine="pdfium"):
    view = DocumentView(Document("d/x", "d", "en", pages), [np.zeros((1, 1, 3), np.uint8)] * pages, path)
    return TextLayer(engine=engine).recognise_document(view)


def test_a_page_that_is_missing_fails_alone_and_the_others_keep_their_numbers(log):
    first, second, third = text_layer(log)
    assert (first.text, second.text, third.text) == ("Gulls nest here.", "", "Kelp grows there.")
    assert "page 2 of 3 cannot be read" in second.error
    assert missing_pages(log) == {1}
    assert list(pdf.faults(log, 100)) == [f"{log}: page 2 of 3 is missing or damaged"]


@pytest.mark.parametrize("engine", ["pdfium", "pdfplumber", "liteparse"])
def test_each_engine_of_text_layers_keeps_the_numbers_of_pages(log, engine):
    pytest.importorskip({"pdfium": "pypdfium2"}.get(engine, engine))
    first, second, third = read(log, 3, engine)
    assert second == MISSING
    assert (first.text.strip(), third.text.strip()) == ("Gulls nest here.", "Kelp grows there.")


def test_a_program_that_reads_the_original_gets_a_blank_page_for_a_missing_one(log):
    from ohr.contracts import Recognition

    seen = []

    def engine(path, pages):
        seen.append(pypdfium2.PdfDocument(path)[2].get_textpage().get_text_bounded())
        return [Recognition(str(number)) for number in range(pages)]

    found = of_view(DocumentView(Document("d/log", "d", "en", 3), range(3), log), engine)
    assert [page.text for page in found] == ["0", "", "2"]
    assert (found[1], seen) == (MISSING, ["Kelp grows there."])


def test_what_is_typed_into_fields_is_read_where_a_reader_sees_it(form):
    (layer,) = text_layer(form)
    assert layer.text.splitlines() == ["Seen in May", "Name: Ottoline", "Age: 41 years", "X Yes, insured"]


def test_what_is_typed_into_fields_is_on_the_page_image(form):
    image = pdf.render(form, 0, 72)
    assert (image[160 - 120 : 160 - 108, 82:140] < 128).any()
    assert pdf.peculiarities(form) == ["fields"]


@pytest.mark.parametrize("engine", ["pdfium", "pdfplumber", "liteparse"])
def test_each_engine_of_text_layers_reads_fields(form, engine):
    pytest.importorskip({"pdfium": "pypdfium2"}.get(engine, engine))
    (found,) = read(form, 1, engine)
    assert all(word in found.text for word in ("Ottoline", "41", "Seen in May"))


def test_a_file_without_fields_is_handed_on_as_it_is(tmp_path, log):
    plain = written(
        tmp_path / "plain.pdf", CATALOG, ONE_PAGE, FONT,
        page(5), stream(shown("Salt")),
    )  # fmt: skip
    (tmp_path / "out").mkdir()
    assert flattened(plain, tmp_path / "out") == plain
    assert flattened(log, tmp_path / "out") == tmp_path / "out" / "log.pdf"
    assert pdf.peculiarities(plain) == []


SENTENCES = (
    "The terns return in April and the colony settles on the northern shore before the gulls nest there in May; "
    "by the end of July the young birds leave."
)


def type_3(path, codes):
    """Write a page in a font of Type 3, whose glyphs have names that say nothing."""
    names = " ".join(f"{code} /a{code}" for code in sorted(set(codes)))
    shapes = " ".join(f"/a{code} 6 0 R" for code in sorted(set(codes)))
    font = (
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 700 700] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 1 "
        f"/LastChar 127 /Widths [{'700 ' * 127}] /Encoding << /Differences [{names}] >> /CharProcs << {shapes} >> >>"
    )
    glyph = stream("700 0 0 0 600 700 d1 0 0 500 600 re f")
    return written(
        path, CATALOG, ONE_PAGE, font,
        page(5), stream(f"BT /F 2 Tf 20 60 Td <{codes.hex()}> Tj ET"), glyph,
    )  # fmt: skip


def test_glyphs_without_unicode_are_counted(tmp_path):
    in_order_of_use = bytes(sorted(set(SENTENCES)).index(character) + 33 for character in SENTENCES)
    (layer,) = text_layer(type_3(tmp_path / "numbered.pdf", in_order_of_use))
    assert (layer.unknown, layer.glyphs) == (len(SENTENCES), len(SENTENCES))


def test_glyphs_whose_text_reads_all_the_same_are_not_unknown(tmp_path):
    (layer,) = text_layer(type_3(tmp_path / "read.pdf", SENTENCES.encode()))
    assert (layer.text, layer.unknown) == (SENTENCES, 0)


def to_unicode(pairs):
    listed = "\n".join(f"<{code:02X}> <{''.join(f'{ord(sign):04X}' for sign in text)}>" for code, text in pairs.items())
    return stream(
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <FF> endcodespacerange\n{len(pairs)} beginbfchar\n{listed}\n"
        "endbfchar endcmap end end"
    )


def arabic(path, pairs, codes):
    font = f"{FONT[:-2]} /ToUnicode 6 0 R >>"
    return written(
        path, CATALOG, ONE_PAGE, font,
        page(5), stream(shown(codes)), to_unicode(pairs),
    )  # fmt: skip


@pytest.mark.parametrize("ligature", ["لا", "\ufefb", "لله"])
def test_letters_of_one_glyph_keep_their_order_from_right_to_left(tmp_path, ligature):
    path = arabic(tmp_path / "k.pdf", {65: "س", 66: ligature, 67: "م"}, "CBA")  # drawn from the left
    (layer,) = text_layer(path)
    assert layer.text == f"س{'لا' if ligature == chr(0xFEFB) else ligature}م"


def test_letters_of_a_latin_ligature_stay_in_order(tmp_path):
    (layer,) = text_layer(arabic(tmp_path / "f.pdf", {65: "o", 66: "ffi", 67: "ce"}, "ABC"))
    assert layer.text == "office"


def drawn(path, *pieces, font=FONT, size=10, more=(), box="0 0 420 400", crop=""):
    """Write a page of pieces of text: (across, up, text) each, as a text object of its own."""
    content = "".join(f"BT /F {size} Tf 1 0 0 1 {across} {up} Tm {text} Tj ET\n" for across, up, text in pieces)
    held = f"/MediaBox [{box}] {crop} /Contents 5 0 R /Resources << /Font << /F 3 0 R >> >>"
    return written(
        path, CATALOG, ONE_PAGE, font,
        f"<< /Type /Page /Parent 2 0 R {held} >>", stream(content), *more,
    )  # fmt: skip


def test_the_cells_of_a_row_are_parted(tmp_path):
    rows = [("Item", "n"), ("Kelp 2019", "7"), ("Gulls 2020", "4"), ("Boats 2021", "8")]
    cells = [(60 + 140 * m, 350 - 14 * n, f"({text})") for n, row in enumerate(rows) for m, text in enumerate(row)]
    (layer,) = text_layer(drawn(tmp_path / "rows.pdf", *cells))
    assert layer.text.split() == ["Item", "n", "Kelp", "2019", "7", "Gulls", "2020", "4", "Boats", "2021", "8"]


@pytest.mark.parametrize(
    "rows",
    [
        [("Yes", "1"), ("No", "2"), ("Yes", "3"), ("No", "4")],
        [("1", "a", "5"), ("2", "b", "6"), ("3", "c", "7")],
        [("Item", "A", "B"), ("x", "7", "3"), ("y", "8", "5")],
    ],
)
@pytest.mark.parametrize("pitch", [11.5, 14, 22])
def test_cells_of_one_sign_that_are_drawn_by_column_are_parted(tmp_path, rows, pitch):
    places = [(m, n) for m in range(len(rows[0])) for n in range(len(rows))]
    by_column = [(60 + 40 * m, 350 - pitch * n, f"({rows[n][m]})") for m, n in places]
    (layer,) = text_layer(drawn(tmp_path / "rows.pdf", *by_column))
    assert layer.text.split() == [rows[n][m] for m, n in places]


def test_accents_below_a_letter_or_each_other_stay_at_it(tmp_path):
    pieces = [(60, 300, "(A)"), (60, 286, "(B)"), (60, 272, "(C)")]
    font, names = f"{FONT[:-2]} /ToUnicode 6 0 R >>", {65: "\u0e81", 66: "\u0eb9", 67: "\u0eb8"}
    (layer,) = text_layer(drawn(tmp_path / "lao.pdf", *pieces, font=font, more=[to_unicode(names)]))
    assert layer.text == "\u0e81\u0eb9\u0eb8"


def test_letters_of_a_line_that_is_turned_stay_in_one_word(tmp_path):
    path = drawn(tmp_path / "turned.pdf", (60, 300, "0 -1 1 0 60 300 Tm (Tide) Tj"))
    (layer,) = text_layer(path)
    assert layer.text == "Tide"


@pytest.mark.parametrize("shift", [-2, 3])
def test_a_lowered_sign_below_a_raised_one_stays_on_its_line(tmp_path, shift):
    word = f"(x) Tj /F 7 Tf 4 Ts (2) Tj 5 0 Td {shift} Ts (i)"
    (layer,) = text_layer(drawn(tmp_path / "script.pdf", (60, 300, word)))
    assert "2i" in layer.text


def test_columns_that_begin_at_one_height_are_parted(tmp_path):
    turned = "BT /F 10 Tf 0 1 -1 0 {} 60 Tm ({}) Tj ET"
    content = "\n".join(turned.format(60 + 12 * n, word) for n, word in enumerate(("Kelp grows", "Gulls nest", "Tide")))
    path = written(
        tmp_path / "turned.pdf", CATALOG, ONE_PAGE, FONT,
        page(5), stream(content),
    )  # fmt: skip
    (layer,) = text_layer(path)
    assert sorted(layer.text.split()) == ["Gulls", "Kelp", "Tide", "grows", "nest"]


def test_a_comma_behind_a_raised_sign_stays_at_its_word(tmp_path):
    word = "(Ottoline) Tj 7 Ts /F 7 Tf (1) Tj 0 Ts /F 10 Tf (, Mabel)"
    (layer,) = text_layer(drawn(tmp_path / "raised.pdf", (60, 300, word)))
    assert layer.text.replace("\n", "") == "Ottoline1, Mabel"


def test_what_is_outside_of_the_visible_page_is_not_read(tmp_path):
    inside, outside = (60, 300, "(Kelp)"), (60, 40, "(Gulls)")
    path = drawn(tmp_path / "cropped.pdf", inside, outside, crop="/CropBox [0 200 420 400]")
    assert [layer.text for layer in text_layer(path)] == ["Kelp"]


def test_text_that_is_printed_twice_to_look_bold_is_read_once(tmp_path):
    letters = [(60 + 8 * n + shift, 300, f"({letter})") for n, letter in enumerate("balloon") for shift in (0, 0.4)]
    (layer,) = text_layer(drawn(tmp_path / "bold.pdf", *letters))
    assert layer.text.replace(" ", "") == "balloon"


def test_signs_of_symbol_fonts_become_bullets_or_nothing():
    assert clean_layer(["\uf0b7 Salt\n\ue123 Kelp \ufffd"]) == ["\u2022 Salt\n Kelp "]
    assert Layer("a").error is None


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


def test_a_page_without_a_size_is_damaged_and_the_others_are_read(tmp_path):
    empty = page(7, "/CropBox [600 800 1000 1000]")  # outside of its media box
    path = written(
        tmp_path / "flat.pdf",
        CATALOG,
        PAGES.format("4 0 R 5 0 R", 2),
        FONT,
        page(6),
        empty,
        stream(shown("Kelp.")),
        stream(""),
    )
    reason = "page 2 of 2 cannot be drawn: it is 0 x 0 points"
    assert list(pdf.faults(path, 72)) == [f"{path}: {reason}"]
    with pytest.raises(DataError, match="cannot be drawn"):
        pdf.render(path, 1, 72)
    whole, flat = sights(path)
    assert (whole.glyphs, flat) == (5, None)


def test_a_code_that_is_no_character_is_unknown(tmp_path):
    path = arabic(tmp_path / "odd.pdf", {65: "A", 66: "B"}, "AB")
    path.write_bytes(path.read_bytes().replace(b"<0042>", b"<FFFFFFFF>"))
    assert [layer.text[0] for layer in text_layer(path)] == ["A"]
    assert len(list(sights(path))) == 1
    assert [character(code) for code in (65, 0xD800, 0x110000, 2**32 - 1)] == ["A", *"\ufffd" * 3]
