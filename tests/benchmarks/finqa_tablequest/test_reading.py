import json

import pytest

from ohr.benchmarks.finqa_tablequest.report_questions import notes, read_questions
from ohr.errors import DataError

GOOD = {
    "image": "tablequest/sampled_pages/easy/HARROW_2022_10K_p12.png",
    "difficulty": "easy",
    "question": "How much?",
    "answer": "(79)",
    "cot": None,
    "table_loc": "top",
    "report_type": "10K",
    "page_number": 12,
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qa_pairs").mkdir()
    for level in ("easy", "medium", "hard"):
        write(tmp_path, level, [GOOD | {"difficulty": level}])
    return tmp_path


def write(root, level, questions):
    (root / "qa_pairs" / f"{level}.json").write_text(json.dumps(questions), encoding="utf-8")


def refused(root):
    with pytest.raises(DataError) as caught:
        read_questions(root)
    return str(caught.value).replace(f"{root}/qa_pairs/", "")


def test_questions_have_ids_pages_and_levels(folder):
    write(folder, "easy", [GOOD, GOOD | {"question": "Why?"}])
    found = read_questions(folder)
    assert [one.id for one in found] == ["easy-1", "easy-2", "medium-1", "hard-1"]
    assert (found[0].document, found[0].page_number) == ("HARROW_2022_10K", 12)
    assert found[2].image == "sampled_pages/medium/HARROW_2022_10K_p12.png"


def test_a_report_on_form_8_k_has_its_date_as_its_type_and_is_repaired(folder):
    image = "sampled_pages/easy/HARROW_2023_8K_dated-2023-05-05_p3.png"
    write(folder, "easy", [GOOD | {"image": image, "page_number": 3, "report_type": "dated-2023-05-05"}])
    found = read_questions(folder)[0]
    assert (found.document, found.report_type, found.form) == (
        "HARROW_2023_8K_dated-2023-05-05",
        "dated-2023-05-05",
        "8K",
    )


def test_what_looks_wrong_is_noted(folder):
    write(folder, "easy", [GOOD | {"answer": "$"}, GOOD | {"report_type": "dated-2023-05-05"}])
    write(folder, "medium", [GOOD | {"difficulty": "medium", "question": "Other?", "report_type": "20F"}])
    assert notes(read_questions(folder)) == [
        "1 question whose gold answer has no word, scored as it is: easy-1",
        "3 questions with the text of another, one query with it under reference: easy-1, easy-2, hard-1",
        "1 question with the date of its report as report_type, read as 8K: easy-2",
        "1 question with an unknown report_type: medium-1",
    ]


@pytest.mark.parametrize("name", ["image", "question", "answer", "table_loc", "report_type"])
def test_a_missing_part_is_named_with_its_entry(folder, name):
    write(folder, "easy", [GOOD, {key: value for key, value in GOOD.items() if key != name}])
    assert refused(folder).startswith(f"easy.json: entry 2: {name} is missing")


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("difficulty", "Easy", "difficulty must be easy, medium, hard (got 'Easy')"),
        ("difficulty", "hard", "difficulty is hard in the file of easy questions"),
        ("image", "page.png", "image must be named DOCUMENT_pNUMBER.png (got 'page.png')"),
        ("page_number", 13, "page_number is 13 and the image is HARROW_2022_10K_p12.png"),
        ("page_number", "12", "a page number must be a whole number from 1 (got '12')"),
        ("page_number", None, "a page number must be a whole number from 1 (got None)"),
        ("question", " ", "question must be text that is not empty (got ' ')"),
        ("cot", 5, "cot must be text or null (got 5)"),
    ],
)
def test_a_wrong_part_is_named_with_its_value(folder, part, value, message):
    write(folder, "easy", [GOOD | {part: value}])
    assert refused(folder) == f"easy.json: entry 1: {message}"


def test_a_broken_or_missing_file_is_named(folder):
    path = folder / "qa_pairs" / "hard.json"
    path.write_text("[{", encoding="utf-8")
    assert refused(folder).startswith("hard.json: not readable as JSON")
    path.write_bytes(json.dumps([GOOD], ensure_ascii=False).encode("utf-16"))
    assert refused(folder).startswith("hard.json: is not UTF-8 text")
    path.unlink()
    assert refused(folder) == "hard.json: cannot be read: No such file or directory"
