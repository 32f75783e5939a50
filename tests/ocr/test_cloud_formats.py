"""Readers of Textract, Document AI and OmniDocBench."""

import json

import pytest

from ohr.contracts import Block, Document, Word
from ohr.ocr.formats.find import content_of
from ohr.ocr.formats.values import Unreadable
from ohr.ocr.precomputed import Precomputed
from ohr.registry import Registry

from .spoiled_json import spoilt

FORMATS = {kind: Registry().load("ocr_format", kind)() for kind in ("textract", "document_ai", "omnidocbench")}


def read(system: str, content: object):
    return content_of(FORMATS[system], ".json", json.dumps(content).encode()).pages


def text(said: str) -> Block:
    return Block("text", said)


# --- Textract ---------------------------------------------------------------------------------------------


def item(kind: str, id: str, *children: str, **more):
    related = [{"Type": "CHILD", "Ids": list(children)}] * bool(children) + more.pop("Relationships", [])
    return {"BlockType": kind, "Id": id, "Relationships": related, **more}


def line(id: str, said: str, **more):
    """Return a line with its words, whose ids are those of the line and their numbers."""
    words = said.split()
    ids = [f"{id}{number}" for number in range(len(words))]
    spoken = [item("WORD", i, Text=w, Confidence=50, **more) for i, w in zip(ids, words, strict=True)]
    return [item("LINE", id, *ids, Text=said, **more), *spoken]


def cell(id: str, row: int, column: int, *words: str, kind: str = "CELL", **more):
    return item(kind, id, *words, RowIndex=row, ColumnIndex=column, **more)


