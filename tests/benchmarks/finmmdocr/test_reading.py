"""Reading the published layout: what is read, and one sentence for each fault, with file and record."""

import json

import pytest

from ohr.benchmarks.finmmdocr.from_records import asked, file_faults
from ohr.benchmarks.finmmdocr.release_records import page_image_file, page_texts, survey
from ohr.errors import DataError
from ohr.messages.faults import sentences


def read(root):
    return asked(root).found.records


def error(root):
    with pytest.raises(DataError) as caught:
        read(root)
    assert str(root) in str(caught.value)
    return str(caught.value)


def lacking(root):
    """Return what is said of the files of pages."""
    return " ".join(sentences(file_faults(root, asked(root).records)))


def test_records_are_read_in_the_order_of_the_file(copy):
    root = copy.write(copy.record(3), copy.record(1, scenarios=["PM", "FSA"], extract_steps=2, calc_steps=9))
    first, second = read(root)
    assert [first.question_id, second.question_id] == ["test-3", "test-1"]
    assert first.gold_pages == (2, 3)
    assert first.evidence == {"table": (2, 2), "plain_text": (3,)}
    assert [first.scenarios, first.extract_steps, first.calc_steps] == [None, None, None]
    assert [second.scenarios, second.extract_steps, second.calc_steps] == [("PM", "FSA"), 2, 9]
    assert first.language == "zh"
    assert first.where == "test.json record 0"


def test_pages_are_found_below_the_folder_whatever_comes_before_their_paths(copy):
    images = [f"./data/FinM4R/images/report/page_{page}.png" for page in (1, 2, 3)]
    texts = "\\data\\texts\\report.json"
    (record,) = read(copy.write(copy.record(images=images, texts=texts)))
    assert page_texts(copy.root, record) == ["one", "two", "three"]
    assert page_image_file(copy.root, record, 2) == copy.root / "images/report/page_3.png"
    (copy.root / "images/report/page_2.png").unlink()
    (copy.root / "texts/report.json").unlink()
    for place, fault in ((1, r"page_2\.png: no such file"), (3, "report has no image of page 4")):
        with pytest.raises(DataError, match=rf"{fault} \(test\.json record 0\)"):
            page_image_file(copy.root, record, place)
    with pytest.raises(DataError, match=r"report\.json: no such file \(test\.json record 0\)"):
        page_texts(copy.root, record)


def test_paths_do_not_leave_the_folder(copy, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "texts.json"
    outside.write_text('["a", "b", "c"]')
    for path in (str(outside), f"../{outside.parent.name}/texts.json"):
        assert "no such file (test.json record 0)" in lacking(copy.write(copy.record(texts=path)))


def test_json_lines_are_read_under_either_name(copy):
    copy.files()
    text = "\n".join(json.dumps(copy.record(number)) for number in (1, 2)) + "\n\n"
    for name in ("test.jsonl", "test.json"):
        copy.put(name, text.encode("utf-8-sig"))
        assert [record.question_id for record in read(copy.root)] == ["test-1", "test-2"]
    assert read(copy.root)[1].where == "test.json line 2"


def test_broken_lines_are_listed(copy):
    good = json.dumps(copy.record())
    copy.put("test.jsonl", f"{good}\n{good[:40]}\n\nnot json\n")
    message = error(copy.root)
    assert "2 lines not JSON" in message
    assert "line 2 (" in message
    assert "line 4 (" in message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[{]", "not JSON"),
        ('[{"question_id": "test-0",', "not JSON"),
        ("", "not JSON"),
        ('"text"', "must be a list (it is str)"),
        ('{"test-0": {}}', "must be a list (it is an object)"),
        ("[]", "holds no record"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_broken_json_is_one_sentence(copy, content, said):
    copy.put("test.json", content)
    assert said in error(copy.root)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_read_in_its_other_encodings(copy, encoding):
    copy.files()
    copy.put("test.json", json.dumps([copy.record(question="毛利率是多少？")], ensure_ascii=False).encode(encoding))
    assert read(copy.root)[0].question == "毛利率是多少？"


@pytest.mark.parametrize("name", ["test.json", "test.jsonl"])
def test_an_encoding_other_than_unicode_is_named(copy, name):
    record = json.dumps(copy.record(question="毛利率是多少？"), ensure_ascii=False)
    copy.put(name, (f"[{record}]" if name == "test.json" else record).encode("gb18030"))
    assert "not UTF-8 from byte" in error(copy.root)
    assert "GB 18030" in error(copy.root)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"evidence": {"table": [0, 2]}}, "with evidence on page 0: pages count from 1"),
        ({"evidence": {"table": [-1]}}, "no whole number from 1 on: test-0 (test.json record 0): -1"),
        ({"evidence": {"table": ["2"]}}, "no whole number from 1 on: test-0 (test.json record 0): '2'"),
        ({"evidence": {"table": [2.5]}}, "no whole number from 1 on"),
        ({"evidence": {"table": [True]}}, "no whole number from 1 on"),
        ({"evidence": [2]}, "whose evidence is no object"),
        ({"pages_num": None, "images": []}, "without pages"),
        ({"question": " "}, "without question: test.json record 0"),
        ({"question_id": None, "doc_id": 7}, "without question_id and doc_id"),
        *(
            ({"scenarios": scenarios}, "1 record whose scenarios are no list of texts: test-0")
            for scenarios in ("x", [1], {"PM": 1})
        ),
    ],
)
def test_a_fault_of_a_record_is_named_with_the_record(copy, changes, said):
    assert said in error(copy.write(copy.record(**changes)))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"images": ["images/report/page_1.png", "images/report/page_2.png", "x.png"]}, "page images are missing"),
        ({"images": ["a" * 5000] * 3}, "page images are missing"),
        ({"texts": "texts/other.json"}, "texts/other.json: no such file (test.json record 0)"),
        ({"texts": None}, "without usable texts"),
    ],
)
def test_a_file_that_a_record_names_in_vain_is_named(copy, changes, said):
    assert said in lacking(copy.write(copy.record(**changes)))


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["one", "two"], "has 2 pages, not 3"),
        (["one", "two", None], "must be a list of strings"),
        ({"1": "one"}, "must be a list of strings"),
        ("[", "not JSON"),
        ("文".encode("gb18030"), "not UTF-8"),
    ],
)
def test_texts_that_cannot_be_used_are_named_with_their_file(copy, texts, said):
    root = copy.write(copy.record())
    copy.put("texts/report.json", texts)
    message = lacking(root)
    assert said in message
    assert "texts/report.json" in message


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"pages_num": 2, "images": ["images/report/page_1.png", "images/report/page_2.png"]}, "pages_num"),
        ({"doc_type": "Macro Research"}, "doc_type"),
        ({"images": [f"v2/images/report/page_{page}.png" for page in (1, 2, 3)]}, "page images"),
        ({"texts": "v2/texts/report.json"}, "texts"),
    ],
)
def test_records_of_one_document_that_disagree_show_that_versions_are_mixed(copy, changes, what):
    message = error(copy.write(copy.record(0), copy.record(1, **changes)))
    assert f"1 document whose records differ in {what}: two versions may be mixed: report" in message


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"evidence": {}}, "1 record without an evidence page, left out of retrieval scores"),
        ({"evidence": None}, "1 record without an evidence page"),
        ({"evidence": {"table": [], "image": None}}, "1 record without an evidence page"),
        ({"python_solution": None}, "1 record without a gold program: test-0"),
        ({"evidence": {"map": [1]}}, "1 record with an unknown kind of evidence"),
        (
            {"evidence": {"table": [4]}},
            "behind the document's last page, which is not counted: test-0 (test.json record 0)",
        ),
        ({"ground_truth": "75"}, "whose ground_truth is a string, which no answer meets: left out of the accuracy"),
        ({"ground_truth": float("nan")}, "whose ground_truth is not finite, which no answer meets"),
        ({"ground_truth": float("inf")}, "(0 in the reference protocol): test-0 (test.json record 0): inf"),
        ({"ground_truth": None}, "whose ground_truth is no number"),
        ({"ground_truth": [75]}, "whose ground_truth is no number"),
        ({"ground_truth": 10**400}, "is too large for a double, which no answer meets: scored 0: test-0"),
        ({"pages_num": 4}, "whose pages_num is not the number of its images: test-0 (test.json record 0): 4 and 3"),
    ],
)
def test_what_does_no_harm_is_a_note(copy, changes, note):
    found = survey(copy.write(copy.record(**changes)))
    assert found.errors == []
    assert note in " ".join(found.notes)
    assert len(read(copy.root)) == 1


