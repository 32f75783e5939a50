"""`precomputed` with the files of other systems: which file belongs to which document, and what is reported."""

import json
from pathlib import Path
from unicodedata import normalize

import pytest

from ohr.contracts import Document, Page
from ohr.errors import PluginError
from ohr.messages.faults import sentences
from ohr.ocr.precomputed import Precomputed
from ohr.spec.read import make_ocr

LEASE = Document("law/lease", "law", "en", 2)
WILL = Document("law/will", "law", "en", 1)
RECORDINGS = Path(__file__).parent / "recordings"


def content_list(*texts: str) -> str:
    return json.dumps([{"type": "text", "text": text, "page_idx": page} for page, text in enumerate(texts)])


def write(root: Path, **files: str) -> Path:
    """Write files; `__` in a name is a slash."""
    for name, content in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


def mineru(root: Path, path: str, *texts: str) -> Path:
    return write(root, **{path: content_list(*texts)})


def read(root: Path, system: str = "mineru", document: Document = LEASE) -> list[str]:
    return [page.text or f"({page.error})" for page in Precomputed(root=root, format=system).recorded(document)]


@pytest.mark.parametrize(
    "path",
    [
        "law/lease_content_list.json",
        "law/lease/content_list.json",
        "law/lease/lease_content_list.json",
        "law/lease/auto/lease_content_list.json",
        "lease/auto/lease_content_list.json",
        "lease_content_list.json",
        "lease/content_list.json",
        "some/where/law/lease/lease_content_list.json",
    ],
)
def test_a_result_is_found_by_the_name_of_its_document(tmp_path, path):
    mineru(tmp_path, path, "a", "b")
    mineru(tmp_path, path.replace("lease", "lease_of_1964"), "wrong", "wrong")
    assert read(tmp_path) == ["a", "b"]


AB, WRONG, LACKS = content_list("a", "b"), content_list("wrong", "wrong"), "(not among the precomputed results)"


@pytest.mark.parametrize(
    ("files", "texts"),
    [
        # the preferred of several files
        (
            {"lease_content_list.json": AB, "lease_middle.json": "[", "lease_model.json": "[", "lease.md": "x"},
            ["a", "b"],
        ),
        # the surest of several names
        ({"law/lease/lease_content_list.json": AB, "old/lease_content_list.json": WRONG}, ["a", "b"]),
        # no document of another domain
        ({"law/will_content_list.json": AB, "news/lease_content_list.json": WRONG}, [LACKS] * 2),
    ],
)
def test_of_several_files_the_document_s_own_is_read(tmp_path, files, texts):
    assert read(write(tmp_path, **files)) == texts


def test_two_results_of_one_document_are_refused(tmp_path):
    for method in ("auto", "vlm"):
        mineru(tmp_path, f"law/lease/{method}/lease_content_list.json", "a", "b")
    reason = "several files could be its result: "
    assert all(page.startswith(f"({reason}") and "auto" in page and "vlm" in page for page in read(tmp_path))
    (note,) = Precomputed(root=tmp_path, format="mineru").notes([LEASE])
    assert note.startswith(f"1 document of {tmp_path.name} without pages: {reason}")


def test_a_file_that_is_taken_for_two_documents_is_reported(tmp_path):
    mineru(tmp_path, "lease_content_list.json", "a", "b")
    other = Document("news/lease", "news", "en", 2)
    assert Precomputed(root=tmp_path, format="mineru").notes([LEASE, other]) == [
        f"1 file of {tmp_path.name} taken for several documents: lease_content_list.json for law/lease and news/lease"
    ]


def test_a_name_in_another_unicode_form_is_matched(tmp_path):
    composed, parted = (normalize(form, "law/Frédéric") for form in ("NFC", "NFD"))
    mineru(tmp_path, f"{parted}_content_list.json", "a")
    assert read(tmp_path, document=Document(composed, "law", "en", 1)) == ["a"]


