"""MDocAgent on scripted replies; T1 to T5 are the cases of a published run."""

import pytest

from ohr.agents.mdocagent import CLUE, MOST_CHARACTERS, MDocAgent
from ohr.agents.reply_parsing import first_tagged, json_object, tagged
from ohr.contracts import Found, Outcome, Picture
from ohr.keys import identity
from ohr.testing.agents import PlainDesk, found, play

P0, P1, P2 = ("report", 0), ("report", 1), ("report", 2)
DESK = PlainDesk({P0: "t1", P1: "t2", P2: "t3"})
VISION = {"kind": "openai_vision", "base_url": "http://localhost:1/v1", "model": "m"}
PARTS = {
    "text": {"kind": "bm25"},
    "image": {"kind": "colqwen", "model": "x"},
    "vision": VISION,
    "language": {"kind": "extractive"},
}
REPLIES = ["G", '{"text": "kt", "image": "ki"}', "T", "I", '{"Answer": "42"}']
QUESTION = "How much?"
SUMMARY = "General Agent:\nG\nText Agent:\nT\nImage Agent:\nI\n"


def agent(**fields):
    return MDocAgent.model_validate({"kind": "mdocagent", **PARTS, "top_k": 2, **fields})


def played(replies=REPLIES, desk=DESK, text=(P0, P1), image=(P2,), **fields):
    hits = {"text": found(*text), "image": found(*image)}
    return play(agent(**fields), QUESTION, desk, replies, lambda search: hits[search.retriever])


def ended(reply, **how):
    return played([*REPLIES[:4], reply], **how).outcome


def clues(run):
    """Return the clues that the text agent and the image agent got."""
    assert [ask.model for ask in run.asks] == ["vision", "vision", "language", "vision", "vision"]
    return tuple(ask.turns[-1].text.partition(CLUE)[2] for ask in run.asks[2:4])


def test_t1_the_five_calls_and_what_each_of_them_sees():
    run = played()
    assert [(search.retriever, search.query, search.k) for search in run.searches] == [
        ("text", QUESTION, 2),
        ("image", QUESTION, 2),
    ]
    general, critical, text, image, last = run.asks
    assert [ask.model for ask in run.asks] == ["vision", "vision", "language", "vision", "vision"]
    assert [turn.role for turn in general.turns] == ["user", "user"]
    assert general.turns[0].parts[:2] == ("t1", "t2") and general.turns[1].parts[0] == Picture((P2,))
    assert general.turns[0].parts[2] == general.turns[1].parts[1] and general.turns[0].text.endswith(QUESTION)
    assert critical.turns[:2] == general.turns
    assert [(turn.role, turn.text) for turn in critical.turns[2:3]] == [("assistant", "G")]
    assert critical.turns[3].role == "user" and '"text"' in critical.turns[3].text
    assert [turn.role for turn in text.turns] == ["user"] and not text.turns[0].pictures
    assert text.turns[0].text.startswith("t1\nt2\n")
    assert text.turns[0].text.endswith(f"{QUESTION}\nYou may use the given clue:\nkt")
    assert image.turns[0].pictures == (Picture((P2,)),) and "t1" not in image.turns[0].text
    assert image.turns[0].text.endswith(f"{QUESTION}\nYou may use the given clue:\nki")
    assert not last.turns[0].pictures and QUESTION not in last.turns[0].text
    assert last.turns[0].text.endswith(f"\n{SUMMARY}") and '"Answer"' in last.turns[0].text
    assert [ask.read for ask in run.asks] == [(P0, P1), (P0, P1), (P0, P1), (), ()]
    assert run.outcome == Outcome("42", reply=REPLIES[4])


