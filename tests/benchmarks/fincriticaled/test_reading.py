import base64
import csv
import io
from os import mkfifo

import pytest
from PIL import Image

from ohr.benchmarks.fincriticaled.csv_rows import open_table
from ohr.benchmarks.fincriticaled.release_files import find_table, read_data_set, read_predictions, read_text
from ohr.errors import DataError
from ohr.messages.faults import sentences

TAGGED = "<p>Sales of <number>25,700</number> in <temporal>2024</temporal></p>"
PLAIN = "<p>Sales of 25,700 in 2024</p>"


def png():
    made = io.BytesIO()
    Image.new("L", (8, 6), 200).save(made, "PNG")
    return made.getvalue()


def encoded():
    return base64.b64encode(png()).decode()


def table(columns, *rows):
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows([columns, *rows])
    return made.getvalue()


@pytest.fixture
def data(tmp_path):
    """Write a data set of texts, by path; return its folder."""

    def write(files, encoding="utf-8"):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return tmp_path

    return write


def gold(*pages):
    return {f"gold_annotation_html/gold_{i}.txt": page for i, page in enumerate(pages)}


def refused(root):
    with pytest.raises(DataError) as caught:
        read_data_set(root)
    return str(caught.value).replace(str(root), "ROOT")


def test_pages_are_numbered_by_row_where_there_is_no_id(data):
    root = data({"raw_input.csv": table(["matched_html"], [PLAIN], [PLAIN]), **gold(TAGGED, TAGGED)})
    found = read_data_set(root)
    assert [(page.index, page.html, page.tagged) for page in found.pages] == [(0, PLAIN, TAGGED), (1, PLAIN, TAGGED)]
    assert (found.version, found.image_column, found.faults) == ("859", None, ())


def test_the_id_of_a_row_names_its_files(data):
    root = data(
        {"raw_input.csv": table(["id", "matched_html"], ["7", PLAIN]), "gold_annotation_html/gold_7.txt": TAGGED}
    )
    assert [page.index for page in read_data_set(root).pages] == [7]


def test_the_table_may_be_in_the_folder_data_and_that_of_859_pages_is_preferred(data):
    files = {
        "raw_input.csv": table(["matched_html"], ["<p>other</p>"]),
        "raw_input_859.csv": table(["matched_html"], [PLAIN]),
    }
    root = data({f"data/{name}": content for name, content in {**files, **gold(TAGGED)}.items()})
    assert [page.html for page in read_data_set(root).pages] == [PLAIN]


@pytest.mark.parametrize("column", ["image_path", "image", "data.image"])
@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,"])
def test_an_image_may_be_base64_in_any_of_the_columns(data, column, prefix):
    rows = [[PLAIN, prefix + encoded()], [PLAIN, prefix + encoded()]]
    found = read_data_set(data({"raw_input.csv": table(["matched_html", column], *rows), **gold(TAGGED, TAGGED)}))
    assert found.image(found.pages[1]).shape == (6, 8, 3)


@pytest.mark.parametrize("place", ["images/a.png", "data/images/a.png"])
def test_an_image_may_be_a_path_from_the_table_or_the_folder_above_it(data, place):
    files = {"raw_input.csv": table(["image_path", "matched_html"], ["images/a.png", PLAIN]), **gold(TAGGED)}
    found = read_data_set(data({f"data/{name}": content for name, content in files.items()} | {place: png()}))
    assert found.image(found.pages[0]).shape == (6, 8, 3)


def test_the_first_of_several_image_columns_is_used(data):
    content = table(["image", "image_path", "matched_html"], ["no such file", "a.png", PLAIN])
    assert read_data_set(data({"raw_input.csv": content, "a.png": png(), **gold(TAGGED)})).image_column == "image_path"