def test_a_file_that_is_added_later_is_found(tmp_path):
    mineru(tmp_path, "law/will/auto/will_content_list.json", "w")
    assert read(tmp_path)[0] == "(not among the precomputed results)"
    mineru(tmp_path, "law/lease/auto/lease_content_list.json", "a", "b")
    assert read(tmp_path) == ["a", "b"]


def test_a_link_to_a_folder_above_does_not_end_in_a_circle(tmp_path):
    mineru(tmp_path, "law/lease_content_list.json", "a", "b")
    (tmp_path / "law" / "above").symlink_to(tmp_path)
    assert read(tmp_path) == ["a", "b"]


# --- one file a page --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        ["law/lease_0.md", "law/lease_1.md"],
        ["law/lease_1.md", "law/lease_2.md"],  # from 1, as the last number is that of the last page
        ["law/lease/page_0001.md", "law/lease/page_0002.md"],
        ["law/lease/0.txt", "law/lease/1.txt"],
        ["lease-p1.md", "lease-p2.md"],
    ],
)
def test_pages_in_files_of_their_own(tmp_path, names):
    write(tmp_path, **dict(zip(names, ("a", "b"), strict=True)))
    assert read(tmp_path, "markdown") == ["a", "b"]


def test_a_number_may_be_part_of_a_documents_name(tmp_path):
    write(tmp_path, **{"law/act_1964.md": "a", "law/act_1965.md": "b"})
    assert read(tmp_path, "markdown", Document("law/act_1964", "law", "en", 1)) == ["a"]


def test_pages_of_paddleocr(tmp_path):
    for number, text in enumerate("ab"):
        found = {"page_index": None, "parsing_res_list": [{"block_label": "text", "block_content": text}]}
        write(tmp_path, **{f"law/lease_{number}_res.json": json.dumps(found)})
    assert read(tmp_path, "paddleocr") == ["a", "b"]


def test_a_broken_page_costs_itself_only(tmp_path):
    write(tmp_path, **{"law/lease_0.md": "a", "law/lease_1.md": "<html><body>502"})
    assert read(tmp_path, "markdown") == ["a", "(its result is an HTML page in place of Markdown)"]
    assert Precomputed(root=tmp_path, format="markdown").notes([LEASE]) == [
        f"1 page of {tmp_path.name} without text: its result is an HTML page in place of Markdown: law/lease page 2"
    ]


def test_a_document_in_a_page_s_place_is_refused(tmp_path):
    write(tmp_path, **{"law/lease_0.md": "a", "law/lease_1.md": "b\fc"})
    assert read(tmp_path, "markdown")[1] == "(its result is of 2 pages, although its name has a page's number)"


# --- several documents in one file ------------------------------------------------------------------------


def line(source: str, text: str) -> str:
    about = {"metadata": {"Source-File": source}, "attributes": {"pdf_page_numbers": [[0, len(text), 1]]}}
    return json.dumps({"text": text, **about})


def test_lines_of_olmocr_are_found_by_their_sources(tmp_path):
    lines = [line("s3://pdfs/law/lease.pdf", "a"), '{"text": "cut', line("/data/law/will.pdf", "w")]
    write(tmp_path, **{"results/output_1.jsonl": "\n".join(lines)})
    assert read(tmp_path, "olmocr")[0] == "a"
    assert read(tmp_path, "olmocr", WILL) == ["w"]
    assert Precomputed(root=tmp_path, format="olmocr").notes([WILL]) == [
        f"1 line that names no document, left out: {tmp_path.name}/output_1.jsonl line 2"
    ]


def test_a_source_cannot_lead_out_of_a_folder(tmp_path):
    write(tmp_path, **{"out.jsonl": line("../../etc/passwd.pdf", "a")})
    assert [each.name for each in Precomputed(root=tmp_path, format="olmocr").documents()] == ["etc/passwd"]


