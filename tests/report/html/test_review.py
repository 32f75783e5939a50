"""The review page of candidates from mini: its answers, and to whom it gives them."""

import json
import threading

import pytest

from ohr.errors import DataError
from ohr.questions.human_review import Decision, add_decision, candidate_digest, read_decisions
from ohr.report.html.review import TOKEN, serve_review
from ohr.report.html.review_pages import PageSource, marked

from .reviewing import PAGES, SET, reviewing, text_of, token_of, verdicts


def test_a_candidate_comes_with_its_pages_and_marked_evidence(tmp_path):
    with reviewing(tmp_path / "review.jsonl") as (_, ask):
        shown = json.loads(ask("/candidate?place=5")[1])
        assert [page["page"] for page in shown["pages"]] == [0, 1]
        assert "".join(part for part, _ in shown["pages"][0]["parts"]) == text_of(SET[5].document, 0)
        formula, sentence = [part for page in shown["pages"] for part, is_marked in page["parts"] if is_marked]
        assert sentence == SET[5].evidence[1].text
        assert SET[5].evidence[0].start == -1  # mini quotes it otherwise than its page: its letters are looked for
        assert (formula[:21], formula[-12:]) == ("A collection of $N$ p", "vector kept.")
        assert [page["elsewhere"] for page in shown["pages"]] == [[], []]
        status, image = ask("/image?place=5&page=1")
        assert (status, image[:4], image[8:12]) == (200, b"RIFF", b"WEBP")


def test_a_verdict_does_not_wait_for_an_image(tmp_path):
    begun, may_end = threading.Event(), threading.Event()

    def slow(document, page):
        begun.set()
        assert may_end.wait(30)
        return PAGES.image(document, page)

    with reviewing(tmp_path / "review.jsonl", pages=PageSource(text_of, slow)) as (_, ask):
        answers = []
        asking = threading.Thread(target=lambda: answers.append(ask("/image?place=0&page=0")[0]))
        asking.start()
        assert begun.wait(30)
        body = json.dumps({"place": "0", "verdict": "keep"})
        assert ask("/decision", body, **{TOKEN: token_of(ask)})[0] == 200
        may_end.set()
        asking.join()
        assert answers == [200]


def test_passages_that_overlap_are_marked_once():
    parts = marked("0123456789", [(4, 8), (2, 6), (3, 4), (8, 9)])
    assert parts == [("01", False), ("2345", True), ("67", True), ("8", True), ("9", False)]
    assert marked("", []) == []


def test_a_decision_is_saved_at_once_and_shown_to_its_reviewer_only(tmp_path):
    path = tmp_path / "review.jsonl"
    with reviewing(path) as (_, ask):
        body = json.dumps({"place": "1", "verdict": "drop", "reason": "vague", "reviewer": "mallory"})
        assert ask("/decision", body, **{TOKEN: token_of(ask)})[0] == 200
        (saved,) = read_decisions(path)
        assert (saved.candidate, saved.reviewer, saved.verdict, saved.reason) == (SET[1].id, "ada", "drop", "vague")
        assert saved.digest == candidate_digest(SET[1])
        assert saved.time.endswith("+00:00")
    with reviewing(path) as (_, ask):
        assert json.loads(ask("/verdicts")[1]) == ["", "drop", "", "", "", ""]
    with reviewing(path, reviewer="bob") as (_, ask):
        assert json.loads(ask("/verdicts")[1]) == [""] * 6
        assert json.loads(ask("/candidate?place=1")[1])["decision"] is None


def test_the_last_verdict_is_taken_back_by_one_more_line(tmp_path):
    path = tmp_path / "review.jsonl"
    with reviewing(path) as (_, ask):
        token = {TOKEN: token_of(ask)}
        for verdict in ("keep", "drop"):
            ask("/decision", json.dumps({"place": "2", "verdict": verdict}), **token)
        assert json.loads(ask("/undo", "", **token)[1]) == {"place": 2, "verdict": "keep"}
        assert json.loads(ask("/verdicts")[1]) == ["", "", "keep", "", "", ""]
    assert verdicts(path) == [(SET[2].id, "keep"), (SET[2].id, "drop"), (SET[2].id, "undo")]
    with reviewing(path) as (_, ask):  # also one of an earlier day
        token = {TOKEN: token_of(ask)}
        assert json.loads(ask("/undo", "", **token)[1]) == {"place": 2, "verdict": ""}
        assert ask("/undo", "", **token) == (400, b"there is no verdict to take back")
        assert ask("/undo", "")[0] == 403
        assert ask("/decision", json.dumps({"place": "2", "verdict": "undo"}), **token)[0] == 400
    assert len(read_decisions(path)) == 4


