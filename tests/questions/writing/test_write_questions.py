import json
from collections import Counter
from dataclasses import replace

import pytest
from pydantic import ValidationError

from ohr.benchmarks.mini import Mini
from ohr.contracts import Completion, Page
from ohr.questions.candidate import Candidate, Evidence, Model
from ohr.questions.candidate_rules import RULES
from ohr.questions.imports import of_question
from ohr.questions.verification import verify
from ohr.questions.writing.assignments import Shares, Wanted, prompts_of
from ohr.questions.writing.entities import entities_of
from ohr.questions.writing.write_questions import join, join_assignments, plan_writing, write

PROSE = (
    "The keeper of the lamp at Corran Head writes down each ship that passes, and the book is sent to the harbor "
    "office of Ardwen on the last day of the month, where two clerks count the ships by flag, and send the sums on."
)


def prose(name, pages=1):
    return [Page(name, index, f"{PROSE} This is page {index} of {name}.") for index in range(pages)]


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
ONE, TWO = (Wanted(total=total, multi_page=1, asked_per_question=1) for total in (1, 2))


@pytest.fixture(scope="module")
def mini():
    benchmark = Mini()
    return {document.name: benchmark.pages(document) for document in benchmark.documents()}


@pytest.fixture(scope="module")
def candidates():
    return [of_question(question) for question in Mini().questions()]


def test_shares_tasks_and_forms_are_those_that_are_wanted(mini):
    wanted = Wanted(total=150, multi_page=0.2, asked_per_question=2, per_prompt=1)
    plan = plan_writing(mini, wanted, 1)
    assert plan.notes == ()
    assert sum(assignment.questions for assignment in plan.assignments) == 240  # 150 * 2, less the fifth on two pages
    sources = Counter(assignment.source for assignment in plan.assignments)
    shares = {"text": 98.4, "table": 64.8, "formula": 36, "chart": 21.6, "reading_order": 19.2}
    assert sources == pytest.approx(shares, abs=1)
    tasks = Counter(assignment.task for assignment in plan.assignments)
    assert tasks["reasoning"] / 240 == pytest.approx(0.28, abs=0.02)
    numeric = sum(
        "a number with its unit" in each.prompt.user or "带单位的数字" in each.prompt.user for each in plan.assignments
    )
    assert numeric / 240 == pytest.approx(0.35, abs=0.02)


def test_assignments_are_spread_over_documents_and_pages(mini):
    plan = plan_writing(mini, Wanted(total=28, multi_page=0, asked_per_question=1, per_prompt=1), 0)
    assert len({assignment.document for assignment in plan.assignments}) == 28
    plan = plan_writing(mini, Wanted(total=200), 0)
    by_document = Counter(assignment.document for assignment in plan.assignments)
    assert max(by_document.values()) - min(by_document.values()) <= 1


def test_each_source_is_asked_only_where_the_page_has_it(mini):
    for assignment in plan_writing(mini, Wanted(total=300), 0).assignments:
        sign = {"table": "tabular", "chart": "<chart>", "formula": "$"}.get(assignment.source, "")
        assert all(sign in passage.text for passage in assignment.passages)
        assert len(assignment.passages) == (2 if assignment.source == "reading_order" else 1)
        for passage in assignment.passages:
            page = next(page for page in mini[assignment.document] if page.index == passage.page)
            assert page.text[passage.start :].startswith(passage.text)


def test_a_larger_build_begins_with_the_assignments_of_a_smaller_one(mini):
    small = plan_writing(mini, Wanted(total=40), 5).assignments
    large = plan_writing(mini, Wanted(total=90), 5).assignments
    assert large[: len(small)] == small
    assert plan_writing(mini, Wanted(total=40), 6).assignments != small


def test_no_prompt_is_planned_twice(mini):
    assignments = plan_writing(mini, Wanted(total=5000), 0).assignments
    assert len({assignment.id for assignment in assignments}) == len(assignments)
    assert len(set(prompts_of(assignments))) == len(assignments)


def test_no_page_gets_more_questions_than_allowed_and_the_rest_is_noted():
    plan = plan_writing({"a": prose("a", 2), "b": prose("b")}, Wanted(total=100, per_page=5, multi_page=0), 0)
    asked = Counter()
    for assignment in plan.assignments:
        asked[assignment.document, assignment.pages] += assignment.questions
    assert asked == {("a", (0,)): 5, ("a", (1,)): 5, ("b", (0,)): 5}
    assert plan.notes[-1].startswith("the pages have room for 15 questions of the 180 to be asked for")


def test_sources_that_no_page_has_are_noted_and_go_to_the_others():
    plan = plan_writing(
        {"a": prose("a")}, Wanted(total=2, asked_per_question=1, multi_page=0, shares=Shares(chart=0)), 0
    )
    assert [assignment.source for assignment in plan.assignments] == ["text"]
    assert plan.notes == (
        "no page has a table: the 30% of the questions on table go to the other sources",
        "no page has a formula: the 16% of the questions on formula go to the other sources",
        "no page has two paragraphs parted by an element: the 9% of the questions on reading_order go to the other "
        "sources",
    )


