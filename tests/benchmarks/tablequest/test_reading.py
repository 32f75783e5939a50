import json
from os import mkfifo

import pytest

from ohr.benchmarks.tablequest.context_questions import read_questions
from ohr.errors import DataError

GOOD = {
    "id": "a",
    "company": "Brindlemere",
    "year": 2023,
    "difficulty": "medium",
    "context": "<table></table>",
    "question": "How much?",
    "answer": "5",
    "steps": "2 + 3 = 5",
}


@pytest.fixture
def written(tmp_path):
    def write(*records, name="questions.jsonl"):
        path = tmp_path / name
        lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
        path.write_text("\n".join(lines) if name.endswith("l") else f"[{','.join(lines)}]", encoding="utf-8")
        return path

    return write


def refused(path):
    with pytest.raises(DataError) as caught:
        read_questions(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), "FILE")


def test_json_and_json_lines_have_the_same_questions(written):
    other = GOOD | {"id": 7, "year": "2022", "difficulty": "easy", "steps": "-"}
    (first, second), again = (
        read_questions(written(GOOD, "", other)),
        read_questions(written(GOOD, other, name="q.json")),
    )
    assert (first.id, first.year, first.difficulty, first.steps) == ("a", 2023, "medium", "2 + 3 = 5")
    assert (second.id, second.year, second.steps) == ("7", 2022, "")
    assert [one.answer for one in again] == ["5", "5"]
    assert first.where.endswith("questions.jsonl:1")
    assert again[1].where.endswith("q.json: entry 2")


def test_only_easy_questions_may_lack_steps(written):
    easy = {key: value for key, value in GOOD.items() if key != "steps"} | {"difficulty": "easy"}
    assert read_questions(written(easy))[0].steps == ""
    assert refused(written(easy | {"difficulty": "hard", "steps": "-"})).startswith("FILE:1: steps are missing")


@pytest.mark.parametrize("name", ["id", "company", "year", "difficulty", "context", "question", "answer"])
def test_a_missing_part_is_named_with_its_line(written, name):
    record = {key: value for key, value in GOOD.items() if key != name}
    assert refused(written(GOOD, record)).startswith(f"FILE:2: {name} is missing")


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("difficulty", "Hard", "difficulty must be easy, medium, hard (got 'Hard')"),
        ("difficulty", None, "difficulty must be easy, medium, hard (got None)"),
        ("question", " ", "question must be text that is not empty (got ' ')"),
        ("answer", 5, "answer must be text that is not empty (got 5)"),
        ("year", 23, "year must have four digits (got 23)"),
        ("year", True, "year must have four digits (got True)"),
        ("id", None, "id must be text or a whole number (got None)"),
        ("id", True, "id must be text or a whole number (got True)"),
        ("steps", ["a"], "steps must be text (got ['a'])"),
    ],
)
def test_a_wrong_part_is_named_with_its_value(written, part, value, message):
    assert refused(written(GOOD | {part: value})) == f"FILE:1: {message}"


@pytest.mark.parametrize(
    ("records", "name", "message"),
    [
        ([GOOD, GOOD | {"id": "b"}, GOOD], "q.jsonl", "FILE:3: id 'a' is already used in FILE:1"),
        ([GOOD, '{"id": '], "q.jsonl", "FILE:2: not readable as JSON"),
        ([GOOD, "5"], "q.jsonl", "FILE:2: must be an object"),
        (["{"], "q.json", "FILE: not readable as JSON"),
        ([], "q.json", "FILE: has no questions"),
    ],
)
def test_a_broken_file_is_named(written, records, name, message):
    assert refused(written(*records, name=name)).startswith(message)


def test_what_is_no_file_of_questions_in_utf_8_is_refused(tmp_path):
    path = tmp_path / "q.json"
    assert refused(path) == "FILE: cannot be read: No such file or directory"
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert refused(path) == "FILE: must be a JSON list of questions (got dict)"
    path.write_text(json.dumps([GOOD | {"company": "Größe"}], ensure_ascii=False), encoding="latin-1")
    assert "is not UTF-8 text" in refused(path)
    path.unlink()
    mkfifo(path)
    assert refused(path) == "FILE: is no file"
