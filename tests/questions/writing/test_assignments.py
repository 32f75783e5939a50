import re
from itertools import product

import pytest

from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.writing.assignments import FORMS, LEVELS, ONE_PAGE, TASKS, Asked, Passage, assigned, joined, parts_of
from ohr.questions.writing.reading import items_in

PLACEHOLDER = re.compile(r"\{\w+\}")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_combination_is_a_prompt_of_its_own_without_placeholders(language):
    prompts = set()
    for source, task, level, form, count in product((*ONE_PAGE, "multi"), TASKS, LEVELS, FORMS, (1, 2, 3)):
        passages = tuple(
            Passage(index, 0, f"text {index}") for index in range(1 + (source in ("reading_order", "multi")))
        )
        prompt = assigned(
            "law/x", passages, Asked(source, task, level, form, language, count, "Ardwen"), "Title"
        ).prompt
        assert not PLACEHOLDER.search(prompt.system + prompt.user)
        assert all(passage.text in prompt.user for passage in passages)
        prompts.add((prompt.system, prompt.user, prompt.opening))
    assert len(prompts) == 6 * 2 * 3 * 4 * 3


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_examples_are_replies_that_can_be_read_with_evidence_of_their_passage(language):
    for kind, example in parts_of(language).example.items():
        (item,) = items_in(example)
        before = example[: example.index("JSON")]
        assert item.question
        assert item.answer
        assert all(quote in before for quote in item.evidence)
        assert bool(item.evidence) == (kind != "joined")


def test_the_openings_are_how_the_examples_begin():
    parts = parts_of("zh")
    for kind, opening in (("reasoning", "opening"), ("pair", "opening_pair"), ("joined", "opening_joined")):
        assert getattr(parts, opening) in parts.example[kind]


def test_a_document_without_a_title_has_its_name():
    asked = Asked("text", "understanding", "easy", "String", "en", 1)
    assert assigned("law/ferry_lease-2", (Passage(0, 0, "text"),), asked).prompt.user.startswith(
        "Document: ferry lease 2\n"
    )


def test_braces_in_a_passage_stay_as_they_are():
    asked = Asked("formula", "understanding", "easy", "String", "en", 1)
    assert "\\frac{title}{form}" in assigned("a", (Passage(0, 0, "\\frac{title}{form}"),), asked, "T").prompt.user


def test_a_prompt_to_join_names_both_questions_and_the_entity():
    first = Candidate("1", "Who drew the pier?", ("Ina Moss",), "a", (Evidence(0, "x"),))
    second = Candidate("2", "When was Ina Moss born?", ("1871",), "a", (Evidence(1, "y"),))
    prompt = joined(first, second, "Ina Moss").prompt
    assert all(text in prompt.user for text in ("Who drew the pier?", "When was Ina Moss born?", "1871", '"Ina Moss"'))
    assert not PLACEHOLDER.search(prompt.system + prompt.user)
