"""Files of answers in the layouts of other programs, scored on a benchmark and on themselves."""

import json
from math import isnan

import pytest

from ohr.contracts import Question
from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import AnswerRow
from ohr.report.leaderboard.answer_files import matched, score_file
from ohr.report.leaderboard.answers import score_answers


def asked(name, text):
    return Question(name, text, ("x",), "law/a", (0,), ("e",), "text", "law")


def row(question="", name="", answer="x", **more):
    return AnswerRow(where=f"row of {question or name}", question=question, id=name, answer=answer, **more)


QUESTIONS = [asked("q1", "When is rent due?"), asked("q2", "Who pays?"), asked("q3", "Who  PAYS?")]


def test_a_row_belongs_to_the_question_with_its_id_else_with_its_text():
    rows = [row("when is  rent DUE?", "7"), row("Who pays?", "q3", answer="y"), row("What?"), row(name="q2", answer="")]
    given = matched(rows, QUESTIONS)
    assert given.answers == {"q1": "x", "q3": "y", "What?": "x", "q2": ""}
    assert given.contexts is None and not given.notes
    assert matched([row("Something else?", "q1")], QUESTIONS).notes == [
        "1 row with a question's id and another text: the id counts"
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [row("Who pays?"), row("WHO pays?")],
            "2 rows with the text of several questions, so that each needs a question_id",
        ),
        ([row("Who pays?", "q1")], "1 row with the id of one question and the text of another: row of Who pays"),
        ([row(name="q1"), row("When is rent due?")], "1 question answered twice: q1"),
    ],
)
def test_rows_that_do_not_belong_in_one_way_are_refused(rows, message):
    with pytest.raises(DataError, match=message):
        matched(rows, QUESTIONS)


def test_a_row_without_contexts_beside_others_has_retrieved_nothing():
    given = matched(
        [row("When is rent due?", contexts=("c",)), row(name="q2"), row(name="q3", answer="", error="lost")], QUESTIONS
    )
    assert given.contexts == {"q1": ("c",), "q2": ()} and given.errors == {"q3": "lost"}


