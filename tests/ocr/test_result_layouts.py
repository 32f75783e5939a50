"""Results of LlamaParse, Unstructured, dots.ocr and DeepSeek-OCR, newer layouts of others, and confidences of words.

All files are made after each system's keys.
"""

import json
import zlib
from base64 import b64encode

import pytest

from ohr.contracts import Block, Document, Word
from ohr.ocr.formats.find import content_of, ending_of, parsed
from ohr.ocr.formats.values import Unreadable, box
from ohr.ocr.precomputed import Precomputed
from ohr.registry import Registry

from .spoiled_json import spoilt

FORMATS = {name: Registry().load("ocr_format", name)() for name in Registry().names("ocr_format")}
HTML = "<table><tr><td>412</td></tr></table>"


def parse(system: str, content: object, name: str = "lease.json"):
    """Read a file of a system by its name."""
    raw = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    place, _ = ending_of(FORMATS[system], name)
    return content_of(FORMATS[system], FORMATS[system].endings[place], raw).pages


def element(type: str, text: str, page: int | None = 1, **about):
    return {"type": type, "element_id": text, "text": text, "metadata": {"page_number": page, **about}}


def chunk(*elements: object):
    packed = b64encode(zlib.compress(json.dumps(elements).encode())).decode()
    return {"type": "CompositeElement", "text": "Rent Due", "metadata": {"page_number": 1, "orig_elements": packed}}


def dot(category: str, text: str | None = None):
    return {"bbox": [0, 0, 9, 9], "category": category} | ({} if text is None else {"text": text})


def mark(label: str, text: str = "") -> str:
    return f"<|ref|>{label}<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\n{text}"


ITEMS = [
    {"type": "heading", "lvl": 2, "value": "Rent", "md": "## Rent"},
    {"type": "table", "rows": [["a"]], "md": "| a |\n|-|", "html": HTML},
    {"type": "text", "value": "Ferry", "md": "Ferry", "bBox": {"x": 1, "label": "header"}},
    {"type": "list", "md": "- one", "items": [], "ordered": False},
]
READ = (Block("heading", "Rent", 2), Block("table", HTML), Block("header", "Ferry"), Block("list", "- one"))
FIRST = {"pages": [{"page": 1, "md": "x", "text": "x", "items": ITEMS}], "job_metadata": {"job_pages": 1}}
SECOND = {
    "job": {"id": "1", "status": "COMPLETED"},
    "items": {
        "pages": [
            {"page_number": 1, "items": [{"type": "header", "md": "Ferry", "items": []}], "success": True},
            {"page_number": 2, "error": "busy", "success": False},
            {"page_number": 3, "items": [{"type": "table", "rows": [["a", 7, None]]}], "success": True},
        ]
    },
    "markdown": {"pages": [{"page_number": 3, "markdown": "", "footer": "7", "success": True}]},
}
ELEMENTS = [element("Title", "Rent", category_depth=1), element("NarrativeText", "Due.", 3)]
DOTS = [dot("Page-header", "Gull Times"), dot("Section-header", "## Rent"), dot("Formula", "n=412"), dot("Picture")]