@pytest.mark.parametrize(
    ("critical", "wanted"),
    [
        ("{'text': 'kt', 'image': 'ki'}", ("", "")),  # T2: single quotes are lost, as in the code
        ('{"text": ["a"], "image": "ki"}', ("", "ki")),  # T5: where the code ends the run
        ('Here: ```json\n{"text": "kt", "image": "ki"}\n``` Use {both}.', ("kt", "ki")),
        ('{"text": "net {debt}", "image": "ki"}', ("net {debt}", "ki")),
        ('{"text": "kt", "more": {"a": 1}, "image": "ki"}', ("kt", "ki")),
        ('{"image": "ki"}', ("", "ki")),
        ('{"text": null, "image": 7}', ("", "")),
        ('{"text": "净债务", "image": "图表"}', ("净债务", "图表")),
        ('{"text": "kt", "ima', ("", "")),
        ('["text", "image"]', ("", "")),
        ("", ("", "")),
        ("}{", ("", "")),
        ("{" * 100_000, ("", "")),
    ],
)
def test_the_clues_are_in_the_first_object_of_the_reply(critical, wanted):
    run = played(["G", critical, *REPLIES[2:]])
    assert clues(run) == wanted
    assert run.outcome.answer == "42"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ('```json\n{"Answer": "42"}\n```', "42"),  # T3: where the code answers with the fence
        (" just words\n", "just words"),  # T4
        ('The answer: {"Answer": " 42 "}. Done.', "42"),
        ("{'Answer': '42'}", "42"),
        ('{"Answer": 42}', "42"),
        ('{"Answer": 4.5}', "4.5"),
        ('{"Answer": true}', "true"),
        ('{"Answer": "a\nb"}', "a\nb"),
        ('{"Answer": "the set {1, 2}"}', "the set {1, 2}"),
        ('{"Answer": "净债务"}', "净债务"),
        (r"\frac{1}{2}", r"\frac{1}{2}"),
        ('{"Answer": "cut of', '{"Answer": "cut of'),
        ("42", "42"),
    ],
)
def test_the_answer_is_the_object_s_or_else_the_reply(reply, answer):
    assert ended(reply) == Outcome(answer, reply=reply)


@pytest.mark.parametrize(
    "reply",
    ["", " \n", "{}", '{"Answer": null}', '{"Answer": ["42"]}', '{"Answer": {"a": 1}}', '{"Answer": ""}', '{"a": 1}',
     '{"answer": "42"}'],  # T4: where the code answers none
)  # fmt: skip
def test_ohr_ends_unparsed_where_the_object_has_no_answer_or_the_reply_is_empty(reply):
    assert ended(reply) == Outcome("", "unparsed", reply)


def test_ohr_reads_a_page_once_though_several_of_its_passages_are_found():
    run = played(text=(P0, P0), image=(P2, P2))
    assert run.asks[0].turns[0].parts[:-1] == ("t1",)
    assert run.asks[0].read == (P0,)
    assert run.shown == [P2]


def test_pages_are_read_in_the_order_of_the_hits():
    assert played(text=(P2, P0)).asks[2].turns[0].text.startswith("t3\nt1\n")


def test_both_pages_of_a_passage_over_a_page_break_are_read():
    hits = {"text": (Found(P0, "t1 t2", 1.0, (P0, P1)),), "image": ()}
    run = play(agent(), QUESTION, DESK, ["G", "{}", "T", "42"], lambda search: hits[search.retriever])
    assert run.asks[0].read == (P0, P1)


def test_a_page_s_line_breaks_become_spaces_and_a_long_page_is_cut():
    desk = PlainDesk({P0: "a\nb\r\nc\n", P1: "x" * (MOST_CHARACTERS + 1)})
    assert played(desk=desk).asks[0].turns[0].parts[:2] == ("a b c", "x" * MOST_CHARACTERS)


@pytest.mark.parametrize(("text", "desk"), [((), DESK), ((P0, P1), PlainDesk({P0: " \n", P1: ""}))])
def test_ohr_asks_no_model_where_nothing_can_be_read_and_the_code_asks_without_pages(text, desk):
    run = played([], text=text, image=(), desk=desk)
    assert run.asks == [] and len(run.searches) == 2
    assert run.outcome == Outcome("", "no_evidence")


def test_without_page_images_neither_their_message_nor_their_agent_is_there():
    run = played(["G", REPLIES[1], "T", "42"], image=())
    assert [ask.model for ask in run.asks] == ["vision", "vision", "language", "vision"]
    assert [turn.role for turn in run.asks[1].turns] == ["user", "assistant", "user"]
    assert run.asks[3].turns[0].text.endswith("\nGeneral Agent:\nG\nText Agent:\nT\n")
    assert run.shown == []


