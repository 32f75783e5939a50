"""Readers of native results.

The recordings are of a document of `mini`: written by mineru 4.0.12 (tier flash), by rapid-doc 0.9.11 in the form of
MinerU 2 (without formulas; coordinates were removed), and made with docling-core 2.104.0 after its text. All other
texts are made after each system's keys.
"""

import json
from pathlib import Path
from time import process_time

import pytest

from ohr.contracts import Block
from ohr.markup.page import PRESETS, Markup, page_text, tidy
from ohr.ocr.formats import markdown
from ohr.ocr.formats.find import content_of, ending_of
from ohr.ocr.formats.values import Unreadable, kind_of
from ohr.registry import Registry

from .spoiled_json import spoilt

RECORDINGS = Path(__file__).parent / "recordings"
MINERU = sorted((RECORDINGS / "mineru").glob("*.json"))


def parse(system: str, found: object, name: str = "lease.json", line: int | None = None):
    """Read a file of a system by its name."""
    content = found if isinstance(found, bytes) else json.dumps(found).encode()
    format = Registry().load("ocr_format", system)()
    place, _ = ending_of(format, name)
    return content_of(format, format.endings[place], content, line).pages


def texts(pages, markup: str = "as_is"):
    return {number: page_text(blocks, PRESETS[markup]) for number, blocks in pages.items()}


# --- MinerU -----------------------------------------------------------------------------------------------


def test_all_files_of_mineru_have_the_same_blocks():
    found = {path.name: parse("mineru", path.read_bytes(), path.name) for path in MINERU}
    assert len(found) == 4
    first, *others = ({n: [b for b in blocks if b.kind != "table"] for n, blocks in p.items()} for p in found.values())
    assert all(other == first for other in others)
    assert {number: len(blocks) for number, blocks in first.items()} == {0: 26, 1: 8, 2: 23}


@pytest.mark.parametrize("path", MINERU, ids=lambda path: path.stem)
def test_pages_of_mineru_have_headings_tables_and_furniture(path):
    pages = parse("mineru", path.read_bytes(), path.name)
    kinds = [block.kind for block in pages[0]]
    assert pages[0][0] == Block("header", "Brackenhythe Timber plc")
    assert Block("heading", "Closure of the Osmere sawmill", 2) in pages[0]
    assert (kinds.count("page_number"), kinds.count("image"), kinds.count("description")) == (1, 1, 1)
    clean = texts(pages, "ohrbench")
    assert "Brackenhythe Timber plc" not in clean[0].splitlines()
    assert "## Closure of the Osmere sawmill" in clean[0]
    assert r"\begin{tabular}" in clean[1]
    assert "Revenue & 2 & 263,747 & - & 263,747 & 278,520" in " ".join(clean[1].split())


def test_both_files_of_an_older_mineru_have_the_same_text():
    folder = RECORDINGS / "rapid_doc"
    listed, middle = (
        parse("mineru", (folder / name).read_bytes(), name)
        for name in ("timber_annual_report_content_list.json", "timber_annual_report_middle.json")
    )
    assert len(listed[0]) == 25
    for number, blocks in listed.items():
        # the middle file has discarded blocks last, and no folder of pictures; in the list, lines end in two spaces
        found = [
            sorted((b.text.replace("  \n", "\n"), b.kind == "heading") for b in each if b.kind != "image")
            for each in (blocks, middle[number])
        ]
        assert found[0] == found[1]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["5.3 mil-", "lion of", "the year"], "5.3 million of the year"),
        (["1990 -", "2000"], "1990 - 2000"),
        (["Anglo-", "French"], "Anglo-French"),
        (["二零二三年", "九月"], "二零二三年九月"),
    ],
)
def test_lines_of_a_paragraph_are_joined(lines, text):
    found = [{"spans": [{"type": "text", "content": line}]} for line in lines]
    page = {"page_idx": 0, "para_blocks": [{"type": "text", "lines": found}]}
    assert parse("mineru", {"pdf_info": [page]}, "lease_middle.json") == {0: (Block("text", text),)}


