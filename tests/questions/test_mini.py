"""The rules on mini: its questions pass, and ones that were broken on purpose are removed by the rule of their kind."""

import json
import re
from collections import defaultdict
from dataclasses import replace
from itertools import cycle
from random import Random

import pytest

from ohr.benchmarks.mini import Mini
from ohr.contracts import Completion
from ohr.questions.candidate import Model
from ohr.questions.candidate_rules import RULES
from ohr.questions.imports import of_question
from ohr.questions.judging.judge_prompts import templates
from ohr.questions.judging.model_rules import model_rules
from ohr.questions.truth_texts import letters
from ohr.questions.verification import verify

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
            assert there == passage.text


def test_broken_questions_are_removed_by_their_rule(mini, broken):
    candidates, truth = mini
    everything = [*candidates, *(each for kind in broken.values() for each in kind)]
    removals = {removal.candidate: removal.rule for removal in verify(everything, truth).removals}
    assert sum(map(len, broken.values())) == 200
    for rule, kind in broken.items():
        by_rule = sum(removals.get(each.id) == rule for each in kind)
        assert by_rule >= 0.9 * len(kind), [(each.question, removals.get(each.id)) for each in kind]


STRANGE = {
    "en": ("In the study at hand, {}", "As we saw earlier, {}"),
    "zh": ("就手头这份东西来说，{}", "像前面说过的那样，{}"),
}
"""Wordings that no list of phrases has."""


class Oracle:
    """A scripted model that answers from the evidence that it is shown, and by itself what it is said to know.

    It writes in the several ways in which models do.
    """

    ways = (
        "{}",
        "<think>It may be otherwise. Unknown?</think>{}",
        "Answer: {}",
        '{{"answer": "{}"}}',
        "**{}**",
        "{}\n\nThe question names it.",
    )

    def __init__(self, candidates, known=()):
        self.candidates, self.known, self.calls = candidates, set(known), 0

    def ask(self, prompts):
        self.calls += 1
        styles = cycle(self.ways)
        return [Completion(self.written(next(styles), self.reply(prompt))) for prompt in prompts]

    def written(self, style, text):
        return style.format(json.dumps(text, ensure_ascii=False)[1:-1] if "{{" in style else text)

    def sees(self, candidate, prompt):
        return all(letters(each.text).text in letters(prompt.user).text for each in candidate.evidence)

    def reply(self, prompt):
        candidate = next(each for each in self.candidates if each.question in prompt.question)
        chinese, own = candidate.language == "zh", templates(candidate.language)
        words = {"right": "正确", "wrong": "错误", "unknown": "不知道"} if chinese else {}
        if prompt.system == own.context_dependent.system:
            names = re.findall(r"\b[A-Z]\w+", candidate.question[1:]) or [candidate.question]
            return max(names, key=len) if prompt.question == candidate.question else "无" if chinese else "none"
        if prompt.system == own.task.system:
            return {"understanding": "理解", "reasoning": "推理"}[candidate.task] if chinese else candidate.task
        if not (self.sees(candidate, prompt) if prompt.passages else candidate.question in self.known):
            word = "unknown"
        elif prompt.system in (own.claim.system, own.claim_on_passages.system):
            claimed = prompt.user.split("Somebody's answer: " if not chinese else "有人回答：")[1].split("\n")[0]
            word = "right" if claimed == candidate.answers[0] else "wrong"
        else:
            return candidate.answers[0]
        return words.get(word, word)


def all_rules(oracle):
    model = Model("oracle", oracle.ask)
    return (*RULES, *model_rules([model], [model]))


@pytest.fixture(scope="module")
def written(mini):
    """Mini's questions, as if they were written for their tasks."""
    candidates, truth = mini
    return [replace(each, origin="written") for each in candidates], truth


@pytest.mark.acceptance
def test_questions_of_mini_pass_the_rules_with_models(written):
    candidates, truth = written
    oracle = Oracle(candidates)
    funnel = verify(candidates, truth, all_rules(oracle))
    assert len(funnel.survivors) >= 0.95 * len(candidates)
    assert not [row for row in funnel.rows if row.undecided or not row.runs]
    by_models = [removal for removal in funnel.removals if removal.rule not in {rule.name for rule in RULES}]
    assert by_models == []
    assert oracle.calls == 5  # each rule asks all its prompts at once


@pytest.fixture(scope="module")
def broken_for_models(written):
    """200 candidates, 40 of each kind, by the rules that should remove them, and sound ones, of other questions."""
    candidates, truth = written
    draws = Random(31)
    reasoning = draws.sample([c for c in candidates if c.task == "reasoning"], 70)
    rest = draws.sample([c for c in candidates if c not in reasoning], len(candidates) - 70)
    kinds = defaultdict(list)
    for each in reasoning[:40]:
        kinds["answer_not_confirmed"].append(replace(each, answers=wrong_answer(each, candidates, draws)))
    for each in reasoning[40:]:
        same = [c for c in candidates if (c.document, c.source) == (each.document, each.source)]
        if others := [c for c in same if c.evidence != each.evidence and len(c.pages) == len(each.pages)]:
            kinds["answer_not_confirmed"].append(replace(each, evidence=draws.choice(others).evidence))
    for each in rest[: 80 - len(kinds["answer_not_confirmed"])]:
        page = draws.choice([page.index for page in truth[each.document] if page.index not in each.pages] or [99])
        kinds["evidence_not_on_its_page"].append(
            replace(each, evidence=(replace(each.evidence[0], page=page), *each.evidence[1:]))
        )
    for place, each in enumerate(rest[40:80]):
        wordings, rule = ((PHRASES, "context_dependent"), (STRANGE, "judged_context_dependent"))[place % 2]
        kinds[rule].append(replace(each, question=draws.choice(wordings[each.language]).format(each.question)))
    kinds["answerable_without_documents"] = rest[80:120]
    sound = rest[120:]
    kinds["near_duplicate"] = [
        replace(each, id=f"{each.id}-again", question=reworded(each.question, draws))
        for each in draws.sample(sound, 40)
    ]
    return kinds, sound


def wrong_answer(candidate, candidates, draws):
    """Return an answer of another question of the same form, or the other one of yes and no."""
    if candidate.answer_form in ALL_IN_EVIDENCE:
        return ({"Yes": "No", "No": "Yes", "是": "否", "否": "是"}[candidate.answers[0]],)
    same = [c for c in candidates if (c.answer_form, c.language) == (candidate.answer_form, candidate.language)]
    return draws.choice([c for c in same if c.answers != candidate.answers]).answers


def test_broken_questions_are_removed_by_the_rule_that_should(written, broken_for_models):
    (candidates, truth), (kinds, sound) = written, broken_for_models
    known = [each.question for each in kinds["answerable_without_documents"]]
    everything = [*sound, *(each for kind in kinds.values() for each in kind)]
    funnel = verify(everything, truth, all_rules(Oracle(candidates, known)))
    removals = {removal.candidate: removal.rule for removal in funnel.removals}
    assert sum(map(len, kinds.values())) == 200
    by_rule = {rule: sum(removals.get(each.id) == rule for each in kind) for rule, kind in kinds.items()}
    for rule, kind in kinds.items():
        assert by_rule[rule] >= 0.9 * len(kind), [(each.question, removals.get(each.id)) for each in kind]
    assert sum(each.id in removals for each in sound) <= 0.05 * len(sound)
