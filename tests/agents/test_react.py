"""ReAct on scripted replies."""

import pytest

from ohr.agents.react import ReAct
from ohr.contracts import Completion, Found, Outcome
from ohr.testing.agents import PlainDesk, found, play

P0, P1, P2 = ("report", 0), ("report", 1), ("law/lease", 0)
TEXTS = {P0: "The net debt was 42.", P1: "Its unit is USD.", P2: "The lease ends in 1964."}
DESK = PlainDesk(TEXTS)
HITS = found(P1, P2, texts=TEXTS)
QUESTION = "When does it end?"


def agent(**fields):
    parts = {
        "retriever": {"kind": "bm25"},
        "model": {"kind": "openai", "base_url": "http://localhost:1/v1", "model": "m"},
    }
    return ReAct.model_validate({"kind": "react", **parts, **fields})


def played(*replies, desk=DESK, hits=HITS, **fields):
    """Run the agent, and check what every run of it must keep."""
    run = play(agent(**fields), QUESTION, desk, replies, hits if callable(hits) else lambda search: hits)
    for ask in run.asks:
        roles = [turn.role for turn in ask.turns]
        assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]
        assert all(turn.text or turn.role == "assistant" for turn in ask.turns)
    for before, after in zip(run.asks, run.asks[1:], strict=False):
        assert after.turns[: len(before.turns)] == before.turns
    assert len(run.asks) == len(replies)
    return run


def said(run):
    """Return the user's words before the last call."""
    return run.asks[-1].turns[-1].text


def test_it_searches_reads_and_answers():
    replies = ("I look for it. <search>lease  end</search>", "<read>2</read>", "So <answer> 1964 </answer>.")
    run = played(*replies)
    assert [(search.retriever, search.query, search.k) for search in run.searches] == [("retriever", "lease end", 3)]
    assert [ask.model for ask in run.asks] == ["model"] * 3
    assert [turn.text for turn in run.asks[0].turns[1:]] == [f"Question: {QUESTION}"]
    assert [turn.text for turn in run.asks[2].turns[2:]] == [
        replies[0],
        "The search found:\n[1] report, page 2: Its unit is USD.\n[2] law/lease, page 1: The lease ends in 1964.",
        "<read>2</read>",
        "[2] law/lease, page 1:\nThe lease ends in 1964.",
    ]
    assert [ask.read for ask in run.asks] == [(), (P1, P2), (P2,)]
    assert run.outcome == Outcome("1964", reply=replies[2])


def test_a_page_keeps_the_number_of_its_first_listing():
    later = {"a": found(P1, texts=TEXTS), "b": found(P0, P1, P0, texts=TEXTS)}
    run = played("<search>a</search>", "<search>b</search>", "<answer>x", hits=lambda search: later[search.query])
    assert [line[:15] for line in said(run).splitlines()[1:]] == [
        "[2] report, pag",
        "[1] report, pag",
        "[2] report, pag",
    ]
    assert run.asks[-1].read == (P0, P1)


def test_a_listed_passage_is_one_line_of_300_characters():
    run = played("<search>a</search>", "<answer>x", hits=found(P0, texts={P0: "a\n b " * 300}))
    assert said(run).splitlines()[1] == "[1] report, page 1: " + ("a b " * 300)[:300]


def test_the_second_page_of_a_passage_over_a_page_break_can_be_read():
    hits = (Found(P0, "a b", 1.0, (P0, P1)),)
    run = played("<search>a</search>", "<read>2</read>", "<answer>x", hits=hits)
    assert "[2] report, page 2: (the end of that passage)" in run.asks[1].turns[-1].text
    assert run.asks[1].read == (P0,) and run.asks[2].read == (P1,)


LOOKED = ("<search>a</search>",)
FORMS = "\nReply with one of:\n<search>"
GARBAGE = ("", "42", "<think>hm</think>", "<Answer>42</Answer>", "</search>", "净债务", "{" * 9)