@pytest.mark.parametrize(
    ("system", "content", "pages"),
    [
        ("llamaparse", FIRST, {0: READ}),
        ("llamaparse", [FIRST], {0: READ}),
        ("llamaparse", FIRST["pages"], {0: READ}),
        ("llamaparse", {"md": "x", "json": FIRST["pages"]}, {0: READ}),
        (
            "llamaparse",
            SECOND,
            {
                0: (Block("header", "Ferry"),),
                2: (Block("table", "<table><tr><td>a</td><td>7</td><td></td></tr></table>"), Block("footer", "7")),
            },
        ),
        (
            "llamaparse",
            {
                "pages": [
                    {"page": 1, "md": "Ferry\n\nDue.\n\n7", "pageHeaderMarkdown": "Ferry", "pageFooterMarkdown": "\n7"}
                ]
            },
            {0: (Block("header", "Ferry"), Block("text", "Due."), Block("footer", "7"))},
        ),
        ("llamaparse", {"pages": [{"page": 1, "md": "NO_CONTENT_HERE", "items": []}]}, {0: ()}),
        (
            "llamaparse",  # pages that failed, and one with a few of its items only
            [
                {"page": 1, "md": "", "status": "ERROR"},
                {"page": 2},
                {"page": 3, "md": "# Rent\nDue.", "items": ITEMS[:1]},
                {"page": 4, "md": "## Rent", "items": ITEMS[:1]},
            ],
            {2: (Block("text", "# Rent\nDue."),), 3: READ[:1]},
        ),
        ("llamaparse", {"markdown": "a\n---\nNO_CONTENT_HERE", "job_metadata": {}}, {0: (Block("text", "a"),), 1: ()}),
        ("unstructured", ELEMENTS, {0: (Block("heading", "Rent", 2),), 1: (), 2: (Block("text", "Due."),)}),
        (
            "unstructured",
            [
                element("Table", "412", text_as_html=HTML),
                element("Table", "413", text_as_html="no table"),
                element("ListItem", "one"),
                element("ListItem", "(a) two"),
                {"type": "CheckBox", "checked": True, "metadata": {"page_number": 1}},
                element("Formula", "r=2"),
                element("Image", "GULL"),
                element("CodeSnippet", "x = 1"),
                element("Header", "Ferry"),
                element("PageNumber", "7"),
                element("Unheard-of", "kept"),
            ],
            {
                0: (
                    Block("table", HTML),
                    Block("table", "413"),
                    Block("list", "- one"),
                    Block("list", "(a) two"),
                    Block("list", "- [x] "),
                    Block("formula", "$$r=2$$"),
                    Block("image", "![]()"),
                    Block("description", "GULL"),
                    Block("code", "```\nx = 1\n```"),
                    Block("header", "Ferry"),
                    Block("page_number", "7"),
                    Block("text", "kept"),
                )
            },
        ),
        (
            "unstructured",  # without numbers, pages end at breaks
            [element("Text", "a", None), element("PageBreak", "", None), element("Text", "b", None)],
            {0: (Block("text", "a"),), 1: (Block("text", "b"),)},
        ),
        (
            "unstructured",
            [
                element("CompositeElement", "Due in"),
                element("CompositeElement", "May.", is_continuation=True),
                element("TableChunk", "412", text_as_html=HTML),
                element("TableChunk", "413", text_as_html=HTML.replace("412", "413"), is_continuation=True),
            ],
            {
                0: (
                    Block("text", "Due in May."),
                    Block("table", "<table><tr><td>412</td></tr><tr><td>413</td></tr></table>"),
                )
            },
        ),
        (
            "unstructured",  # in a list that was not chunked, what is there twice is twice on the page
            [element("Title", "Rent"), element("Title", "Rent")],
            {0: (Block("heading", "Rent"), Block("heading", "Rent"))},
        ),
        (
            "unstructured",  # two chunks of the same element, which each of them packs
            [chunk(ELEMENTS[0]), chunk(ELEMENTS[0], ELEMENTS[1])],
            {0: (Block("heading", "Rent", 2),), 1: (), 2: (Block("text", "Due."),)},
        ),
        (
            "dots_ocr",
            DOTS,
            {
                0: (
                    Block("header", "Gull Times"),
                    Block("heading", "Rent", 2),
                    Block("formula", "$$n=412$$"),
                    Block("image", "![]()"),
                )
            },
        ),
        ("dots_ocr", [dot("Picture")], {0: (Block("image", "![]()"),)}),
        (
            "dots_ocr",
            [
                {"page_no": 1, "full_layout_info": [dot("Text", "b")]},
                {"page_no": 0, "full_layout_info": []},
                {"page_no": 2, "full_layout_info": None},
                {"page_no": 3},
            ],
            {1: (Block("text", "b"),), 0: ()},
        ),
        (
            "marker",
            {
                "blocks": [{"id": "/page/2/Text/4", "page": 9, "block_type": "Text", "html": "<p>Due</p>"}],
                "page_info": {"1": {}, "2": {}},
                "metadata": {},
            },
            {1: (), 2: (Block("text", "Due"),)},
        ),
        (
            "marker",
            {
                "status": "complete",
                "json": {
                    "children": [
                        {
                            "id": "/page/0/Page/9",
                            "children": [{"block_type": "Line", "html": "Due", "children": [{"text": "D"}]}],
                        }
                    ]
                },
            },
            {0: (Block("text", "Due"),)},
        ),
        (
            "docling",
            {
                "document": {
                    "json_content": {
                        "body": {"children": [{"$ref": "#/texts/0"}]},
                        "texts": [{"label": "field_heading", "text": "Rent", "prov": [{"page_no": 1}]}],
                    }
                },
                "status": "success",
            },
            {0: (Block("heading", "Rent"),)},
        ),
        ("docling", {"document": {"json_content": None, "md_content": "Due."}}, {0: (Block("text", "Due."),)}),
        (
            "azure",
            {
                "result": {
                    "stringEncoding": "codePoint",
                    "contents": [
                        {
                            "markdown": "a\nb",
                            "pages": [{"pageNumber": n, "spans": [{"offset": 2 * n - 2, "length": 1}]} for n in (1, 2)],
                        },
                        {"markdown": "c", "pages": [{"pageNumber": 3}]},
                    ],
                }
            },
            {0: (Block("text", "a"),), 1: (Block("text", "b"),), 2: (Block("text", "c"),)},
        ),
        (
            "mistral",
            {
                "custom_id": "lease",
                "response": {"status_code": 200, "body": {"pages": [{"index": 0, "markdown": "a"}]}},
            },
            {0: (Block("text", "a"),)},
        ),
        (
            "paddleocr",
            {
                "parsing_res_list": [
                    {"block_label": "header_image", "block_content": '<div><img src="a.png"/></div>\n'},
                    {"block_label": "image", "block_content": '<div style="x"><img src="a.png" />\n\nGULL\n\n</div>\n'},
                    {"block_label": "paragraph_title", "block_content": "### Rent"},
                    {"block_label": "table", "block_content": f'<div style="x">{HTML}</div>'},
                ]
            },
            {
                0: (
                    Block("header", ""),
                    Block("image", "![]()"),
                    Block("description", "GULL"),
                    Block("heading", "Rent", 3),
                    Block("table", HTML),
                )
            },
        ),
    ],
)
def test_a_result_has_its_blocks_by_page(system, content, pages):
    assert parse(system, content) == pages
    assert FORMATS[system].fits(content)


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        (
            mark("title", "# Kelp ") + "\n\n" + mark("sub_title", "Growth"),
            {0: (Block("heading", "Kelp", 1), Block("heading", "Growth", 2))},
        ),
        (
            mark("table") + mark("table_caption", f"Table 1. \n\n{HTML}\n\n") + mark("equation", "\\[r = 2\\]\n"),
            {0: (Block("caption", "Table 1."), Block("table", HTML), Block("formula", "$$r = 2$$"))},
        ),
        (
            mark("image") + mark("image_caption", "<center>A quay</center>"),
            {0: (Block("image", "![]()"), Block("caption", "A quay"))},
        ),
        (mark("Gull Times") + mark("Due in May"), {0: (Block("text", "Gull Times"), Block("text", "Due in May"))}),
        (
            mark("text", "Kelp\n\n") + "<|ref|>image<|/ref|><|det|>[[1, 2",
            {0: (Block("text", "Kelp"), Block("image", "![]()"))},
        ),
        ("One.\n\n<--- Page Split --->\n\n<--- Page Split --->\n", {0: (Block("text", "One."),), 1: ()}),
    ],
)
def test_marks_of_deepseek_ocr_say_what_a_block_is(text, pages):
    assert parse("deepseek_ocr", text, "lease_det.mmd") == pages
    assert FORMATS["deepseek_ocr"].fits(text)


