"""The rules on mini: its questions pass, and ones that were broken on purpose are removed by the rule of their kind."""

from dataclasses import replace
from random import Random

import pytest

from ohr.benchmarks.mini import Mini
from ohr.questions.imports import of_question
from ohr.questions.verify import verify

PHRASES = {
    "en": (
        "According to the document, {}",
        "Based on the table above, {}",
        "In this passage, {}",
        "From the figure, {}",
    ),
    "zh": ("根据本文，{}", "在上表中，{}", "根据上述文档，{}", "该图所示，{}"),
}
ALL_IN_EVIDENCE = ("Yes/No",)


@pytest.fixture(scope="module")
def mini():
    benchmark = Mini()
    candidates = [of_question(question) for question in benchmark.questions()]
    return candidates, {document.name: benchmark.pages(document) for document in benchmark.documents()}


@pytest.fixture(scope="module")
def broken(mini):
    """200 candidates, 50 of each kind, by the rule that should remove them; each is after its sound original."""
    candidates, truth = mini
    draws = Random(31)
    by_answer = [c for c in candidates if c.task == "understanding" and c.answer_form not in ALL_IN_EVIDENCE]
    kinds = {
        "answer_not_in_evidence": {},
        "context_dependent": {},
        "evidence_not_on_its_page": {},
        "near_duplicate": {},
    }
    for number, each in enumerate(draws.sample(by_answer, 50)):
        other = draws.choice([c for c in by_answer if c.document != each.document and c.answers != each.answers])
        kinds["answer_not_in_evidence"][f"answer-{number}"] = replace(each, answers=other.answers)
    for number, each in enumerate(draws.sample(candidates, 50)):
        asked = draws.choice(PHRASES[each.language]).format(each.question)
        kinds["context_dependent"][f"context-{number}"] = replace(each, question=asked)
    for number, each in enumerate(draws.sample(candidates, 50)):
        page = draws.choice([page.index for page in truth[each.document] if page.index not in each.pages] or [99])
        moved = (replace(each.evidence[0], page=page), *each.evidence[1:])
        kinds["evidence_not_on_its_page"][f"elsewhere-{number}"] = replace(each, evidence=moved)
    for number, each in enumerate(draws.sample(candidates, 50)):
        kinds["near_duplicate"][f"again-{number}"] = replace(each, question=reworded(each.question, draws))
    return {kind: [replace(c, id=name) for name, c in some.items()] for kind, some in kinds.items()}


def reworded(question, draws):
    """Change a word or a sign of a question, as a second answer of a model does."""
    words = question.split()
    if len(words) == 1:  # Chinese
        return draws.choice(("请问", "试问", "")) + question.rstrip("？") + draws.choice(("呢？", "?"))
    place = draws.choice([at for at, word in enumerate(words) if word.isalpha()])
    return " ".join(draws.choice(([*words[:place], *words[place + 1 :]], ["Exactly", *words], [*words, "please"])))


def test_questions_of_mini_pass(mini):
    candidates, truth = mini
    funnel = verify(candidates, truth)
    assert len(funnel.survivors) >= 0.95 * len(candidates)
    assert len(funnel.survivors) + len(funnel.removals) == len(candidates)
    for candidate in funnel.survivors:
        pages = {page.index: page.text for page in truth[candidate.document]}
        for passage in candidate.evidence:
            there = pages[passage.page][passage.start : passage.end]
            assert "".join(filter(str.isalnum, there)) == "".join(filter(str.isalnum, passage.text))


def test_broken_questions_are_removed_by_their_rule(mini, broken):
    candidates, truth = mini
    everything = [*candidates, *(each for kind in broken.values() for each in kind)]
    removals = {removal.candidate: removal.rule for removal in verify(everything, truth).removals}
    assert sum(map(len, broken.values())) == 200
    for rule, kind in broken.items():
        by_rule = sum(removals.get(each.id) == rule for each in kind)
        assert by_rule >= 0.9 * len(kind), [(each.question, removals.get(each.id)) for each in kind]
