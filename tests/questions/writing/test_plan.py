from collections import Counter

import pytest
from pydantic import ValidationError

from ohr.benchmarks.mini import Mini
from ohr.contracts import Page
from ohr.questions.writing.assignments import Shares, Wanted, prompts_of
from ohr.questions.writing.write_questions import plan_writing

PROSE = (
    "The keeper of the lamp at Corran Head writes down each ship that passes, and the book is sent to the harbor "
    "office of Ardwen on the last day of the month, where two clerks count the ships by flag, and send the sums on."
)


def prose(name, pages=1):
    return [Page(name, index, f"{PROSE} This is page {index} of {name}.") for index in range(pages)]


@pytest.fixture(scope="module")
def mini():
    benchmark = Mini()
    return {document.name: benchmark.pages(document) for document in benchmark.documents()}


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