def test_a_page_of_deepseek_ocr_that_has_its_text_in_its_labels_is_not_blank():
    assert parse("markdown", mark("Gull Times") + mark("Due in May"), "lease.md") == {
        0: (Block("text", "Gull Times\nDue in May"),)
    }


def test_lines_of_replies_of_paddleocr_are_one_document():
    pages = [{"prunedResult": {"parsing_res_list": [{"block_label": "text", "block_content": text}]}} for text in "ab"]
    replies = [{"errorCode": 0, "result": {"layoutParsingResults": [page]}} for page in pages]
    text = "\n\n".join(map(json.dumps, replies))
    assert parse("paddleocr", text, "lease.jsonl") == {0: (Block("text", "a"),), 1: (Block("text", "b"),)}
    assert FORMATS["paddleocr"].words(text) == {0: (), 1: ()}
    with pytest.raises(Unreadable, match=r"^not readable as JSON in line 3 \("):
        parse("paddleocr", text[:-1], "lease.jsonl")


def test_lines_of_elements_are_one_document():
    text = "\n".join(map(json.dumps, ELEMENTS))
    for name in ("lease.jsonl", "lease.ndjson"):
        assert parse("unstructured", text, name) == parse("unstructured", ELEMENTS)


def read(root, files, document="lease", pages=1):
    for name, content in files.items():
        (root / name).write_text(content if isinstance(content, str) else json.dumps(content))
    engine = Precomputed(root=root)
    engine.check()
    return engine.format.kind, [page.text for page in engine.recorded(Document(f"law/{document}", "law", "en", pages))]