@pytest.mark.parametrize(
    ("replies", "how", "words"),
    [
        ((), {"desk": PlainDesk(TEXTS, instruction="In one word.")}, f"Question: {QUESTION}\n\nIn one word."),
        ((*LOOKED, "<read>[1]</read>"), {"page_characters": 8}, "[1] report, page 2:\nIts unit"),
        ((*LOOKED, "<read>1</read>"), {"desk": PlainDesk({P1: " \n"})}, "[1] report, page 2 has no text."),
        (LOOKED, {"hits": ()}, "The search found nothing."),
        (("<search> \n</search>",), {}, f"Your search has no words.{FORMS}"),
        *(((each,), {}, f"Your reply has no action.{FORMS}") for each in GARBAGE),
        *(
            ((*LOOKED, f"<read>{number}</read>"), {}, f"No search has listed that page.{FORMS}")
            for number in ("3", "0", "-9", "one", "", "9" * 5000)
        ),
    ],
)
def test_it_reads_what_its_action_gave_and_a_wrong_one_costs_an_action(replies, how, words):
    run = played(*replies, "<answer>x</answer>", **how)
    assert said(run).startswith(words)
    assert len(run.searches) == replies[:1].count(LOOKED[0])
    assert [turn.text for turn in run.asks[-1].turns[2:-1:2]] == list(replies)
    assert run.outcome.answer == "x"


@pytest.mark.parametrize(
    ("first", "last", "query", "answer"),
    [
        ("<search>a</search> found 7 <answer>7</answer>", "<answer>1</answer><answer>2</answer>", "a", "1"),
        (
            "<think>I end with <answer>Lyon</answer>.</think><search>house</search>",
            "<answer>Paris</answer>",
            "house",
            "Paris",
        ),
        ("<answer>Lyon</answer>?</think><search>house</search>", "<answer>Paris</answer>", "house", "Paris"),
        ("<think>I could <answer>Lyon</answer>", "<answer>Paris</answer>", None, "Paris"),
        (Completion("<search>lease en", finish="length"), Completion("<answer>19", finish="length"), "lease en", "19"),
    ],
)
def test_the_first_action_after_the_thoughts_counts_to_the_end_of_a_cut_reply(first, last, query, answer):
    run = played(first, last)
    assert [search.query for search in run.searches] == [query] * (query is not None)
    assert run.asks[1].turns[2].text == getattr(first, "text", first)
    assert run.outcome == Outcome(answer, reply=getattr(last, "text", last))


def test_it_works_in_another_language():
    run = played("我先搜索。<search>租约 到期</search>", "<read>第2页</read>", "<answer>一九六四年</answer>")
    assert run.searches[0].query == "租约 到期"
    assert run.asks[-1].read == (P2,)
    assert run.outcome.answer == "一九六四年"


def test_an_empty_answer_ends_unparsed():
    assert played("<answer> </answer>").outcome == Outcome("", "unparsed", "<answer> </answer>")


def test_after_the_last_action_it_is_asked_to_answer():
    run = played("<search>a</search>", "<read>1</read>", "<answer>USD</answer>", actions=2)
    assert ["Answer now" in turn.text for turn in run.asks[-1].turns] == [False] * 5 + [True]
    assert said(run).startswith("[1] report, page 2:\nIts unit is USD.\n\nThis was your last action.")
    assert run.outcome.answer == "USD"


def test_without_an_answer_in_the_last_call_it_ends_as_budget():
    run = played("<search>a</search>", "hm", "<search>b</search>", actions=2)
    assert len(run.searches) == 1
    assert run.outcome == Outcome("", "budget", "<search>b</search>")


@pytest.mark.parametrize("actions", [1, 6])
def test_it_ends_whatever_the_replies_are(actions):
    run = played(*["?"] * (actions + 1), actions=actions)
    assert len(run.asks) == agent(actions=actions).max_calls
    assert run.outcome.end == "budget"


def test_braces_in_pages_and_questions_are_left_alone():
    texts = {P1: "{page} {text} {hits}"}
    run = played(
        "<search>a</search>", "<read>1</read>", "<answer>x", desk=PlainDesk(texts), hits=found(P1, texts=texts)
    )
    assert run.asks[1].turns[-1].text.endswith("[1] report, page 2: {page} {text} {hits}")
    assert said(run) == "[1] report, page 2:\n{page} {text} {hits}"


def test_the_question_can_be_searched_first_as_an_example():
    run = played("<answer>1964</answer>", search_first=True)
    assert [search.query for search in run.searches] == [QUESTION]
    assert run.asks[0].turns[2].text == f"<search>{QUESTION}</search>"
    assert run.asks[0].read == (P1, P2)
    assert run.outcome.answer == "1964"


def test_the_prompts_for_small_models_repeat_the_question():
    run = played("<read>2</read>", "<answer>1964</answer>", search_first=True, prompt="react_small")
    assert said(run) == (
        f"[2] law/lease, page 1:\nThe lease ends in 1964.\n\nQuestion: {QUESTION}\nGive the answer in tags: <answer>"
    )
