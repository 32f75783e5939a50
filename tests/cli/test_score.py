import json

import pytest

from ohr.benchmarks.mini import Mini

pytestmark = pytest.mark.usefixtures("one_process")

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
    done = ohr("score", "ocr", "engine", *KEYS, "--workers", "1")
    assert done.exit_code == 0
    assert done.stdout.startswith("engine: bm25, top 2, protocol clean\n")
    given = json.loads(ohr("score", "ocr", "engine", *KEYS, "--workers", "1", "--json").stdout)
    assert given["doses"]["engine"]["r_noise"] > 0.9
    assert 0 < given["doses"]["engine"]["edit_distance"] < 1
    assert given["retrieval"]["gt"]["domain"]["law"]["n"] == len(MINI.questions())
    assert given["run"] in done.stdout


def test_a_knowledge_base_of_ohrbench_is_scored_on_it_by_default(ohr, home):
    page = [{"page_idx": 0, "text": "The lease began in 1964."}]
    for base in ("gt", "mine"):
        path = home / "data/retrieval_base" / base / "law/lease.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(page))
    asked = {"ID": "q", "doc_name": "law/lease", "questions": "When?", "answers": "1964", "evidence_source": "text"}
    (home / "data/qas.json").write_text(json.dumps([{**asked, "evidence_page_no": 0, "evidence_context": "in 1964"}]))
    (home / "answers.json").write_text('{"q": "1964"}')
    done = ohr("score", "ocr", "data/retrieval_base/mine", "--workers", "1")
    assert done.stdout.splitlines()[:2] == ["mine: bm25, top 2, protocol clean", "benchmark ohrbench, 1 question"]
    done = ohr("score", "answers", "answers.json", "--root", "data", "--protocol", "reference")
    assert done.stdout.splitlines()[1] == "benchmark ohrbench"
    assert "`mean` is that of the domains shown" in " ".join(done.stdout.split())
    assert "`of clean` is a row's" not in done.stdout  # answers have no row of the ground truth's own
    found = ohr("score", "ocr", "data/retrieval_base/mine", *KEYS)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "no file is a document of benchmark mini (a file is 'law/lease', a document 'law/" in found.stderr
    found = ohr("score", "answers", "answers.json", *KEYS)
    assert "no answer is to a question of" in found.stderr and "benchmark mini (an answer is to 'q'" in found.stderr


def test_missing_pages_end_with_status_1(ohr, engine):
    next((engine / "law").iterdir()).unlink()
    done = ohr("score", "ocr", "engine", *KEYS, "--workers", "1")
    assert done.exit_code == 1
    assert "failed items: 1 (questions that need them score 0)\n  ocr: engine: law/" in done.stdout


def test_answers_are_scored_in_a_table_and_in_json(ohr, home):
    questions = MINI.questions()
    answers = {question.id: question.answers[0] for question in questions[1:]}
    (home / "model.json").write_text(json.dumps(answers))
    done = ohr("score", "answers", "model.json", *KEYS)
    assert done.exit_code == 1
    assert done.stdout.startswith(f"model: {len(answers)} of {len(questions)} questions answered, protocol clean\n")
    assert f"questions without an answer, scored 0: 1\n  {questions[0].id}" in done.stdout
    given = json.loads(ohr("score", "answers", "model.json", *KEYS, "--json").stdout)
    assert given["scores"]["em"]["domain"]["all"]["mean"] == pytest.approx(len(answers) / len(questions))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "ocr", "nowhere", *KEYS), "no such folder"),
        (("score", "ocr", "engine", "--benchmark", "minni"), "Did you mean 'mini'?"),
        (("score", "ocr", "engine", *KEYS, "--set", "languages"), "write it as key=value"),
        (("score", "ocr", "engine", *KEYS, "--root", "."), "benchmark.root: unknown key"),
        (
            ("score", "ocr", "engine", "--protocol", "clean"),
            "no --benchmark is named, so mini: benchmark.protocol: unknown",
        ),
        (("score", "answers", "nothing.csv", *KEYS), "nothing.csv: cannot be read: No such file"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(ohr, engine, words, message):
    found = ohr(*words)
    assert found.exit_code == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr
