"""Systems through the engine: what they get, and what becomes of what they say."""

import json
from pathlib import Path

import pypdfium2
import pytest

from ohr.errors import SpecError
from ohr.graph.compile import compile_graph
from ohr.results.run import Run
from ohr.runner.plan import plan
from ohr.spec.read import read_spec
from tests.engine.conftest import Home, continued, rows, values, without_times

RAG = """
import json, pathlib, re, threading, time

LOG = pathlib.Path(__file__).with_name("log")
lock = threading.Lock()


def note(*words):
    with lock, LOG.open("a") as log:
        print(*words, file=log)


class Rag:
    def __init__(self, bad="", way="whole"):
        self.bad, self.way = bad, way

    def ingest(self, folder, name):
        files = sorted(pathlib.Path(folder).rglob("*.*"))
        note("ingest", name.rsplit("-", 1)[0], *(file.name for file in files))
        if self.bad == "ingest" and name.startswith("dosed"):
            raise RuntimeError("the index is full")
        self.texts = {file.name: file.read_text() for file in files if file.suffix == ".md"}

    def ask(self, question):
        note("ask", question)
        if self.bad == "chapel" and "chapel" in question:
            raise RuntimeError("no answer today")
        if self.bad == "hang" and "chapel of finance/1" in question:
            time.sleep(60)
        words = set(re.findall(r"\\w{4,}", question))
        name, text = max(self.texts.items(), key=lambda item: len(words & set(re.findall(r"\\w{4,}", item[1]))))
        part = max(text.split("\\n\\n"), key=lambda part: len(words & set(re.findall(r"\\w{4,}", part))))
        found = re.search(r"built in (\\d+)", part)
        answer = found[1] if found else "never"
        context = {"text": part, "document": name, "score": 1.0}
        if self.bad == "half" and "chapel" in question:
            return answer
        version = "2" if self.bad == "version" and "chapel" in question else "1"
        return {"whole": {"answer": answer, "contexts": [context], "version": version},
                 "text": answer, "texts": {"answer": answer, "contexts": [part]},
                 "foreign": {"answer": answer, "contexts": ["Nothing of this is in any of your documents, " * 3]},
                 "number": 7, "odd": {"answer": answer, "context": []},
                 "pages": {"answer": answer, "contexts": [{**context, "page": "one"}]}}[self.way]

    def answer(self, question, contexts):
        note("answer", *(context.split(".")[0] for context in contexts))
        found = re.search(r"built in (\\d+)", " ".join(contexts))
        return found[1] if found else "never"
"""
SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: dosed, text_noise: {kind: formatting, rate: 0.5}}
evaluate: [retrieval, overall]
systems:
"""
SYSTEM = "  - {kind: python, name: NAME, file: RAG, class: Rag, documents: text, options: OPTIONS}\n"


class Systems(Home):
    def spec(self, options="{}", name="python", **changes):
        (self.folder / "rag.py").write_text(RAG)
        text = SPEC + self.system(name, options)
        for old, new in changes.items():
            text = text.replace(old, new)
        return text

    def system(self, name, options):
        line = SYSTEM.replace("NAME", name).replace("RAG", str(self.folder / "rag.py"))
        return line.replace("OPTIONS", options)

    def calls(self, verb):
        lines = (self.folder / "log").read_text().splitlines()
        return [line.removeprefix(f"{verb} ") for line in lines if line.startswith(f"{verb} ")]


@pytest.fixture
def home(tmp_path):
    return Systems(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    home = Systems(tmp_path_factory.mktemp("whole"))
    return home.run(home.spec())


@pytest.fixture
def after(home, finished):
    """A home in which that run was made."""
    return continued(home, finished)


def test_inputs_of_steps_grow_with_the_documents_however_many_questions_are_asked(home, monkeypatch):
    monkeypatch.setattr("ohr.graph.indexes._BATCH", 2)

    def inputs(documents):
        spec = home.spec().replace("{kind: tiny}", f"{{kind: tiny, size: {documents}}}") + "decompose: true\n"
        steps = compile_graph(home.keys(spec)).steps
        return sum({step.key: len(step.inputs) for step in steps.values()}.values())

    assert inputs(160) / inputs(40) < 1.2 * 160 / 40


def test_batches_that_share_a_step_are_located_as_each_by_itself(home, finished, monkeypatch):
    monkeypatch.setattr("ohr.graph.indexes._BATCH", 1)
    monkeypatch.setattr("ohr.graph.graph._STEPS", 2)
    shared = home.run(home.spec())
    assert sorted(without_times(shared, "hits")) == sorted(without_times(finished, "hits"))
    assert sorted(without_times(shared)) == sorted(without_times(finished))


WAYS = ("texts", "foreign", "text", "number", "odd", "pages")
BAD = ("half", "ingest", "chapel", "version")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A run of many systems, each with its name as the way in which it replies, or as what is bad about it."""
    home = Systems(tmp_path_factory.mktemp("crowd"))
    text = home.spec("{way: texts}", "texts") + "".join(home.system(way, f"{{way: {way}}}") for way in WAYS[1:])
    return home.run(text + "".join(home.system(bad, f"{{bad: {bad}}}") for bad in BAD) + "retries: 0\n")


