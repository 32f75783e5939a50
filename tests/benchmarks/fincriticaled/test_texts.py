import warnings

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.fincriticaled.fact_metrics import page_scores, rouge_f1
from ohr.benchmarks.fincriticaled.page_texts import html_to_text, parse, placed_text, seen_text, spaced, strip_html_tags

TAGS = ("<td>", "</td>", "<p>", "</p>", "<b>", "</b>", "<!-- x -->", "<br/>", "<script>x</script>", "<style>y</style>")
WORDS = ("&amp;", "&nbsp;", "&#36;", " ", "\n", "\n\n", "Net income", "5", "$", "(", ")", "%", "<", ">", "a<b", "10")
MARKUP = st.lists(st.sampled_from(TAGS + WORDS), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Net&nbsp;income <b>$5</b></p><script>x</script>", "Net income $5"),
        ("<td>1</td><td>2</td>", "1 2"),
        ("R&amp;D  costs\n5", "R&D costs 5"),
        ("a < b\n c", "a < b c"),
        ("<p>a</p><style>b</style><noscript>c</noscript><template>d</template><iframe>e</iframe>", "a"),
        ("<p>&amp;lt;</p>", "<"),
        ("", ""),
    ],
)
def test_lexical_text_is_one_line_without_tags_and_hidden_elements(html, text):
    assert html_to_text(html) == text


def test_the_search_text_keeps_lines_and_reads_latex_signs():
    html = "<table><tr><td>Director</td><td>10\\%</td></tr></table>\n\n\n<p>\\(x\\) \\[y\\] \\$5   only</p>"
    assert strip_html_tags(html) == "Director 10% \n x y $5 only"


@given(MARKUP)
def test_text_without_markup_needs_no_parser(text):
    if "<" not in text and "&" not in text:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = BeautifulSoup(text, "html.parser").get_text(" ")
        assert strip_html_tags(text) == strip_html_tags(parsed)


@given(MARKUP)
def test_a_page_is_seen_as_one_line(html):
    assert seen_text(html) == " ".join(seen_text(html).split())


@pytest.mark.parametrize(
    ("html", "seen"),
    [
        (
            "<p>Net in<b>come</b> 10<sup>th</sup></p><td>5</td><td>6</td>a<br>b<span> c</span>",
            "Net income 10th 5 6 a b c",
        ),
        ("<p>reve\u00adnue \u200b5</p>", "revenue 5"),
        ("reve\u00adnue \u200b5", "revenue 5"),
        ("a<!-- b --><script>c</script><style>d</style>", "a"),
        ("<td><span>$</span><span>18.05</span></td>", "$18.05"),
        (spaced("<td><span>$</span><span>18.05</span></td>"), "$ 18.05"),  # whose users ignore gaps at signs
    ],
)
def test_a_text_is_seen_as_a_reader_does(html, seen):
    assert seen_text(html) == seen


def test_each_visible_string_has_its_place():
    soup = parse("<p> Net <b>income</b></p><td> </td><td>5</td>")
    text, places = placed_text(soup)
    words = {text[slice(*places[id(string)])] for string in soup.strings if id(string) in places}
    assert (text, words) == ("Net income 5", {"Net", "income", "5"})


@pytest.mark.parametrize("html", ["page.html", "http://a.example/?b=1&c=2", "<?xml version='1.0'?><p>5</p>"])
def test_text_that_looks_like_a_file_or_xml_is_parsed_without_a_warning(html):
    with warnings.catch_warnings(action="error"):
        assert parse(html).get_text() == parse(html, "lxml").get_text()


def test_what_the_published_parser_rejects_is_read_all_the_same():
    assert strip_html_tags("a <![x[y]]> <p>5</p>").endswith("5")


@pytest.mark.parametrize(
    ("html", "apart"),
    [
        ("<tr><td>Net income</td><td>5</td></tr>", "<tr><td> Net income </td><td> 5 </td></tr>"),
        ("<td><span>$</span><span>18.05</span></td>", "<td><span> $ </span><span> 18.05 </span></td>"),
        ("<p>in<b>come</b> of <i>5</i>%</p>", "<p> in<b>come </b> of <i> 5 </i> % </p>"),
        ("10<sup>th</sup> year", "10<sup>th </sup> year"),
        ("R&amp;D&nbsp;&#38; &amp;lt; &amp;copy 5 &lt;b&gt; &euro;5", "R&D\xa0& &amp;lt; &amp;copy 5 &lt;b&gt; €5"),
        ("5 < 6 and 7 > 2", "5 < 6 and 7 > 2"),
    ],
)
def test_words_are_set_apart_from_tags_but_not_from_each_other(html, apart):
    assert spaced(html) == apart


LEAVES = st.sampled_from(
    ("Net income", "5", "th", ", ", ".5", " ", "\n", "&amp;", "&nbsp;", "&lt;", "A &#38; B", "<br/>")
)
INLINE = st.recursive(
    LEAVES,
    lambda parts: st.builds(
        "<{0}>{1}</{0}>".format, st.sampled_from(("b", "span", "sup")), st.lists(parts, max_size=4).map("".join)
    ),
    max_leaves=8,
)
BLOCKS = st.builds(
    str.format, st.sampled_from(("<p>{}</p>{}", "<table><tr><td>{}</td><td>{}</td></tr></table>")), INLINE, INLINE
)
PAGES = st.lists(BLOCKS, max_size=4).map("".join)


@given(PAGES)
def test_the_compared_and_the_seen_text_are_the_same_with_words_set_apart(html):
    assert html_to_text(spaced(html)) == html_to_text(html)
    assert seen_text(spaced(html)) == seen_text(html)


# --- scores of words ------------------------------------------------------------------------------------


MIXED_WORDS = (
    "Net", "net", "income", "incomes", "Revenues", "(10,234)", "10", "234", "$5", "净利润", "running", "İstanbul",
    "a_b", "companies'", "2024", "-", "the",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(MIXED_WORDS), max_size=12).map(" ".join)


@given(TEXTS, TEXTS)
def test_rouge_equals_that_of_the_library(reference, prediction):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
    wanted = {name: score.fmeasure for name, score in scorer.score(reference, prediction).items()}
    assert rouge_f1(reference, prediction) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("reference", "prediction", "rouge1", "rougeL"),
    [
        ("a loss of $(10,234)", "a loss of 10 234", 1, 1),
        ("Revenue increased in 2024", "In 2024 revenues increased", 1, 0.5),
        ("", "", 0, 0),
        ("净利润", "净利润", 0, 0),
        ("a", "", 0, 0),
    ],
)
def test_rouge_sees_stems_and_their_order_but_no_signs_and_brackets(reference, prediction, rouge1, rougeL):
    assert rouge_f1(reference, prediction) == {"rouge1": rouge1, "rougeL": rougeL}


@pytest.mark.parametrize(
    ("gold", "prediction", "distance"),
    [
        ("", "", 0), ("abc", "", 1), ("", "abc", 1), ("2024", "2023", 0.25), ("25,700", "25700", 1 / 6),
        ("<table><tr><td>Net&nbsp;income</td><td>5</td></tr></table>", "\n Net income 5 \n", 0),
    ],
)  # fmt: skip
def test_a_page_is_compared_as_text_on_both_sides(gold, prediction, distance):
    assert page_scores(gold, prediction)["edit_distance"] == pytest.approx(distance)
