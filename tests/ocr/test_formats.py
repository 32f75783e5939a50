"""Readers of the files that OCR systems write. MinerU's and docling's are recordings of a document of `mini`."""

import json
from pathlib import Path

import pytest

from ohr.contracts import Block, Document
from ohr.errors import PluginError
from ohr.markup.page import PRESETS, page_text
from ohr.ocr.formats.catalog import FORMAT_NAMES, read_content, read_file
from ohr.ocr.formats.folder import ResultsFolder
from ohr.ocr.formats.values import FormatError
from ohr.ocr.precomputed import Precomputed

RECORDINGS = Path(__file__).parent / "recordings"
LEASE = Document("law/lease", "law", "en", 2)


def pages(name, content):
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return read_content(raw, name)[""]


def kinds(blocks):
    return [(block.kind, block.text) for block in blocks]


@pytest.mark.parametrize("form", ["middle", "structured_content"])
def test_both_files_of_mineru_4_say_the_same(form):
    found = read_file(RECORDINGS / f"timber_annual_report_{form}.json", "mineru")[""]
    assert sorted(found) == [0, 1, 2]
    assert found[1][:3] == (
        Block("header", "Financial statements"),
        Block("header", "Brackenhythe Timber plc"),
        Block("heading", "Consolidated income statement for the year ended 30 September 2023", 2),
    )
    assert sum(block.kind == "table" for blocks in found.values() for block in blocks) == 5
    text = page_text(found[1], PRESETS["ohrbench"])
    assert "Revenue & 2 & 263,747" in text and "Financial statements" not in text and "<td>" not in text


def test_the_content_list_of_earlier_mineru():
    listed = [
        {"type": "text", "text": "Annual report", "text_level": 1, "page_idx": 0},
        {"type": "table", "table_body": "<html><body><table><tr><td>1</td></tr></table></body></html>",
         "table_caption": ["Table 1"], "table_footnote": ["unaudited"], "page_idx": 0},
        {"type": "equation", "text": "$$\na=b\n$$", "text_format": "latex", "page_idx": 1},
        {"type": "image", "img_path": "images/a.jpg", "img_caption": ["Figure 1"], "page_idx": 1},
        {"type": "discarded", "text": "7", "page_idx": 1},
        {"type": "list", "list_items": ["- one", "- two"], "page_idx": 1},
        {"type": "something new", "text": "kept", "page_idx": 1},
        {"type": "text", "text": "", "page_idx": 2},
    ]  # fmt: skip
    found = pages("mineru", listed)
    assert found[0] == (
        Block("heading", "Annual report", 1),
        Block("caption", "Table 1"),
        Block("table", "<table><tr><td>1</td></tr></table>"),
        Block("footnote", "unaudited"),
    )
    assert kinds(found[1]) == [
        ("formula", "$$\na=b\n$$"),
        ("caption", "Figure 1"),
        ("image", "![](images/a.jpg)"),
        ("header", "7"),
        ("list", "- one\n- two"),
        ("text", "kept"),
    ]
    assert found[2] == ()  # the end of a paragraph that is on the page before


def test_the_second_form_of_the_content_list():
    spans = [{"type": "text", "content": "Let "}, {"type": "equation_inline", "content": "x"}]
    first = [{"type": "title", "content": {"title_content": [{"type": "text", "content": "One"}], "level": 2}},
             {"type": "paragraph", "content": {"paragraph_content": spans}},
             {"type": "page_header", "content": {"page_header_content": [{"type": "text", "content": "Head"}]}},
             {"type": "table", "content": {"html": "<table></table>", "table_caption": [{"type": "text", "content": "T"}]}}]  # fmt: skip  # noqa: E501
    assert pages("mineru", [first, []]) == {
        0: (Block("heading", "One", 2), Block("text", "Let $x$"), Block("header", "Head"), Block("caption", "T"),
            Block("table", "<table></table>")),
        1: (),
    }  # fmt: skip