LINES = [*line("a", "Rents of May"), *line("b", "Berth Rent"), *line("c", "North 12 see note"), *line("d", "7")]
BOX = item("SELECTION_ELEMENT", "box", SelectionStatus="SELECTED")
CELLS = [
    cell("w", 1, 1, "b0", EntityTypes=["COLUMN_HEADER"]), cell("x", 1, 2, "b1", EntityTypes=["COLUMN_HEADER"]),
    cell("y", 2, 1, "c0"), cell("z", 2, 2, "c1", "box"),
]  # fmt: skip
TABLE = [item("TABLE", "t", "w", "x", "y", "z"), *CELLS, BOX]
HTML = "<table><tr><th>Berth</th><th>Rent</th></tr><tr><td>North</td><td>12 [x]</td></tr></table>"
LAYOUT = [
    item("LAYOUT_TITLE", "l1", "a"), item("LAYOUT_TABLE", "l2", "b", "c"), item("LAYOUT_PAGE_NUMBER", "l3", "d"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("items", "blocks"),
    [
        (LINES, [text("Rents of May\nBerth Rent\nNorth 12 see note\n7")]),
        ([*LINES, *TABLE], [text("Rents of May"), Block("table", HTML), text("see note\n7")]),
        (
            [*LINES, *TABLE, *LAYOUT],
            [Block("heading", "Rents of May", 1), Block("table", HTML), text("see note"), Block("page_number", "7")],
        ),
        ([*LINES, item("LAYOUT_LIST", "l1", "l2", "l3"), item("LAYOUT_TEXT", "l2", "a"),
          item("LAYOUT_TEXT", "l3", "b", "c", "d")],
         [Block("list", "Rents of May\nBerth Rent\nNorth 12 see note\n7")]),
        ([*LINES, item("LAYOUT_TEXT", "l1", "a", "lost")],
         [text("Rents of May"), text("Berth Rent\nNorth 12 see note\n7")]),
        ([*line("b", "Berth Rent"), *CELLS[:2], cell("m", 1, 1, "w", "x", kind="MERGED_CELL", ColumnSpan=2),
          item("TABLE", "t", "w", "x", Relationships=[{"Type": "MERGED_CELL", "Ids": ["m"]}])],
         [Block("table", '<table><tr><td colspan="2">Berth Rent</td></tr></table>')]),
        ([], []),
        ([each for each in [*LINES[4:], *TABLE] if each["BlockType"] != "LINE"],  # without lines
         [Block("table", HTML), text("see note 7")]),
        ([{**each, "Id": None} for each in LINES if each["BlockType"] == "LINE"],
         [text("Rents of May\nBerth Rent\nNorth 12 see note\n7")]),
    ],
)  # fmt: skip
def test_blocks_of_textract(items, blocks):
    assert read("textract", {"Blocks": [item("PAGE", "p"), *items]}) == {0: tuple(blocks)}


def test_blocks_of_textract_that_refer_to_each_other_are_written_once():
    names = [f"l{number}" for number in range(40)]
    lists = [item("LAYOUT_LIST", name, *names) for name in names]
    cells = [cell("w", 1, 1, *["w"] * 1_000, "a0"), item("TABLE", "t", "w")]
    blocks = read("textract", {"Blocks": [item("LAYOUT_LIST", "l", *names), *lists, *line("a", "Salt"), *cells]})
    assert blocks == {0: (Block("table", "<table><tr><td>Salt</td></tr></table>"),)}


def test_parts_of_a_response_are_one_document_with_its_pages():
    first = {
        "JobStatus": "SUCCEEDED",
        "NextToken": "x",
        "Blocks": [item("PAGE", "p", Page=1), *line("a", "One", Page=1)],
    }
    second = {"Blocks": [item("PAGE", "q", Page=3), *line("b", "Three", Page=3)], "NextToken": None}
    pages = {0: (text("One"),), 2: (text("Three"),)}
    assert read("textract", [first, second]) == pages
    assert read("textract", first["Blocks"] + second["Blocks"]) == pages
    with pytest.raises(
        Unreadable, match=r"^one part of a response \(it has a `NextToken`\): join all parts in one list$"
    ):
        read("textract", first)
    with pytest.raises(Unreadable, match=r"^one part of a response"):
        read("textract", [second, first])


def test_words_of_textract_have_their_confidence():
    words = FORMATS["textract"].words({"Blocks": [item("PAGE", "p"), *line("a", "Salt fish")]})
    assert words == {0: (Word("Salt", None, 0.5), Word("fish", None, 0.5))}


# --- Document AI ------------------------------------------------------------------------------------------

TEXT = "Rents\nBerth\nRent\nNorth\n12\nsee note\n"


def layout(start: int, end: int, **more):
    segment = {"startIndex": str(start), "endIndex": str(end)} if start else {"endIndex": str(end)}
    return {"layout": {"textAnchor": {"textSegments": [segment]}, **more}}


def google(*pages, said: str = TEXT, **more):
    return {"text": said, "pages": [{"pageNumber": place, **page} for place, page in enumerate(pages, 1)], **more}


ROWS = [{"cells": [layout(6, 12), layout(12, 17)]}, {"cells": [layout(17, 23), layout(23, 26)]}]
GRID = {"headerRows": ROWS[:1], "bodyRows": ROWS[1:]}
CELLS_OF_GRID = "<table><tr><th>Berth</th><th>Rent</th></tr><tr><td>North</td><td>12</td></tr></table>"


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        ({"paragraphs": [layout(0, 6), layout(26, 35)]}, [text("Rents"), text("see note")]),
        ({"blocks": [layout(0, 12)]}, [text("Rents\nBerth")]),
        (layout(0, 6), [text("Rents")]),
        ({"tokens": [layout(0, 6), layout(6, 12)]}, [text("Rents\nBerth")]),
        ({"paragraphs": [{"layout": {"textAnchor": {"content": "Salt"}}}]}, [text("Salt")]),
        ({"paragraphs": [layout(0, 6), layout(6, 17), layout(17, 35)], "tables": [GRID]},
         [text("Rents"), Block("table", CELLS_OF_GRID), text("see note")]),
        ({"page_number": 1, "blocks": [{"layout": {"text_anchor": {"text_segments": [{"end_index": 6}]}}}]},
         [text("Rents")]),
    ],
)  # fmt: skip
def test_blocks_of_document_ai(page, blocks):
    assert read("document_ai", google(page)) == {0: tuple(blocks)}
    assert read("document_ai", {"document": google(page)}) == {0: tuple(blocks)}


def parsed_text(said: str, kind: str, page: int, *inside):
    return {
        "textBlock": {"text": said, "type": kind, "blocks": list(inside)},
        "pageSpan": {"pageStart": page},
    }


def test_blocks_of_the_layout_parser():
    rows = [{"cells": [{"blocks": [parsed_text("Rent", "paragraph", 2)], "colSpan": 2}]}]
    items = [{"blocks": [parsed_text("salt", "paragraph", 2)]}, {"blocks": [parsed_text("fish", "paragraph", 2)]}]
    inside = [
        parsed_text("May", "paragraph", 2),
        {"tableBlock": {"headerRows": [], "bodyRows": rows, "caption": "Rents"}, "pageSpan": {"pageStart": 2}},
        {"listBlock": {"listEntries": items}},
    ]
    blocks = [parsed_text("7", "header", 1), parsed_text("Lease", "heading-2", 1, *inside)]
    assert read("document_ai", {"documentLayout": {"blocks": blocks}}) == {
        0: (Block("header", "7"), Block("heading", "Lease", 2)),
        1: (
            text("May"), Block("caption", "Rents"),
            Block("table", '<table><tr><td colspan="2">Rent</td></tr></table>'), Block("list", "- salt\n- fish"),
        ),
    }  # fmt: skip


