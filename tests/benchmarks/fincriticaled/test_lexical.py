import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.fincriticaled.lexical import edit_distance_norm, page_scores, rouge_f1

WORDS = (
    "Net", "net", "income", "incomes", "Revenues", "(10,234)", "10", "234", "$5", "净利润", "running", "İstanbul",
    "a_b", "companies'", "2024", "-", "the",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@given(TEXTS, TEXTS)
def test_rouge_equals_that_of_the_library(reference, prediction):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
    wanted = {name: score.fmeasure for name, score in scorer.score(reference, prediction).items()}
    assert rouge_f1(reference, prediction) == pytest.approx(wanted, abs=1e-12)


def test_rouge_does_not_see_signs_and_brackets():
    assert rouge_f1("a loss of $(10,234)", "a loss of 10 234")["rouge1"] == 1


def test_rouge_sees_the_order_of_words_in_the_longest_common_subsequence_only():
    found = rouge_f1("Revenue increased in 2024", "In 2024 revenues increased")
    assert found == {"rouge1": 1.0, "rougeL": 0.5}


@pytest.mark.parametrize(("reference", "prediction"), [("", ""), ("净利润", "净利润"), ("a", "")])
def test_texts_without_words_score_zero(reference, prediction):
    assert rouge_f1(reference, prediction) == {"rouge1": 0.0, "rougeL": 0.0}


@pytest.mark.parametrize(
    ("reference", "prediction", "distance"),
    [("", "", 0.0), ("abc", "", 1.0), ("", "abc", 1.0), ("2024", "2023", 0.25), ("25,700", "25700", 1 / 6)],
)
def test_edit_distance_is_a_share_of_the_longer_text(reference, prediction, distance):
    assert edit_distance_norm(reference, prediction) == pytest.approx(distance)


def test_a_page_is_compared_as_text_on_both_sides():
    found = page_scores("<table><tr><td>Net&nbsp;income</td><td>5</td></tr></table>", "\n Net income 5 \n")
    assert found == {"rouge1": 1.0, "rougeL": 1.0, "edit_distance": 0.0}