def test_an_older_content_list_of_mineru():
    blocks = [
        {"type": "text", "text": "Lease", "text_level": 1, "page_idx": 0},
        {"type": "table", "table_caption": ["Rent"], "table_footnote": [], "page_idx": 0,
         "table_body": "<html><body><table><tr><td>May</td></tr></table></body></html>"},
        {"type": "table", "table_body": "\n\n$\n\\begin{tabular}{l}May\\end{tabular}\n$ \n\n", "page_idx": 2},
        {"type": "equation", "text": "$$\nr = 2\n$$", "text_format": "latex", "page_idx": 2},
        {"type": "image", "img_path": "images/a.jpg", "img_caption": ["A quay"], "img_footnote": [], "page_idx": 2},
        {"type": "list", "list_items": ["(a) one", "(b) two"], "page_idx": 2},
        {"type": "discarded", "text": "7", "page_idx": 2},
        {"type": "unheard_of", "text": "kept", "page_idx": 2},
    ]  # fmt: skip
    assert parse("mineru", blocks, "lease_content_list.json") == {
        0: (
            Block("heading", "Lease", 1),
            Block("caption", "Rent"),
            Block("table", "<table><tr><td>May</td></tr></table>"),
        ),
        1: (),  # a blank page has no block
        2: (
            Block("table", "\\begin{tabular}{l}May\\end{tabular}"),
            Block("formula", "$$r = 2$$"),
            Block("caption", "A quay"),
            Block("image", "![](images/a.jpg)"),
            Block("list", "(a) one\n(b) two"),
            Block("footer", "7"),
            Block("text", "kept"),
        ),
    }


def test_an_older_middle_file_of_mineru():
    lines = [
        {"spans": [{"type": "text", "content": "The rent"}, {"type": "inline_equation", "content": "r"}]},
        {"spans": [{"type": "text", "content": "is due."}]},
    ]
    body = {
        "type": "table_body",
        "lines": [{"spans": [{"type": "table", "html": "<table><tr><td>1</td></tr></table>"}]}],
    }
    caption = {"type": "table_caption", "lines": [{"spans": [{"type": "text", "content": "Rent"}]}]}
    formula = {"type": "interline_equation", "lines": [{"spans": [{"type": "interline_equation", "content": "r=2"}]}]}
    page = {
        "page_idx": 0,
        "para_blocks": [{"type": "text", "lines": lines}, {"type": "table", "blocks": [caption, body]}, formula],
        "discarded_blocks": [{"type": "header", "lines": lines[1:]}, {"type": "text", "lines": lines[1:]}],
    }
    assert parse("mineru", {"pdf_info": [page]}, "lease_middle.json") == {
        0: (
            Block("text", "The rent $r$ is due."),
            Block("caption", "Rent"),
            Block("table", "<table><tr><td>1</td></tr></table>"),
            Block("formula", "$$r=2$$"),
            Block("header", "is due."),
            Block("footer", "is due."),
        )
    }


# --- others -----------------------------------------------------------------------------------------------


def test_marker():
    html = [
        ("PageHeader", "<p>Ferry</p>"),
        ("SectionHeader", "<h2>Rent &amp; term</h2>"),
        ("Text", '<p>Due <b>in May</b>, <math display="inline">r=2</math></p>'),
        ("Table", "<table><tr><th>May</th></tr></table>"),
        ("Equation", '<p><math display="block">r = 2</math></p>'),
        ("Picture", "<p role='img'>Image 3 description: a quay</p>"),
    ]
    listed = {"id": "/page/1/ListGroup/9", "block_type": "ListGroup", "html": "<content-ref src='x'></content-ref>",
              "children": [{"id": "x", "block_type": "ListItem", "html": "<li>one</li>"}]}  # fmt: skip
    blocks = [{"block_type": kind, "html": text, "children": None} for kind, text in html]
    page = {"id": "/page/1/Page/40", "block_type": "Page", "children": [*blocks, listed]}
    assert parse("marker", {"block_type": "Document", "children": [page]}) == {
        1: (
            Block("header", "Ferry"),
            Block("heading", "Rent & term", 2),
            Block("text", "Due **in May**, $r=2$"),
            Block("table", "<table><tr><th>May</th></tr></table>"),
            Block("formula", "$$r = 2$$"),
            Block("image", "![]()"),
            Block("description", "Image 3 description: a quay"),
            Block("list", "- one"),
        )
    }


