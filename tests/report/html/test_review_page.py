"""The review page in headless Chromium."""

import threading

import numpy as np
import pytest

from ohr.errors import DataError
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.human_review import Decision, add_decision, read_decisions
from ohr.report.html.review_pages import PageSource

from .chromium import CONTRAST, needs_chromium, opened
from .conftest import HOSTILE
from .reviewing import OTHER, PAGES, SET, STRANGE, reviewing, text_of, verdicts

IS_IN_VIEW = """() => {
  const [mark, text] = ["mark", ".text"].map((name) => document.querySelector(name).getBoundingClientRect());
  return mark.top >= text.top && mark.bottom <= text.bottom;
}"""


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
@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_enter_and_escape_leave_the_reason(browser, tmp_path, key):
    path = tmp_path / "review.jsonl"
    with reviewing(path) as (address, _), opened(browser, address) as page:
        assert page.locator("label[for=reason] kbd").all_inner_texts() == ["r", "Enter", "Esc"]
        page.keyboard.press("r")
        page.keyboard.type("vague")
        page.keyboard.press(key)
        page.keyboard.press("d")
        page.wait_for_selector(f"#where:has-text('{SET[1].id}')")
        page.keyboard.press("e")  # in an edit they leave the field, too, and neither save nor discard it
        page.focus("#reason")
        page.keyboard.press(key)
        assert page.locator("#edits").is_visible()
        assert page.evaluate("document.activeElement === document.body")
    assert [(each.verdict, each.reason) for each in read_decisions(path)] == [("drop", "vague")]


@needs_chromium
def test_enter_that_ends_a_composed_word_stays_in_the_reason(browser, tmp_path):
    composed = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true})"
    with reviewing(tmp_path / "review.jsonl") as (address, _), opened(browser, address) as page:
        page.keyboard.press("r")
        page.evaluate(f"document.activeElement.dispatchEvent({composed})")
        assert page.evaluate("document.activeElement.id") == "reason"


@needs_chromium
def test_after_the_last_question_comes_the_next_undecided_one(browser, tmp_path):
    path = tmp_path / "review.jsonl"
    with reviewing(path, SET[:3]) as (address, _), opened(browser, address) as page:
        done, said = page.locator("#done"), page.locator("#said")
        for key, shown in (("ArrowRight", 1), ("k", 2), ("k", 0)):
            assert done.is_hidden()
            page.keyboard.press(key)
            page.wait_for_selector(f"#where:has-text('{SET[shown].id}')")
        page.keyboard.press("k")
        page.wait_for_selector(f"#where:has-text('{SET[1].id}')")
        sentence = "All 3 questions are decided. The decisions are in"
        assert done.inner_text() == f"{sentence} {path}. Ctrl-C in the terminal ends the review."
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f"#where:has-text('{SET[2].id}')")
        page.keyboard.press("k")
        page.wait_for_selector(f"#said:has-text('Saved again: keep {SET[2].id}')")
        page.keyboard.press("d")
        page.wait_for_selector("[data-verdict=drop][aria-pressed=true]")
        assert said.inner_text() == f"Saved: drop {SET[2].id}"
        page.keyboard.press("u")
        page.wait_for_selector("#said:has-text('Taken back')")
        assert done.is_visible()
    assert [verdict for _, verdict in verdicts(path)] == ["keep"] * 4 + ["drop", "undo"]


@needs_chromium
def test_one_question_is_all(browser, tmp_path):
    with reviewing(tmp_path / "review.jsonl", SET[:1]) as (address, _), opened(browser, address) as page:
        page.keyboard.press("k")
        page.wait_for_selector("#done:has-text('The only question is decided. The decisions are in')")
        page.keyboard.press("u")
        page.wait_for_selector("#done", state="hidden")


@needs_chromium
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_image_is_enlarged_by_key_and_click(browser, tmp_path, width):
    drawn = "() => document.querySelector('.page-image img').getBoundingClientRect().width"
    large = np.full((2000, 1600, 3), 200, dtype=np.uint8)
    pages = PageSource(text_of, lambda document, page: large, lambda document: document == SET[0].document)
    with (
        reviewing(tmp_path / "review.jsonl", [SET[0], OTHER], pages) as (address, _),
        opened(browser, address, viewport={"width": width, "height": 900}) as page,
    ):
        page.wait_for_function("() => [...document.images].every((image) => image.naturalWidth === 1440)")
        small = page.evaluate(drawn)
        page.keyboard.press("z")
        assert page.locator("#zoom").get_attribute("aria-pressed") == "true"
        assert page.evaluate(drawn) >= max(1.5 * small, 900)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CONTRAST) == []
        page.click(".page-image img")
        assert page.evaluate(drawn) == small
        page.click("#zoom")
        assert page.evaluate(drawn) > small
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f"#where:has-text('{OTHER.id}')")
        assert page.locator("#zoom").is_hidden()  # without an image