@pytest.mark.parametrize(
    ("files", "format", "texts"),
    [
        ({"lease.jsonl": "\n".join(map(json.dumps, ELEMENTS))}, "unstructured", ["## Rent", "", "Due."]),
        ({"lease.ndjson": "\n".join(map(json.dumps, ELEMENTS))}, "unstructured", ["## Rent", "", "Due."]),
        (
            {
                "lease_page_0.json": [dot("Text", "a")],
                "lease_page_0.md": "a of Markdown",
                "lease_page_0_nohf.md": "a without",
                "lease_page_1.json": [dot("Text", "b")],
                "lease.jsonl": json.dumps({"page_no": 0, "layout_info_path": "lease_page_0.json"}),
            },
            "dots_ocr",
            ["a", "b"],
        ),
        (
            {"lease.jsonl": json.dumps({"result": {"ocrResults": [{"prunedResult": {"rec_texts": ["a"]}}]}})},
            "paddleocr",
            ["a"],
        ),
        ({"lease_page_0.md": "a", "lease_page_0_nohf.md": "b"}, "markdown", ["a"]),
        ({"lease_nohf.md": "b"}, "markdown", ["b"]),
        ({"lease.mmd": "Kelp", "lease_det.mmd": mark("title", "Kelp")}, "deepseek_ocr", ["# Kelp"]),
        ({"lease.mmd": "a\n<--- Page Split --->\nb\n<--- Page Split --->\n"}, "deepseek_ocr", ["a", "b"]),
        (
            {
                "batch.jsonl": json.dumps(
                    {"custom_id": "lease", "response": {"body": {"pages": [{"index": 0, "markdown": "a"}]}}}
                )
            },
            "mistral",
            ["a"],
        ),
    ],
)
def test_the_files_of_a_document_are_found(tmp_path, files, format, texts):
    assert read(tmp_path, files, pages=len(texts)) == (format, texts)


SAMPLES = {
    "llamaparse": [FIRST, [FIRST], FIRST["pages"], SECOND, {"job": {"id": "1"}, "markdown_full": "a"}],
    "unstructured": [ELEMENTS, [chunk(*ELEMENTS)], [*ELEMENTS, {"type": "CheckBox", "checked": True, "metadata": {}}]],
    "dots_ocr": [DOTS],
    "mineru": [[{"type": "text", "text": "Salt", "page_idx": 0}], {"pdf_info": [{"page_idx": 0, "para_blocks": []}]}],
    "marker": [{"children": [{"id": "/page/0/Page/9", "children": [{"block_type": "Text", "html": "<p>Salt</p>"}]}]}],
    "mistral": [{"pages": [{"index": 0, "markdown": "Salt"}]}],
    "paddleocr": [{"page_index": None, "parsing_res_list": [{"block_label": "text", "block_content": "Salt"}]}],
    "ohrbench": [[{"page_idx": 0, "text": "Salt"}]],
    "azure": [{"analyzeResult": {"content": "Salt", "pages": [{"pageNumber": 1, "lines": [{"content": "Salt"}]}]}}],
    "deepseek_ocr": [mark("text", "Salt"), "a\n<--- Page Split --->\nb"],
}


@pytest.mark.parametrize("system", SAMPLES)
def test_no_other_format_claims_a_file(system, caplog):
    for sample in SAMPLES[system]:
        claimed = []
        for name, format in FORMATS.items():
            try:
                claimed += [name] if format.fits(sample) and not format.is_general else []
            except Exception:
                continue
        assert claimed == [system]
    assert not caplog.text  # what a format that it is not would leave out