def test_a_verdict_about_an_earlier_version_is_not_taken_back(tmp_path):
    path = tmp_path / "review.jsonl"
    add_decision(path, Decision(SET[1].id, "an earlier version", "ada", "keep"))
    with reviewing(path) as (_, ask):
        token = {TOKEN: token_of(ask)}
        assert ask("/undo", "", **token)[0] == 400
        ask("/decision", json.dumps({"place": "1", "verdict": "keep"}), **token)
        assert not json.loads(ask("/candidate?place=1")[1])["stale"]
        ask("/undo", "", **token)
        assert json.loads(ask("/candidate?place=1")[1])["stale"]


def test_no_answer_holds_the_verdicts_of_other_reviewers(tmp_path):
    path = tmp_path / "review.jsonl"
    add_decision(path, Decision(SET[0].id, candidate_digest(SET[0]), "zuleika", "drop", reason="a riddle"))
    with reviewing(path) as (_, ask):
        answers = [ask(address)[1] for address in ("/", "/verdicts", "/candidate?place=0")]
    assert not [answer for answer in answers if b"zuleika" in answer or b"a riddle" in answer]
    assert json.loads(answers[1]) == [""] * 6


def test_decisions_of_other_pages_are_refused(tmp_path):
    path = tmp_path / "review.jsonl"
    with reviewing(path) as (_, ask):
        body, token = json.dumps({"place": "0", "verdict": "keep"}), token_of(ask)
        assert len(token) >= 24
        assert ask("/decision", body)[0] == 403
        assert ask("/decision", body, **{TOKEN: "guessed"})[0] == 403
        assert ask("/decision", body, Host="evil.example:80", **{TOKEN: token})[0] == 403
        assert ask("/", Host="evil.example:80") == (403, b"this address is for this machine only")
        assert not path.exists()


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('{"place": "0", "verdict": "kep"}', b"Did you mean 'keep'?"),
        ('{"place": "6", "verdict": "keep"}', b"there is no candidate '6', only 6 from 0 on"),
        ('{"place": "0", "verdict": "edit"}', b"an edit needs"),
        ('{"verdict": "keep"}', b"an object with a `place`"),
        ("{", b"Expecting property name"),
    ],
)
def test_what_is_no_decision_is_refused(tmp_path, body, fault):
    with reviewing(tmp_path / "review.jsonl") as (_, ask):
        status, reason = ask("/decision", body, **{TOKEN: token_of(ask)})
    assert status == 400
    assert fault in reason
    assert not (tmp_path / "review.jsonl").exists()


def test_addresses_that_are_not_there_say_so(tmp_path):
    with reviewing(tmp_path / "review.jsonl") as (_, ask):
        assert ask("/elsewhere") == (404, b"/elsewhere: there is nothing here")
        assert ask("/verdicts", "{}")[0] == 403
        assert ask("/verdicts", "{}", **{TOKEN: token_of(ask)}) == (
            405,
            b"POST is not answered at this address, only GET, HEAD",
        )
        assert ask("/decision")[0] == 405
        for place in ("", "?place=-1", "?place=6", "?place=x", f"?place={'9' * 5000}"):
            status, reason = ask(f"/candidate{place}")
            assert (status, reason[:29]) == (400, b"place: there is no candidate ")
            assert reason.endswith(b", only 6 from 0 on")
        assert b"no evidence on page 2" in ask("/image?place=0&page=1")[1]
        assert ask("/image?place=0&page=-1") == (400, b"page: got '-1'. It must be a whole number of at least 0.")


def test_a_page_source_with_a_fault_of_its_own_is_said(tmp_path):
    def broken(document, page):
        raise RuntimeError("no such renderer")

    with reviewing(tmp_path / "review.jsonl", pages=PageSource(broken, broken)) as (_, ask):
        for address in ("/candidate?place=0", "/image?place=0&page=0"):
            status, reason = ask(address)
            assert status == 500
            assert b"no such renderer" in reason


def test_a_review_that_cannot_begin_says_why(tmp_path):
    for candidates, reviewer, fault in ((SET, " ", "name of the reviewer"), ([], "ada", "no candidates")):
        with pytest.raises(DataError, match=fault):
            serve_review(candidates, PAGES, tmp_path / "review.jsonl", reviewer=reviewer)
    (tmp_path / "wrong.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match=r"wrong\.jsonl:1: candidate is missing"):
        serve_review(SET, PAGES, tmp_path / "wrong.jsonl", reviewer="ada")
