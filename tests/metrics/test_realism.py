"""Pages beside their ground truth."""

from ohr.contracts import Page
from ohr.metrics.realism import see
from ohr.text.words import words


def test_the_words_of_a_page_are_those_of_the_metrics():
    for text in ("The rent, in 1964: 3.14!", "北京上海的租金在五月到期。", ""):
        truth = Page("law/lease", 0, text)
        assert see(truth, truth, (), {}).words == len(words(text))
    assert len(words("北京上海的租金在五月到期。")) > 4