def test_marker_json():
    heading = {"id": "/page/0/SectionHeader/1", "block_type": "SectionHeader", "html": "<h2>Rent &amp; term</h2>"}
    table = {"id": "/page/0/Table/2", "block_type": "Table", "html": "<p></p><table><tr><td>5</td></tr></table>"}
    group = {"id": "x", "block_type": "ListGroup", "children": [{"block_type": "ListItem", "html": "<li>one</li>"}]}
    maths = {"block_type": "Equation", "html": '<p><math display="block">a &lt; b</math></p>'}
    text = {"block_type": "Text", "html": "<p>Due <b>May</b><br>with <math>x</math></p>"}
    furniture = {"block_type": "PageFooter", "html": "<p>7</p>"}
    picture = {"id": "p", "block_type": "Picture", "html": "<p>A harbour</p>"}
    tree = {"block_type": "Document", "children": [
        {"id": "/page/0/Page/9", "block_type": "Page", "children": [heading, table, group]},
        {"id": "/page/1/Page/9", "block_type": "Page", "children": [maths, text, furniture, picture]}]}  # fmt: skip
    found = pages("marker", tree)
    assert found[0][0] == Block("heading", "Rent & term", 2)
    assert kinds(found[0])[1:] == [("table", "<table><tr><td>5</td></tr></table>"), ("list", "- one")]
    assert kinds(found[1]) == [
        ("formula", "$$\na < b\n$$"), ("text", "Due May\nwith $x$"), ("footer", "7"), ("image", "![](p)"),
        ("description", "A harbour"),
    ]  # fmt: skip


def test_markdown_is_cut_into_pages():
    paginated = "{0}" + "-" * 48 + "\n\n# One\n\n{2}" + "-" * 48 + "\n\nThree"
    assert pages("markdown", paginated.encode()) == {0: (Block("text", "# One"),), 2: (Block("text", "Three"),)}
    assert sorted(pages("markdown", b"one\ftwo\f")) == [0, 1]
    assert pages("markdown", b"one\n<!-- PageBreak -->\ntwo")[1] == (Block("text", "two"),)
    assert pages("markdown", b"") == {0: (Block("text", ""),)}


def test_a_docling_document():
    prov = [{"page_no": 2, "bbox": {}}]
    cells = [{"start_row_offset_idx": 0, "start_col_offset_idx": 0, "row_span": 1, "col_span": 2, "text": "a < b",
              "column_header": True},
             {"start_row_offset_idx": 1, "start_col_offset_idx": 1, "row_span": 1, "col_span": 1, "text": "2"},
             {"start_row_offset_idx": 1, "start_col_offset_idx": 0, "row_span": 1, "col_span": 1, "text": "1"}]  # fmt: skip  # noqa: E501
    document = {
        "schema_name": "DoclingDocument", "pages": {"1": {}, "2": {}},
        "body": {"children": [{"$ref": "#/groups/0"}, {"$ref": "#/tables/0"}, {"$ref": "#/texts/1"}]},
        "groups": [{"children": [{"$ref": "#/texts/0"}]}],
        "texts": [{"label": "section_header", "level": 1, "text": "Title", "prov": prov},
                  {"label": "formula", "text": "a=b", "prov": [{"page_no": 1}]}],
        "tables": [{"label": "table", "prov": prov, "data": {"table_cells": cells}}],
    }  # fmt: skip
    found = pages("docling", document)
    assert kinds(found[0]) == [("formula", "$$\na=b\n$$")]
    table = '<table>\n<tr><th colspan="2">a &lt; b</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>'
    assert kinds(found[1]) == [("heading", "Title"), ("table", table)]


def test_olmocr_has_several_documents_in_a_file(tmp_path):
    lines = [
        {"text": "one\ntwo", "metadata": {"Source-File": f"/x/{name}.pdf"},
         "attributes": {"pdf_page_numbers": [[0, 4, 1], [4, 7, 2]]}}
        for name in ("lease", "bylaw")
    ]  # fmt: skip
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, lines)))
    folder = ResultsFolder(tmp_path, "olmocr")
    assert folder.documents() == ["bylaw", "lease"]
    assert folder.read("law/lease").pages == {0: (Block("text", "one"),), 1: (Block("text", "two"),)}


def test_paddleocr_has_a_file_for_each_page(tmp_path):
    for number in (0, 1):
        blocks = [{"block_label": "paragraph_title", "block_content": f"Title {number}", "block_order": 1},
                  {"block_label": "table", "block_content": "<html><body><table></table></body></html>"},
                  {"block_label": "number", "block_content": "7", "block_order": None}]  # fmt: skip
        page = {"page_index": number, "parsing_res_list": blocks}
        (tmp_path / f"lease_{number}_res.json").write_text(json.dumps(page))
    found = ResultsFolder(tmp_path, "paddleocr").read("law/lease").pages
    assert kinds(found[1]) == [("heading", "Title 1"), ("table", "<table></table>"), ("page_number", "7")]
    served = {"result": {"layoutParsingResults": [{"markdown": {"text": "# A"}, "prunedResult": {}}]}}
    assert pages("paddleocr", served) == {0: (Block("text", "# A"),)}