def test_a_document_of_docling():
    pages = parse("docling", (RECORDINGS / "docling" / "timber_annual_report.json").read_bytes())
    assert sorted(pages) == [0, 1, 2]
    assert pages[2] == ()
    assert pages[0][:3] == (
        Block("header", "Brackenhythe Timber plc"),
        Block("heading", "Annual Report 2023", 1),
        Block("heading", "Closure of the Osmere sawmill", 2),
    )
    assert pages[0][4:] == (
        Block("list", "- 31 accepted posts at the Dunnock Vale mill"),
        Block("list", "- 12 retired early"),
        Block("formula", r"$$\mathrm{ROCE} = \frac{P_{op}}{C} \times 100\%$$"),
        Block("text", "where $P_{op}$ is the operating profit."),
        Block("caption", "Price of sawn spruce, fl. per cubic metre"),
        Block("image", "![]()"),
        Block("description", "A line that falls from 438 to 318."),
    )
    assert pages[1] == (
        Block("caption", "Income statement"),
        Block(
            "table",
            '<table><tr><th>fl. thousand</th><th colspan="2">2023 &amp; 2022</th></tr>'
            "<tr><td>Revenue</td><td>263,747</td><td>278,520</td></tr>"
            "<tr><td>Gross profit</td><td>67,336</td><td>79,856</td></tr></table>",
        ),
        Block("code", "```\nx = 1\n```"),
        Block("footnote", "1 Restated."),
        Block("footer", "62"),
    )


def test_a_line_of_olmocr():
    line = {
        "text": "Rent é𝑃 due.\nTerm",
        "metadata": {"Source-File": "s3://pdfs/law/lease.pdf"},
        "attributes": {"pdf_page_numbers": [[0, 13, 1], [13, 13, 2], [13, 17, 3]]},
    }
    content = b"\n" + json.dumps(line).encode() + b"\n"
    assert texts(parse("olmocr", content, "output.jsonl", line=2)) == {0: "Rent é𝑃 due.", 1: "", 2: "Term"}


LISTED = [
    {"block_label": "doc_title", "block_content": "# Lease", "block_order": 1},
    {"block_label": "table", "block_content": "<html><body><table><tr><td>1</td></tr></table></body></html>"},
    {"block_label": "formula", "block_content": " $$ r=2 $$ "},
    {"block_label": "number", "block_content": "7", "block_order": None},
    {"block_label": "unheard_of", "block_content": "kept"},
]
BLOCKS = (
    Block("heading", "Lease", 1),
    Block("table", "<table><tr><td>1</td></tr></table>"),
    Block("formula", "$$r=2$$"),
    Block("page_number", "7"),
    Block("text", "kept"),
)


PAGE = {"prunedResult": {"parsing_res_list": LISTED}}
TEXT = (Block("text", "a"),)


@pytest.mark.parametrize(
    ("found", "pages"),
    [
        ({"page_index": 3, "parsing_res_list": LISTED}, {3: BLOCKS}),
        ({"res": {"page_index": None, "parsing_res_list": LISTED}}, {0: BLOCKS}),
        ({"errorCode": 0, "result": {"layoutParsingResults": [PAGE]}}, {0: BLOCKS}),
        ({"result": {"layoutParsingResults": [{"markdown": {"text": "a"}}] * 2}}, {0: TEXT, 1: TEXT}),
    ],
    ids=["page", "image", "reply", "markdown"],
)
def test_paddleocr(found, pages):
    assert parse("paddleocr", found, "lease_res.json") == pages


def azure(content, pages, **more):
    return {"status": "succeeded", "analyzeResult": {"content": content, "pages": pages, **more}}


def test_azure_at_page_breaks():
    content = (
        '<!-- PageHeader="Ferry &amp; co" -->\n\n# Lease\n\n<figure>\nA quay\n</figure>\n'
        '<!-- PageNumber="1" -->\n<!-- PageBreak -->\n\n<table><tr><td>1</td></tr></table>\n'
    )
    pages = parse("azure", azure(content, [{"pageNumber": 1}, {"pageNumber": 2}]))
    assert [block.kind for block in pages[0]] == ["header", "text", "page_number"]
    assert pages[0][0].text == "Ferry & co"
    assert texts(pages) == {0: "Ferry & co\n\n# Lease\n\nA quay\n\n1", 1: "<table><tr><td>1</td></tr></table>"}


