"""`ohr data review`: a set from two pages of mini, its review over HTTP, and what the command prints of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import httpx
import pytest

from ohr.benchmarks.mini import Mini
from ohr.files.built_set import FORMAT, page_digest
from ohr.files.ohrbench_json import write_pages
from ohr.questions.candidate import write_candidates
from ohr.questions.human_review import Decision, add_decision, candidate_digest, read_decisions
from ohr.questions.imports import of_question
from ohr.questions.set_files import record
from ohr.questions.verification import verify
from ohr.report.html.review_site import TOKEN
from ohr.serving import http as serving_http

from ..conftest import serving
from .conftest import command

DOMAIN = "law"
AGAIN = "The same `ohr data build` command again writes the reviewed set; it asks no model twice."


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The folder `out` of a set with four questions, of which a rule removed the last; its candidates."""
    monkeypatch.chdir(tmp_path)
    mini = Mini(languages=("en",), domains=(DOMAIN,), max_pages=1)
    document = next(each for each in mini.documents() if each.name == mini.questions()[0].document)
    pages = mini.pages(document)
    candidates = [of_question(question) for question in mini.questions() if question.document == document.name][:3]
    candidates.append(replace(candidates[0], id="vague", question="What does the table above say?"))
    funnel = verify(candidates, {document.name: pages})
    truth, pdf = (tmp_path / "out" / place for place in ("retrieval_base/gt", "pdfs"))
    for folder in (truth, pdf):
        (folder / DOMAIN).mkdir(parents=True)
    write_pages(truth / f"{document.name}.json", pages)
    shutil.copy(mini.pdf(document), pdf / f"{document.name}.pdf")
    placed = {candidate.id: candidate for candidate in funnel.survivors}
    candidates = [placed.get(candidate.id, candidate) for candidate in candidates]
    write_candidates(tmp_path / "out/candidates.jsonl", candidates, funnel.removals)
    return candidates


@pytest.fixture
def review(monkeypatch, written):
    """Run the command, and do something with its page before Ctrl-C is pressed."""

    def run(*words, during=lambda client: None):
        def served(server):
            with serving(server), httpx.Client(base_url=f"http://127.0.0.1:{server.server_port}", timeout=30) as client:
                during(client)

        monkeypatch.setattr(serving_http, "serve_until_interrupted", served)
        return command("data", "review", "out", "--port", 0, *words)

    return run


def decide(client, place, verdict, **changes):
    token = client.get("/").text.partition('name="token" content="')[2].partition('"')[0]
    client.post("/decision", json={"place": str(place), "verdict": verdict, **changes}, headers={TOKEN: token})


def decision(candidate, verdict, reviewer):
    return Decision(candidate.id, candidate_digest(candidate), reviewer, verdict)


def test_a_review_shows_survivors_saves_decisions_and_ends_with_a_summary(review, written, tmp_path):
    seen = {}

    def during(client):
        seen["verdicts"] = client.get("/verdicts").json()
        seen["candidate"] = client.get("/candidate?place=0").json()
        seen["image"] = client.get("/image?place=0&page=0").headers["Content-Type"]
        decide(client, 0, "keep")
        decide(client, 1, "drop", reason="vague")

    done = review("--reviewer", "ada", during=during)
    assert done.exit_code == 0
    assert seen["verdicts"] == ["", "", ""]
    assert seen["image"] == "image/webp"
    (page,) = seen["candidate"]["pages"]
    assert [part for part, is_evidence in page["parts"] if is_evidence] == [written[0].evidence[0].text]
    decisions = read_decisions(tmp_path / "out/decisions.jsonl")
    assert [(each.candidate, each.reviewer, each.verdict) for each in decisions] == [
        (written[0].id, "ada", "keep"),
        (written[1].id, "ada", "drop"),
    ]
    lines = done.stdout.splitlines()
    assert lines[0].startswith("http://127.0.0.1:")
    assert lines[1:] == [
        "reviewer  kept  dropped  edited  left",
        "ada       1     1        0       1",
        "2 questions of 3 stay: 1 dropped, 0 edited, 1 undecided",
        AGAIN,
    ]
    assert "3 questions for ada, decisions in out/decisions.jsonl" in done.stderr


def test_removed_ones_are_shown_with_their_reason_and_say_which_rule_was_wrong(review, written):
    shown = []

    def during(client):
        shown.append(client.get("/candidate?place=3").json())
        decide(client, 3, "keep")

    done = review("--all", "--reviewer", "ada", during=during)
    assert shown[0]["removed"].startswith("context dependent: says 'the table above'")
    (page,) = shown[0]["pages"]
    assert page["elsewhere"] == []  # its evidence is looked for, although the rule came first
    assert "context dependent  1        1          1" in done.stdout
    assert "3 questions of 3 stay: 0 dropped, 0 edited, 3 undecided" in done.stdout