def failures(done, name):
    return [failure for failure in done.ledger.failures if failure.item.startswith(f"{name} on ")]


def test_a_system_ingests_each_condition_once_and_is_asked_each_question_once(after, finished):
    assert [line.split()[0] for line in after.calls("ingest")] == ["clean", "dosed"]
    assert len(set(after.calls("ask"))) * 2 == len(after.calls("ask"))
    assert set(values(finished, kb="clean", stage="overall", metric="em").values()) == {1.0}
    assert set(values(finished, kb="clean", stage="retrieval", metric="hit@5").values()) == {1.0}
    assert finished.ledger.calls["ingests"] == 2


def test_what_a_system_has_said_is_not_asked_again(after):
    before = after.log("log")
    after.run(after.spec(), "margin=0.03")
    assert after.log("log") == before


def test_contexts_are_found_by_their_text_alone(crowd):
    assert set(values(crowd, kb="clean", stage="retrieval", metric="mrr", retriever="texts").values()) == {1.0}


def test_a_context_that_is_on_no_page_keeps_its_rank_and_is_counted(crowd):
    assert set(values(crowd, kb="clean", stage="retrieval", metric="hit@5", retriever="foreign").values()) == {0.0}
    assert {row["document"] for row in rows(crowd, "hits", retriever="foreign")} == {""}
    assert any("contexts are on no page of the documents" in line for line in crowd.ledger.warnings)


def test_another_top_k_is_asked_for_again(after):
    asked = len(after.calls("ask"))
    after.run(after.spec(), "systems.0.top_k=1")
    assert len(after.calls("ask")) == 2 * asked


def test_replies_without_contexts_are_counted_where_others_have_some(crowd):
    assert any("name no contexts, as if nothing was found" in line for line in crowd.ledger.warnings)
    found = values(crowd, kb="clean", stage="retrieval", metric="hit@5", retriever="half")
    assert sorted(found.values()) == [0.0] + [1.0] * 7


def test_the_name_of_a_condition_is_one_that_a_service_takes():
    from ohr.steps.systems.given_documents import condition_name

    assert [condition_name(name) for name in ("clean again", "bad scan (ü)#1", "blur-0.5")] == [
        "clean-again",
        "bad-scan-1",
        "blur-0.5",
    ]


def test_image_noise_without_an_engine_has_no_dose_and_a_run_says_so(home):
    noisy = "  - {name: smudged, image_noise: {kind: smudge, severity: 0.6}}\n"
    spec = home.spec("{way: text}").replace("  - {name: dosed, text_noise: {kind: formatting, rate: 0.5}}\n", noisy)
    finished = home.run(spec.replace("documents: text", "documents: pdf"), "retries=0")
    assert any("no `ocr` reads the images of smudged" in line for line in finished.ledger.warnings)


def test_answers_without_contexts_are_scored_alone(crowd):
    assert not failures(crowd, "text")
    retrieval = rows(crowd, stage="retrieval", kb="clean", retriever="text")
    assert {(row["status"], str(row["value"])) for row in retrieval} == {("ok", "nan")}
    assert set(values(crowd, kb="clean", stage="overall", metric="em", generator="text").values()) == {1.0}


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("number", "`ask` returned int: it must return text, a mapping or a SystemReply"),
        ("odd", "`ask` returned a mapping with 'context': it may have answer, contexts"),
        ("pages", "a context's page must be a whole number, not 'one'"),
    ],
)
def test_a_reply_of_another_form_fails_its_question_with_a_sentence(crowd, way, words):
    assert all(words in failure.reason for failure in failures(crowd, way))
    assert len(failures(crowd, way)) == 16


def test_an_ingest_that_fails_fails_its_condition_alone(crowd):
    assert {failure.reason for failure in failures(crowd, "ingest")} == {
        "the documents were not ingested: RuntimeError: the index is full"
    }
    assert {failure.item.split(":")[0] for failure in failures(crowd, "ingest")} == {"ingest on dosed"}
    assert set(values(crowd, kb="clean", stage="overall", metric="em", generator="ingest").values()) == {1.0}


def test_an_ingest_that_failed_is_tried_again_by_the_next_run(home):
    spec = home.spec("{bad: ingest}")
    for _ in range(3):
        home.run(spec, "retries=3")
    (home.folder / "rag.py").write_text(RAG.replace('"ingest" and', '"no" and'))
    assert not home.run(spec).ledger.failures


