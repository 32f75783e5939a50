import json
from dataclasses import replace

import pytest

from ohr.benchmarks.mini import Mini
from ohr.contracts import Completion, Page
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.imports import of_question
from ohr.questions.model import Model
from ohr.questions.rules import RULES
from ohr.questions.verification import verify
from ohr.questions.writing.assignments import Wanted
from ohr.questions.writing.entities import entities_of
from ohr.questions.writing.write_questions import join, join_assignments, write

PAGES = {
    "law/lamp": [
        Page("law/lamp", 0, "We know that the keeper of the lamp in 1904 was Ina Moss, who drew each ship. " * 4),
        Page("law/lamp", 1, "In the books we read that Ina Moss was paid 40 crowns a year, which is little. " * 4),
        Page("law/lamp", 2, "Nothing more is known about the lamp than what the two books of the office say. " * 4),
    ],
    "law/other": [Page("law/other", 0, "The rent is due in May, and the tenant pays for the repair of the roof. " * 5)],
}
WHO = Candidate(
    id="who",
    question="Who kept the lamp of Corran in 1904?",
    answers=("Ina Moss",),
    document="law/lamp",
    evidence=(Evidence(0, "the keeper of the lamp in 1904 was Ina Moss", 13, 56),),
)
PAID = Candidate(
    id="paid",
    question="How many crowns a year was Ina Moss paid?",
    answers=("40",),
    document="law/lamp",
    evidence=(Evidence(1, "Ina Moss was paid 40 crowns a year", 26, 60),),
    answer_form="Numeric",
)
ONE = Wanted(total=1, multi_page=1, asked_per_question=1)


@pytest.fixture(scope="module")
def mini():
    benchmark = Mini()
    pages = {document.name: benchmark.pages(document) for document in benchmark.documents()}
    return pages, [of_question(question) for question in benchmark.questions()]


class Scripted:
    """A model that writes about the first sentence of each passage, and counts its calls."""

    def __init__(self, reply=None):
        self.calls = []
        self._reply = reply or self._sound

    def __call__(self, prompts):
        self.calls.append(prompts)
        return [self._reply(number, prompt) for number, prompt in enumerate(prompts)]

    @staticmethod
    def _sound(number, prompt):
        evidence = [passage[:60] for passage in prompt.passages]
        item = {"evidence": evidence, "question": f"What is number {number}?", "answer": "this"}
        return Completion(json.dumps([item, {**item, "question": f"Which is {number}?"}]))


def test_all_prompts_are_asked_in_one_call_and_their_replies_become_candidates(mini):
    pages, _ = mini
    ask = Scripted()
    written = write(Model("scripted", ask), pages, Wanted(total=30), 0)
    assert len(ask.calls) == 1
    assert list(ask.calls[0]) == [assignment.prompt for assignment in written.assignments]
    assert len(written.candidates) == sum(assignment.questions for assignment in written.assignments) == 50
    assert len({candidate.id for candidate in written.candidates}) == 50
    assert {candidate.made_by for candidate in written.candidates} == {"scripted"}
    assert all(passage.start >= 0 for candidate in written.candidates for passage in candidate.evidence)
    assert written == write(Model("scripted", Scripted()), pages, Wanted(total=30), 0)


def test_written_candidates_have_evidence_that_the_rules_find_on_its_page(mini):
    pages, _ = mini
    written = write(Model("scripted", Scripted()), pages, Wanted(total=30), 0)
    rules = [rule for rule in RULES if rule.name in ("evidence_not_on_its_page", "several_pages")]
    assert verify(written.candidates, pages, rules).removals == ()


def test_faults_are_counted_by_name():
    replies = [Completion("hm"), Completion("", error="busy"), Completion("hm"), Completion("[]")]
    wanted = Wanted(total=8, per_prompt=2, asked_per_question=1, multi_page=0)
    written = write(Model("m", Scripted(lambda number, _: replies[number])), PAGES, wanted, 0)
    assert written.candidates == ()
    assert written.fault_counts == {"no JSON": 2, "no reply: busy": 1, "no question": 1}
    assert {fault.assignment for fault in written.faults} == {assignment.id for assignment in written.assignments}