def test_a_set_without_its_pdf_shows_text(review, tmp_path):
    shutil.rmtree(tmp_path / "out/pdfs")
    pages = []
    review(during=lambda client: pages.extend(client.get("/candidate?place=0").json()["pages"]))
    assert [page["image"] for page in pages] == [False]
    assert pages[0]["parts"]
    assert pages[0]["error"] == ""


def test_documents_may_have_another_name_in_the_set(review, tmp_path, written):
    for path in (tmp_path / "out").rglob(f"{DOMAIN}/*.*"):
        path.rename(path.with_stem("renamed"))
    about = {"documents": {f"{DOMAIN}/renamed": {"source": written[0].document}, f"{DOMAIN}/other": 3}}
    (tmp_path / "out/set.json").write_text(json.dumps(about))
    pages = []
    review(during=lambda client: pages.extend(client.get("/candidate?place=0").json()["pages"]))
    assert (pages[0]["error"], pages[0]["image"]) == ("", True)


def test_a_set_without_its_ground_truth_says_so(review, tmp_path):
    shutil.rmtree(tmp_path / "out/retrieval_base")
    pages = []
    review(during=lambda client: pages.extend(client.get("/candidate?place=0").json()["pages"]))
    assert pages[0]["error"].startswith("out: has no text of page 1 of law/")


def test_a_larger_sample_holds_a_smaller_one_and_is_the_same_for_every_reviewer(review):
    samples = {}

    def shown(client):
        count = len(client.get("/verdicts").json())
        return [client.get(f"/candidate?place={place}").json()["id"] for place in range(count)]

    for size, reviewer in ((1, "ada"), (1, "bob"), (2, "ada"), (9, "ada")):
        arguments = ("--sample", size, "--reviewer", reviewer)
        review(*arguments, during=lambda client, of=(size, reviewer): samples.update({of: shown(client)}))
    assert samples[1, "ada"] == samples[1, "bob"]
    assert set(samples[1, "ada"]) < set(samples[2, "ada"]) < set(samples[9, "ada"])
    assert [len(sample) for sample in samples.values()] == [1, 1, 2, 3]


def test_a_summary_has_agreement_disputes_and_what_has_changed(review, written, tmp_path):
    first, second, third = written[:3]
    for each, ada, bob in ((first, "keep", "keep"), (second, "drop", "keep"), (third, "drop", "drop")):
        add_decision(tmp_path / "out/decisions.jsonl", decision(each, ada, "ada"))
        add_decision(tmp_path / "out/decisions.jsonl", decision(each, bob, "bob"))
    add_decision(tmp_path / "out/decisions.jsonl", Decision(first.id, "an earlier version", "cy", "keep"))
    done = review("--summary")
    kappa = (2 / 3 - 4 / 9) / (1 - 4 / 9)
    assert done.stdout.splitlines()[:4] == [
        "reviewer  kept  dropped  edited  left",
        "ada       1     2        0       0",
        "bob       2     1        0       0",
        "1 question of 3 stay: 2 dropped, 0 edited, 0 undecided",
    ]
    assert f"ada and bob agree on 2 of 3 questions; Cohen's kappa {kappa:.2f}" in done.stdout
    differ = "verdicts differ; a question that one drops is dropped:"
    assert f"{differ}\n  {second.id} (ada: drop, bob: keep): " in done.stdout
    assert f"has changed since, not applied: {first.id} (cy)" in done.stdout
    assert "dropped by one reviewer" not in done.stdout  # the line above says which
    summary = json.loads(review("--json").stdout)
    assert summary["agreements"] == [
        {"reviewers": ["ada", "bob"], "candidates": 3, "equal": 2, "kappa": pytest.approx(kappa)}
    ]
    assert summary["disagreements"] == [{"candidate": second.id, "verdicts": {"ada": "drop", "bob": "keep"}}]


def test_a_summary_of_a_sample_counts_the_sample(review, written, tmp_path):
    sampled = []
    shown = lambda client: sampled.append(client.get("/candidate?place=0").json()["id"])  # noqa: E731
    review("--sample", 1, during=shown)
    for each in written[:3]:
        if each.id not in sampled:
            add_decision(tmp_path / "out/decisions.jsonl", decision(each, "drop", "ada"))
    (chosen,) = (each for each in written if each.id in sampled)
    add_decision(tmp_path / "out/decisions.jsonl", decision(chosen, "keep", "ada"))
    assert review("--summary", "--sample", 1).stdout.splitlines()[:4] == [
        "verdicts about the sample of 1 question:",
        "reviewer  kept  dropped  edited  left",
        "ada       1     0        0       0",
        "1 question of 3 stay: 2 dropped, 0 edited, 0 undecided",
    ]
    assert json.loads(review("--json", "--sample", 2).stdout)["sample"] == 2
    assert review("--sample", 1).stdout.splitlines()[1] == "verdicts about the sample of 1 question:"


