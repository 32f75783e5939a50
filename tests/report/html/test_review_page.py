"""The review page in headless Chromium."""

import threading
from contextlib import ExitStack

import numpy as np
import pytest

from ohr.errors import DataError
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.human_review import Decision, add_decision, read_decisions
from ohr.report.html.review_site import PageSource

from .chromium import CONTRAST, needs_chromium, opened
from .conftest import HOSTILE
from .reviewing import OTHER, PAGES, SET, STRANGE, reviewing, text_of, verdicts

pytestmark = needs_chromium
IS_IN_VIEW = """() => {
  const [mark, text] = ["mark", ".text"].map((name) => document.querySelector(name).getBoundingClientRect());
  return mark.top >= text.top && mark.bottom <= text.bottom;
}"""


@pytest.fixture
def path(tmp_path):
    """The file of decisions."""
    return tmp_path / "review.jsonl"


@pytest.fixture
def review(browser, path):
    """Serve a review and open it; at the end of the test nothing may have been said on the console."""
    with ExitStack() as stack:

        def begin(candidates=SET, pages=PAGES, removed=None, **look):
            address, _ = stack.enter_context(reviewing(path, candidates, pages, removed=removed))
            return stack.enter_context(opened(browser, address, **look))

        yield begin


@pytest.fixture
def refused(browser, path):
    """Open the review as `review` does; requests may fail, which the console says."""
    with reviewing(path) as (address, _):
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        yield page
        page.close()


def wait_for(page, candidate):
    page.wait_for_selector(f"#where:has-text('{candidate.id}')")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_questions_are_decided_by_keys(review, path):
    page = review()
    assert page.locator("mark").all_inner_texts() == [SET[0].evidence[0].text]
    assert page.evaluate(IS_IN_VIEW)
    press(page, "k")
    wait_for(page, SET[1])
    press(page, "r")
    page.keyboard.type("dd")  # words, no verdicts
    press(page, "Escape", "d")
    wait_for(page, SET[2])
    press(page, "e", "ControlOrMeta+A")
    page.keyboard.type("What is lambda?")
    press(page, "Control+Enter")
    wait_for(page, SET[3])
    assert page.locator("#said").inner_text() == f"Saved: edit {SET[2].id}"
    assert page.locator("#count").inner_text() == "3 of 6 decided"
    press(page, "ArrowLeft")
    page.wait_for_selector("[data-verdict=edit][aria-pressed=true]")
    assert page.locator("#question").inner_text() == "What is lambda?"
    press(page, "n")
    wait_for(page, SET[3])
    assert verdicts(path) == [(SET[0].id, "keep"), (SET[1].id, "drop"), (SET[2].id, "edit")]
    _, dropped, edited = read_decisions(path)
    assert (dropped.reason, edited.question, edited.answer) == ("dd", "What is lambda?", "")


@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_enter_and_escape_leave_the_reason(review, path, key):
    page = review()
    assert page.locator("label[for=reason] kbd").all_inner_texts() == ["r", "Enter", "Esc"]
    press(page, "r")
    composed = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true})"
    page.evaluate(f"document.activeElement.dispatchEvent({composed})")  # it ends a word, not the reason
    assert page.evaluate("document.activeElement.id") == "reason"
    page.keyboard.type("vague")
    press(page, key, "d")
    wait_for(page, SET[1])
    press(page, "e")  # in an edit they leave the field, too, and neither save nor discard it
    page.focus("#reason")
    press(page, key)
    assert page.locator("#edits").is_visible()
    assert page.evaluate("document.activeElement === document.body")
    assert [(each.verdict, each.reason) for each in read_decisions(path)] == [("drop", "vague")]