def test_a_missing_image_is_noted_and_refused_with_its_line_when_it_is_read(data):
    content = table(["image_path", "matched_html"], ["a.png", "<p>two\nlines</p>"], ["b.png", PLAIN])
    root = data({"raw_input.csv": content, "a.png": png(), **gold("<p>two lines</p>", TAGGED)})
    found = read_data_set(root)
    assert sentences(found.faults) == ["1 page without an image file: 1", "1 page without a tagged fact: 0"]
    assert [found.image_digest(page) is None for page in found.pages] == [False, True]
    with pytest.raises(DataError, match=r"raw_input\.csv:4: no such image file \(got 'b\.png'\)"):
        found.image(found.pages[1])
    root = data({"raw_input.csv": table(["matched_html"], ["<p>two\nlines</p>"], [PLAIN])})
    with pytest.raises(DataError, match=r"raw_input\.csv:2: the table has no image: none of the columns image_path"):
        (found := read_data_set(root)).image(found.pages[0])


@pytest.mark.parametrize("cell", ["", "x" * 5000, "a\x01b"])
def test_a_cell_that_is_no_path_is_a_missing_image(data, cell):
    found = read_data_set(data({"raw_input.csv": table(["image", "matched_html"], [cell, PLAIN]), **gold(TAGGED)}))
    assert sentences(found.faults) == ["1 page without an image file: 0"]
    with pytest.raises(DataError, match=r"raw_input\.csv:2: no such image file"):
        found.image(found.pages[0])


def test_an_image_in_the_table_has_a_digest_of_its_own(data):
    content = table(["image", "matched_html"], [encoded(), PLAIN], ["data:image/png;base64," + encoded(), PLAIN])
    found = read_data_set(data({"raw_input.csv": content, **gold(TAGGED, TAGGED)}))
    assert len({found.image_digest(page) for page in found.pages}) == 2


def test_ids_that_do_not_number_the_gold_files_give_way_to_the_rows(data):
    other = TAGGED.replace("Sales of", "Costs before taxes and")
    plain = PLAIN.replace("Sales of", "Costs before taxes and")
    root = data({"raw_input.csv": table(["id", "matched_html"], ["1", PLAIN], ["0", plain]), **gold(TAGGED, other)})
    found = read_data_set(root)
    assert [(page.index, page.html) for page in found.pages] == [(0, PLAIN), (1, plain)]
    assert sentences(found.faults) == ["1 table whose rows, not ids, number the gold files: raw_input.csv"]


@pytest.mark.parametrize(("cell", "kind"), [("SEC filings", "sec_filings"), ("../Legal", "legal"), ("", "")])
def test_the_type_of_a_document_is_a_name(data, cell, kind):
    content = table(["matched_html", "doc_type"], [PLAIN, cell])
    assert read_data_set(data({"raw_input.csv": content, **gold(TAGGED)})).pages[0].kind == kind


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("data:image/png;base64,%%%", "the image is damaged base64"),
        ("iVBORw0KGgo" + "A", "the image cannot be read as an image"),
        ("data:image/png;base64," + base64.b64encode(b"no image").decode(), "the image cannot be read as an image"),
    ],
)
def test_a_damaged_image_is_refused_with_its_line(data, cell, message):
    found = read_data_set(data({"raw_input.csv": table(["image", "matched_html"], [cell, PLAIN]), **gold(TAGGED)}))
    with pytest.raises(DataError) as caught:
        found.image(found.pages[0])
    assert f"raw_input.csv:2: {message}" in str(caught.value)


def test_rows_after_large_images_are_read_at_their_place(data):
    large = "data:image/png;base64," + base64.b64encode(bytes(300_000)).decode()
    content = table(["image", "matched_html"], [large, "<p>a\n\nb</p>"], [encoded(), PLAIN])
    limit = csv.field_size_limit()
    found = read_data_set(data({"raw_input.csv": content, **gold("<p>a b</p>", TAGGED)}))
    assert found.image(found.pages[1]).shape == (6, 8, 3)
    assert csv.field_size_limit() == limit


def test_pages_without_a_gold_file_and_gold_files_without_a_page_are_left_out_and_named(data):
    content = table(["id", "matched_html"], ["0", PLAIN], ["3", PLAIN])
    found = read_data_set(data({"raw_input.csv": content, **gold(TAGGED, TAGGED)}))
    assert [page.index for page in found.pages] == [0]
    assert sentences(found.faults) == [
        "1 page without a gold file, left out: 3",
        "1 gold file without a row in the table, left out: gold_1.txt",
    ]