def test_a_summary_of_one_reviewer(review, written, tmp_path):
    for verdict, reviewer in (("drop", "ada"), ("keep", "bob")):
        add_decision(tmp_path / "out/decisions.jsonl", decision(written[0], verdict, reviewer))
    assert review("--summary", "--reviewer", "bob").stdout.splitlines()[:4] == [
        "the decisions of bob alone:",
        "reviewer  kept  dropped  edited  left",
        "bob       1     0        0       2",
        "3 questions of 3 stay: 0 dropped, 0 edited, 2 undecided",
    ]
    done = review("--summary", "--reviewer", "bobb")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "out/decisions.jsonl: has no decision of bobb. Choose one of: ada, bob. Did you mean 'bob'?\n"
    )
    assert "ada and bob agree" in review("--reviewer", "bob").stdout  # after a review, that of all


def test_a_set_that_has_its_decisions_needs_no_build(review, written, tmp_path):
    def write_set(candidates):
        records = [record(replace(each, document="d"), {"d": "law/d"}) for each in candidates]
        (tmp_path / "out/qas_v2.json").write_text(json.dumps(records))

    edit = replace(decision(written[1], "edit", "ada"), question="What is due at the quay of Pethering?")
    for each in (decision(written[0], "drop", "ada"), edit):
        add_decision(tmp_path / "out/decisions.jsonl", each)
    write_set(written[:3])
    assert review("--summary").stdout.splitlines()[-1] == AGAIN
    write_set(written[1:3])
    assert review("--summary").stdout.splitlines()[-1] == AGAIN
    write_set([replace(written[1], question=edit.question), written[2]])
    assert review("--summary").stdout.splitlines()[-1] == "out has all verdicts already."


def test_a_page_that_an_engine_read_is_marked_until_it_is_corrected(review, written, tmp_path):
    def silver():
        pages = []
        review(during=lambda client: pages.extend(client.get("/candidate?place=0").json()["pages"]))
        return [page["silver"] for page in pages]

    truth = tmp_path / "out/retrieval_base/gt" / f"{written[0].document}.json"
    digest = page_digest(json.loads(truth.read_text())[0]["text"])
    page = {"origin": "silver", "reason": "", "sha256": digest}
    document = {"language": "en", "source": written[0].document, "pages": {"0": page}}
    about = {
        "format": FORMAT,
        "truth": {"engine": "tesseract 5.3"},
        "documents": {written[0].document: document},
    }
    (tmp_path / "out/set.json").write_text(json.dumps(about))
    assert silver() == ["tesseract 5.3"]
    page["origin"] = "text_layer"
    (tmp_path / "out/set.json").write_text(json.dumps(about))
    assert silver() == [""]
    page |= {"origin": "silver", "sha256": page_digest("what the engine read")}
    (tmp_path / "out/set.json").write_text(json.dumps(about))
    assert silver() == [""]


def test_a_summary_before_the_first_decision(review):
    assert review("--summary").stdout == "nothing is decided yet: out/decisions.jsonl is not there\n"


def test_the_reviewer_is_the_user_of_the_system(review, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "zoe")
    assert "3 questions for zoe" in review().stderr

    def nobody():
        raise OSError("no user")

    monkeypatch.setattr("getpass.getuser", nobody)
    done = review()
    assert (done.exit_code, done.stderr) == (
        2,
        "this system has no name of its user: name the reviewer with --reviewer\n",
    )


def test_what_cannot_be_reviewed_says_why(review, tmp_path):
    done = command("data", "review", "elsewhere")
    assert (done.exit_code, done.stderr) == (
        2,
        "elsewhere: has no candidates.jsonl, which `ohr data build ... --to elsewhere` writes\n",
    )
    decisions = tmp_path / "out/decisions.jsonl"
    decisions.write_text('{"candidate": "q", "digest": "d", "reviewer": "ada", "verdict": "kep"}\n')
    for words in ((), ("--summary",)):
        done = review(*words)
        assert done.exit_code == 2
        assert "out/decisions.jsonl:1: there is no verdict 'kep'" in done.stderr
    decisions.unlink()
    write_candidates(tmp_path / "out/candidates.jsonl", [])
    assert review().stderr.startswith("out: no question is left to review; --all shows those")
    (tmp_path / "out/candidates.jsonl").write_text("{}\n")
    assert "out/candidates.jsonl:1: id is missing" in review().stderr


NOTHING = "nothing is decided yet: out/decisions.jsonl is not there\n"


@pytest.mark.parametrize(("sent", "ended"), [(signal.SIGINT, (0, NOTHING)), (signal.SIGTERM, (143, ""))])
def test_a_signal_ends_a_review(written, tmp_path, sent, ended):
    with subprocess.Popen(
        [sys.executable, "-m", "ohr", "data", "review", "out", "--port", "0", "--reviewer", "ada"],
        stdout=subprocess.PIPE, text=True, cwd=tmp_path, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert httpx.get(process.stdout.readline().strip()).status_code == 200
        process.send_signal(sent)
        rest, _ = process.communicate(timeout=30)
    assert (process.returncode, rest) == ended