# --- faults -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[{"type": "te', "its result is not readable as JSON"),
        ("<html>", "its result is HTML or XML in place of JSON"),
        ("", "its result is empty"),
        ('{"busy": 1}', "its result is not MinerU's: it has no blocks and no pages"),
    ],
)
def test_a_broken_file_costs_its_document_only_and_is_reported(tmp_path, content, reason):
    write(tmp_path, **{"law/lease_content_list.json": content})
    mineru(tmp_path, "law/will_content_list.json", "w")
    assert all(page.startswith(f"({reason}") for page in read(tmp_path))
    assert read(tmp_path, document=WILL) == ["w"]
    (note,) = Precomputed(root=tmp_path, format="mineru").notes([LEASE, WILL])
    assert note.startswith(f"1 document of {tmp_path.name} without pages: {reason}")
    assert note.endswith(": law/lease")


def test_what_is_missing_and_what_is_too_much_is_reported(tmp_path):
    mineru(tmp_path, "law/lease_content_list.json", "a", "b", "c", "d")
    name = tmp_path.name
    notes = Precomputed(root=tmp_path, format="mineru").notes([LEASE, WILL, Document("law/lease", "law", "en", 5)])
    assert notes[:3] == [
        f"2 pages of {name} after the document's last, left out: law/lease page 3, law/lease page 4",
        f"1 document missing from {name}, so that all questions on it score 0 there: law/will",
        f"1 page missing from {name}: law/lease page 5",
    ]


def test_a_file_that_is_shorter_than_its_document_is_named(tmp_path):
    write(tmp_path, **{"law/lease.md": "one\n\n---\n\ntwo"})
    assert Precomputed(root=tmp_path, format="markdown").notes([LEASE])[-1] == (
        f"1 document of {tmp_path.name} shorter than the document: law/lease (1 page where the document has 2)"
    )


def test_a_file_that_is_too_long_for_one_page_is_named_once(tmp_path):
    lines = "".join(f"{n} kelp.\n" for n in range(3_000))
    write(tmp_path, **{"law/lease.md": lines, "law/will.md": lines, "law/deed.md": f"{lines}\f{lines}"})
    reader = Precomputed(root=tmp_path, format="markdown")
    (note,) = reader.notes(reader.documents())
    assert note.startswith(f"2 documents of {tmp_path.name} read as one page, although it is too long for one")


@pytest.mark.parametrize(("name", "key"), [("lease.md", None), ("law/lease.json", "page_idx")])
def test_artifacts_in_the_texts_are_counted_and_named(tmp_path, name, key):
    text = "Pay at the quay.\n" * 20
    write(tmp_path, **{name: json.dumps([{key: 0, "text": text}]) if key else text})
    reader = Precomputed(root=tmp_path)
    (converted,) = map(reader.converted, reader.files(reader.documents()))
    assert converted.artifacts == {"loop": 1}
    assert sentences(converted.faults) == [f"1 page of {tmp_path.name} with a loop: {converted.document.name} page 1"]


def test_pages_after_the_last_are_reported_of_ohrbenchs_layout_too(tmp_path):
    write(tmp_path, **{"law/will.json": json.dumps([{"page_idx": page, "text": "a"} for page in range(2)])})
    assert Precomputed(root=tmp_path).notes([WILL]) == [
        f"1 page of {tmp_path.name} after the document's last, left out: law/will page 2"
    ]


def test_a_folder_without_files_of_the_format_is_refused(tmp_path):
    write(tmp_path, **{"law/lease.md": "a"})
    with pytest.raises(PluginError, match=rf"^ocr precomputed: {tmp_path} holds no file that ends in \.json$"):
        Precomputed(root=tmp_path, format="mineru").check()
    Precomputed(root=tmp_path, format="marker").check()


# --- markup and identity ----------------------------------------------------------------------------------


def test_markup_decides_what_a_knowledge_base_gets():
    timber = Document("finance/timber_annual_report", "finance", "en", 3)
    kept, clean = (
        Precomputed(root=RECORDINGS / "mineru", format="mineru", markup=markup).recorded(timber)
        for markup in ("as_is", "ohrbench")
    )
    assert kept[0].text.startswith("Brackenhythe Timber plc")
    assert "<table>" in kept[1].text
    assert clean[0].text.startswith("**Financial review**")
    assert "<table>" not in clean[1].text
    assert r"\begin{tabular}" in clean[1].text