def test_failed_pages_and_empty_pages_are_left_out():
    pages = {
        "failed": [Page("failed", 0, PROSE, error="no text")],
        "empty": [Page("empty", 0, "")],
    }
    plan = plan_writing(pages, Wanted(), 0)
    assert plan.assignments == ()
    assert plan_writing({}, Wanted(), 0).assignments == ()


def test_a_chinese_page_gets_a_chinese_prompt(mini):
    plan = plan_writing({"zh": mini["administration/yunxiu_bus_reform"]}, Wanted(total=10), 0)
    for assignment in plan.assignments:
        assert assignment.language == "zh"
        assert "请就上面的内容写出两个不同的问题" in assignment.prompt.user
        assert "{shown}" not in assignment.prompt.user and "{source}" not in assignment.prompt.user


def test_a_prompt_shows_the_title_the_section_and_the_passage(mini):
    (first, *_) = plan_writing({"d": mini["law/noise_bylaw"]}, Wanted(total=3), 0).assignments
    assert first.prompt.user.startswith("Document: ")
    assert first.passages[0].text in first.prompt.user
    assert first.prompt.passages == (first.passages[0].text,)
    assert first.prompt.id == first.id


@pytest.mark.parametrize(
    "keys",
    [
        {"total": 0},
        {"reasoning": 1.5},
        {"per_prompt": 4},
        {"answer_forms": {"Essay": 1}},
        {"answer_forms": {"List": 0}},
        {"shares": dict.fromkeys(("text", "table", "formula", "chart", "reading_order"), 0)},
        {"shares": {"text": float("nan")}},
        {"total": True},
        {"color": 1},
    ],
)
def test_settings_that_make_no_sense_are_refused(keys):
    with pytest.raises(ValidationError):
        Wanted.model_validate(keys)


def test_an_only_task_or_form_is_the_only_one(mini):
    wanted = Wanted(total=30, reasoning=1, answer_forms={"List": 1})
    for assignment in plan_writing(mini, wanted, 0).assignments:
        assert assignment.task == "reasoning"
        assert "two to five" in assignment.prompt.user or "两到五个" in assignment.prompt.user


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
    ask = Scripted()
    written = write(Model("scripted", ask), mini, Wanted(total=30), 0)
    assert len(ask.calls) == 1
    assert list(ask.calls[0]) == [assignment.prompt for assignment in written.assignments]
    assert len(written.candidates) == sum(assignment.questions for assignment in written.assignments) == 50
    assert len({candidate.id for candidate in written.candidates}) == 50
    assert {candidate.made_by for candidate in written.candidates} == {"scripted"}
    assert all(passage.start >= 0 for candidate in written.candidates for passage in candidate.evidence)
    assert written == write(Model("scripted", Scripted()), mini, Wanted(total=30), 0)


def test_written_candidates_have_evidence_that_the_rules_find_on_its_page(mini):
    written = write(Model("scripted", Scripted()), mini, Wanted(total=30), 0)
    rules = [rule for rule in RULES if rule.name in ("evidence_not_on_its_page", "several_pages")]
    assert verify(written.candidates, mini, rules).removals == ()


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
    plan = join_assignments([WHO, PAID], PAGES, entities_of(PAGES), TWO, 0)
    first = next(assignment for assignment in plan.assignments if assignment.parents)
    assert (first.parents, first.entity, first.pages) == ((WHO, PAID), "Ina Moss", (0, 1))
    assert WHO.question in first.prompt.user
    assert PAID.question in first.prompt.user


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
    written = join(Model("m", ask), [WHO, PAID], PAGES, TWO, 0)
    (candidate,) = written.candidates
    assert (candidate.parents, candidate.answers, candidate.answer_form) == (("who", "paid"), ("40",), "Numeric")
    assert (candidate.pages, candidate.source, candidate.origin) == ((0, 1), "multi", "joined")
    assert len(ask.calls) == 1
    assert written.fault_counts == {"no question": 1}


def test_what_cannot_be_joined_is_noted_and_nothing_is_joined_unasked(mini, candidates):
    plan = join_assignments(candidates, mini, entities_of(mini), Wanted(total=5000), 0)
    assert plan.notes[0].startswith(f"{len(plan.assignments)} questions on two pages of the 900 to be asked for")
    assert join_assignments(candidates, mini, entities_of(mini), Wanted(multi_page=0), 0) == ((), ())


def test_joins_are_spread_over_documents_and_the_same_again(mini, candidates):
    plan = join_assignments(candidates, mini, entities_of(mini), Wanted(total=100), 3)
    assert len(plan.assignments) == 18
    assert len({assignment.document for assignment in plan.assignments}) >= 16
    assert len({assignment.id for assignment in plan.assignments}) == 18
    assert plan == join_assignments(candidates, mini, entities_of(mini), Wanted(total=100), 3)
    larger = join_assignments(candidates, mini, entities_of(mini), Wanted(total=200), 3)
    assert {assignment.id for assignment in plan.assignments} < {assignment.id for assignment in larger.assignments}
    assert all(len(assignment.pages) == 2 for assignment in plan.assignments)