def test_azure_pages_by_breaks_and_by_offsets():
    content = '<!-- PageHeader="Annals" -->\n# One\n<!-- PageBreak -->\ntwo <!-- PageNumber="2" -->'
    numbered = [{"pageNumber": 1, "spans": [{"offset": 0, "length": 3}]}, {"pageNumber": 2, "spans": []}]
    found = pages("azure", {"analyzeResult": {"content": content, "pages": numbered}})
    assert kinds(found[0]) == [("header", "Annals"), ("text", "# One")]
    assert kinds(found[1]) == [("text", "two"), ("page_number", "2")]
    plain = {"content": "onetwo", "pages": [{"pageNumber": 1, "spans": [{"offset": 0, "length": 3}]},
                                            {"pageNumber": 2, "spans": [{"offset": 3, "length": 3}]}]}  # fmt: skip
    assert kinds(pages("azure", plain)[1]) == [("text", "two")]
    with pytest.raises(FormatError, match="unicodeCodePoint"):
        pages("azure", {**plain, "content": "ö netwo", "stringIndexType": "textElements"})


def test_mistral_pages():
    page = {"index": 1, "markdown": "# A\n\n[t.md](t.md)", "tables": [{"id": "t.md", "content": "|a|"}], "header": "H"}
    found = pages("mistral", {"pages": [page]})
    assert kinds(found[1]) == [("header", "H"), ("text", "# A\n\n|a|")]


@pytest.mark.parametrize("name", [name for name in FORMAT_NAMES if name != "markdown"])
@pytest.mark.parametrize(
    "raw", [b"<html>503</html>", b'{"pages": [{"ind', b"[1, 2]", b'"text"', b"{}", b"null", b"\xff"]
)
def test_broken_files_are_format_errors(name, raw):
    with pytest.raises(FormatError):
        read_content(raw, name)


# --- folders ----------------------------------------------------------------------------------------------


def write(path, *texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([{"type": "text", "text": text, "page_idx": page} for page, text in enumerate(texts)]))


def test_files_are_found_where_systems_put_them(tmp_path):
    write(tmp_path / "lease" / "auto" / "lease_content_list.json", "one", "two")
    write(tmp_path / "lease" / "auto" / "lease_middle.json")
    write(tmp_path / "finance" / "bylaw" / "content_list.json", "three")
    engine = Precomputed(root=tmp_path, format="mineru")
    engine.check()
    assert [page.text for page in engine.recorded(LEASE)] == ["one", "two"]
    (page,) = engine.recorded(Document("law/bylaw", "law", "en", 1))
    assert page.text == "three"
    assert ResultsFolder(tmp_path, "mineru").documents() == ["finance/bylaw", "lease"]


def test_a_domain_decides_between_files_of_one_name(tmp_path):
    write(tmp_path / "law" / "lease_content_list.json", "law")
    write(tmp_path / "manual" / "lease_content_list.json", "manual")
    engine = Precomputed(root=tmp_path, format="mineru")
    assert engine.recorded(LEASE)[0].text == "law"
    (page,) = engine.recorded(Document("news/lease", "news", "en", 1))
    assert page.error == (
        "several files may be its results: law/lease_content_list.json, manual/lease_content_list.json"
    )


def test_faults_are_counted_and_cost_their_own_pages(tmp_path):
    write(tmp_path / "lease_content_list.json", "one", "two", "three")
    (tmp_path / "bylaw_content_list.json").write_text("<html>")
    engine = Precomputed(root=tmp_path, format="mineru")
    documents = [LEASE, *(Document(f"law/{name}", "law", "en", 1) for name in ("bylaw", "absent"))]
    assert [len(engine.recorded(document)) for document in documents] == [2, 1, 1]
    assert engine.recorded(documents[1])[0].error.startswith("bylaw_content_list.json: HTML, not readable as JSON")
    assert [line.split(":")[0] for line in engine.notes(documents)] == [
        "1 document with results of pages beyond its end, left out",
        "1 file not readable, so that its pages have failed",
        f"1 document missing from {tmp_path.name}, so that all questions on it score 0 there",
    ]


def test_a_folder_without_a_file_of_the_format_is_refused(tmp_path):
    (tmp_path / "lease.txt").write_text("one")
    with pytest.raises(PluginError, match="holds no file as azure writes them"):
        Precomputed(root=tmp_path, format="azure").check()


def test_the_format_and_the_markup_are_part_of_the_identity(tmp_path):
    write(tmp_path / "law" / "lease.json", "one")
    plain = Precomputed(root=tmp_path)
    assert plain.identity().keys() == {"kind", "content"}
    assert Precomputed(root=tmp_path, format="mineru").identity() != plain.identity()
    assert Precomputed(root=tmp_path, markup="ohrbench").identity() != plain.identity()