def test_words_of_document_ai_have_boxes_in_pixels():
    corners = [{"x": 0.5, "y": 0.1}, {"x": 1.5}]
    tokens = [
        layout(0, 6, confidence=0.5, boundingPoly={"normalizedVertices": corners}),
        layout(6, 12, confidence=1, boundingPoly={"vertices": [{"x": 3, "y": 4}, {"x": -5, "y": 6}]}),
        layout(12, 17, confidence=1, boundingPoly={"vertices": [{"x": "3"}]}),
        layout(17, 23),
    ]
    page = {"dimension": {"width": 100, "height": 200}, "tokens": tokens}
    assert FORMATS["document_ai"].words(google(page)) == {
        0: (Word("Rents", (50, 0, 150, 20), 0.5), Word("Berth", (-5, 4, 3, 6), 1.0), Word("Rent", None, 1.0))
    }


def test_shards_are_one_document_whatever_their_files_are_numbered(tmp_path):
    shards = [(0, 3, "Three"), (1, 1, "One"), (2, 2, "Two"), (3, 5, "Five")]
    for number, page, said in shards:
        pages = [{"pageNumber": page, **layout(0, len(said))}, {"pageNumber": page + 5, **layout(0, len(said))}]
        (tmp_path / f"lease-{number}.json").write_text(
            json.dumps(google(*pages, said=said, shardInfo={"shardCount": "4"}))
        )
    (tmp_path / "lease-4.json").write_text("{")
    engine = Precomputed(root=tmp_path, format="document_ai")
    (document,) = engine.documents()
    assert (document.name, document.pages) == (f"{tmp_path.name}/lease", 10)
    pages = engine.recorded(document)
    assert [page.text for page in pages] == ["One", "Two", "Three", "", "Five", "One", "Two", "Three", "", "Five"]
    assert pages[3].error.startswith("its result is not readable as JSON")


def test_numbered_files_of_several_pages_are_documents_where_they_hold_the_same_pages(tmp_path):
    for number in (1, 2):
        pages = [{"pageNumber": page, **layout(0, 6)} for page in (1, 2)]
        (tmp_path / f"lease_{number}.json").write_text(json.dumps(google(*pages)))
    engine = Precomputed(root=tmp_path, format="document_ai")
    assert [document.pages for document in engine.documents()] == [2, 2]
    (page, *_) = engine.recorded(Document("law/lease", "law", "en", 2))
    assert page.error == "its result is of 2 pages, although its name has a page's number"


# --- OmniDocBench -----------------------------------------------------------------------------------------

REGIONS = [
    {"category_type": "page_number", "text": "7"},
    {"category_type": "text_block", "text": "Second", "order": 2},
    {"category_type": "title", "text": "First", "order": 1.0},
    {"category_type": "table", "html": "<table><tr><td>3</td></tr></table>", "latex": "x", "order": 3},
    {"category_type": "equation_isolated", "latex": "$$r = 2$$", "order": 4},
    {"category_type": "text_block", "merge_list": [{"text": "a"}, {"text": "b"}], "order": 5},
    {"category_type": "figure", "order": 6},
    {"category_type": "text_block", "text": "Out", "order": 7, "ignore": True},
    {"category_type": "text_mask", "text": "Out", "order": 8},
    {"category_type": "header", "text": "Top", "order": None},
]


def test_regions_of_omnidocbench_are_in_their_order():
    page = {"layout_dets": REGIONS, "page_info": {"image_path": "images/lease_7.png"}}
    blocks = (
        Block("header", "Top"), Block("heading", "First"), text("Second"),
        Block("table", "<table><tr><td>3</td></tr></table>"), Block("formula", "$$r = 2$$"), text("a\nb"),
        Block("image", "![]()"), Block("page_number", "7"),
    )  # fmt: skip
    assert read("omnidocbench", [page, {"layout_dets": []}]) == {0: blocks, 1: ()}
    assert FORMATS["omnidocbench"].document_of(page) == "images/lease_7.png"


