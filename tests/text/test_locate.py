"""Passages are found on their pages however a foreign system has changed them, and foreign texts on none."""

import random
import string
from html import escape

import pytest

from ohr.benchmarks.mini import Mini
from ohr.text.locate import PageLocator

BENCH = Mini()
PAGES = {(d.name, page.index): page.text for d in BENCH.documents() for page in BENCH.pages(d)}
LEASE, CHINESE = "law/ferry_berth_lease", "newspaper/linlan_evening"
TEXT = PAGES[LEASE, 0]


@pytest.fixture(scope="module")
def locator():
    return PageLocator({page: [text] for page, text in PAGES.items()})


def misread(text: str, rate: float, seed: int = 0) -> str:
    """Replace letters at random, as the worst engines do."""
    rng = random.Random(seed)
    return "".join(
        rng.choice(string.ascii_lowercase) if sign.isalnum() and rng.random() < rate else sign for sign in text
    )


def changed(text: str) -> dict[str, str]:
    words = text.split()
    lines = [" ".join(words[place : place + 7]) for place in range(0, len(words), 7)]
    return {
        "as it is": text,
        "re-wrapped": "\n".join(lines),
        "hyphened": "-\n".join(text[place : place + 60] for place in range(0, len(text), 60)),
        "capitals": text.upper(),
        "html": "".join(f"<p class='x'>{escape(line)}</p>" for line in lines),
        "markdown": "\n".join(f"- **{line}**" for line in lines),
        "wide": text.translate({code: code + 0xFEE0 for code in range(33, 127)}),
        "without spaces": "".join(words),
        "misread": misread(text, 0.15),
    }


@pytest.mark.parametrize("page", [(LEASE, 0), (LEASE, 1), (CHINESE, 0)])
@pytest.mark.parametrize("change", changed("").keys())
def test_a_passage_is_on_its_page_however_it_is_written(locator, page, change):
    passage = PAGES[page][600:1200]
    assert locator.locate(changed(passage)[change]) == (page,)


def test_the_page_that_holds_more_of_a_joined_passage_is_first(locator):
    tail, head = TEXT[-300:], PAGES[LEASE, 1][:700]
    assert locator.locate(misread(tail + "\n\n" + head, 0.08)) == ((LEASE, 1), (LEASE, 0))


def test_parts_of_several_documents_are_all_found(locator):
    other = ("manual/dinghy_handbook", 1)
    assert locator.locate(TEXT[500:1300] + PAGES[other][500:900]) == ((LEASE, 0), other)


def test_a_whole_document_is_on_all_of_its_pages_in_linear_time(locator):
    pages = [page for page in PAGES if page[0] == LEASE]
    assert set(locator.locate("\n".join(PAGES[page] for page in pages))) == set(pages)
    everything = "\n".join(PAGES.values())
    assert len(set(locator.locate(everything))) == len(PAGES)


def test_a_few_letters_beyond_a_window_change_nothing():
    text = "".join(random.Random(0).choices(string.ascii_lowercase, k=4020))
    locator = PageLocator({("a", 0): [text]})
    assert all(locator.locate(text[:length]) == (("a", 0),) for length in range(3990, 4020))


def test_a_header_that_is_on_every_page_does_not_count():
    header = "# Lease of a ferry berth at Lantern Quay, certified copy of the harbour register\n\n"
    pages = {page: [header + text] for page, text in PAGES.items() if page[0] == LEASE}
    assert PageLocator(pages).locate(header + PAGES[LEASE, 1][900:1300]) == ((LEASE, 1),)


def test_a_title_does_not_bring_the_title_page_in():
    title = "# Budgeted token pruning for long documents, by Osric Tamblyn and Ines Quarrow\n\n"
    pages = {
        ("pruning", 0): title + TEXT,
        **{("pruning", index + 1): text for index, text in enumerate(PAGES.values())},
    }
    locator = PageLocator({page: [text] for page, text in pages.items()})
    assert locator.locate(title + pages["pruning", 60][500:1300]) == (("pruning", 60),)


def test_the_first_of_equal_pages_is_named():
    copies = {("copy", index): [TEXT] for index in range(40)}
    others = {page: [text] for page, text in PAGES.items() if page[0] != LEASE}
    assert PageLocator(others | copies).locate(TEXT[300:800]) == (("copy", 0),)


def test_what_an_engine_read_counts_as_the_page_too(locator):
    read = misread(TEXT, 0.6, seed=1)
    passage = misread(read[300:900], 0.05, seed=2)
    assert locator.locate(passage) == ()
    versions = {page: [text, read] if page == (LEASE, 0) else [text] for page, text in PAGES.items()}
    assert PageLocator(versions).locate(passage) == ((LEASE, 0),)


def test_only_pages_of_a_document_count_where_it_is_named(locator):
    passage = TEXT[500:1000]
    assert locator.locate(passage, LEASE) == ((LEASE, 0),)
    assert locator.locate(passage, CHINESE) == locator.locate(passage, "unknown") == ()


@pytest.mark.parametrize("held_out", sorted({page[0] for page in PAGES})[::5])
def test_a_text_of_no_page_is_nowhere(held_out):
    others = PageLocator({page: [text] for page, text in PAGES.items() if page[0] != held_out})
    foreign = [text for page, text in PAGES.items() if page[0] == held_out]
    assert not any(others.locate(text[place : place + 500]) for text in foreign for place in range(0, 2500, 500))


def test_a_quotation_in_a_foreign_text_is_no_source():
    foreign = PAGES["manual/dinghy_handbook", 0]
    locator = PageLocator({page: [text] for page, text in PAGES.items() if page[0] == LEASE})
    assert locator.locate(foreign[:700] + TEXT[600:680] + foreign[700:1400]) == ()


def test_a_short_passage_needs_one_page_that_has_all_of_it():
    pages = {("a", 0): ["The rent is 4,711 florins a year."], ("b", 0): ["The rent is due on the first of May."]}
    locator = PageLocator(pages)
    assert locator.locate("is: 4711 Florins") == (("a", 0),)
    assert locator.locate("is: 4712 florins") == ()
    assert locator.locate("The rent is") == ()  # on both
    assert locator.locate("4711") == ()  # fewer letters than an n-gram


@pytest.mark.parametrize("passage", ["", " \n", "---", "<table></table>", "\\begin", "\ud800", "a" * 3000, "的" * 3000])
def test_a_passage_without_a_text_is_nowhere(locator, passage):
    assert locator.locate(passage) == ()
    assert PageLocator({}).locate(passage) == PageLocator({("a", 0): [""], ("b", 0): []}).locate(passage) == ()