@pytest.mark.parametrize(
    ("system", "content", "reason"),
    [
        ("llamaparse", [FIRST, FIRST], "of 2 documents"),
        ("llamaparse", {"pages": [{"md": "a"}]}, "a page has no number"),
        ("llamaparse", {"pages": [{"page": 1, "md": "a"}] * 2}, "two pages have the same number"),
        ("mistral", {"pages": [{"index": 0, "markdown": "a"}] * 2}, "two pages have the same number"),
        ("mineru", {"pdf_info": [{"page_idx": 0, "para_blocks": []}] * 2}, "two pages have the same number"),
        ("ohrbench", [{"page_idx": 0, "text": "a"}] * 2, "two pages have the same number"),
        ("dots_ocr", [{"page_no": 1, "full_layout_info": []}] * 2, "two pages have the same number"),
        ("marker", {"children": [{"id": "/page/0/Page/9", "html": "a"}] * 2}, "two pages have the same number"),
        ("llamaparse", {"pages": [{"page": 1, "content": "a"}]}, "of another form: no page has"),
        ("llamaparse", {"pages": [{"page": 1, "items": [{"type": "text", "words": "a"}]}]}, "no item has"),
        ("llamaparse", {"pages": [{"page": 1, "items": [7]}]}, "an item is not an object"),
        ("unstructured", [{**ELEMENTS[0], "text": 7}], "a text is not text"),
        ("unstructured", [element("Text", "a", 0)], "a page has no number"),
        ("unstructured", [{"type": "Text", "content": "a", "metadata": {}}], "no element has"),
        (
            "unstructured",
            [element("Text", "a", filename="a.pdf"), element("Text", "b", filename="b.pdf")],
            "of several",
        ),
        ("unstructured", [{**chunk(), "metadata": {"orig_elements": "aGVsbG8="}}], "cannot be unpacked"),
        ("dots_ocr", [{"category": "Text", "bbox": [1]}], "its blocks have places only"),
        ("dots_ocr", [{"bbox": [1], "text": "a"}], "not dots.ocr's"),
        ("dots_ocr", [dot("Text", "a"), {**dot("Text"), "text": 7}], "a block's text is not text"),
        ("marker", {"page_info": {"x": {}}, "blocks": []}, "a page has no number"),
        ("marker", {"page_info": {"0": {}}, "blocks": [{"id": "/page/0/Text/1", "text": "a"}]}, "no block has"),
        ("docling", {"document": {"html_content": "<p>a</p>"}}, "json_content is not an object"),
        ("azure", {"result": {"contents": [{"markdown": "a", "pages": [{}]}]}}, "a page has no number"),
        ("mistral", {"response": {"body": {"error": "busy"}}}, "not Mistral's"),
    ],
)
def test_another_version_of_a_layout_is_refused_with_its_reason(system, content, reason):
    with pytest.raises(Unreadable) as caught:
        parse(system, content)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "Document", "metadata": {}, "page_content": "a"}],  # of LangChain
        [{"type": "text", "text": "a"}],  # of a chat
        [{"type": "user", "text": "a", "metadata": {}}],
        [{"bbox": [1, 2, 3, 4], "category": "person", "score": 0.9}],  # of a detector
        [{"bbox": [1, 2, 3, 4], "category": category} for category in ("table", "chair")],
        {"pages": [{"page": 1, "items": [{"text": "GET /users"}]}]},  # of an interface
        {"job": {"id": "1", "status": "FAILED"}},
        {"pages": [{"page_number": 1, "text": "a"}]},
        [{"page": 1, "text": "a"}],
    ],
)
def test_what_looks_like_a_result_is_none(content):
    for format in FORMATS.values():
        try:
            assert not format.fits(content)
        except Exception:  # as content of another system may raise anything
            continue


def test_a_broken_line_of_elements_is_named():
    with pytest.raises(Unreadable, match=r"^not readable as JSON in line 2 \("):
        parse("unstructured", f"{json.dumps(ELEMENTS[0])}\n{{", "lease.jsonl")


def test_a_damaged_result_shows_its_format(tmp_path):
    damaged = [element("Text", "a", filename="a.pdf"), element("Text", "b", filename="b.pdf")]
    assert read(tmp_path, {"lease.json": damaged}) == ("unstructured", [""])


def test_a_chunk_that_unpacks_without_end_is_refused():
    for size, times in ((60_000_000, 1), (20_000_000, 3)):
        bomb = b64encode(zlib.compress(b" " * size + b"[]")).decode()
        with pytest.raises(Unreadable, match="orig_elements are too large"):
            parse("unstructured", [{"type": "Text", "text": "a", "metadata": {"orig_elements": bomb}}] * times)


