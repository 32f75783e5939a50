import csv
import json

import pytest

from ohr.errors import DataError
from ohr.report.leaderboard.answers import read_answers, score_answers, survey_answers


def records(answers):
    return [{"question_id": name, "answer": answer} for name, answer in answers.items()]


def official(answers):
    """Answers as the benchmark's own code writes them."""
    log = {"quest": "?", "ground_truth_text": "x"}
    results = [
        {"id": name, "metrics": {"F1": 0.0}, "log": {**log, "generated_text": text}, "valid": bool(text)}
        for name, text in answers.items()
    ]
    return {"info": {"task": "QuestAnswer"}, "overall": {"avg. F1": 0.0}, "results": results}


def write(folder, form, answers):
    path = folder / {"jsonl": "a.jsonl", "csv": "a.csv"}.get(form, "a.json")
    match form:
        case "mapping":
            path.write_text(json.dumps(answers))
        case "records":
            path.write_text(json.dumps(records(answers)))
        case "official":
            path.write_text(json.dumps(official(answers)))
        case "jsonl":
            path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in records(answers)) + "\n\n")
        case "csv":
            with path.open("w", newline="") as opened:
                writer = csv.DictWriter(opened, ["question_id", "answer"])
                writer.writeheader()
                writer.writerows(records(answers))
    return path