def test_after_the_last_question_comes_the_next_undecided_one(review, path):
    page = review(SET[:3])
    done = page.locator("#done")
    for key, shown in (("ArrowRight", 1), ("k", 2), ("k", 0)):
        assert done.is_hidden()
        press(page, key)
        wait_for(page, SET[shown])
    press(page, "k")
    wait_for(page, SET[1])
    sentence = "All 3 questions are decided. The decisions are in"
    assert done.inner_text() == f"{sentence} {path}. Ctrl-C in the terminal ends the review."
    press(page, "ArrowRight")
    wait_for(page, SET[2])
    press(page, "k")
    page.wait_for_selector(f"#said:has-text('Saved again: keep {SET[2].id}')")
    press(page, "d")
    page.wait_for_selector("[data-verdict=drop][aria-pressed=true]")
    assert page.locator("#said").inner_text() == f"Saved: drop {SET[2].id}"
    press(page, "u")
    page.wait_for_selector("#said:has-text('Taken back')")
    assert done.is_visible()
    assert [verdict for _, verdict in verdicts(path)] == ["keep"] * 4 + ["drop", "undo"]


def test_one_question_is_all(review):
    page = review(SET[:1])
    press(page, "k")
    page.wait_for_selector("#done:has-text('The only question is decided. The decisions are in')")
    press(page, "u")
    page.wait_for_selector("#done", state="hidden")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_image_is_enlarged_by_key_and_click(review, width):
    drawn = "() => document.querySelector('.page-image img').getBoundingClientRect().width"
    large = np.full((2000, 1600, 3), 200, dtype=np.uint8)
    pages = PageSource(text_of, lambda document, page: large, lambda document: document == SET[0].document)
    page = review([SET[0], OTHER], pages, viewport={"width": width, "height": 900})
    page.wait_for_function("() => [...document.images].every((image) => image.naturalWidth === 1440)")
    small = page.evaluate(drawn)
    press(page, "z")
    assert page.locator("#zoom").get_attribute("aria-pressed") == "true"
    assert page.evaluate(drawn) >= max(1.5 * small, 900)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    page.click(".page-image img")
    assert page.evaluate(drawn) == small
    page.click("#zoom")
    assert page.evaluate(drawn) > small
    press(page, "ArrowRight")
    wait_for(page, OTHER)
    assert page.locator("#zoom").is_hidden()  # without an image


def test_a_page_that_an_engine_read_says_so(review):
    def engine(document, page):
        return "" if document == OTHER.document else "tesseract 5.3"

    page = review([SET[0], OTHER], PageSource(text_of, PAGES.image, silver_engine=engine))
    assert page.locator(".silver").all_inner_texts() == ["Read by tesseract 5.3, not corrected."]
    assert page.evaluate(CONTRAST) == []
    note, text = (page.locator(name).bounding_box() for name in (".silver", ".text"))
    assert note["y"] < text["y"]
    press(page, "ArrowRight")
    wait_for(page, OTHER)
    assert page.locator(".silver").count() == 0


def test_a_verdict_is_taken_back_by_its_key(review, path):
    page = review()
    assert page.locator("#undo kbd").inner_text() == "u"
    for number in (1, 2):
        press(page, "k")
        wait_for(page, SET[number])
    press(page, "u")
    wait_for(page, SET[1])
    page.wait_for_selector("#said:has-text('Taken back')")
    assert page.locator("#said").inner_text() == f"Taken back: {SET[1].id} is undecided"
    assert page.locator("[aria-pressed=true]").count() == 0
    assert page.locator("#count").inner_text() == "1 of 6 decided"
    press(page, "d")
    wait_for(page, SET[2])
    press(page, "ArrowLeft")
    page.wait_for_selector("[data-verdict=drop][aria-pressed=true]")
    press(page, "k")
    wait_for(page, SET[2])
    page.click("#undo")
    page.wait_for_selector("[data-verdict=drop][aria-pressed=true]")
    assert page.locator("#said").inner_text() == f"Taken back: {SET[1].id} is drop again"
    assert [verdict for _, verdict in verdicts(path)] == ["keep", "keep", "undo", "drop", "keep", "undo"]