@pytest.mark.parametrize(
    ("unit", "cut"), [("unicodeCodePoint", 3), ("utf16CodeUnit", 4), ("textElements", 0)]
)  # 𝑃 is two units of UTF-16, and "é" may be two code points but one text element
def test_azure_without_page_breaks_counts_in_its_own_units(unit, cut):
    pages = [
        {"pageNumber": 1, "spans": [{"offset": 0, "length": cut}], "lines": [{"content": "a𝑃b"}]},
        {"pageNumber": 2, "spans": [{"offset": cut, "length": 3}], "lines": [{"content": "cde"}]},
    ]
    assert texts(parse("azure", azure("a𝑃bcde", pages, stringIndexType=unit))) == {0: "a𝑃b", 1: "cde"}


def test_mistral():
    page = {
        "index": 1,
        "header": "Ferry",
        "markdown": "# Lease\n\n[tbl-0.html](tbl-0.html)\n\n![img-0.jpeg](img-0.jpeg)",
        "tables": [{"id": "tbl-0.html", "content": "<table><tr><td>1</td></tr></table>", "format": "html"}],
        "images": [{"id": "img-0.jpeg", "image_annotation": "a quay"}],
        "footer": None,
    }
    found = parse("mistral", {"pages": [page, {"index": 0, "markdown": ""}], "model": "mistral-ocr"})
    assert texts(found) == {0: "", 1: "Ferry\n\n# Lease\n\n<table><tr><td>1</td></tr></table>\n\na quay"}
    assert texts(found, "ohrbench")[1].startswith("# Lease")


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("one", {0: "one"}),
        (f"\n\n{{0}}{'-' * 48}\n\n# Lease\n\n{{2}}{'-' * 48}\n\nSigned.\n", {0: "# Lease", 2: "Signed."}),  # Marker
        (f"Top\n{{1}}{'-' * 48}\none\n{{1}}{'-' * 48}\nmore", {1: "Top\n\none\n\nmore"}),
        ("one\ftwo\f", {0: "one", 1: "two"}),
        ("one\n<!-- PageBreak -->\ntwo", {0: "one", 1: "two"}),
        ("", {0: ""}),
        ("one\f[MISSING_PAGE_EMPTY:2]\fthree", {0: "one", 2: "three"}),
        ("one\n\n<!-- page break -->\n\ntwo", {0: "one", 1: "two"}),  # docling
        ("one\n\n<--- Page Split --->\ntwo\n\n<--- Page Split --->\n", {0: "one", 1: "two"}),  # DeepSeek-OCR
        ("<--- Page Split --->\none\n<--- Page Split --->\ntwo", {0: "one", 1: "two"}),
        ("\n<!-- PageBreak -->\ntwo", {0: "", 1: "two"}),
        ("one\n\n--- end of page=0 ---\n\ntwo\n\n--- end of page=1 ---\n", {0: "one", 1: "two"}),  # PyMuPDF4LLM
        ("one\n--- end of page=2 ---\ncut", {2: "one", 3: "cut"}),
        ("one\n--- end of page=0 ---\nmore\n--- end of page=0 ---\n", {0: "one\n\nmore"}),
        (
            "one\n\n--- end of page.page_number=1 ---\n\ntwo\n\n--- end of page.page_number=2 ---\n",
            {0: "one", 1: "two"},
        ),
        ("one\n\n-----\n\ntwo\n\n-----\n\n", {0: "one", 1: "two"}),  # earlier
        ("one\n\n-----\n\ntwo", {0: "one\n\n-----\n\ntwo"}),  # a rule
        ("one\n<<<\n\ftwo\n<<<\n\f", {0: "one", 1: "two"}),  # LLMWhisperer
        (
            "<!-- Slide number: 1 -->\n# One\n\n<!-- Slide number: 3 -->\n# Three",
            {0: "# One", 2: "# Three"},
        ),  # MarkItDown
        ("--- Page 1 ---\none\n--- Page 2 ---\ntwo\n", {0: "one", 1: "two"}),
        ("one\n<!-- page 1 -->\ntwo\n<!-- page 2 -->\n", {0: "one", 1: "two"}),
        ("one\n=== PAGE 2 ===\ntwo", {0: "one", 1: "two"}),
        ("a\n\n--- Page 7 ---\nb", {0: "a\n\n--- Page 7 ---\nb"}),  # of the page's own
        ("--- Page 1 ---\na\n--- Page 1 ---\nb", {0: "--- Page 1 ---\na\n--- Page 1 ---\nb"}),
        ("one\n\n---PAGE_BREAK---\n\ntwo", {0: "one", 1: "two"}),
        ("one\n\\newpage\ntwo", {0: "one", 1: "two"}),  # pandoc
        ("one\n```latex\n\\newpage\n```\n\\newpage\ntwo", {0: "one\n```latex\n\\newpage\n```", 1: "two"}),
        ('one\n\n<div style="page-break-after: always;"></div>\n\ntwo', {0: "one", 1: "two"}),
        ("one\n<!-- END_OF_PAGE -->\ntwo\n<!-- END_OF_PAGE -->", {0: "one", 1: "two"}),
        ("one\n\n---\n\ntwo", {0: "one\n\n---\n\ntwo"}),  # LlamaParse's, or the page's own
        ("START OF PAGE: 1\none\nEND OF PAGE: 1\nSTART OF PAGE: 2\ntwo\nEND OF PAGE: 2", {0: "one", 1: "two"}),
        ("<page_1>\none\n</page_1>\n<page_2>\ntwo\n</page_2>", {0: "one", 1: "two"}),
        ("one\n--- END OF PAGE 1 ---\ntwo\n--- END OF PAGE 2 ---", {0: "one", 1: "two"}),
        ("<!-- Page 0 -->\none\n<!-- Page 1 -->\ntwo", {0: "one", 1: "two"}),
        ("--- 第 1 页 ---\none\n--- 第 2 页 ---\ntwo", {0: "one", 1: "two"}),
        ("## Page 1\n\none\n\n---\n\n## Page 2\n\ntwo", {0: "one", 1: "two"}),
        ("[Page 1]\none\n[Page 2]\ntwo", {0: "one", 1: "two"}),
        ("# Kelp\n\n## Page 1\n\n## Page 2", {0: "# Kelp\n\n## Page 1\n\n## Page 2"}),  # headings of the page
        ("Page 1\none\nPage 2\ntwo", {0: "Page 1\none\nPage 2\ntwo"}),
        ("one\n<page_number>1</page_number>\ntwo\n<page_number>2</page_number>", {0: "one", 1: "two"}),  # Nanonets
        ("one\n<page_number>7</page_number>", {0: "one\n<page_number>7</page_number>"}),  # a printed number
        ("one\r\n<--- Page Split --->\r\ntwo\r\n", {0: "one", 1: "two"}),
        ("---\r\nis_table: False\r\n---\r\nKelp\r\n", {0: "Kelp"}),
        ("<|grounding|>Kelp<｜end▁of▁sentence｜>", {0: "Kelp"}),
        ("<|ref|>title<|/ref|><|det|>[[61, 70, 420, 95]]<|/det|>\n# Kelp", {0: "# Kelp"}),
        ("---\nprimary_language: en\nis_table: False\n---\nKelp\n\n---\n\nSalt", {0: "Kelp\n\n---\n\nSalt"}),  # olmOCR
        ("---\ntitle: Kelp\n---\nSalt", {0: "---\ntitle: Kelp\n---\nSalt"}),
    ],
)
def test_markdown(text, pages):
    assert texts(parse("markdown", text.encode(), "lease.md")) == pages


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("```markdown\n# Kelp\n\n```python\nx=1\n```\n\nLast.\n```", "# Kelp\n\n```python\nx=1\n```\n\nLast."),
        ("```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"),
        ("```md\na\n```\n\n```md\nb\n```", "```md\na\n```\n\n```md\nb\n```"),
        ("~~~markdown\na\n\n```\nx\n```\n~~~", "a\n\n```\nx\n```"),
        ("Here is the extracted text:\n\n```markdown\n# Kelp\n```", "# Kelp"),
        ("![Kelp][p1] grows\n\n[p1]: data:image/png;base64,iVBORw0", " grows"),
        ("[p1]: <data:image/png;base64,iVBORw0>\nKelp", "Kelp"),
        ("see [1]: data of 2019", "see [1]: data of 2019"),
    ],
)
def test_fences_around_pages_and_pictures_by_reference_are_dropped(text, page):
    assert tidy(text, Markup()) == page