@pytest.mark.parametrize("form", ["mapping", "records", "official", "jsonl", "csv"])
def test_answers_are_read_from_every_form(tmp_path, form):
    answers = {"q1": 'a "quoted", comma', "q2": "two\nlines", "q3": "中文\u2028中文"}
    assert read_answers(write(tmp_path, form, answers)) == answers


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (1964, "1964"),
        (True, "yes"),
        ("  x ", "x"),
        (["a", "b"], "a, b"),
        ("", ""),
        ({"a": "甲"}, '{"a": "甲"}'),
    ],
)
def test_answers_of_any_scalar_are_text(tmp_path, given, read):
    assert read_answers(write(tmp_path, "mapping", {"q": given})) == {"q": read}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "{", "not readable as JSON"),
        ("a.json", "7", "must be a list of answers"),
        ("a.json", "[]", "holds no answer"),
        ("a.json", "[7]", "entry 0: must be a mapping"),
        ("a.json", '[{"answer": "x"}]', "entry 0: has none of question_id, id"),
        ("a.json", '[{"id": "q"}]', "entry 0: has none of answer, prediction"),
        ("a.json", '{"q": "x", "q": "y"}', "'q' is there twice"),
        ("a.csv", "id,answer\nq,73,850\n", "a.csv:2: has more cells than the header"),
        ("a.jsonl", '{"id": "q", "answer": "x"}\n7', "a.jsonl:2: must be a mapping"),
        ("a.json", '[{"id": "q", "answer": [[]]}]', "entry 0: an answer must be text"),
        ("a.json", '[{"id": "q", "answer": "x"}, {"id": "q", "answer": "y"}]', "'q' is answered twice"),
        ("a.jsonl", '{"id": "q", "answer": "x"}\n{', "a.jsonl:2: not readable as JSON"),
        ("a.csv", 'id,answer\nq,"x', "a.csv:2: not readable as CSV"),
        ("a.csv", "number,text\n1,x\n", "has none of question_id, id, qid .it has number, text."),
    ],
)
def test_a_file_that_is_wrong_is_reported(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_answers(tmp_path / name)


def test_an_answer_that_is_null_is_blank(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "q", "reply": null}')
    assert read_answers(tmp_path / "a.jsonl") == {"q": ""}


def test_a_file_that_is_not_there_or_no_text_is_reported(tmp_path):
    (tmp_path / "a.json").write_bytes(b"\xff\xfe\x00")
    for name in ("a.json", "none.json"):
        with pytest.raises(DataError, match="cannot be read"):
            read_answers(tmp_path / name)


def test_the_accepted_answers_score_1_and_their_mean_has_every_question(mini):
    answers = {question.id: question.answers[0] for question in mini.questions()}
    found = score_answers(mini, answers, "perfect")
    assert found.scores["em"]["domain"]["all"].mean == 1
    assert {group: e.mean for group, e in found.scores["f1"]["evidence_source"].items()}.keys() >= {"text", "all"}
    assert found.scores["f1"]["domain"]["all"].n == len(answers) == found.given
    assert set(found.scores["f1"]) == {"evidence_source", "domain", "answer_form", "task_type", "pages"}
    assert not (found.missing or found.unknown or found.blank)


def test_unanswered_questions_score_0_and_are_counted(mini):
    questions = mini.questions()
    half = {question.id: question.answers[0] for question in questions[::2]}
    found = score_answers(mini, {**half, "stranger": "x", questions[1].id: ""}, "half")
    whole = found.scores["em"]["domain"]["all"]
    assert whole.mean == pytest.approx(len(half) / len(questions))
    assert whole.failed == len(found.missing) == len(questions) - len(half) - 1
    assert (found.unknown, found.blank) == (["stranger"], 1)


def test_answers_to_other_questions_are_refused(mini):
    with pytest.raises(DataError, match="no answer is to a question of benchmark mini"):
        score_answers(mini, {"x": "y"}, "lost")


def test_the_tags_around_an_answer_are_no_part_of_it(mini):
    answers = {question.id: f"<response> {question.answers[0]} </response>" for question in mini.questions()}
    assert score_answers(mini, answers, "tagged").scores["em"]["domain"]["all"].mean == 1


def write_records(folder, *records):
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    return folder / "a.jsonl"


@pytest.mark.parametrize("name", ["prediction", "predicted_answer", "generated_text", "Generated Answer"])
def test_a_prediction_is_scored_and_never_the_accepted_answer_beside_it(tmp_path, name):
    path = write_records(tmp_path, {"id": "q", "answer": "gold", name: "wrong"}, {"id": "r", "answer": "g", name: None})
    answers, notes = survey_answers(path)
    assert answers == {"q": "wrong", "r": ""}
    assert notes == ["a.jsonl: its predictions are scored, not its answers; --column names others"]


@pytest.mark.parametrize("name", ["response", "output", "reply"])
def test_two_columns_that_could_both_be_the_answer_are_refused_until_one_is_chosen(tmp_path, name):
    path = write_records(tmp_path, {"id": "q", "answer": "same", name: "same"}, {"id": "r", "answer": "x", name: None})
    with pytest.raises(DataError, match=f":2: 'answer' and '{name}' could both be the answer, .*--column"):
        read_answers(path)
    assert read_answers(path, name) == {"q": "same", "r": ""}
    assert read_answers(path, "ANSWER") == {"q": "same", "r": "x"}
    with pytest.raises(DataError, match=r"no column for the answer \(text\); its columns are id, answer, "):
        read_answers(path, "text")


def test_columns_that_are_not_scored_are_named(tmp_path):
    path = write_records(tmp_path, {"id": "q", "answer": "gold", "my_model": "wrong"})
    assert survey_answers(path)[1] == ["a.jsonl: not used: my_model"]


def test_a_table_of_answers_is_read_as_one_of_questions_is(tmp_path):
    (tmp_path / "a.csv").write_text("sep=;\r\nID;Response\r\n;\r\nq;1,5\r\nr;\r\n")
    assert read_answers(tmp_path / "a.csv") == {"q": "1,5", "r": ""}
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (("Question ID", "Prediction"), (12, 1964), (13, None)):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_answers(tmp_path / "a.xlsx") == {"12": "1964", "13": ""}


def test_nulls_of_every_kind_are_blank_answers_and_a_null_id_is_named_with_its_line(tmp_path):
    (tmp_path / "a.json").write_text('{"q": null, "r": NaN, "s": "x"}')
    assert read_answers(tmp_path / "a.json") == {"q": "", "r": "", "s": "x"}
    path = write_records(tmp_path, {"id": 12.0, "answer": "x"}, {"id": None, "answer": "x"})
    with pytest.raises(DataError, match=r"a\.jsonl:2: has none of question_id, id, qid \(it has id, answer\)"):
        read_answers(path)
    assert read_answers(write_records(tmp_path, {"id": 12.0, "answer": "x"})) == {"12": "x"}
