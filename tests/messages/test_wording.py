import pytest

from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted, named


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (2, ("knowledge base",), "2 knowledge bases"),
        (1, ("entry", "entries"), "1 entry"),
        (2500, ("entry", "entries"), "2,500 entries"),
    ],
)
def test_things_are_counted_as_one_says_it(number, words, told):
    assert counted(number, *words) == told


@pytest.mark.parametrize(
    ("names", "told"), [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcde"), "a, b, c and 2 more")]
)
def test_the_first_names_stand_for_a_long_list(names, told):
    assert named(names) == told


def test_faults_of_one_kind_are_one_sentence():
    faults = [Fault("page", "without text in gt", f"gt/a page {number}") for number in range(4)]
    faults.append(Fault("question", "about an absent document, scored 0", "q1 (b)"))
    assert sentences(faults) == [
        "4 pages without text in gt: gt/a page 0, gt/a page 1, gt/a page 2 and 1 more",
        "1 question about an absent document, scored 0: q1 (b)",
    ]
