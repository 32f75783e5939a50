import json
from unicodedata import normalize

import pytest

from ohr.contracts import Document, Page
from ohr.errors import PluginError
from ohr.ocr.precomputed import Precomputed

LEASE = Document("law/lease", "law", "en", 3)


@pytest.fixture
def recorded(tmp_path):
    def read(entries):
        (tmp_path / "law").mkdir()
        text = entries if isinstance(entries, str) else json.dumps(entries)
        (tmp_path / "law" / "lease.json").write_text(text)
        return list(Precomputed(root=tmp_path).recorded(LEASE))

    return read


def entry(index, text):
    return {"page_idx": index, "text": text}


LACKS, BROKEN = "not among the precomputed results", "its file is not readable as JSON"


@pytest.mark.parametrize(
    ("entries", "texts", "errors"),
    [
        ([entry(2, "c"), entry(0, "a"), entry(1, "b")], ["a", "b", "c"], [None] * 3),
        ([entry(1, "b"), entry(7, "x")], ["", "b", ""], [LACKS, None, LACKS]),
        ([entry(0, "")], [""] * 3, [None, LACKS, LACKS]),
        ([entry(0, None)], [""] * 3, ["text is null, not a string", LACKS, LACKS]),
        ([{"page_no": 0, "text": "a"}], ["a", "", ""], [None, LACKS, LACKS]),  # older files
        ("[{", [""] * 3, [BROKEN] * 3),
    ],
)
def test_each_page_of_a_document_has_its_text_or_an_error(recorded, entries, texts, errors):
    pages = [Page("law/lease", place, *each) for place, each in enumerate(zip(texts, errors, strict=True))]
    assert recorded(entries) == pages


def test_a_document_that_is_absent_has_errors_only(tmp_path):
    (tmp_path / "law").mkdir()
    assert [page.error for page in Precomputed(root=tmp_path).recorded(LEASE)] == [
        "not among the precomputed results"
    ] * 3


@pytest.mark.parametrize(
    ("entries", "texts", "message"),
    [
        ([entry(0, "a"), entry(0, "b")], ["a", ""], "1 page listed again, of which the first counts: {} page 1"),
        ([entry("1", "b")], ["", "b"], "1 page number in quotes, read without them: {} page 2"),
        ([entry(0, "a"), entry(-1, "b")], ["a", ""], "1 page without a page number, left out: {} entry 1"),
        ([entry(0, "a"), entry(10**9, "b")], ["a", ""], "1 page without a page number, left out: {} entry 1"),
        ([entry("9" * 5000, "a")], ["", ""], "1 page without a page number, left out: {} entry 0"),
        ("[" * 100_000, ["", ""], "1 file not readable as JSON: {}"),
        ([entry(True, "a")], ["", ""], "1 page without a page number, left out: {} entry 0"),
        (["a", entry(0, "b")], ["b", ""], "1 page without a page number, left out: {} entry 0"),
        ([entry(0, None)], ["", ""], "1 page with a text that is not a string, counted as failed: {} page 1"),
        (
            [entry(0, "a"), entry(1, 5)],
            ["a", ""],
            "1 page with a text that is not a string, counted as failed: {} page 2",
        ),
        ({"pages": []}, ["", ""], "1 file not a list of pages: {}"),
        ("[{", ["", ""], "1 file not readable as JSON: {}"),
        ("", ["", ""], "1 file not readable as JSON: {}"),
    ],
)
def test_a_wrong_file_costs_its_wrong_pages_only_and_is_reported(recorded, tmp_path, entries, texts, message):
    pages = recorded(entries)
    assert [page.text for page in pages][:2] == texts
    assert all(page.error for page in pages if not page.text)
    assert message.format(f"{tmp_path.name}/law/lease") in Precomputed(root=tmp_path).notes([LEASE])


def test_what_a_folder_lacks_is_counted_and_named(recorded, tmp_path):
    recorded([entry(1, "b")])
    asked = [LEASE, Document("law/will", "law", "en", 1), Document("news/a", "news", "en", 1)]
    assert Precomputed(root=tmp_path).notes(asked) == [
        f"1 domain missing from {tmp_path.name}, so that all questions on it score 0 there: news",
        f"2 pages missing from {tmp_path.name}: law/lease page 1, law/lease page 3",
        f"1 document missing from {tmp_path.name}, so that all questions on it score 0 there: law/will",
    ]


def test_a_name_in_another_unicode_form_is_matched_and_reported(tmp_path):
    composed, parted = (normalize(form, "law/Frédéric") for form in ("NFC", "NFD"))
    (tmp_path / "law").mkdir()
    (tmp_path / f"{parted}.json").write_text(json.dumps([entry(0, "a")]))
    document, engine = Document(composed, "law", "en", 1), Precomputed(root=tmp_path)
    assert engine.recorded(document) == [Page(composed, 0, "a")]
    message = f"1 document named in another Unicode form in {tmp_path.name}, matched: {composed}"
    assert engine.notes([document]) == [message]


def test_two_files_that_differ_in_their_form_are_reported_apart(tmp_path):
    forms = [normalize(form, "law/Frédéric") for form in ("NFC", "NFD")]
    (tmp_path / "law").mkdir()
    for form in forms:
        (tmp_path / f"{form}.json").write_text(json.dumps([entry(0, form)]))
    assert [Precomputed(root=tmp_path).recorded(Document(f, "law", "en", 1))[0].text for f in forms] == forms


def test_a_file_whose_name_cannot_be_written_is_reported(recorded, tmp_path):
    recorded([entry(number, "a") for number in range(3)])
    (tmp_path / "law" / "caf\udce9.json").write_text("[]")
    shown = f"{tmp_path.name}/law/caf\N{REPLACEMENT CHARACTER}.json"
    assert Precomputed(root=tmp_path).notes([LEASE]) == [
        f"1 file whose name has control characters or is not UTF-8, left out: {shown}"
    ]


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(PluginError) as caught:
        Precomputed(root=tmp_path / "no").check()
    assert str(caught.value) == f"ocr precomputed: no such folder: {tmp_path}/no"


def test_a_folder_without_the_named_results_is_reported(tmp_path):
    with pytest.raises(PluginError) as caught:
        Precomputed(root=tmp_path, format="ohrbench").check()
    lacks = f"ocr precomputed: {tmp_path} holds no <domain>/<document>.json"
    assert str(caught.value) == lacks
    (tmp_path / "lease.txt").write_text("It began in 1964.")
    with pytest.raises(PluginError) as caught:
        Precomputed(root=tmp_path, format="ohrbench").check()
    assert str(caught.value) == f"{lacks}, but results that `format: markdown` reads"
