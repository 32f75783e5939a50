from importlib.util import find_spec
from math import isnan

import pytest

from ohr.benchmarks.tablequest.recall import bucket, recall_by_length, token_recall

pytestmark = pytest.mark.skipif(find_spec("nltk") is None, reason="nltk is not installed")


def test_repeated_tokens_count_as_often_as_the_evidence_has_them():
    found = token_recall("the the the", "the cat")
    assert (found["membership"], found["multiset"]) == (1, pytest.approx(1 / 3))


def test_case_counts():
    assert token_recall("Net sales", "net sales")["multiset"] == 0.5


def test_currency_and_punctuation_are_tokens_and_thousands_are_not_cut():
    assert token_recall("$1,458 (0.2)%.", "")["answer_tokens"] == ["$", "1,458", "(", "0.2", ")", "%", "."]


def test_only_the_last_full_stop_is_a_token():
    assert token_recall("It fell. It rose.", "")["answer_tokens"] == ["It", "fell.", "It", "rose", "."]


def test_dashes_are_tokens_in_every_version_of_nltk():
    assert token_recall("2022\u20132023 a\u2014b", "")["answer_tokens"] == [
        "2022",
        "\u2013",
        "2023",
        "a",
        "\u2014",
        "b",
    ]


def test_an_answer_without_tokens_has_none_of_them():
    assert token_recall("", "anything") == {"membership": 0, "multiset": 0, "answer_tokens": []}


@pytest.mark.parametrize(
    ("tokens", "name"),
    [(0, "0-5"), (4, "0-5"), (5, "5-10"), (9, "5-10"), (10, "10-15"), (19, "15-20"), (20, "20+"), (999, "20+")],
)
def test_a_bucket_has_its_lower_end(tokens, name):
    assert bucket(tokens) == name


def test_buckets_have_shares_and_means():
    found = {one.name: one for one in recall_by_length([("a b", "a b"), ("a b", "c"), ("a " * 20, "a"), ("x", "x")])}
    assert (found["0-5"].share, found["0-5"].recall) == (0.75, pytest.approx(2 / 3))
    assert (found["20+"].share, found["20+"].recall) == (0.25, 0.05)
    assert isnan(found["5-10"].recall)
    assert (found["all"].share, found["all"].recall) == (1, pytest.approx((1 + 0 + 0.05 + 1) / 4))


def test_no_pairs_have_no_shares():
    assert all(isnan(one.share) and isnan(one.recall) for one in recall_by_length([]))
