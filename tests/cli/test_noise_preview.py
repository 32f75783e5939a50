"""`ohr noise preview`: contact sheets of a page image, and marked edits of a text."""

import html
import json
import re

import numpy as np
import pytest
from PIL import Image

from ohr.files import images, ohrbench_json
from ohr.registry import Registry

from ..conftest import typeset

pytestmark = pytest.mark.usefixtures("one_process")

MINI = Registry().load("benchmark", "mini").model_validate({"kind": "mini"})


@pytest.fixture
def photo(home):
    lines = [typeset(line, 30) for line in ("The ferry berth was leased", "for ninety years in 1964", "and paid well.")]
    width = max(line.shape[1] for line in lines)
    page = np.full((900, width, 3), 255, dtype=np.uint8)
    for place, line in enumerate(lines):
        page[40 + 140 * place : 180 + 140 * place, : line.shape[1]] = line
    images.write_image(home / "page.png", page)
    return home / "page.png"


def asked(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_sheet_shows_each_level_with_what_was_read_and_how_far_off_it_is(ohr, home, photo):
    words = ("noise", "preview", photo, "--kinds", "psf_blur,shadows", "--levels", "0,1", "--workers", 1, "--json")
    report = asked(ohr(*words))
    assert report["sheet"] == "page-noise.html"
    distances = {(noise["kind"], noise["severity"]): noise["edit_distance"] for noise in report["noises"]}
    assert distances["psf_blur", 0.0] == distances["shadows", 0.0] == 0
    assert distances["psf_blur", 1.0] > 0.2
    page = (home / "page-noise.html").read_text()
    assert page.count("data:image/jpeg;base64,") == 2 * (1 + 4)
    assert "ninety years in 1964" in page
    assert f"edit distance {distances['psf_blur', 1.0]:.3f}" in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)


def test_a_sheet_can_be_one_picture(ohr, home, photo):
    words = ("--kinds", "rotation,cropped", "--levels", "0.5", "--ocr", "none", "--workers", 1, "--out", "sheet.png")
    assert ohr("noise", "preview", photo, *words).exit_code == 0
    with Image.open(home / "sheet.png") as sheet:
        assert sheet.width < sheet.height  # clean, rotation, cropped: one below the other
        assert np.asarray(sheet).std() > 5


def test_without_a_choice_all_image_noises_that_need_no_arguments_are_shown(ohr, home, photo):
    report = asked(ohr("noise", "preview", photo, "--levels", "1", "--ocr", "none", "--workers", 1, "--json"))
    assert {noise["kind"] for noise in report["noises"]} >= {"background", "off_axis", "multi_doc", "ohrbench"}
    assert [noise["error"] for noise in report["noises"] if noise["error"]] == []
    assert next(noise for noise in report["noises"] if noise["kind"] == "cropped")["label_effect"] == "cropped"


def test_a_text_is_shown_before_and_after_with_its_edits_marked(ohr, home):
    document = next(d for d in MINI.documents() if d.name == "law/noise_bylaw")
    text = MINI.pages(document)[1].text
    (home / "in.json").write_text(json.dumps([{"page_idx": 1, "text": text}]))
    words = ("--kinds", "formatting", "--levels", "0,0.3", "--page", 1, "--out", "d.html", "--json")
    report = asked(ohr("noise", "preview", "in.json", *words))
    assert [noise["edits"] > 0 for noise in report["noises"]] == [False, True]
    sides = texts(home / "d.html")
    plain = [html.unescape(re.sub(r"</?(?:del|ins)[^>]*>", "", side)) for side in sides]
    assert plain[0] == plain[1] == plain[2] == ohrbench_json.read_pages(home, "in")[0].text
    assert plain[3] != plain[2]
    assert sides[3].count("<ins") == report["noises"][1]["edits"]


def texts(path):
    """The texts of a page of differences, each before and after, with their marks."""
    pairs = path.read_text().split('<div class="sheet">')[1:]
    cells = [re.findall(r'<div dir="auto" class="\w+">(.*?)</div>\n', pair, re.DOTALL) for pair in pairs]
    return ["".join(rows[side::2]) for rows in cells for side in (0, 1)]