def test_a_block_of_an_unknown_kind_does_not_cost_its_document(caplog):
    blocks = [{"type": "text", "text": f"Line {n}.", "page_idx": 0} for n in range(8)]
    odd = {"type": "algorithm", "algorithm_body": "x = 1", "page_idx": 0}
    (page,) = texts(parse("mineru", [*blocks[:4], odd, *blocks[4:]])).values()
    assert page.split("\n\n") == [f"Line {n}." for n in range(8)]
    assert "1 algorithm block without a key that is known, left out: it has algorithm_body" in caplog.text
    with pytest.raises(Unreadable):
        parse("mineru", [*blocks[:1], odd])
    caplog.clear()
    new = {"type": "sidebar", "words": "x", "page_idx": 0}
    assert texts(parse("mineru", [blocks[0], new, new])) == {0: "Line 0."}
    assert "2 sidebar blocks without a key that is known, left out: it has" in caplog.text
    with pytest.raises(Unreadable):
        parse("mineru", [new])


def test_the_layout_of_ohrbench():
    assert texts(parse("ohrbench", [{"page_idx": 1, "text": "b"}, {"page_no": 0, "text": "a"}])) == {0: "a", 1: "b"}


# --- broken files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "system",
    [name for name in Registry().names("ocr_format") if ending_of(Registry().load("ocr_format", name)(), "a.json")],
)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b'[{"page_idx": 0, "te', "not readable as JSON"),
        (b"<!DOCTYPE html><html></html>", "HTML or XML in place of JSON"),
        (b"\xff\xfe\x00", "not readable as JSON"),
        (b"[" * 100_000, "not readable as JSON"),
        (b'"text"', "not "),
        (b"17", "not "),
        (b'{"error": "busy"}', "not "),
        (b'{"pages": 3, "content": 3, "children": 3, "body": 3, "parsing_res_list": 3, "pdf_info": 3}', "not "),
        (b'{"pages": [3], "content": "", "children": [3], "body": {"children": [3]}, "parsing_res_list": [3]}', "not "),
    ],
)
def test_a_broken_file_is_refused_with_its_reason(system, content, reason):
    with pytest.raises(Unreadable, match=f"^{reason}"):
        parse(system, content)


