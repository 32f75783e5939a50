from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Edit
from ohr.metrics.lcs import Lcs, lcs, lcs_without_formatting
from ohr.text.edits import apply
from ohr.text.words import words

text = st.lists(st.sampled_from(["red", "blue", "green", "the", "x1", "-"]), max_size=12).map(" ".join)


def dynamic_programming(first, second):
    lengths = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, left in enumerate(first):
        for j, right in enumerate(second):
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if left == right else max(lengths[i][j + 1], lengths[i + 1][j])
    return lengths[-1][-1]


@pytest.mark.parametrize(
    ("retrieved", "evidence", "share"),
    [
        ("alpha beta gamma delta", "beta delta epsilon", 2 / 3),
        ("gamma beta alpha", "alpha beta gamma", 1 / 3),
        ("The cat, sat.", "a cat sat", 1),
        ("3.14", "314", 1),
        ("", "word", 0),
        ("be to to", "to be to", 2 / 3),
    ],
)
def test_the_share_of_evidence_words_in_order(retrieved, evidence, share):
    assert lcs(retrieved, evidence) == pytest.approx(share)


@pytest.mark.parametrize("evidence", ["", "The ...", "$"])
def test_evidence_without_a_word_is_undefined(evidence):
    assert isnan(lcs("anything", evidence))


def test_chinese_is_compared_by_word_unless_set_otherwise():
    assert lcs("北京上海", "北京 上海") == 1
    assert lcs("北京上海", "北京 上海", segment_chinese=False) == 0


@given(text, text)
def test_it_agrees_with_dynamic_programming(retrieved, evidence):
    wanted = words(evidence)
    expected = dynamic_programming(words(retrieved), wanted) / len(wanted) if wanted else float("nan")
    assert lcs(retrieved, evidence) == pytest.approx(expected, nan_ok=True)


def test_the_plugin_scores_prediction_against_reference():
    assert Lcs().score("one two", "one two three four") == 0.5
    assert Lcs(segment_chinese=False).score("北京上海", "北京 上海") == 0


# --- without formatting -----------------------------------------------------------------------------------

PAGE = "The rent is due each May. It ends."
STYLED = apply(PAGE, [Edit("bold", 4, 4, "\\textbf{"), Edit("bold", 11, 11, "}"), Edit("paragraph", 15, 16, "\n", " ")])


def test_a_command_costs_its_word_and_nothing_without_formatting():
    assert lcs(STYLED.text, "rent is due") == pytest.approx(2 / 3)
    assert lcs_without_formatting(STYLED.text, "rent is due", STYLED.edits) == 1
    assert lcs_without_formatting(STYLED.text, "\\textit{rent} is due") == 1


def test_a_chunk_of_a_page_is_taken_back_too():
    start = STYLED.text.index("rent")
    chunk = STYLED.text[start : STYLED.text.index(" May")]
    assert chunk == "rent is} due\neach"
    assert lcs_without_formatting(chunk, "rent is due each May", STYLED.edits, start) == 4 / 5


def test_words_that_noise_took_are_still_missed():
    assert lcs_without_formatting("rent is", "rent is due", ()) == pytest.approx(2 / 3)
    assert isnan(lcs_without_formatting("rent", "$\\quad$"))