def test_lines_side_by_side_are_the_same_line(ohr, home):
    lines = [f"Berth {number} was leased by the harbour company in 19{number}." for number in range(40, 60)]
    (home / "note.md").write_text("\n\n".join(lines))
    words = ("--kinds", "channel", "--levels", "0.6", "--out", "d.html")
    assert ohr("noise", "preview", "note.md", *words).exit_code == 0
    cells = re.findall(r'<div dir="auto" class="\w+">(.*?)</div>\n', (home / "d.html").read_text(), re.DOTALL)
    assert len(cells) > 20
    for before, after in zip(cells[::2], cells[1::2], strict=True):
        assert before.endswith("\n") == after.endswith("\n") or "<del" in before or "<ins" in after
    assert 'class="touched"' in (home / "d.html").read_text()


def test_long_stretches_without_an_edit_are_folded_away(ohr, home):
    table = r"\begin{tabular}{ll} Oak & 12 \\ Elm & 7 \\ \end{tabular}"
    (home / "note.md").write_text("\n".join(["A line of text."] * 40 + [table] + ["Another."] * 5))
    words = ("--noise", "{kind: table_format, to: html}", "--out", "d.html")
    assert ohr("noise", "preview", "note.md", *words, "--levels", "0,1").exit_code == 0
    without, with_edit = (home / "d.html").read_text().split('<div class="sheet">')[1:]
    assert "<details>" not in without
    assert with_edit.count("<details>") == 1
    assert "38 lines as they were" in with_edit
    assert texts(home / "d.html")[2] == (home / "note.md").read_text().replace(
        table, f'<del title="table_format">{html.escape(table)}</del>'
    )


def test_an_inserted_line_break_is_seen(ohr, home):
    (home / "note.md").write_text("The lease began in May and paid well for ninety years in a row. " * 9)
    noise = "{kind: formatting, rate: 0.6, rules: {paragraph: 1}}"
    assert ohr("noise", "preview", "note.md", "--noise", noise, "--levels", "0.6", "--out", "d.html").exit_code == 0
    made = (home / "d.html").read_text()
    assert '<ins title="paragraph" class="gap break">\n</ins>' in made


def test_a_noise_is_shown_at_the_level_that_it_names(ohr, home, photo):
    (home / "note.md").write_text("The company leased the berth for ninety years. " * 9)
    given = ("--noise", "{kind: formatting, rate: 0.8}", "--noise", "{kind: formatting}")
    report = asked(ohr("noise", "preview", "note.md", *given, "--json"))
    assert [noise["rate"] for noise in report["noises"]] == [0.8, 0.1, 0.3, 0.6]
    report = asked(ohr("noise", "preview", "note.md", *given, "--levels", "0.2", "--json"))
    assert [noise["rate"] for noise in report["noises"]] == [0.2, 0.2]
    given = ("--noise", "{kind: rotation, severity: 0.7}", "--noise", "{kind: shadows}", "--ocr", "none")
    report = asked(ohr("noise", "preview", photo, *given, "--workers", 1, "--json"))
    assert [noise["severity"] for noise in report["noises"]] == [0.7, 0.25, 0.5, 1]
    page = (home / "page-noise.html").read_text()
    assert page.index("severity 0.7") < page.index("shadows") < page.index("severity 0.25")


def test_a_text_noise_is_shown_at_its_default_too(ohr, home):
    (home / "note.md").write_text("| a | b |\n|---|---|\n| 1 | 2 |\n")
    report = asked(ohr("noise", "preview", "note.md", "--kinds", "formatting,table_format", "--json"))
    rates = [(noise["kind"], noise["rate"]) for noise in report["noises"]]
    assert [rate for kind, rate in rates if kind == "formatting"] == [0.1, 0.3, 0.6]
    assert rates[-1] == ("table_format", 1) and report["noises"][-1]["edits"] > 0


def test_pages_that_a_file_does_not_have_are_reported(ohr, home):
    (home / "none.json").write_text("[]")
    (home / "two.json").write_text('[{"page_idx": 3, "text": "a"}, {"page_idx": 4, "text": "b"}]')
    assert "none.json: no page 0: it has none" in ohr("noise", "preview", "none.json").stderr
    assert "two.json: no page 0: it has page 3, 4" in ohr("noise", "preview", "two.json").stderr


@pytest.mark.parametrize("content", ["", "  \n\n"])
def test_an_empty_text_is_reported_to_be_empty(ohr, home, content):
    (home / "note.md").write_text(content)
    assert ohr("noise", "preview", "note.md", "--levels", "0.6", "--out", "d.html").exit_code == 0
    assert "the page is empty: there is nothing to change" in (home / "d.html").read_text()