@pytest.mark.parametrize(
    "path", [*MINERU, RECORDINGS / "docling" / "timber_annual_report.json"], ids=lambda path: path.stem
)
@pytest.mark.parametrize("wrong", [None, 7, "text", [], {}, [[]], True])
def test_a_value_of_the_wrong_type_is_refused_or_left_out(path, wrong):
    found = json.loads(path.read_bytes())
    for depth in range(1, 9):
        try:
            pages = parse(path.parent.name, spoilt(found, depth, wrong), path.name)
        except Unreadable:
            continue
        assert all(isinstance(block, Block) and isinstance(block.text, str) for b in pages.values() for block in b)
        assert texts(pages)


@pytest.mark.parametrize("number", [-1, 10**9, "x", None, True, 1.5])
def test_a_page_without_a_number_is_refused(number):
    with pytest.raises(Unreadable, match=r"^not as expected: a page has no number"):
        parse("mineru", [{"type": "text", "text": "a", "page_idx": number}], "lease_content_list.json")


def test_a_page_of_a_browser_is_no_markdown():
    with pytest.raises(Unreadable, match=r"^an HTML page in place of Markdown"):
        parse("markdown", b"<!DOCTYPE html><html><body>502</body></html>", "lease.md")


def test_text_that_is_not_utf_8_is_refused():
    with pytest.raises(Unreadable, match=r"^not text in UTF-8"):
        parse("markdown", b"caf\xe9", "lease.md")


def test_tables_of_all_formats_can_be_converted():
    pages = parse("paddleocr", {"parsing_res_list": LISTED}, "lease_res.json")
    assert "|" in page_text(pages[0], Markup(tables="markdown"))


