"""The review page of candidates from mini: its answers, to whom it gives them, and the page in headless Chromium."""

import json
import threading
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from ohr.benchmarks.mini import Mini
from ohr.errors import DataError
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.review.decisions import Decision, add_decision, candidate_digest, read_decisions
from ohr.report.html.review import TOKEN, PageSource, marked, serve_review

from .chromium import CONTRAST, needs_chromium, opened
from .conftest import HOSTILE

MINI = Mini(languages=("en",), max_pages=2, dpi=60)
DOCUMENTS = {document.name: document for document in MINI.documents()}


def text_of(document, page):
    return MINI.pages(DOCUMENTS[document])[page].text


PAGES = PageSource(text_of, lambda document, page: MINI.page_image(DOCUMENTS[document], page))


def candidate_of(question):
    passages = []
    for passage in question.evidence:
        page = next((page for page in question.pages if passage in text_of(question.document, page)), question.pages[0])
        start = text_of(question.document, page).find(passage)
        passages.append(Evidence(page, passage, start, start + len(passage) if start >= 0 else -1))
    return Candidate(question.id, question.text, question.answers, question.document, tuple(passages))


SET = [candidate_of(question) for question in MINI.questions()[:6]]  # the last one has evidence on two pages
STRANGE = Candidate("strange", f"When? {HOSTILE}", (HOSTILE,), SET[0].document, (Evidence(0, HOSTILE),))


IS_IN_VIEW = """() => {
  const [mark, text] = ["mark", ".text"].map((name) => document.querySelector(name).getBoundingClientRect());
  return mark.top >= text.top && mark.bottom <= text.bottom;
}"""


@contextmanager
def reviewing(path, candidates=SET, pages=PAGES, reviewer="ada"):
    """Serve a review; yields its address, and a function from a request to the answer's status and body."""
    server = serve_review(candidates, pages, path, reviewer=reviewer)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def ask(address, body=None, **headers):
        asked = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        asked.request("GET" if body is None else "POST", address, body=body, headers=headers)
        answer = asked.getresponse()
        status, content = answer.status, answer.read()
        asked.close()
        return status, content

    try:
        yield f"http://127.0.0.1:{server.server_port}/", ask
    finally:
        server.shutdown()
        server.server_close()


def token_of(ask):
    return ask("/")[1].decode().partition('name="token" content="')[2].partition('"')[0]


def verdicts(path):
    return [(saved.candidate, saved.verdict) for saved in read_decisions(path)]


def test_a_candidate_comes_with_its_pages_and_marked_evidence(tmp_path):
    with reviewing(tmp_path / "review.jsonl") as (_, ask):
        shown = json.loads(ask("/candidate?place=5")[1])
        assert [page["page"] for page in shown["pages"]] == [0, 1]
        assert "".join(part for part, _ in shown["pages"][0]["parts"]) == text_of(SET[5].document, 0)
        placed, elsewhere = SET[5].evidence[1], SET[5].evidence[0]  # mini quotes a formula otherwise than its page
        assert [part for page in shown["pages"] for part, is_marked in page["parts"] if is_marked] == [placed.text]
        assert [page["elsewhere"] for page in shown["pages"]] == [[elsewhere.text], []]
        status, image = ask("/image?place=5&page=1")
        assert (status, image[:4], image[8:12]) == (200, b"RIFF", b"WEBP")


def test_passages_that_overlap_are_marked_once():
    passages = [Evidence(0, "", 4, 8), Evidence(0, "", 2, 6), Evidence(0, "", 3, 4), Evidence(0, "", 8, 9)]
    parts = marked("0123456789", passages)
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
        assert ask("/verdicts", "{}")[0] == 404
        assert ask("/candidate") == (400, b"the address lacks 'place'")
        assert ask("/candidate?place=-1")[0] == 400
        assert b"no evidence on page 2" in ask("/image?place=0&page=1")[1]


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