OLD = "<p>Sales of <number>25,700</number> in <DATE>2024</DATE></p>"


@pytest.mark.parametrize(
    ("html", "tagged", "fault"),
    [
        (PLAIN, PLAIN, "1 page without a tagged fact: 1"),
        (
            PLAIN,
            TAGGED.replace("</p>", "<financialconcept>Sales</financialconcept></p>"),
            "1 page with the tag <financialconcept>, which no version reads: 1",
        ),
        ("", TAGGED, "1 page without matched_html, for which the gold file is used: 1"),
        (PLAIN, "<number>8</number> other", "1 page with another text in the gold file than in the table: 1"),
    ],
)
def test_what_looks_wrong_in_a_page_is_named(data, html, tagged, fault):
    root = data({"raw_input.csv": table(["id", "matched_html"], ["0", PLAIN], ["1", html]), **gold(TAGGED, tagged)})
    found = read_data_set(root)
    assert sentences(found.faults) == [fault]
    assert [page.html for page in found.pages] == [PLAIN, PLAIN]


def test_dates_of_the_version_of_500_pages_are_temporal_facts(data):
    found = read_data_set(data({"raw_input.csv": table(["matched_html"], [PLAIN]), **gold(OLD)}))
    assert found.version == "500"
    assert found.pages[0].tagged.lower() == TAGGED.lower()


def test_a_folder_without_a_table_or_predictions_is_refused(tmp_path):
    assert refused(tmp_path).startswith("ROOT: no raw_input_859.csv or raw_input.csv here or in its folder data")
    (tmp_path / "file").write_text("")
    for name in ("absent", "file"):
        for read in (find_table, read_predictions):
            with pytest.raises(DataError, match="no such folder"):
                read(tmp_path / name)


def test_a_gold_file_that_is_a_pipe_or_has_too_many_facts_in_each_other_is_refused(data):
    root = data({"raw_input.csv": table(["matched_html"], [PLAIN]), **gold(f"{'<number>' * 200}5{'</number>' * 200}")})
    assert "gold_0.txt:1: more than 100 tags" in refused(root)
    (root / "gold_annotation_html/gold_0.txt").unlink()
    mkfifo(root / "gold_annotation_html/gold_0.txt")
    assert refused(root).endswith("gold_0.txt: is no file")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            table(["id", "matched_html"], ["0", PLAIN], ["00", PLAIN]),
            "ROOT/raw_input.csv:3: the id 0 repeats that of line 2",
        ),
        (table(["id", "matched_html"], ["a", PLAIN]), "raw_input.csv:2: id must be a whole number from 0 on (got 'a')"),
        (table(["id", "matched_html"], ["-1", PLAIN]), "raw_input.csv:2: id must be a whole number"),
        (
            table(["image", "text"], ["a", "b"]),
            "raw_input.csv:1: the table has no column matched_html; it has image, text",
        ),
        (table(["id", "id", "matched_html"]), "raw_input.csv:1: the table has the column id twice"),
        ("", "raw_input.csv:1: the table has no column matched_html; it has none"),
        ("id,matched_html\n0,<p>\n", "gold_annotation_html"),
        ("id,matched_html\n0,a,b\n", "raw_input.csv:2: the row has 3 cells, the header 2"),
        ("id,matched_html\n0\n", "raw_input.csv:2: the row has 1 cell, the header 2"),
        ('id,matched_html\n0,"a"b\n', "raw_input.csv:2: wrong quotes in the row that starts here"),
        ('id,matched_html\n0,a\n1,"b\n2,c\n', "raw_input.csv:3: wrong quotes in the row that starts here"),
    ],
)
def test_a_damaged_table_is_refused_with_its_line(data, content, message):
    files = {} if message == "gold_annotation_html" else gold(TAGGED, TAGGED)
    assert message in refused(data({"raw_input.csv": content, **files}))