# --- keys that a reader does not know ---------------------------------------------------------------------


def docling(*texts, **more):
    children = [{"$ref": f"#/texts/{place}"} for place in range(len(texts))]
    return {"body": {"children": children}, "texts": list(texts), "pages": {"1": {}}, **more}


def said(label, text, **more):
    return {"label": label, "text": text, "prov": [{"page_no": 1}], **more}


@pytest.mark.parametrize(
    ("system", "found", "name"),
    [
        ("mineru", [{"type": "text", "content_text": "Salt", "page_idx": 0}], "a_content_list.json"),
        ("mineru", [{"type": "table", "rows": [], "page_idx": 0}, {"type": "text", "text": "Salt", "page_idx": 0}],
         "a_content_list.json"),
        ("mineru", [[{"type": "paragraph", "content": {"words": "Salt"}}]], "a_content_list_v2.json"),
        ("mineru", {"pdf_info": [{"page_idx": 0, "segments": []}]}, "a_middle.json"),
        ("mineru", [[]], "a_content_list_v2.json"),
        ("mineru", [{"page_idx": 0, "type": "table", "table_body": [1]}], "a_content_list.json"),
        ("mineru", [{"page_idx": 0, "type": ["text"], "text": "Salt"}], "a_content_list.json"),
        ("mineru", [{"page_idx": 0, "type": "text", "text": 7}], "a_content_list.json"),
        ("mistral", {"pages": [{"index": 0, "text": "Salt"}]}, "a.json"),
        ("docling", docling({"label": "text", "content": "Salt", "prov": [{"page_no": 1}]}), "a.json"),
        ("docling", docling(tables=[{"label": "table", "grid": []}]), "a.json"),
        ("marker", {"children": [{"children": [{"block_type": "Text", "text": "Salt"}]}]}, "a.json"),
        ("paddleocr", {"parsing_res_list": [{"block_label": "text", "block_text": "Salt"}]}, "a_res.json"),
        ("paddleocr", {"layoutParsingResults": [{"markdown": {"content": "Salt"}}]}, "a.json"),
        ("paddleocr", {"texts": ["Salt"]}, "a.json"),
        ("olmocr", {"content": "Salt", "metadata": {}, "attributes": {"pdf_page_numbers": [[0, 4, 1]]}}, "a.jsonl"),
        ("azure", {"content": "", "pages": [{"pageNumber": 1, "lines": [{"text": "Salt"}]}]}, "a.json"),
        ("ohrbench", [{"page_idx": 0, "content": "Salt"}], "a.json"),
    ],
)  # fmt: skip
def test_a_file_without_a_known_key_of_text_is_refused_and_not_blank(system, found, name):
    with pytest.raises(Unreadable):
        parse(system, found, name, line=1 if system == "olmocr" else None)


def test_blank_pages_are_no_unknown_form():
    assert parse("mistral", {"pages": [{"index": 0, "markdown": ""}]}) == {0: ()}
    assert parse("docling", docling()) == {0: ()}
    assert parse("mineru", {"pdf_info": [{"page_idx": 0, "para_blocks": []}]}, "a_middle.json") == {0: ()}


@pytest.mark.parametrize("inside", [
    {"rec_texts": ["Gulls nest", "on the cliff."]},
    {"overall_ocr_res": {"rec_texts": ["Gulls nest", "on the cliff."]}},
    {"rec_text": "Gulls nest\non the cliff."},
])  # fmt: skip
def test_lines_of_paddleocr_without_blocks(inside):
    found = {"input_path": "gulls.png", "page_index": None, **inside}
    assert texts(parse("paddleocr", found, "gulls_res.json")) == {0: "Gulls nest\non the cliff."}


def test_blocks_of_release_candidates_of_paddleocr():
    listed = [
        {"layout_bbox": [0], "doc_title": "Nests", "layout": "single"},
        {"layout_bbox": [0], "table": "<table><tr><td>412</td></tr></table>", "layout": "single"},
        {"layout_bbox": [0], "image": {"img": "x", "image_text": "cliff"}, "layout": "single"},
    ]
    assert texts(parse("paddleocr", {"parsing_res_list": listed}, "a_res.json")) == {
        0: "# Nests\n\n<table><tr><td>412</td></tr></table>\n\ncliff"
    }