def put(folder, rows, name="a.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def never():
    raise AssertionError("the file itself is the benchmark")


def of_all(breakdown):
    return breakdown["evidence_source"]["all"]


OWN = [
    {
        "user_input": "When is rent due?",
        "retrieved_contexts": ["Rent is due in June.", "Or in April"],
        "response": "in May",
    },
    {"user_input": "Who pays?", "retrieved_contexts": None, "response": None},
    {"user_input": "Who paid?", "retrieved_contexts": ["The owner pays."], "response": "owner", "document": "law/a"},
]
EVIDENCE = ["Rent is due in May.", "The tenant pays.", "The owner pays."]
TRUTH = ["in May", "tenant", "the owner"]


def test_a_file_with_references_is_its_own_benchmark(tmp_path):
    rows = [
        {**each, "reference": truth, "reference_contexts": [text]}
        for each, truth, text in zip(OWN, TRUTH, EVIDENCE, strict=True)
    ]
    scored = score_file(put(tmp_path, rows), never, is_named=False)
    assert (scored.benchmark, scored.given, scored.blank, scored.missing, scored.name) == ("file", 3, 1, [], "a")
    assert of_all(scored.scores["em"]).mean == pytest.approx(2 / 3)  # an article does not count
    # four of the five words of "Rent is due in May", nothing, and all three words
    assert of_all(scored.retrieval.scores["lcs"]).mean == pytest.approx((4 / 5 + 0 + 1) / 3)
    assert list(scored.retrieval.scores) == ["lcs", "lcs_floor"]
    assert (scored.retrieval.contexts, scored.retrieval.nothing, scored.retrieval.located) == (3, 1, False)
    assert "no document is named for 2 questions: each counts as a document of its own" in scored.warnings
    assert scored.layout == "ragas, 3 rows"


def test_questions_that_a_file_repeats_share_a_document(tmp_path):
    rows = [{"user_input": f"{at % 6}?", "response": "x", "reference": "x" if at % 6 else "y"} for at in range(12)]
    scored = score_file(put(tmp_path, rows), never, is_named=False)
    assert (of_all(scored.scores["em"]).n, of_all(scored.scores["em"]).documents) == (12, 6)
    assert "12 rows ask what another row asks: equal questions count as one document" in scored.warnings
    with pytest.raises(DataError, match="1 id of more than one row: q"):
        score_file(put(tmp_path, [{**each, "id": "q"} for each in rows]), never, is_named=False)


def test_a_question_without_a_reference_has_no_score(tmp_path):
    rows = [
        {"user_input": "a?", "response": "x", "reference": "x", "retrieved_contexts": ["c"]},
        {"user_input": "b?", "response": "x", "reference": ""},
    ]
    scored = score_file(put(tmp_path, rows), never, is_named=False)
    assert (of_all(scored.scores["f1"]).n, of_all(scored.scores["f1"]).undefined) == (1, 1)
    assert "1 question without an accepted answer, and so without a score" in scored.warnings
    assert scored.retrieval is None
    assert "what was retrieved is not scored: the file has no reference contexts" in scored.warnings


def test_a_failed_answer_is_counted_and_scored_0(tmp_path):
    rows = [
        {"user_input": "a?", "response": "x", "reference": "x"},
        {"user_input": "b?", "error": "lost", "reference": "x"},
    ]
    scored = score_file(put(tmp_path, rows), never, is_named=False)
    assert (scored.given, scored.errors, scored.blank) == (1, ["row 2: lost"], 0)
    assert (of_all(scored.scores["em"]).mean, of_all(scored.scores["em"]).failed) == (0.5, 1)


def retrieved(mini, texts):
    """Answer mini's questions with pages: the question's own, and the first of another document."""
    other = {name: next(each for each in texts if each != name) for name in texts}
    for question in mini.questions():
        own = texts[question.document][question.pages[0]]
        yield question, [texts[other[question.document]][0], own]


def test_contexts_are_located_on_the_pages_of_a_benchmark(tmp_path, mini, texts):
    rows = [
        {
            "user_input": question.text,
            "question_id": question.id,
            "response": question.answers[0],
            "retrieved_contexts": contexts,
        }
        for question, contexts in retrieved(mini, texts)
    ]
    rows[0]["retrieved_contexts"] = ["words that nobody has ever written on any page of these documents"]
    rows[1]["retrieved_contexts"] = None
    scored = score_file(put(tmp_path, rows[:-1]), lambda: mini, is_named=True)
    total = len(rows)
    assert of_all(scored.scores["em"]).mean == pytest.approx((total - 1) / total)
    hits = of_all(scored.retrieval.scores["hit@2"])
    assert hits.mean == pytest.approx((total - 3) / total) and hits.failed == 1  # the last row is missing
    assert of_all(scored.retrieval.scores["mrr"]).mean == pytest.approx((total - 3) / total / 2)
    assert (scored.retrieval.nowhere, scored.retrieval.nothing, scored.retrieval.located) == (1, 1, True)
    assert scored.missing == [rows[-1]["question_id"]]


def test_contexts_do_not_change_the_scores_of_answers(tmp_path, mini, texts):
    answers = {question.id: question.answers[0][:4] for question in mini.questions()}
    plain = score_answers(mini, answers, "a")
    rows = [
        {
            "user_input": "?",
            "question_id": question.id,
            "response": answers[question.id],
            "retrieved_contexts": contexts,
        }
        for question, contexts in retrieved(mini, texts)
    ]
    scored = score_file(put(tmp_path, rows), lambda: mini, is_named=True)
    assert all(repr(of_all(scored.scores[name])) == repr(of_all(plain.scores[name])) for name in plain.scores)
    assert not isnan(of_all(scored.retrieval.scores["lcs_floor"]).mean)
    assert plain.retrieval is None


def test_a_file_that_is_not_recognized_says_how_to_name_its_layout(tmp_path):
    path = put(tmp_path, [{"query": "a?", "reply": "x"}])
    with pytest.raises(
        DataError,
        match=r"a.jsonl:1: has none of question_id, id, qid .*; the program that wrote the file is named with --from",
    ):
        score_file(path, never, is_named=False)
    with pytest.raises(DataError, match="--pick is for files of several"):
        score_file(put(tmp_path, [{"id": "q", "answer": "x"}]), never, is_named=False, pick="x")


def test_without_a_benchmark_and_references_mini_is_asked(tmp_path, mini):
    question = mini.questions()[0]
    path = put(tmp_path, [{"user_input": question.text.upper(), "response": question.answers[0]}, {"user_input": "b?"}])
    scored = score_file(path, lambda: mini, is_named=False)
    assert (scored.benchmark, scored.given, scored.unknown) == ("mini", 1, ["b?"])
    with pytest.raises(
        DataError, match="neither accepted answers nor answers to questions of mini: name the benchmark"
    ):
        score_file(put(tmp_path, [{"user_input": "b?", "response": "x"}]), lambda: mini, is_named=False)