def test_placed_noise_is_refused_rather_than_shown_without_an_edit(ohr, home):
    (home / "note.md").write_text("The lease began in 1964. It paid well.")
    result = ohr("noise", "preview", "note.md", "--noise", "{kind: formatting, rate: 0.6, where: evidence}")
    assert result.exit_code == 2
    assert "where: evidence depends on questions" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no.png",), "no such file"),
        (("small.yaml",), "give a page image, a PDF or a text"),
        (("page.png", "--levels", "2"), "numbers from 0 to 1"),
        (("page.png", "--levels", "high"), "numbers from 0 to 1"),
        (("page.png", "--kinds", "rotatoin"), "'rotation'"),
        (("page.png", "--noise", "{kind: formatting}"), "formatting is text noise"),
        (("page.png", "--out", "sheet.pdf"), "must end in .html or .png or .jpg or .webp"),
        (("page.png", "--page", "3"), "no page 3"),
        (("page.png", "--kinds", "formatting"), "formatting is text noise"),
        (("page.png", "--out", "nowhere/sheet.png"), "there is no folder nowhere"),
        ((".",), "is a folder: give one of its files"),
    ],
)
def test_mistakes_are_reported_in_a_sentence(ohr, photo, words, message):
    result = ohr("noise", "preview", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def bad(mode, size, fill, path):
    Image.new(mode, size, fill).save(path)
    return path


@pytest.mark.parametrize(
    ("name", "mode", "size", "fill"),
    [
        ("grey.png", "L", (90, 120), 200),
        ("rgba.png", "RGBA", (90, 120), (10, 20, 30, 0)),
        ("deep.png", "I;16", (90, 120), 40000),
        ("bits.tif", "1", (90, 120), 1),
        ("palette.png", "P", (90, 120), 3),
        ("print.jpg", "CMYK", (90, 120), (0, 0, 0, 0)),
        ("dot.png", "RGB", (1, 1), (255, 0, 0)),
        ("line.png", "RGB", (1, 3000), (255, 0, 0)),
    ],
)
def test_an_odd_image_is_taken(ohr, home, name, mode, size, fill):
    path = bad(mode, size, fill, home / name)
    words = ("--kinds", "background,warping,off_axis,small_roi,multi_doc,cropped,defocus", "--levels", "0.7")
    report = asked(ohr("noise", "preview", path, *words, "--ocr", "none", "--workers", 1, "--json"))
    assert [noise["error"] for noise in report["noises"] if noise["error"]] == []


def test_the_sheet_of_a_tiny_page_has_room_for_its_words(ohr, home):
    path = bad("RGB", (1, 1), (255, 0, 0), home / "dot.png")
    words = ("--kinds", "rotation", "--levels", "0.5", "--ocr", "none", "--workers", 1, "--out", "sheet.png")
    assert ohr("noise", "preview", path, *words).exit_code == 0
    with Image.open(home / "sheet.png") as sheet:
        assert sheet.width > 200


def test_each_page_of_a_tiff_can_be_shown(ohr, home):
    images.write_image(home / "scan.tif", *(np.full((40, 30, 3), tone, dtype=np.uint8) for tone in (0, 255)))
    words = ("--kinds", "salt_and_pepper", "--levels", "0", "--ocr", "none", "--workers", 1, "--out", "sheet.png")
    tones = []
    for page in (0, 1):
        assert ohr("noise", "preview", home / "scan.tif", "--page", page, *words).exit_code == 0
        tones.append(images.read_image(home / "sheet.png").mean())
    assert tones[0] < tones[1]
    done = ohr("noise", "preview", home / "scan.tif", "--page", 2, *words)
    assert done.exit_code == 2
    assert "no page 2: it has 2 pages" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.png", b"", "none.png: the file is empty"),
        ("words.png", b"I am no image", "words.png: cannot be read as an image: it is not one, or it is damaged"),
        ("words.pdf", b"I am no PDF", "words.pdf: it is not a PDF, or damaged"),
    ],
)
def test_a_file_that_is_none_is_reported_in_one_line(ohr, home, name, content, message):
    (home / name).write_bytes(content)
    result = ohr("noise", "preview", home / name, "--kinds", "rotation", "--workers", 1)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.acceptance
def test_an_image_of_twenty_thousand_pixels_a_side_is_refused_before_it_is_read(ohr, home):
    path = bad("1", (20_000, 20_000), 1, home / "huge.png")
    result = ohr("noise", "preview", path, "--kinds", "rotation", "--workers", 1)
    assert result.exit_code == 2
    assert "400,000,000 pixels are too many for a page (at most 120,000,000)" in result.stderr