WORDS = [f"<p>{word} {word}s of page {word}</p>" for word in ("alpha", "beta", "gamma")]


@pytest.mark.parametrize(
    ("rows", "files", "message"),
    [
        ([[0, PLAIN], [1, PLAIN]], gold(TAGGED, OLD),
         "ROOT/gold_annotation_html: two versions are mixed: gold_1.txt has the tags of 500 pages"),
        (list(enumerate(WORDS)), gold(TAGGED, TAGGED, WORDS[2]),
         "ROOT/gold_annotation_html: 2 gold files of 3 have another text than their row"),
        ([[5, "<p>other</p>"]], gold(TAGGED),
         "ROOT/raw_input.csv: no row has a gold file in ROOT/gold_annotation_html"),
        ([[0, PLAIN]], gold(TAGGED) | {"gold_annotation_html/gold_00.txt": "a"},
         "ROOT/gold_annotation_html/gold_00.txt: page 0 is in gold_0.txt, too; keep one of the files"),
    ],
)  # fmt: skip
def test_gold_files_that_do_not_fit_their_table_are_refused(data, rows, files, message):
    assert refused(data({"raw_input.csv": table(["id", "matched_html"], *rows), **files})).startswith(message)


def test_a_byte_order_mark_is_no_part_of_the_first_column(data):
    root = data({"raw_input.csv": table(["id", "matched_html"], ["0", PLAIN]), **gold(TAGGED)}, "utf-8-sig")
    assert [page.tagged for page in read_data_set(root).pages] == [TAGGED]


def test_files_that_are_not_utf_8_are_read_as_latin_1_and_named(data):
    plain, tagged = PLAIN.replace("Sales", "Soufflés"), TAGGED.replace("Sales", "Soufflés")
    root = data({"raw_input.csv": table(["matched_html"], [plain]), **gold(tagged)}, "latin-1")
    found = read_data_set(root)
    assert (found.pages[0].html, found.pages[0].tagged) == (plain, tagged)
    assert sentences(found.faults) == [
        "1 table not in UTF-8, read as latin-1: raw_input.csv",
        "1 gold file not in UTF-8, read as latin-1: gold_0.txt",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_text_file_is_read_by_its_byte_order_mark_or_as_utf_8_or_latin_1(tmp_path, encoding):
    path = tmp_path / "pred_0.txt"
    path.write_bytes("Café\r\n5\r6\n".encode(encoding))
    assert read_text(path)[0] == "Café\n5\n6\n"


def test_predictions_are_read_by_the_number_in_their_names(data):
    files = {f"results/a-b_zero-shot/{name}": name for name in ("pred_10.txt", "pred_2.txt", "pred_x.txt", "log.txt")}
    found = read_predictions(data(files) / "results/a-b_zero-shot")
    assert found == {2: "pred_2.txt", 10: "pred_10.txt"}


# --- tables that are no text ----------------------------------------------------------------------------


def refused_table(path, content):
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        open_table(path, ("matched_html",))
    return str(caught.value).replace(str(path), "TABLE")


@pytest.mark.parametrize("line", [1, 3, 5000])
def test_a_nul_byte_is_named_with_its_line(tmp_path, line):
    lines = [b"id,matched_html", *(b"%d,<p>a</p>" % number for number in range(6000))]
    lines[line - 1] += b"\0"
    lines[0] += b"" if line == 1 else b"\xe9"  # also behind latin-1
    assert refused_table(tmp_path / "a.csv", b"\n".join(lines)).startswith(f"TABLE:{line}: the line has a NUL byte")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_known_by_its_mark_or_its_zeros(tmp_path, encoding):
    message = refused_table(tmp_path / "a.csv", "id,matched_html\n0,价\n".encode(encoding))
    assert message == "TABLE:1: the table is in UTF-16; save it as UTF-8"


@pytest.mark.parametrize("header", ["a" * 100_000, f"matched_html,{'b' * 100_000},{'b' * 100_000}"])
def test_a_long_header_is_cut_in_messages(tmp_path, header):
    assert len(refused_table(tmp_path / "a.csv", header.encode())) < 500