def test_texts_in_ohrbenchs_layout_stay_unchanged_unless_markup_is_named(tmp_path):
    text = "\n![](a.png)\n\n\n\n<table><tr><td>1</td></tr></table> "
    write(tmp_path, **{"law/will.json": json.dumps([{"page_idx": 0, "text": text}])})
    assert Precomputed(root=tmp_path).recorded(WILL) == [Page("law/will", 0, text)]
    (page,) = Precomputed(root=tmp_path, markup="ohrbench").recorded(WILL)
    assert page.text.startswith(r"\begin{tabular}")
    assert "![" not in page.text


def test_the_identity_is_that_of_the_files_and_of_how_they_are_read(tmp_path):
    mineru(tmp_path, "law/lease_content_list.json", "a")
    engine = Precomputed(root=tmp_path, format="mineru")
    before = engine.identity()
    write(tmp_path, **{"law/images__a.jpg": "x"})
    assert engine.identity() == before
    assert Precomputed(root=tmp_path, format="mineru", markup="ohrbench").identity() != before
    assert Precomputed(root=tmp_path, format="ohrbench").identity().keys() == {
        "kind",
        "content",
    }  # as before there were formats
    mineru(tmp_path, "law/lease_content_list.json", "b")
    assert engine.identity() != before


def test_keys_are_read_from_a_spec(tmp_path):
    mineru(tmp_path, "law/lease_content_list.json", "a", "b")
    keys = {"kind": "precomputed", "root": str(tmp_path), "format": "mineru", "markup": {"tables": "latex"}}
    engine = make_ocr(keys, "test")
    engine.check()
    assert engine.markup.tables == "latex"


def numbered(folder, *pages):
    for number, page in enumerate(pages, start=1):
        found = {"body": {"children": [{"$ref": "#/texts/0"}]}, "texts": [
            {"label": "text", "text": f"Invoice {number}", "prov": [{"page_no": page}]}
        ]}  # fmt: skip
        (folder / f"invoice_{number}.json").write_text(json.dumps(found))
    return [(d.name.split("/")[1], d.pages) for d in Precomputed(root=folder, format="docling").documents()]


@pytest.mark.parametrize(
    ("pages", "documents"),
    [((1, 1, 1), [("invoice_1", 1), ("invoice_2", 1), ("invoice_3", 1)]), ((1, 2, 3), [("invoice", 3)])],
)
def test_numbered_files_are_documents_where_two_hold_the_same_page(tmp_path, pages, documents):
    assert numbered(tmp_path, *pages) == documents


def test_a_download_of_mineru_is_named_after_its_folder(tmp_path):
    task, listed = "3f2a9c1e-77aa-4c1b-9d2e-aa0012345678", [{"type": "text", "text": "Salted in May.", "page_idx": 0}]
    folder = tmp_path / "herring"
    folder.mkdir()
    (folder / "full.md").write_text("Salted in May.")
    (folder / f"{task}_content_list.json").write_text(json.dumps(listed))
    (folder / f"{task}_model.json").write_text("[]")
    (folder / "layout.json").write_text(json.dumps({"pdf_info": [{"page_idx": 0, "para_blocks": []}]}))
    reader = Precomputed(root=tmp_path, format="mineru")
    (document,) = reader.documents()
    assert document.name.endswith("/herring")
    assert [page.text for page in reader.recorded(document)] == ["Salted in May."]


def test_marks_of_pages_inside_of_the_only_page_are_its_text(tmp_path):
    (tmp_path / "lease.md").write_text("Salted\fin May, $\frac{1}{2}$ of the rent\n")
    document, engine = Document("law/lease", "law", "en", 1), Precomputed(root=tmp_path, format="markdown")
    (page,) = engine.recorded(document)
    assert page.text.split() == ["Salted", "in", "May,", "$\\frac{1}{2}$", "of", "the", "rent"]
    assert engine.notes([document]) == [
        f"1 document of one page whose file in {tmp_path.name} has marks of several, read as one: law/lease"
    ]
