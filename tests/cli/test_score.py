import json

import pytest

from ohr.benchmarks.mini import Mini

MINI = Mini(languages=["en"], domains=["law"], max_pages=1)
KEYS = ("--benchmark", "mini", "--domains", "law", "--set", "languages=[en]", "--set", "max_pages=1")


@pytest.fixture
def engine(home):
    """OCR results of the folder `engine`: the ground truth without its vowels."""
    for document in MINI.documents():
        path = home / "engine" / f"{document.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [page.text.translate(str.maketrans("", "", "aeiou")) for page in MINI.pages(document)]
        path.write_text(json.dumps([{"page_no": number, "text": text} for number, text in enumerate(texts)]))
    return home / "engine"


def test_ocr_results_are_scored_in_a_table_and_in_json(ohr, engine):
    told = ohr("score", "ocr", "engine", *KEYS, "--workers", "1")
    assert told.exit_code == 0
    assert told.stdout.startswith("engine: bm25, top 2, protocol clean\n")
    given = json.loads(ohr("score", "ocr", "engine", *KEYS, "--workers", "1", "--json").stdout)
    assert given["doses"]["engine"]["r_noise"] > 0.9
    assert 0 < given["doses"]["engine"]["edit_distance"] < 1
    assert given["retrieval"]["gt"]["domain"]["law"]["n"] == len(MINI.questions())
    assert given["run"] in told.stdout


def test_missing_pages_end_with_status_1(ohr, engine):
    next((engine / "law").iterdir()).unlink()
    told = ohr("score", "ocr", "engine", *KEYS, "--workers", "1")
    assert told.exit_code == 1
    assert "failed items: 1 (each scores 0)\n  ocr: engine: law/" in told.stdout


def test_answers_are_scored_in_a_table_and_in_json(ohr, home):
    questions = MINI.questions()
    answers = {question.id: question.answers[0] for question in questions[1:]}
    (home / "model.json").write_text(json.dumps(answers))
    told = ohr("score", "answers", "model.json", *KEYS)
    assert told.exit_code == 1
    assert told.stdout.startswith(f"model: {len(answers)} of {len(questions)} questions answered, protocol clean\n")
    assert f"questions without an answer: 1 (each scores 0)\n  {questions[0].id}" in told.stdout
    given = json.loads(ohr("score", "answers", "model.json", *KEYS, "--json").stdout)
    assert given["scores"]["em"]["domain"]["all"]["mean"] == pytest.approx(len(answers) / len(questions))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("score", "ocr", "nowhere", *KEYS), "no such folder"),
        (("score", "ocr", "engine", "--benchmark", "minni"), "Did you mean 'mini'?"),
        (("score", "ocr", "engine", *KEYS, "--set", "languages"), "write it as key=value"),
        (("score", "ocr", "engine", *KEYS, "--root", "."), "benchmark.root: unknown key"),
        (("score", "answers", "nothing.csv", *KEYS), "nothing.csv: cannot be read: No such file"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(ohr, engine, words, told):
    found = ohr(*words)
    assert found.exit_code == 2
    assert told in found.stderr
    assert "Traceback" not in found.stderr
