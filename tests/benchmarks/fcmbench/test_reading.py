"""Files in the published layout: what is read, and how each fault is reported."""

import json
from os import mkfifo

import pytest

from ohr.benchmarks.fcmbench.capture_items import SUBTASKS, TASKS
from ohr.benchmarks.fcmbench.item_files import read_items
from ohr.errors import DataError

IMAGE = "01-甲/收入证明/001_正常.jpg"


def record(**changed):
    fields = {
        "id": "a",
        "images": [IMAGE],
        "question": "<image>哪里？",
        "response": '{"answer": "甲"}',
        "task": "KIE",
        "subtask": "inf_ext_002",
        "robustness": "Normal Captures",
    } | changed
    return {name: value for name, value in fields.items() if value is not ...}


@pytest.fixture
def write(tmp_path):
    def written(*records, content=None):
        path = tmp_path / "items.jsonl"
        lines = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in records]
        path.write_bytes("\n".join(lines).encode() if content is None else content)
        return path

    return written


def refused(path, images=None):
    with pytest.raises(DataError) as caught:
        read_items(path, images)
    return str(caught.value)


def test_an_item_has_the_published_fields_and_its_line(write):
    path = write("", record(), record(id="b", images=[IMAGE, IMAGE], question="<image_001><images_002>?"))
    first, second = read_items(path)
    assert (first.id, first.images, first.question, first.gold) == ("a", (IMAGE,), "<image>哪里？", '{"answer": "甲"}')
    assert (first.task, first.subtask, first.robustness, first.line) == ("KIE", "inf_ext_002", "Normal Captures", 2)
    assert (second.line, len(second.images), second.language) == (3, 2, "zh")


def test_there_are_24_chinese_and_16_english_subtasks_of_7_tasks():
    english = {name for name in SUBTASKS if name.startswith("en.")}
    assert (len(SUBTASKS) - len(english), len(english)) == (24, 16)
    assert {name.removeprefix("en.") for name in english} <= SUBTASKS.keys()
    assert set(SUBTASKS.values()) == set(TASKS)
    assert not {"en.rea_chk_001", "en.num_cal_001", "en.inf_ext_005"} & english


@pytest.mark.parametrize("response", [..., None, ""])
def test_items_of_the_full_set_have_no_gold(write, response):
    assert [item.gold for item in read_items(write(record(response=response)))] == [None]


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(write):
    content = b"\xef\xbb\xbf" + json.dumps(record()).encode() + b"\r\n\r\n"
    assert len(read_items(write(content=content))) == 1


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"id": ...}, "lacks id"),
        ({"question": ..., "prompt": "<image>?"}, "lacks question; `prompt` is the question's name in V1.0"),
        ({"id": 7}, "id must be a text (got 7)"),
        ({"id": " "}, "id must be a text (got ' ')"),
        ({"question": ""}, "question must be a text (got '')"),
        ({"images": "a.jpg"}, "images must be a list of paths (got 'a.jpg')"),
        ({"images": []}, "images must be a list of paths (got [])"),
        ({"images": [""]}, "images must be a list of paths (got [''])"),
        ({"images": [3]}, "images must be a list of paths (got [3])"),
        ({"response": {"answer": 1}}, "response must be JSON written as a text (got {'answer': 1})"),
        ({"response": '{"answer": NaN}'}, "response is not JSON"),
        ({"response": "甲"}, "response is not JSON (got '甲')"),
        ({"subtask": "inf_ext_02"}, "unknown subtask 'inf_ext_02'; did you mean 'inf_ext_002'?"),
        ({"subtask": "?"}, "unknown subtask '?'; allowed are qua_eva_001,"),
        ({"task": "NC"}, "the task of inf_ext_002 is KIE (got 'NC')"),
        ({"robustness": "Blurry"}, "unknown robustness 'Blurry'; allowed are Normal Captures,"),
        ({"question": "哪里？"}, "0 placeholders in the question, but 1 image"),
        ({"question": "<image><image_002>"}, "2 placeholders in the question, but 1 image"),
        ({"images": ["/etc/passwd"]}, "an image must be below the folder of images (got '/etc/passwd')"),
        ({"images": ["a/../../b.jpg"]}, "an image must be below the folder of images (got 'a/../../b.jpg')"),
    ],
)
def test_a_fault_is_reported_with_its_file_and_line(write, changed, fault):
    path = write(record(id="fine"), record(**changed))
    message = refused(path)
    assert message.startswith(f"{path}:2: {fault}")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"id": "a"', "not readable as JSON"),
        ("[1]", "must be a JSON object (got [1])"),
        ("null", "must be a JSON object (got None)"),
        ("[" * 100_000, "not readable as JSON: too deeply nested"),
        (json.dumps(record()), "the id 'a' is that of line 1, too"),
    ],
)
def test_a_broken_line_is_reported(write, line, fault):
    path = write(record(), line, record(id="b"))
    assert refused(path).startswith(f"{path}:2: {fault}")


def test_all_faults_are_reported_at_once_and_no_more_than_ten(write):
    path = write(*(record(id=f"i{number}", task="NC", robustness="?") for number in range(7)))
    lines = refused(path).split("\n")
    assert len(lines) == 11
    assert lines[0].startswith(f"{path}:1: the task of") and lines[1].startswith(f"{path}:1: unknown robustness")
    assert lines[-1] == "and 4 more faults"
    assert len(refused(write(*(record(id=f"i{number}", task="NC") for number in range(10)))).split("\n")) == 10


def test_images_must_be_in_their_folder(write, tmp_path):
    path, folder = write(record(), record(id="b", images=["x.png"])), tmp_path / "images"
    assert refused(path, folder) == f"{folder}: no such folder of images"
    (folder / IMAGE).parent.mkdir(parents=True)
    (folder / IMAGE).touch()
    assert refused(path, folder) == f"{path}:2: no image 'x.png' in {folder}"
    (folder / "x.png").touch()
    assert len(read_items(path, folder)) == 2


def test_a_missing_file_and_an_empty_one_are_refused(write, tmp_path):
    assert refused(tmp_path / "none.jsonl") == f"{tmp_path / 'none.jsonl'}: cannot be read: No such file or directory"
    path = write("", " ")
    assert refused(path) == f"{path}: has no item"
    path.unlink()
    mkfifo(path)
    assert refused(path) == f"{path}: is no file"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "gb18030"])
def test_a_file_of_many_lines_in_another_encoding_is_one_sentence(write, encoding):
    lines = "\n".join(json.dumps(record(id=f"i{number}"), ensure_ascii=False) for number in range(20))
    path = write(content=lines.encode(encoding))
    assert refused(path) == f"{path}:1: is not UTF-8 text, like 19 more lines; save the file as UTF-8"
    path = write(content=json.dumps(record()).encode() + "\n乙".encode("gb18030"))
    assert refused(path) == f"{path}:2: is not UTF-8 text; save the file as UTF-8"