def test_a_question_on_which_a_system_raises_fails_alone(crowd):
    about = {"kb": "clean", "generator": "chapel"}
    failed = {row["question_id"] for row in rows(crowd, stage="overall", **about) if row["status"] == "failed"}
    assert 0 < len(failed) < 8
    assert {failure.reason for failure in failures(crowd, "chapel")} == {"RuntimeError: no answer today"}
    run = Run(crowd.folder)
    reasons = {row["question_id"]: run.reason(row) for row in run.rows("answers", **about)}
    assert {name for name, reason in reasons.items() if reason == "RuntimeError: no answer today"} == failed


@pytest.mark.acceptance
def test_a_question_that_hangs_is_left_alone_after_the_limit(home):
    text = home.spec("{bad: hang}") + "limits: {seconds: 3}\nretries: 0\n"
    finished = home.run(text, "systems.0.in_flight=2", workers=1)
    assert {failure.reason for failure in finished.ledger.failures} == {"no reply within 2.7 seconds"}
    assert len([row for row in rows(finished, kb="clean", stage="overall", metric="em") if row["status"] == "ok"]) >= 6


def test_a_service_that_changes_its_version_is_named_in_a_warning(crowd):
    assert "version changed its version while it was asked: 1, 2" in crowd.ledger.warnings


@pytest.mark.parametrize(("place", "left"), [("home", (2, 16)), ("after", (0, 0))])
def test_a_plan_counts_what_is_ingested_and_asked(request, place, left):
    home = request.getfixturevalue(place)
    steps = plan(read_spec(home.write(home.spec()), trust_plugins=True), home.store).steps
    assert (steps["sets of documents to ingest"].left, steps["system questions"].left) == left


def test_fresh_answers_are_asked_again(after):
    after.run_file(after.write(after.spec()), fresh="answers")
    assert len(after.calls("ask")) == 4 * len(set(after.calls("ask")))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"class: Rag": "class: Nobody"}, "has no class Nobody"),
        ({"class: Rag, ": ""}, "systems.0.class: is required"),
        ({"documents: text": "documents: scans"}, "documents"),
        (
            {"evaluate: [retrieval, overall]": "evaluate: [page]"},
            "systems are evaluated in the stage retrieval or overall",
        ),
    ],
)
def test_a_wrong_spec_is_refused_with_a_sentence(home, change, words):
    with pytest.raises(Exception, match=words.replace("[", r"\[").replace(".", r"\.")) as refused:
        home.run(home.spec(**change))
    assert isinstance(refused.value, SpecError) or "system python" in str(refused.value)


def test_pages_are_handed_over_as_pdf_and_as_images(home):
    noisy = "  - {name: smudged, image_noise: {kind: smudge, severity: 0.6}}\n"
    spec = home.spec("{way: text}").replace("  - {name: dosed, text_noise: {kind: formatting, rate: 0.5}}\n", noisy)
    for way, ending in (("pdf", ".pdf"), ("images", ".png")):
        (home.folder / "log").unlink(missing_ok=True)
        home.run(spec.replace("documents: text", f"documents: {way}"), "retries=0")
        assert {Path(name).suffix for line in home.calls("ingest") for name in line.split()[1:]} == {ending}


def test_a_pdf_holds_the_page_images(tmp_path):
    import numpy as np

    from ohr.steps.systems.given_documents import file_stems, write_pdf

    image = np.full((200, 100, 3), 255, np.uint8)
    image[50:60, 20:80] = (200, 30, 30)
    for quality, most in ((None, 0), (90, 60)):
        write_pdf(tmp_path / "out.pdf", [image, image], 72, quality)
        document = pypdfium2.PdfDocument(tmp_path / "out.pdf")
        again = document[1].render(rev_byteorder=True).to_numpy()[:, :, :3]
        assert len(document) == 2 and np.abs(again.astype(int) - image).max() <= most
        document.close()
    stems = file_stems(["a/b", "a__b", "A__B", "."])
    assert list(stems.values()) == ["a__b", "a__b-2", "A__B-3", "document"]
    assert json.dumps(sorted(file_stems(["x y?"]).values())) == '["x_y_"]'


def test_the_loss_of_a_system_that_answers_from_given_contexts_is_split(home):
    text = (
        home.spec().replace("kind: formatting, rate: 0.5", "kind: channel, profile: tesseract, rate: 0.9")
        + "decompose: true\n"
    )
    finished = home.run(text)
    assert not finished.ledger.failures
    split = {
        row["quantity"]: row["value"] for row in rows(finished, "decomposition", metric="em", evidence_source="all")
    }
    assert split["score_clean"] == 1.0 and {"score_noisy_index", "score_noisy_reading", "score_noisy"} <= split.keys()
    assert len(home.calls("answer")) == 16


def test_a_system_without_the_third_verb_is_not_split_and_says_so(home):
    text = home.spec() + "decompose: true\n"
    (home.folder / "rag.py").write_text((home.folder / "rag.py").read_text().replace("def answer(", "def other("))
    finished = home.run(text)
    assert any("has no `answer(question, contexts)`" in line for line in finished.ledger.warnings)