@needs_chromium
def test_a_page_that_an_engine_read_says_so(browser, tmp_path):
    pages = PageSource(
        text_of, PAGES.image, silver_engine=lambda document, page: "" if document == OTHER.document else "tesseract 5.3"
    )
    with (
        reviewing(tmp_path / "review.jsonl", [SET[0], OTHER], pages) as (address, _),
        opened(browser, address) as page,
    ):
        assert page.locator(".silver").all_inner_texts() == ["Read by tesseract 5.3, not corrected."]
        assert page.evaluate(CONTRAST) == []
        note, text = (page.locator(name).bounding_box() for name in (".silver", ".text"))
        assert note["y"] < text["y"]
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f"#where:has-text('{OTHER.id}')")
        assert page.locator(".silver").count() == 0


@needs_chromium
def test_a_verdict_is_taken_back_by_its_key(browser, tmp_path):
    path = tmp_path / "review.jsonl"
    with reviewing(path) as (address, _), opened(browser, address) as page:
        assert page.locator("#undo kbd").inner_text() == "u"
        for number in (1, 2):
            page.keyboard.press("k")
            page.wait_for_selector(f"#where:has-text('{SET[number].id}')")
        page.keyboard.press("u")
        page.wait_for_selector(f"#where:has-text('{SET[1].id}')")
        page.wait_for_selector("#said:has-text('Taken back')")
        assert page.locator("#said").inner_text() == f"Taken back: {SET[1].id} is undecided"
        assert page.locator("[aria-pressed=true]").count() == 0
        assert page.locator("#count").inner_text() == "1 of 6 decided"
        page.keyboard.press("d")
        page.wait_for_selector(f"#where:has-text('{SET[2].id}')")
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector("[data-verdict=drop][aria-pressed=true]")
        page.keyboard.press("k")
        page.wait_for_selector(f"#where:has-text('{SET[2].id}')")
        page.click("#undo")
        page.wait_for_selector("[data-verdict=drop][aria-pressed=true]")
        assert page.locator("#said").inner_text() == f"Taken back: {SET[1].id} is drop again"
    assert [verdict for _, verdict in verdicts(path)] == ["keep", "keep", "undo", "drop", "keep", "undo"]


@needs_chromium
def test_a_removed_candidate_and_a_document_without_a_pdf_say_so(browser, tmp_path):
    pages = PageSource(text_of, PAGES.image, has_image=lambda document: document != SET[0].document)
    removed = {SET[0].id: "context_dependent: says 'the table'"}
    with (
        reviewing(tmp_path / "review.jsonl", [SET[0], OTHER], pages, removed=removed) as (address, _),
        opened(browser, address) as page,
    ):
        assert page.locator("#removed").inner_text().startswith("Removed: context_dependent: says 'the table'. Your")
        assert page.locator("figcaption").inner_text() == "The set has no PDF of this document."
        assert page.locator("mark").all_inner_texts() == [SET[0].evidence[0].text]
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f"#where:has-text('{OTHER.id}')")
        assert page.locator("#removed").is_hidden()
        page.wait_for_function("() => [...document.images].every((image) => image.naturalWidth > 0)")
        assert page.locator("figcaption").count() == 0


@needs_chromium
def test_evidence_that_no_page_holds_is_shown_without_one(browser, tmp_path):
    lost = Candidate("lost", "When did it end?", ("1999",), "", (Evidence(-1, "It ended in 1999."),))
    with reviewing(tmp_path / "review.jsonl", [lost]) as (address, _), opened(browser, address) as page:
        assert page.locator("#pages h2").all_inner_texts() == ["No page holds this evidence"]
        assert page.locator("#pages blockquote").all_inner_texts() == ["It ended in 1999."]


@needs_chromium
def test_an_undo_without_a_verdict_says_so(browser, tmp_path):
    with reviewing(tmp_path / "review.jsonl") as (address, _):
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        page.keyboard.press("u")
        page.wait_for_selector("#said.failed")
        assert page.locator("#said").inner_text() == "there is no verdict to take back"
        page.close()


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
        reviewing(path, [SET[5], STRANGE], removed={SET[5].id: HOSTILE}) as (address, _),
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
