"""README and docs/index.md show of the demo just what the product says of its numbers."""

from importlib.resources import files

import pytest

from ohr.spec.read import read_spec
from speed.readme_from_demo import PAGES, parts, placed, recorded

DEMO = read_spec(files("ohr.pipelines") / "quickstart.yaml")
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}


@pytest.mark.parametrize("page", TEXTS)
def test_a_page_says_what_the_demo_gave(page: str):
    assert "<!-- demo: " in TEXTS[page]
    assert placed(TEXTS[page], parts(recorded())) == TEXTS[page]  # else: python -m speed.readme_from_demo RUN


@pytest.mark.parametrize("name", parts(recorded()))
def test_a_part_is_between_its_marks_on_a_page(name: str):
    part = f"<!-- demo: {name} -->\n{parts(recorded())[name]}<!-- end of {name} -->"
    assert any(part in text for text in TEXTS.values())


def test_other_numbers_give_another_readme():
    assert placed(TEXTS["README.md"], parts(recorded()[1:])) != TEXTS["README.md"]


def test_the_pages_are_of_the_demo_as_it_is():
    noisy = {base.condition for base in DEMO.knowledge_bases if base.noise_type != "none"}
    assert {(loss.condition, loss.retriever) for loss in recorded()} == {
        (condition, retriever.name) for condition in noisy for retriever in DEMO.retrievers
    }


def test_most_of_what_the_demo_compares_is_shown():
    shown = [loss for loss in recorded() if loss.is_loss]
    assert len(shown) > len(recorded()) / 2
    assert {loss.noise for loss in shown} == {"formatting", "blur"}