def test_without_pages_nothing_is_asked():
    ask = Scripted()
    written = write(Model("m", ask), {}, Wanted(), 0)
    assert (written.candidates, ask.calls) == ((), [])
    assert written.notes[-1].startswith("the pages have room for 0 questions")


def test_questions_of_one_answer_and_another_question_are_joined():
    plan = join_assignments([WHO, PAID], PAGES, entities_of(PAGES), replace_total(2), 0)
    first = next(assignment for assignment in plan.assignments if assignment.parents)
    assert (first.parents, first.entity, first.pages) == ((WHO, PAID), "Ina Moss", (0, 1))
    assert WHO.question in first.prompt.user
    assert PAID.question in first.prompt.user


def replace_total(total):
    return ONE.model_copy(update={"total": total})


@pytest.mark.parametrize(
    "second",
    [
        replace(PAID, document="law/other"),
        replace(PAID, evidence=(Evidence(0, "was Ina Moss, who drew each ship"),)),
        replace(PAID, question="How many crowns a year was the keeper paid?"),
        replace(PAID, answers=("Ina Moss",)),
        replace(PAID, language="zh"),
        replace(PAID, evidence=(*PAID.evidence, *WHO.evidence)),
    ],
)
def test_questions_that_nothing_connects_are_not_joined(second):
    plan = join_assignments([WHO, second], PAGES, entities_of(PAGES), ONE, 0)
    assert [assignment.parents for assignment in plan.assignments] == [()]


def test_passages_of_two_pages_that_share_a_rare_name_are_asked_about_together():
    (assignment,) = join_assignments([], PAGES, entities_of(PAGES), ONE, 0).assignments
    assert (assignment.source, assignment.entity, assignment.pages) == ("multi", "Ina Moss", (0, 1))
    assert "Passage A" in assignment.prompt.user
    assert assignment.prompt.opening == '[{"evidence": ["'


def test_joining_gives_candidates_with_parents():
    reply = json.dumps(
        [{"question": "How many crowns a year was the keeper of the lamp of 1904 paid?", "answer": "40"}]
    )
    ask = Scripted(lambda _, prompt: Completion(reply if not prompt.passages else "[]"))
    written = join(Model("m", ask), [WHO, PAID], PAGES, replace_total(2), 0)
    (candidate,) = written.candidates
    assert (candidate.parents, candidate.answers, candidate.answer_form) == (("who", "paid"), ("40",), "Numeric")
    assert (candidate.pages, candidate.source, candidate.origin) == ((0, 1), "multi", "joined")
    assert len(ask.calls) == 1
    assert written.fault_counts == {"no question": 1}


def test_what_cannot_be_joined_is_noted_and_nothing_is_joined_unasked(mini):
    pages, candidates = mini
    plan = join_assignments(candidates, pages, entities_of(pages), Wanted(total=5000), 0)
    assert plan.notes[0].startswith(f"{len(plan.assignments)} questions on two pages of the 900 to be asked for")
    assert join_assignments(candidates, pages, entities_of(pages), Wanted(multi_page=0), 0) == ((), ())


def test_joins_are_spread_over_documents_and_the_same_again(mini):
    pages, candidates = mini
    plan = join_assignments(candidates, pages, entities_of(pages), Wanted(total=100), 3)
    assert len(plan.assignments) == 18
    assert len({assignment.document for assignment in plan.assignments}) >= 16
    assert len({assignment.id for assignment in plan.assignments}) == 18
    assert plan == join_assignments(candidates, pages, entities_of(pages), Wanted(total=100), 3)
    larger = join_assignments(candidates, pages, entities_of(pages), Wanted(total=200), 3)
    assert {assignment.id for assignment in plan.assignments} < {assignment.id for assignment in larger.assignments}
    assert all(len(assignment.pages) == 2 for assignment in plan.assignments)