@pytest.mark.parametrize(("text", "desk"), [((), DESK), ((P0, P1), PlainDesk({P0: "", P1: "\n"}))])
def test_without_page_texts_neither_their_message_nor_their_agent_is_there(text, desk):
    run = played(["G", REPLIES[1], "I", "42"], text=text, desk=desk)
    assert [ask.model for ask in run.asks] == ["vision"] * 4
    assert run.asks[0].turns[0].pictures == (Picture((P2,)),) and len(run.asks[0].turns) == 1
    assert run.asks[3].turns[0].text.endswith("\nGeneral Agent:\nG\nImage Agent:\nI\n")
    assert all(ask.read == () for ask in run.asks)


def test_the_summariser_may_see_the_question_as_in_the_paper():
    turns = played(summariser_sees_question=True).asks[-1].turns
    assert turns[0].text.endswith(f"The question is: {QUESTION}\n{SUMMARY}")


def test_the_benchmark_s_instruction_is_in_the_prompt_that_makes_the_answer_only():
    run = played(desk=PlainDesk(DESK.texts, instruction="In one word."))
    assert ["In one word." in turn.text for ask in run.asks for turn in ask.turns] == [False] * 8 + [True]


@pytest.mark.parametrize(
    ("without", "replies", "roles", "summary"),
    [
        ("text_agent", ["G", REPLIES[1], "I", "42"], ["vision"] * 4, "General Agent:\nG\nImage Agent:\nI\n"),
        ("image_agent", ["G", REPLIES[1], "T", "42"], None, "General Agent:\nG\nText Agent:\nT\n"),
        ("general", ["T", "I", "42"], ["language", "vision", "vision"], "Text Agent:\nT\nImage Agent:\nI\n"),
    ],
)
def test_an_agent_is_left_out_for_an_ablation(without, replies, roles, summary):
    run = played(replies, without=without)
    assert [ask.model for ask in run.asks] == (roles or ["vision", "vision", "language", "vision"])
    assert run.asks[-1].turns[0].text.partition('"}\n')[2] == summary
    assert len(run.asks) == agent(without=without).max_calls


def test_where_the_only_agent_with_pages_is_left_out_the_general_reply_is_summarised():
    run = played(["G", REPLIES[1], "42"], image=(), without="text_agent")
    assert run.asks[-1].turns[0].text.endswith('"}\nGeneral Agent:\nG\n')


def test_without_the_general_agent_no_clue_is_mentioned():
    run = played(["T", "I", "42"], without="general")
    assert all(ask.turns[0].text.endswith(QUESTION) for ask in run.asks[:2])


def test_a_question_with_braces_is_asked_as_it_is():
    run = play(agent(), "Is {x} {question}?", DESK, REPLIES, lambda search: found(P0))
    assert all(turn.text.endswith("Is {x} {question}?") for turn in run.asks[0].turns)


def test_the_prompts_and_fields_are_its_identity_and_the_parts_are_not():
    assert identity(agent()) == identity(agent(language={"kind": "canned", "replies": "x.jsonl"}))
    assert identity(agent()) != identity(agent(without="general"))
    assert "weigh" in str(identity(agent())).lower()


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("{'a': 'it\\'s', 'b': [1], 'c': True}", {"a": "it's", "b": [1], "c": True}),
        (r"{'a': '\d'}", {"a": r"\d"}),
        ("{'a', 'b'}", None),
        ("{1: 2}", None),
        ("{[]: 2}", None),
        (f"{{'a': 0x{'f' * 5000}}}", None),
        ("{'a': " + "(" * 1000 + ")" * 1000 + "}", None),
    ],
)
def test_a_dictionary_in_python_s_words_is_read_where_the_caller_asks(reply, wanted):
    assert json_object(reply, python=True) == wanted
    assert json_object(reply) is None


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ('{x} then {"a": 1} {"a": 2}', {"a": 1}),
        ("{'a': {\"b\": 1}}", None),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", None),
        ('{"a": ' + "9" * 5000 + "}", None),
        ("no braces", None),
    ],
)
def test_the_first_outer_object_is_read(reply, wanted):
    assert json_object(reply) == wanted


def test_tagged_text_keeps_its_blanks_and_an_open_tag_goes_to_the_end():
    assert tagged("<think>no</think><answer> 42 </answer><answer>43</answer>", "answer") == " 42 "
    assert tagged("</answer><answer>42%", "answer") == "42%"
    assert tagged("<answers>42", "answer") is None
    assert first_tagged("</a> <b>1</b> <a>2</a>", ("a", "b")) == ("b", "1")
    assert first_tagged("words", ("a", "b")) is None