def test_lines_of_omnidocbench_are_named_after_their_images(tmp_path):
    pages = ({"layout_dets": REGIONS, "page_info": {"image_path": f"images/{name}.png"}} for name in ("lease", "will"))
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, pages)))
    documents = Precomputed(root=tmp_path, format="omnidocbench").documents()
    assert [(document.name, document.pages) for document in documents] == [("images/lease", 1), ("images/will", 1)]


# --- what is refused --------------------------------------------------------------------------------------

SOUND = {
    "textract": {"Blocks": [item("PAGE", "p"), *LINES, *TABLE, *LAYOUT]},
    "document_ai": google(
        {"paragraphs": [layout(0, 35)], "tables": [GRID], "tokens": [layout(0, 6, confidence=1)]}, layout(0, 6)
    ),
    "omnidocbench": [{"layout_dets": REGIONS, "page_info": {"image_path": "a.png"}}],
}
WIDE = google({"layout": {}, "tables": [{"bodyRows": [{"cells": [{"colSpan": 1_999, "rowSpan": 1_999}] * 3}] * 300}]})
LONG = google(*[{"paragraphs": [layout(0, len(TEXT))]}] * 11)


@pytest.mark.parametrize(
    ("system", "content", "reason"),
    [
        ("textract", {"JobStatus": "IN_PROGRESS"}, "of a job without a result: its `JobStatus` is IN_PROGRESS"),
        ("textract", {"ExpenseDocuments": []}, "not Textract's: it has no `Blocks`"),
        ("textract", {"Blocks": [{"blockType": "PAGE"}]}, "of another form: no block has BlockType, only blockType"),
        ("textract", {"Blocks": [item("PAGE", "p", Page=0)]}, "not as expected: a page has no number"),
        (
            "textract",
            {"Blocks": [*line("a", "x"), cell("c", 0, 1, "a0"), item("TABLE", "t", "c")]},
            "not as expected: a page",
        ),
        ("document_ai", google(layout(0, 99)), "not as expected: it refers to 0 to 99 of a text of 35 characters"),
        ("document_ai", google(layout(9, 6)), "not as expected: it refers to 9 to 6 of"),
        ("document_ai", google(layout(-1, 6)), "not as expected: it refers to None to 6 of"),
        ("document_ai", LONG, "not as expected: its parts refer more than 10 times to its text"),
        ("document_ai", WIDE, "with a table of more than 2,000 rows or columns"),
        ("document_ai", {"pages": [{"words": []}]}, "of another form: no page has layout"),
        (
            "document_ai",
            google({"blocks": [{"text": "Salt"}]}),
            "of another form: no part of a page has layout, only text",
        ),
        ("omnidocbench", [{"page_info": {}}], "not OmniDocBench's: a page has no `layout_dets`"),
        # without text, which would be blank pages
        ("textract", {"Blocks": [item("PAGE", "p"), item("LINE", "l")]}, "of another form: no line has Text, only"),
        ("document_ai", google({"paragraphs": [{"layout": {"confidence": 1}}]}), "of another form: no layout has"),
        ("omnidocbench", [{"layout_dets": [{"category_type": "title"}]}], "of another form: no region has text or"),
    ],
)
def test_what_is_not_as_the_service_writes_it_is_refused_with_its_reason(system, content, reason):
    with pytest.raises(Unreadable, match=f"^{reason}"):
        read(system, content)


@pytest.mark.parametrize("stated", ["high", 101, -1, float("nan"), True, [0]])
def test_a_confidence_that_is_none_costs_the_words_and_not_the_text(stated):
    textract = {
        "Blocks": [item("PAGE", "p"), item("LINE", "a", Text="Salt"), item("WORD", "w", Text="Salt", Confidence=stated)]
    }
    google_ai = google({"paragraphs": [layout(0, 6)], "tokens": [layout(0, 6, confidence=stated)]})
    for system, content, said in (("textract", textract, "Salt"), ("document_ai", google_ai, "Rents")):
        assert FORMATS[system].pages(content) == {0: (text(said),)}
        with pytest.raises(Unreadable, match=r"^not as expected: a confidence is no number from 0 to "):
            FORMATS[system].words(content)


@pytest.mark.parametrize("system", SOUND)
@pytest.mark.parametrize("wrong", [None, 7, "text", [], {}, [[]], True])
def test_a_value_of_the_wrong_type_is_refused_or_left_out(system, wrong):
    for depth in range(1, 10):
        content = spoilt(SOUND[system], depth, wrong)
        for reading in (FORMATS[system].pages, FORMATS[system].words):
            try:
                pages = reading(content)
            except Unreadable:
                continue
            assert all(isinstance(each.text, str) for blocks in pages.values() for each in blocks)
