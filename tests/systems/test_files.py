"""Systems that answer offline: what is handed over, and what their files of answers may hold."""

import json
import logging

import pytest

from ohr.cli import main
from ohr.contracts import Context
from ohr.errors import DataError, SpecError
from ohr.files.handed_over import digest
from ohr.runner.hand_over import hand_over_study
from ohr.runner.run_options import RunOptions
from ohr.spec.read import read_spec
from ohr.systems.files import Files

NAME = "blur-0.2-12345678"
QUESTIONS = {"q1": "How much is the rent?", "q2": "When is it due?"}


@pytest.fixture
def home(tmp_path):
    """Return the folder of a condition that was handed over."""
    folder = tmp_path / "out/blur-0.2"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents/lease.md").write_text("The rent is 1250 francs.")
    (folder / "documents.sha256").write_text(digest(folder / "documents"))
    lines = [json.dumps({"id": name, "question": text}) for name, text in QUESTIONS.items()]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def answers(home, *records, name="answers.jsonl"):
    text = records[0] if isinstance(records[0], str) else "\n".join(map(json.dumps, records))
    (home / name).write_text(text)


def ask(home, question="q1"):
    system = Files(folder=home.parent)
    return system.ask(QUESTIONS[question], system.ingest(home / "documents", NAME))


QUESTION = QUESTIONS["q1"]
CONTEXTS = ["The rent is 1250 francs.", "Due in May."]
READ = tuple(map(Context, CONTEXTS))


@pytest.mark.parametrize(
    ("record", "contexts"),
    [
        ({"question_id": "q1", "answer": "1250"}, None),
        ({"id": "q1", "question": QUESTION, "answer": "1250", "contexts": CONTEXTS}, READ),
        ({"question": "How much \n is the  rent?", "answer": 1250}, None),
        ({"user_input": QUESTION, "response": "1250", "retrieved_contexts": CONTEXTS, "reference": "9"}, READ),
        (
            {"input": QUESTION, "actual_output": "1250", "retrieval_context": CONTEXTS, "expected_output": "9"},
            READ,
        ),
        ({"id": "aaaa-bbbb", "vars": {"question": QUESTION}, "response": {"output": "1250"}}, None),
        (
            {
                "id": "q1",
                "answer": "1250",
                "contexts": [{"text": "x", "document": "a.md", "page": 2, "score": 0.5}],
            },
            (Context("x", "a.md", 2, 0.5),),
        ),
    ],
    ids=["ours", "with contexts", "by text", "RAGAS", "DeepEval", "promptfoo", "places"],
)
def test_fields_of_other_tools_are_known(home, record, contexts):
    answers(home, record)
    reply = ask(home)
    assert (reply.answer, reply.contexts) == ("1250", contexts)


def test_promptfoo_s_file_is_read(home):
    result = {"vars": {"question": QUESTION}, "response": {"output": "1250"}, "prompt": {"raw": "..."}}
    failed = {"vars": {"question": QUESTIONS["q2"]}, "error": "API error: 500", "prompt": {"raw": "..."}}
    answers(home, json.dumps({"evalId": "e", "results": {"results": [result, failed]}}), name="answers.json")
    assert ask(home).answer == "1250"
    with pytest.raises(DataError, match="no answer to question 'q2': there was an error: API error: 500"):
        ask(home, "q2")


@pytest.mark.parametrize(
    "cell", ['"[""The rent is 1250 francs."", ""Due in May.""]"', "\"['The rent is 1250 francs.', 'Due in May.']\""]
)
def test_csv_is_read(home, cell):
    answers(home, f"question_id,answer,contexts,tokens_in,seconds\nq1,1250,{cell},12,0.5\n", name="answers.csv")
    reply = ask(home)
    assert (reply.answer, reply.contexts, reply.tokens_in, reply.seconds) == ("1250", READ, 12, 0.5)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (
            [{"id": "q1", "answer": "a", "response": "b"}],
            "'answer' and 'response' could both be the answer",
        ),
        ([{"id": "q1", "answer": "a"}, {"id": "q1", "answer": "b"}], "'q1' has another answer further up"),
        ([{"id": "q1", "answer": "a"}, {"question": QUESTION, "answer": "b"}], "'q1' has another answer"),
        ([{"id": "q1", "question": QUESTIONS["q2"], "answer": "a"}], "belong to two questions"),
        ([{"answer": "a"}], "has neither the id of a question"),
        ([{"id": "q1", "answer": "a", "contexts": "lease.pdf"}], "`contexts` must be a list of texts as JSON"),
        ([{"id": "q1", "answer": "a", "contexts": [3]}], "a context is int"),
        ([{"id": "q1", "answer": "a", "tokens_in": "many"}], "`tokens_in` must be a number"),
        (["{half"], "answers.jsonl:1: not readable as JSON"),
        ([{"id": "q2", "answer": "in May"}], "has no answer to question 'q1'"),
        ([{"id": "q1", "answer": " "}], "no answer to question 'q1': it is blank"),
        ([{"id": "q1", "expected_output": "a"}], "its columns are id, expected_output"),
    ],
)
def test_what_cannot_be_scored_has_a_sentence(home, records, message):
    answers(home, *records)
    with pytest.raises(DataError) as caught:
        ask(home)
    assert message in str(caught.value)