def marker(*blocks):
    return {"children": [{"id": "/page/0/Page/9", "block_type": "Page", "html": "", "children": list(blocks)}]}


def test_a_table_of_marker_is_whole_and_not_its_cells():
    whole = "<table><tr><th>Day</th></tr><tr><td>Monday</td></tr></table>"
    cells = [
        {"block_type": "TableCell", "html": "<th>Day</th>"},
        {"block_type": "TableCell", "html": "<td>Monday</td>"},
    ]
    found = marker({"id": "/page/0/Table/1", "block_type": "Table", "html": whole, "children": cells})
    assert texts(parse("marker", found)) == {0: whole}


def test_a_group_of_marker_is_its_children():
    item = {"id": "/page/0/ListItem/2", "block_type": "ListItem", "html": "<li>Salt</li>", "children": None}
    html = "<p><ul><content-ref src='/page/0/ListItem/2'></content-ref></ul></p>"
    found = marker({"id": "/page/0/ListGroup/1", "block_type": "ListGroup", "html": html, "children": [item]})
    assert texts(parse("marker", found)) == {0: "- Salt"}


def test_an_item_of_marker_keeps_its_own_text_beside_its_children():
    inner = {"id": "/page/0/ListItem/3", "block_type": "ListItem", "html": "<li>coarse</li>", "children": None}
    html = "<li>Salt <content-ref src='/page/0/ListItem/3'></content-ref></li>"
    found = marker({"id": "/page/0/ListItem/2", "block_type": "ListItem", "html": html, "children": [inner]})
    assert texts(parse("marker", found)) == {0: "- Salt\n\n- coarse"}


def test_boxes_numbers_and_layers_of_docling():
    found = docling(
        said("checkbox_selected", "Yes"),
        said("checkbox_unselected", "No"),
        said("list_item", "first", enumerated=True, marker=""),
        said("list_item", "second", enumerated=True, marker="b)"),
        said("list_item", "third", enumerated=True),
        said("text", "Page of the harbour", content_layer="furniture"),
        said("text", "not to be seen", content_layer="invisible"),
    )
    blocks = parse("docling", found)[0]
    assert [block.text for block in blocks] == [
        "- [x] Yes", "- [ ] No", "1. first", "b) second", "3. third", "Page of the harbour"
    ]  # fmt: skip
    assert blocks[-1].kind == "footer"


CHART = {"table_cells": [{"start_row_offset_idx": 0, "start_col_offset_idx": 0, "text": "4812"}]}


@pytest.mark.parametrize("more", [
    {"annotations": [{"kind": "tabular_chart_data", "title": "bar", "chart_data": CHART}]},
    {"meta": {"tabular_chart": {"title": "bar", "chart_data": CHART}}},
])  # fmt: skip
def test_charts_of_docling_have_their_tables_and_the_text_below_them(more):
    found = docling(said("text", "Tonnes"), said("text", "1 Salted."))
    picture = {"label": "chart", "children": [{"$ref": "#/texts/0"}], "footnotes": [{"$ref": "#/texts/1"}], **more}
    found = {
        **found,
        "body": {"children": [{"cref": "#/pictures/0"}]},
        "pictures": [{**picture, "prov": [{"page_no": 1}]}],
    }
    assert texts(parse("docling", found)) == {0: "<table><tr><td>4812</td></tr></table>\n\nTonnes\n\n1 Salted."}


def test_a_reference_of_docling_that_is_none_is_named():
    with pytest.raises(Unreadable, match="no reference, such as"):
        parse("docling", {"body": {"children": [{"ref": "x"}]}, "pages": {"1": {}}})


@pytest.mark.parametrize("label", ["section_header", "Section-header", "SectionHeader"])
def test_a_label_has_one_kind_however_a_system_writes_it(label):
    assert kind_of(label) == "heading"
    assert (kind_of("aside_text"), kind_of(None)) == ("text", "text")


def test_a_mark_of_a_page_that_is_none_takes_no_time():
    began = process_time()
    assert len(markdown.read("--- Page " + " " * 100_000 + "x")) == 1
    assert process_time() - began < 5