def test_ids_that_repeat_and_records_that_are_none_are_faults(copy):
    message = error(copy.write(copy.record(1), copy.record(1), 1, 2, 3))
    assert "1 record whose id repeats: test-1 (test.json record 0, test.json record 1)" in message
    assert "3 records that are no objects: test.json record 2" in message
    message = error(copy.write(copy.record(1), copy.record(1, ground_truth=76)))
    assert "whose id repeats with another content: two versions may be mixed: test-1" in message


def test_all_kinds_of_faults_are_reported_together(copy):
    message = error(copy.write(copy.record(0, evidence=[]), copy.record(1, evidence={"table": [0]}), copy.record(1)))
    assert all(part in message for part in ("is no object", "on page 0", "whose id repeats"))


@pytest.mark.parametrize("value", [-1, float("nan"), 12.7, "12", [1]])
@pytest.mark.parametrize("name", ["pages_num", "extract_steps", "calc_steps"])
def test_a_count_that_is_none_is_noted_with_its_record(copy, name, value):
    found = survey(copy.write(copy.record(**{name: value})))
    assert found.errors == []
    said = f"1 record whose {name} is no whole number from 0 on"
    assert [f"test-0 (test.json record 0): {value!r}" in note for note in found.notes if said in note] == [True]
    assert found.records[0].pages_num == 3


def test_an_empty_image_file_is_named(copy):
    root = copy.write(copy.record())
    copy.put("images/report/page_2.png", b"")
    message = lacking(root)
    assert "whose page images are empty files" in message
    assert "company_research/report (1 image: images/report/page_2.png)" in message


@pytest.mark.parametrize("name", ["absent", "file"])
def test_a_root_that_is_no_folder_is_said_to_be_none(copy, name):
    copy.put("file", "text")
    assert "no such folder" in error(copy.root / name)
    assert "no test.json or test.jsonl" in error(copy.root)


@pytest.mark.parametrize(
    "changes",
    [{"question_id": "a" * 10_000, "ground_truth": None}, {"texts": "a" * 10_000}, {"images": ["a" * 10_000]}],
)
def test_a_long_text_of_a_record_is_cut_in_messages(copy, changes):
    found = asked(copy.write(copy.record(**changes)))
    faults = [*found.found.faults, *file_faults(copy.root, found.records)]
    assert faults
    assert all(len(fault.where) < 1000 for fault in faults)
