"""The page in headless Chromium: as people read it, and with texts that try to be code."""

from contextlib import suppress
from pathlib import Path

import pytest

from ohr.report.html.report_file import write_report
from ohr.report.html.site import Site, make_server
from ohr.results.run import Run

from .chromium import CONTRAST, asking, needs_chromium, opened

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def pages(plain, strange, shared):
    """The reports of both runs."""

    def write(home):
        for name, runs in (("plain", [plain]), ("strange", [strange]), ("both", [plain, strange])):
            write_report([Run(run) for run in runs], home / f"{name}.html")

    return shared("html-reports", write)


def open_question(page, number=0):
    """Open a question as a person would: a click on a row that the table is just drawing is made again."""
    sync_api = pytest.importorskip("playwright.sync_api")
    for _ in range(5):
        page.locator(".open").nth(number).click()
        with suppress(sync_api.TimeoutError):
            page.wait_for_selector("dialog[open] #question-title", timeout=6_000)
            return
    raise AssertionError("no question opened")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(browser, pages, scheme):
    with opened(browser, f"file://{pages}/plain.html", color_scheme=scheme) as page:
        page.eval_on_selector_all("details", "parts => parts.forEach((part) => { part.open = true; })")
        assert page.evaluate(CONTRAST) == []
        open_question(page)
        assert page.evaluate(CONTRAST) == []


def test_nothing_runs_over_a_phone(browser, pages):
    for name in ("plain", "strange"):
        with opened(browser, f"file://{pages}/{name}.html", viewport={"width": 390, "height": 800}) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            open_question(page)
            assert page.evaluate("document.querySelector('dialog').scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_screen_has_the_verdicts_and_what_to_do(browser, pages, scheme):
    look = {"viewport": {"width": 1280, "height": 720}, "color_scheme": scheme}
    with opened(browser, f"file://{pages}/plain.html", **look) as page:
        tops = [page.locator(part).first.bounding_box()["y"] for part in ("h1", ".lead", ".minute", ".todo", ".facts")]
        assert tops == sorted(tops) and tops[-2] < 720
        gauges = page.locator(".minute .gauge")
        assert gauges.count() >= 2
        assert all(" points left of " in gauge.get_attribute("aria-label") for gauge in gauges.all())
        assert not page.locator(".headline").is_visible()
        page.get_by_text("The same in statistical form").click()
        assert page.locator(".headline").is_visible()


def test_tables_fit_on_printed_paper(browser, pages):
    with opened(browser, f"file://{pages}/plain.html", viewport={"width": 720, "height": 1000}) as page:
        page.emulate_media(media="print")
        page.evaluate("document.querySelectorAll('details').forEach((found) => { found.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= 720


def test_pictures_have_words_and_the_theme_can_be_chosen(browser, pages):
    with opened(browser, f"file://{pages}/plain.html") as page:
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.select_option("#theme", "dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
        charts = page.locator("svg[role=img]")
        assert charts.count() >= 4
        assert all(charts.nth(number).get_attribute("aria-label") for number in range(charts.count()))
        open_question(page)
        page.wait_for_selector("dialog img")
        assert page.locator("dialog img").first.get_attribute("alt")
        assert page.locator("img:not([alt])").count() == 0
        # each chart has its table
        assert page.locator("[data-chart]").count() <= page.locator("table").count()


def test_questions_are_filtered_sorted_and_opened(browser, pages):
    with opened(browser, f"file://{pages}/plain.html") as page:
        count = page.locator("[data-count]")
        whole = count.inner_text()
        page.select_option("select[name=change]", "lost")
        page.wait_for_function("before => document.querySelector('[data-count]').innerText !== before", arg=whole)
        lost = [float(text) for text in page.locator(".tabulator-row [tabulator-field=lost]").all_inner_texts()]
        assert lost == sorted(lost, reverse=True)
        assert min(lost) > 0
        page.locator(".tabulator-col[tabulator-field=score]").click()
        scores = [float(text) for text in page.locator(".tabulator-row [tabulator-field=score]").all_inner_texts()]
        assert scores == sorted(scores, reverse=True)
        page.fill("input[name=search]", "no question says this")
        page.wait_for_function("() => document.querySelector('[data-count]').innerText.startsWith('0 of')")
        page.fill("input[name=search]", "")
        page.wait_for_selector(".open")
        page.locator(".open").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open] mark")  # the evidence
        assert page.locator("dialog del").count() > 0
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0


def test_text_of_documents_stays_text(browser, pages):
    with opened(browser, f"file://{pages}/strange.html") as page:
        for number in range(page.locator(".open").count()):
            open_question(page, number)
            page.keyboard.press("Escape")
        assert page.evaluate("window.hacked") is None
        assert page.locator("img[src=x]").count() == 0
        text = page.locator("body").inner_text()
        assert "</script><script>window.hacked = 1</script>{{ 7 * 7 }}" in text
        assert "<b>read</b>" in text


def test_one_run_of_several_is_chosen(browser, pages):
    with opened(browser, f"file://{pages}/both.html") as page:
        assert page.locator("h1:visible").inner_text() == "plain"
        page.select_option("#run-chooser", "1")
        page.wait_for_function("() => document.querySelector('#run-1:not([hidden]) .open')")
        assert page.locator("h1:visible").inner_text() == "strange"


def test_data_beside_the_page_is_loaded_when_it_is_looked_at(browser, plain, tmp_path, monkeypatch):
    monkeypatch.setattr("ohr.report.html.report_file._EMBEDDED", 1000)
    page, folder = write_report([Run(plain)], tmp_path / "large.html")
    assert folder.name == "large-data"
    with opened(browser, f"file://{page}") as shown:
        open_question(shown)


def test_a_question_without_details_says_where_they_are(browser, plain, tmp_path):
    (page,) = write_report([Run(plain)], tmp_path / "few.html", details=1)
    with opened(browser, f"file://{page}") as shown:
        open_question(shown)
        shown.click("dialog button:has-text('Next')")
        assert "`ohr view` shows any" in shown.inner_text("dialog .note")


def test_a_served_run_has_the_same_questions(browser, plain):
    with (
        asking(make_server(Site(plain.parent.parent, lambda _: []), 0)) as (address, _),
        opened(browser, f"{address}run/{plain.parent.name}/{plain.name}/") as page,
    ):
        open_question(page)
        page.wait_for_selector("dialog img")
        assert Path(plain).name in page.locator(".eyebrow").first.inner_text()
