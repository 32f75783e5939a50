import pytest

from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted, named, quoted, shortened


@pytest.mark.parametrize(
    ("number", "words", "message"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (2, ("knowledge base",), "2 knowledge bases"),
        (1, ("entry", "entries"), "1 entry"),
        (2500, ("entry", "entries"), "2,500 entries"),
    ],
)
def test_things_are_counted_in_words(number, words, message):
    assert counted(number, *words) == message


@pytest.mark.parametrize(
    ("names", "message"), [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcde"), "a, b, c and 2 more")]
)
def test_the_first_names_stand_for_a_long_list(names, message):
    assert named(names) == message


def test_faults_of_one_kind_are_one_sentence():
    faults = [Fault("page", "without text in gt", f"gt/a page {number}") for number in range(4)]
    faults.append(Fault("question", "about an absent document, scored 0", "q1 (b)"))
    assert sentences(faults) == [
        "4 pages without text in gt: gt/a page 0, gt/a page 1, gt/a page 2 and 1 more",
        "1 question about an absent document, scored 0: q1 (b)",
    ]


def test_a_long_text_is_cut():
    assert shortened("a" * 80) == "a" * 80
    assert shortened("a" * 1000, 5) == "aaaaa... (1,000 characters)"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", "'a'"),
        (["a", 1, None], "['a', 1, None]"),
        ({"kind": "bm25", "k1": 1.5}, "{'k1': 1.5, 'kind': 'bm25'}"),
        ("\x1b\ud800", "'\\x1b\\ud800'"),
        (10**5000, "a number of 16,610 bits"),
        ([10**5000], "[a number of 16,610 bits]"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, 6, 7, ...]"),
    ],
    ids=["text", "list", "mapping", "signs", "huge number", "in a list", "long list"],
)
def test_a_value_is_quoted_in_few_signs(value, shown):
    assert quoted(value) == shown


def test_a_long_value_is_quoted_in_few_signs():
    assert len(quoted("a" * 10**6)) == 80