@needs_chromium
def test_questions_are_decided_by_keys(browser, tmp_path):
    path = tmp_path / "review.jsonl"
    with reviewing(path) as (address, _), opened(browser, address) as page:
        said = page.locator("#said")
        assert page.locator("mark").all_inner_texts() == [SET[0].evidence[0].text]
        assert page.evaluate(IS_IN_VIEW)
        page.keyboard.press("k")
        page.wait_for_selector(f"#where:has-text('{SET[1].id}')")
        page.keyboard.press("r")
        page.keyboard.type("dd")  # words, no verdicts
        page.keyboard.press("Escape")
        page.keyboard.press("d")
        page.wait_for_selector(f"#where:has-text('{SET[2].id}')")
        page.keyboard.press("e")
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type("What is lambda?")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(f"#where:has-text('{SET[3].id}')")
        assert said.inner_text() == f"Saved: edit {SET[2].id}"
        assert page.locator("#count").inner_text() == "3 of 6 decided"
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector("[data-verdict=edit][aria-pressed=true]")
        assert page.locator("#question").inner_text() == "What is lambda?"
        page.keyboard.press("n")
        page.wait_for_selector(f"#where:has-text('{SET[3].id}')")
    assert verdicts(path) == [(SET[0].id, "keep"), (SET[1].id, "drop"), (SET[2].id, "edit")]
    assert read_decisions(path)[1].reason == "dd"
    assert (read_decisions(path)[2].question, read_decisions(path)[2].answer) == ("What is lambda?", "")


@needs_chromium
def test_an_edit_can_be_left_and_must_change_something(browser, tmp_path):
    with reviewing(tmp_path / "review.jsonl") as (address, _), opened(browser, address) as page:
        page.click("[data-verdict=edit]")
        page.click("#edits button[type=submit]")
        assert page.locator("#said.failed").inner_text() == "Nothing is edited yet."
        page.fill("#new-question", " ")
        page.click("#edits button[type=submit]")
        assert page.locator("#said.failed").inner_text() == "A question needs a text and an answer."
        page.keyboard.press("Escape")
        assert page.locator("#edits").is_hidden()
        page.keyboard.press("ArrowLeft")
        assert page.locator("#said").inner_text() == "This is the first question."
    assert not (tmp_path / "review.jsonl").exists()


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read_also_on_a_phone(browser, tmp_path, scheme):
    path = tmp_path / "review.jsonl"
    add_decision(path, Decision(SET[5].id, "an earlier version", "ada", "keep"))
    with (
        reviewing(path, [SET[5], STRANGE]) as (address, _),
        opened(browser, address, color_scheme=scheme, viewport={"width": 390, "height": 800}) as page,
    ):
        assert "has changed since" in page.locator("#changed").inner_text()
        page.wait_for_function("() => [...document.images].every((image) => image.naturalWidth > 0)")
        assert page.locator("img:not([alt])").count() == 0
        for _ in range(2):
            assert page.evaluate(CONTRAST) == []
            page.keyboard.press("e")
            assert page.evaluate(CONTRAST) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.keyboard.press("Escape")
            page.keyboard.press("ArrowRight")
            page.wait_for_selector("#where:has-text('strange')")
        assert page.evaluate("window.hacked") is None
        assert HOSTILE in page.locator("#question").inner_text()
        assert "no place in the text" in page.locator("#pages").inner_text()


@needs_chromium
def test_a_page_that_cannot_be_read_is_said(browser, tmp_path):
    def unreadable(document, page):
        raise DataError(f"{document}: page {page + 1} has no text")

    with (
        reviewing(tmp_path / "review.jsonl", pages=PageSource(unreadable, PAGES.image)) as (address, _),
        opened(browser, address) as page,
    ):
        assert "page 1 has no text" in page.locator("#pages").inner_text()
        assert SET[0].evidence[0].text in page.locator("blockquote").all_inner_texts()


@needs_chromium
def test_a_decision_that_cannot_be_saved_is_said(browser, tmp_path):
    path = tmp_path / "review.jsonl"
    with reviewing(path) as (address, _):
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        path.mkdir()
        page.keyboard.press("k")
        page.wait_for_selector("#said.failed")
        assert "the decision cannot be written: Is a directory" in page.locator("#said").inner_text()
        assert page.locator("#count").inner_text() == "0 of 6 decided"
        page.close()


@needs_chromium
def test_a_key_while_a_verdict_is_saved_decides_nothing(browser, tmp_path):
    path, may_answer = tmp_path / "review.jsonl", threading.Event()

    def slow(document, page):
        if path.exists():
            may_answer.wait(30)
        return text_of(document, page)

    with (
        reviewing(path, pages=PageSource(slow, PAGES.image)) as (address, _),
        opened(browser, address) as page,
    ):
        page.keyboard.press("k")
        page.wait_for_selector(f"#said:has-text('{SET[0].id}')")
        page.keyboard.press("d")
        page.keyboard.press("ArrowRight")
        may_answer.set()
        page.wait_for_selector(f"#where:has-text('{SET[1].id}')")
        page.keyboard.press("d")
        page.wait_for_selector(f"#where:has-text('{SET[2].id}')")
    assert verdicts(path) == [(SET[0].id, "keep"), (SET[1].id, "drop")]