def test_the_same_answer_twice_is_one(home):
    answers(home, {"id": "q1", "answer": "a"}, {"question": QUESTIONS["q1"], "answer": "a"})
    assert ask(home).answer == "a"


def test_answers_to_no_question_and_missing_ones_are_reported(home, caplog):
    answers(home, {"id": "q1", "answer": "a"}, {"id": "q9", "answer": "b"})
    with caplog.at_level(logging.WARNING, "ohr"):
        ask(home)
    assert "1 answer to no question that was asked, left out: 'q9'" in caplog.text
    assert "1 question without an answer: q2" in caplog.text


def test_files_must_be_there_and_belong_to_the_documents(home, tmp_path):
    with pytest.raises(DataError, match=r"there is no answers.jsonl or answers.csv; README.md there says"):
        ask(home)
    answers(home, {"id": "q1", "answer": "a"})
    answers(home, "id,answer\nq1,a\n", name="answers.csv")
    with pytest.raises(DataError, match=r"there are answers.jsonl and answers.csv: leave one"):
        ask(home)
    (home / "answers.csv").unlink()
    with pytest.raises(DataError, match="does not have this question: run `ohr hand-over` again"):
        Files(folder=home.parent).ask("Another?", {"condition": home.name})
    with pytest.raises(DataError, match="is not there: `ohr hand-over` writes it"):
        Files(folder=tmp_path / "elsewhere").ingest(home / "documents", NAME)
    (home / "documents/lease.md").write_text("The rent is 1350 francs.")
    with pytest.raises(DataError, match="other documents than those that were handed over"):
        ask(home)


def test_answers_that_are_put_right_are_read_again(home):
    system = Files(folder=home.parent)
    answers(home, {"id": "q1", "answer": "a"})
    before = system.identity()
    assert ask(home).answer == "a"
    answers(home, {"id": "q1", "answer": "better"})
    assert ask(home).answer == "better"
    assert system.identity() != before
    assert str(home) not in json.dumps(before, default=str)


STUDY = """\
name: mine
limit: 2
benchmark: {kind: mini, languages: [en], max_pages: 1, dpi: 60}
knowledge_bases:
  - name: ground_truth
  - name: formatting
    text_noise: {kind: formatting, rate: 0.3}
systems:
  - {kind: files, folder: out, documents: DOCUMENTS}
evaluate: [retrieval, overall]
"""


def handed(tmp_path, documents, force=False):
    spec = tmp_path / "study.yaml"
    spec.write_text(STUDY.replace("DOCUMENTS", documents))
    options = RunOptions(store=str(tmp_path / "store"), workers=1)
    return hand_over_study(read_spec(spec), tmp_path / "out", options, force=force)


@pytest.mark.parametrize(("documents", "suffix"), [("pdf", "pdf"), ("images", "png"), ("text", "md")])
def test_each_condition_is_handed_over_without_the_truth(tmp_path, documents, suffix):
    homes = handed(tmp_path, documents)
    assert [home.name for home in homes] == ["ground_truth", "formatting"]
    clean, noisy = ([path.read_bytes() for path in sorted((home / "documents").iterdir())] for home in homes)
    assert len(clean) == len(noisy) == 2
    assert {path.suffix for path in (homes[0] / "documents").iterdir()} == {f".{suffix}"}
    assert (clean != noisy) == (documents != "images") or documents == "pdf"
    for home in homes:
        lines = (home / "questions.jsonl").read_text().splitlines()
        assert len(lines) > 2 and all(set(json.loads(line)) == {"id", "question"} for line in lines)
        assert "answers.jsonl" in (home / "README.md").read_text()
    with pytest.raises(DataError, match="is a folder that has files already"):
        handed(tmp_path, documents)
    handed(tmp_path, documents, force=True)
    assert len(list((tmp_path / "out").glob("formatting.bak-*"))) == 1


def test_only_a_system_of_files_is_handed_over(tmp_path):
    spec = tmp_path / "study.yaml"
    spec.write_text(STUDY.replace("DOCUMENTS", "text"))
    with pytest.raises(SpecError, match="none is of the kind files with this folder"):
        hand_over_study(read_spec(spec), tmp_path / "other", RunOptions(store=str(tmp_path / "store")), force=False)


def test_a_study_is_answered_offline(tmp_path, monkeypatch, capsys):
    """Hand over, answer with the best words of the documents, and run: answers count, and what is missing is said."""
    homes = handed(tmp_path, "text")
    for home in homes:
        texts = [path.read_text() for path in sorted((home / "documents").iterdir())]
        asked = [json.loads(line) for line in (home / "questions.jsonl").read_text().splitlines()]
        answers(home, *({"id": each["id"], "answer": texts[0][:200], "contexts": texts} for each in asked[1:]))
    monkeypatch.chdir(tmp_path)
    command = ["ohr", "run", "study.yaml", "--store", "store", "--no-figures", "--no-report", "--workers", "1"]
    monkeypatch.setattr("sys.argv", [*command, "--set", "evaluate=[overall]"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1  # something failed
    text = " ".join(capsys.readouterr().out.split())
    for home in homes:
        assert f"out/{home.name}/answers.jsonl has no answer to question" in text
    assert "failed items: 2" in text and "system questions 18" in text