@pytest.mark.parametrize(
    "system", ["llamaparse", "unstructured", "dots_ocr", "marker", "mistral", "paddleocr", "azure"]
)
@pytest.mark.parametrize("wrong", [None, 7, "text", [], {}, [[]], True, float("nan")])
def test_a_value_of_the_wrong_type_is_refused_or_left_out(system, wrong):
    for sample in SAMPLES[system]:
        for depth in range(1, 7):
            try:
                pages = parse(system, spoilt(sample, depth, wrong))
            except Unreadable as error:
                assert "Error:" not in str(error)  # a reason, not what no reader foresaw
                continue
            assert all(isinstance(block, Block) and isinstance(block.text, str) for b in pages.values() for block in b)


# --- confidences ------------------------------------------------------------------------------------------


def azure(**word):
    return {"analyzeResult": {"content": "Rent", "pages": [{"pageNumber": 2, "words": [{"content": "Rent", **word}]}]}}


def mineru(**span):
    lines = [{"spans": [{"type": "text", "content": "Rent", "bbox": [1, 2, 3, 4], **span}]}]
    blocks = [{"type": "table", "blocks": [{"type": "table_caption", "lines": lines}]}]
    return {"pdf_info": [{"page_idx": 1, "para_blocks": blocks, "discarded_blocks": None}]}


def paddle(score, **more):
    return {"page_index": 1, "overall_ocr_res": {"rec_texts": ["Rent"], "rec_scores": [score], **more}}


def mistral(score):
    word = {"text": "Rent", "confidence": score, "start_index": 0}
    return {"pages": [{"index": 1, "markdown": "Rent", "confidence_scores": {"word_confidence_scores": [word]}}]}


@pytest.mark.parametrize(
    ("system", "content", "place"),
    [
        ("azure", azure(confidence=0.25, polygon=[1, 2, 3, 2, 3, 4, 1, 4]), (1, 2, 3, 4)),
        ("azure", azure(confidence=0.25, polygon=["x"]), None),
        ("mineru", mineru(score=0.25), (1, 2, 3, 4)),
        ("paddleocr", paddle(0.25, rec_polys=[[[1, 2], [3, 2], [3, 4], [1, 4]]]), (1, 2, 3, 4)),
        ("paddleocr", {"res": paddle(0.25, rec_boxes=[[1, 2, 3, 4]])}, (1, 2, 3, 4)),
        (
            "paddleocr",
            {
                "result": {
                    "ocrResults": [
                        {"prunedResult": {"rec_texts": ["x"], "rec_scores": []}},
                        {"prunedResult": paddle(0.25)["overall_ocr_res"]},
                    ]
                }
            },
            None,
        ),
        ("mistral", mistral(0.25), None),
    ],
)
def test_words_have_their_confidence(system, content, place):
    words = FORMATS[system].words(parsed(json.dumps(content).encode(), ".json"))
    assert words.pop(1) == (Word("Rent", place, 0.25),)
    assert not words.get(0)


@pytest.mark.parametrize("wrong", ["0.25", 1.5, -0.1, float("nan"), True])
@pytest.mark.parametrize(
    ("system", "result"),
    [
        ("azure", lambda value: azure(confidence=value)),
        ("mineru", lambda value: mineru(score=value)),
        ("paddleocr", lambda value: paddle(value, parsing_res_list=[])),
        ("mistral", mistral),
    ],
)
def test_what_is_no_confidence_is_refused_and_the_text_is_kept(system, result, wrong):
    with pytest.raises(Unreadable, match=r"^not as expected: a confidence is no number from 0 to 1$"):
        FORMATS[system].words(result(wrong))
    assert FORMATS[system].pages(result(wrong))


def test_texts_have_no_words_and_lines_of_another_number_are_refused():
    assert not any(FORMATS[system].words("Kelp") for system in ("azure", "mineru", "mistral", "paddleocr"))
    with pytest.raises(Unreadable, match=r"^with 1 scores of 2 lines$"):
        FORMATS["paddleocr"].words({"rec_texts": ["a", "b"], "rec_scores": [0.5]})


@pytest.mark.parametrize(
    "points", [None, [], [1, 2], [1, 2, 3], "1234", [1, 2, 3, "4"], [1, 2, 3, float("inf")], [[[]]]]
)
def test_what_is_no_polygon_is_no_box(points):
    assert box(points) is None