def test_a_removed_candidate_and_a_document_without_a_pdf_say_so(review):
    pages = PageSource(text_of, PAGES.image, has_image=lambda document: document != SET[0].document)
    page = review([SET[0], OTHER], pages, removed={SET[0].id: "context_dependent: says 'the table'"})
    assert page.locator("#removed").inner_text().startswith("Removed: context_dependent: says 'the table'. Your")
    assert page.locator("figcaption").inner_text() == "The set has no PDF of this document."
    assert page.locator("mark").all_inner_texts() == [SET[0].evidence[0].text]
    press(page, "ArrowRight")
    wait_for(page, OTHER)
    assert page.locator("#removed").is_hidden()
    page.wait_for_function("() => [...document.images].every((image) => image.naturalWidth > 0)")
    assert page.locator("figcaption").count() == 0


def test_evidence_that_no_page_holds_and_pages_that_cannot_be_read_are_said(review):
    def unreadable(document, page):
        raise DataError(f"{document}: page {page + 1} has no text")

    lost = Candidate("lost", "When did it end?", ("1999",), "", (Evidence(-1, "It ended in 1999."),))
    page = review([lost, SET[0]], PageSource(unreadable, PAGES.image))
    assert page.locator("#pages h2").all_inner_texts() == ["No page holds this evidence"]
    assert page.locator("#pages blockquote").all_inner_texts() == ["It ended in 1999."]
    press(page, "ArrowRight")
    wait_for(page, SET[0])
    assert "page 1 has no text" in page.locator("#pages").inner_text()
    assert SET[0].evidence[0].text in page.locator("blockquote").all_inner_texts()


def test_an_edit_can_be_left_and_must_change_something(review, path):
    page = review()
    page.click("[data-verdict=edit]")
    page.click("#edits button[type=submit]")
    assert page.locator("#said.failed").inner_text() == "Nothing is edited yet."
    page.fill("#new-question", " ")
    page.click("#edits button[type=submit]")
    assert page.locator("#said.failed").inner_text() == "A question needs a text and an answer."
    press(page, "Escape")
    assert page.locator("#edits").is_hidden()
    press(page, "ArrowLeft")
    assert page.locator("#said").inner_text() == "This is the first question."
    assert not path.exists()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read_also_on_a_phone(review, path, scheme):
    add_decision(path, Decision(SET[5].id, "an earlier version", "ada", "keep"))
    look = {"color_scheme": scheme, "viewport": {"width": 390, "height": 800}}
    page = review([SET[5], STRANGE], removed={SET[5].id: HOSTILE}, **look)
    assert "has changed since" in page.locator("#changed").inner_text()
    page.wait_for_function("() => [...document.images].every((image) => image.naturalWidth > 0)")
    assert page.locator("img:not([alt])").count() == 0
    for _ in range(2):
        assert page.evaluate(CONTRAST) == []
        press(page, "e")
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        press(page, "Escape", "ArrowRight")
        wait_for(page, STRANGE)
    assert page.evaluate("window.hacked") is None
    assert HOSTILE in page.locator("#question").inner_text()
    assert "no place in the text" in page.locator("#pages").inner_text()


def test_an_undo_without_a_verdict_and_a_decision_that_cannot_be_saved_are_said(refused, path):
    press(refused, "u")
    refused.wait_for_selector("#said.failed:has-text('there is no verdict to take back')")
    path.mkdir()
    press(refused, "k")
    refused.wait_for_selector("#said.failed:has-text('the decision cannot be written: Is a directory')")
    assert refused.locator("#count").inner_text() == "0 of 6 decided"


def test_a_key_while_a_verdict_is_saved_decides_nothing(review, path):
    may_answer = threading.Event()

    def slow(document, page):
        if path.exists():
            may_answer.wait(30)
        return text_of(document, page)

    page = review(pages=PageSource(slow, PAGES.image))
    press(page, "k")
    page.wait_for_selector(f"#said:has-text('{SET[0].id}')")
    press(page, "d", "ArrowRight")
    may_answer.set()
    wait_for(page, SET[1])
    press(page, "d")
    wait_for(page, SET[2])
    assert verdicts(path) == [(SET[0].id, "keep"), (SET[1].id, "drop")]
