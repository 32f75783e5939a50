import json
import pickle
import re

import pytest

from ohr.agents.vidorag import ViDoRAG, shape
from ohr.contracts import Found, Outcome, Picture
from ohr.testing.agents import PlainDesk, found, play

PAGES = A, B, C, D = [("d/a", index) for index in range(4)]
DESK = PlainDesk(dict.fromkeys(PAGES, ""))
VISION = {"kind": "openai_vision", "base_url": "http://localhost:1/v1", "model": "m"}
COLQWEN = {"kind": "colqwen", "model": "x"}


def vidorag(**fields):
    return ViDoRAG.model_validate({"retriever": COLQWEN, "vision": VISION, **fields})


def seek(*choice):
    return json.dumps({"reason": "r", "summary": "s", "choice": choice})


def answer(text, *reference):
    return json.dumps({"reason": "r", "answer": text, "reference": reference})


def inform(information, *choice):
    return json.dumps({"reason": "r", "information": information, "choice": choice})


def played(*replies, agent=None, desk=DESK, pages=PAGES):
    agent, waiting = agent or vidorag(), iter(replies)
    record = play(agent, "Q", desk, lambda _: next(waiting), lambda search: found(*pages)[: search.k])
    assert next(waiting, None) is None, "the agent made fewer calls than there are replies"
    assert len(record.asks) <= agent.max_calls
    return record


def calls(record):
    """Return the role of each call, by its prompt, and the pages that it shows."""
    marks = {"pick those that may help": "seeker", "Decide whether": "inspector", "Answer the question": "synthesizer"}
    return [
        (
            next(role for mark, role in marks.items() if mark in ask.turns[0].text),
            "".join("abcd"[page[1]] for picture in ask.turns[0].pictures for page in picture.pages),
        )
        for ask in record.asks
    ]


def asked(ask):
    """Return the question of a prompt, with what is added to it."""
    return ask.turns[0].text.partition("\nQuestion: ")[2]


def test_an_answer_that_refers_to_all_picked_pages_is_final():
    record = played(seek(0, 2), answer("42", 0, 1))
    assert calls(record) == [("seeker", "abcd"), ("inspector", "ac")]
    assert record.outcome == Outcome("42", reply=answer("42", 0, 1))
    assert [(search.retriever, search.query, search.k) for search in record.searches] == [("retriever", "Q", 10)]
    assert {ask.model for ask in record.asks} == {"vision"}


def test_a_draft_on_some_of_the_pages_goes_to_the_synthesizer():
    record = played(seek(0, 2), answer("41", 1), answer("42", 0))
    assert calls(record) == [("seeker", "abcd"), ("inspector", "ac"), ("synthesizer", "c")]
    assert asked(record.asks[2]) == "Q\n\n## Related Information\n41"
    assert record.outcome == Outcome("42", reply=answer("42", 0))


def test_more_pages_are_sought_with_what_is_missing():
    record = played(seek(0, 2), inform("x", 1), seek(1), answer("42", 0, 1))
    assert calls(record) == [("seeker", "abcd"), ("inspector", "ac"), ("seeker", "bd"), ("inspector", "cd")]
    assert [asked(ask) for ask in record.asks] == ["Q", "Q", "Q\n\n## Additional Information\nx", "Q"]
    assert record.outcome.answer == "42"


def test_a_seeker_without_choice_leads_to_an_answer_from_the_kept_pages():
    record = played(seek(0, 2), inform("x", 1), seek(), answer("7"))
    assert calls(record) == [("seeker", "abcd"), ("inspector", "ac"), ("seeker", "bd"), ("synthesizer", "c")]
    assert asked(record.asks[3]) == "Q"
    assert record.outcome.answer == "7"


@pytest.mark.parametrize("replies", [(seek(),), (seek(0, 2), inform("x"), seek())])
def test_without_picked_pages_there_is_no_evidence(replies):
    assert played(*replies).outcome == Outcome("", "no_evidence", seek())


@pytest.mark.parametrize("before", [(), (seek(1),), (seek(1, 2), answer("42", 0))])
def test_an_agent_that_cannot_be_read_ends_as_unparsed_where_the_code_drops_the_question_or_asks_on(before):
    record = played(*before, "a", "b", "c")
    assert [ask.attempt for ask in record.asks[len(before) :]] == [0, 1, 2]
    assert record.outcome == Outcome("", "unparsed", "c")


def test_all_pages_picked_and_more_asked_for_answers_from_the_kept_pages_where_the_code_raises():
    record = played(seek(0, 1, 2, 3), inform("x", 3, 1), answer("7"))
    assert calls(record)[1:] == [("inspector", "abcd"), ("synthesizer", "db")]
    assert record.outcome.answer == "7"
    assert played(seek(0, 1, 2, 3), inform("x")).outcome.end == "no_evidence"


def test_equal_references_count_once_where_the_code_takes_them_for_all_pages():
    record = played(seek(0, 2), answer("41", 0, 0), answer("42", 0))
    assert calls(record)[2] == ("synthesizer", "a")
    assert played(seek(0), answer("42", 0, 0)).outcome.answer == "42"


BAD_SEEKERS = [
    "",
    "no JSON",
    "{" * 9999,
    '{"reason": "r", "summary": "s", "choice": [1',
    "我选第一页。",
    '{"summary": "s", "choice": [1]}',
    '{"reason": "r", "choice": [1]}',
    '{"reason": null, "summary": "s", "choice": [1]}',
    '{"reason": "r", "summary": "s"}',
    '{"reason": "r", "summary": "s", "choice": null}',
    '{"reason": "r", "summary": "s", "choice": "a"}',
    '{"reason": "r", "summary": "s", "choice": 1}',
    '{"reason": "r", "summary": "s", "choice": [1.5]}',
    '{"reason": "r", "summary": "s", "choice": [1.0]}',
    '{"reason": "r", "summary": "s", "choice": [true]}',
    '{"reason": "r", "summary": "s", "choice": ["1"]}',
    '{"reason": "r", "summary": "s", "choice": [[1]]}',
    '{"reason": "r", "summary": "s", "choice": {"1": 1}}',
    '{"reason": "r", "summary": "s", "choice": [NaN]}',
    '{"reason": "r", "summary": "s", "choice": [9' + "9" * 5000 + "]}",
    '{"reason": "r", "summary": "s", "choice": [4]}',
    '{"reply": {"reason": "r", "summary": "s", "choice": [1]}}',
    seek(-1),  # where the code takes the last page
    seek(0, -1),
]


@pytest.mark.parametrize("bad", BAD_SEEKERS)
def test_a_seeker_s_bad_reply_is_asked_for_again(bad):
    record = played(bad, seek(1), answer("42", 0))
    assert calls(record) == [("seeker", "abcd"), ("seeker", "abcd"), ("inspector", "b")]
    assert record.asks[0].turns == record.asks[1].turns
    assert [ask.attempt for ask in record.asks] == [0, 1, 0]
    assert record.outcome.answer == "42"


BAD_INSPECTORS = [
    *BAD_SEEKERS[:5],
    answer("42"),
    answer("42", 2),
    answer("42", -1),
    answer("42", "a"),
    '{"answer": "42", "reference": [0, 1]}',
    '{"reason": "r", "answer": "42"}',
    '{"reason": "r", "answer": "42", "reference": "0"}',
    '{"reason": "r", "answer": ["42"], "reference": [0]}',
    '{"reason": "r", "answer": {"a": 1}, "reference": [0]}',
    '{"reason": "r", "answer": true, "reference": [0]}',
    '{"reason": "r", "answer": NaN, "reference": [0]}',
    '{"reason": "r", "answer": " ", "reference": [0]}',
    '{"reason": "r", "information": "x"}',
    '{"reason": "r", "information": null, "choice": [0]}',
    '{"reason": "r", "information": ["x"], "choice": [0]}',
    inform("x", 2),
    inform("x", -1),
]


@pytest.mark.parametrize("bad", BAD_INSPECTORS)
def test_an_inspector_s_bad_reply_is_asked_for_again(bad):
    record = played(seek(0, 2), bad, answer("42", 0, 1))
    assert calls(record) == [("seeker", "abcd"), ("inspector", "ac"), ("inspector", "ac")]
    assert record.outcome.answer == "42"


@pytest.mark.parametrize("bad", ["", "{}", '{"answer": "7"}', '{"reason": "r", "answer": ""}', '{"reason": "r"}'])
def test_a_synthesizer_s_bad_reply_is_asked_for_again(bad):
    assert played(seek(0, 2), answer("41", 1), bad, answer("42")).outcome.answer == "42"


def test_an_answer_counts_more_than_information():
    both = '{"reason": "r", "answer": "42", "reference": [0], "information": "x", "choice": []}'
    assert played(seek(1), both).outcome.answer == "42"
    filled_in = '{"reason": "r", "answer": "", "reference": [], "information": "x", "choice": [0]}'
    assert calls(played(seek(1), filled_in, seek(), answer("7")))[2:] == [("seeker", "acd"), ("synthesizer", "b")]


@pytest.mark.parametrize(("number", "text"), [("42", "42"), ("-0.5", "-0.5"), ("1e3", "1000.0"), ("0", "0")])
def test_a_number_as_answer_is_its_text_where_the_code_drops_the_question(number, text):
    reply = f'{{"reason": "r", "answer": {number}, "reference": [0]}}'
    assert played(seek(1), reply).outcome.answer == text
    record = played(seek(1, 2), reply, reply)
    assert (asked(record.asks[2]), record.outcome.answer) == (f"Q\n\n## Related Information\n{text}", text)


def test_a_code_fence_around_the_object_is_allowed():
    assert played(f"Sure:\n```json\n{seek(1)}\n```", f"```{answer('42', 0)}```").outcome.answer == "42"


def test_picked_pages_keep_the_order_of_the_choice():
    assert calls(played(seek(3, 0, 3), answer("42", 0, 1)))[1] == ("inspector", "da")


def test_the_budget_is_the_rounds():
    record = played(seek(0), inform("x", 0), seek(0), inform("y", 0), agent=vidorag(rounds=2))
    assert record.outcome == Outcome("", "budget", inform("y", 0))


def test_the_most_calls_can_be_reached():
    agent = vidorag(top_k=2, tries=2)
    record = played("", seek(0), "", inform("x", 0), "", seek(0), "", answer("41", 1), "", answer("42"), agent=agent)
    assert len(record.asks) == agent.max_calls == 10
    assert (vidorag().max_calls, vidorag(rounds=2).max_calls) == (63, 15)


def test_where_nothing_is_found_no_model_is_asked():
    record = played(pages=())
    assert (record.asks, record.outcome) == ([], Outcome("", "no_evidence"))


def test_candidates_are_ordered_by_documents_as_found_and_by_page():
    pages = [("d/b", 3), ("d/a", 9), ("d/b", 1), ("d/a", 9), ("d/a", 10), ("d/c", 0)]
    desk = PlainDesk(dict.fromkeys(pages, ""))
    agent = vidorag(top_k=4)
    hits = (Found(page, "", -float(rank), (page,)) for rank, page in enumerate(pages))
    waiting = iter([seek()])
    record = play(agent, "Q", desk, lambda _: next(waiting), lambda _: tuple(hits))
    assert record.shown == [("d/b", 1), ("d/b", 3), ("d/a", 9), ("d/a", 10)]


def test_a_passage_of_two_pages_makes_two_candidates():
    waiting = iter([seek()])
    record = play(vidorag(), "Q", DESK, lambda _: next(waiting), lambda _: (Found(B, "words", 1.0, (B, C)),))
    assert record.shown == [B, C]


SHAPES = {1: "1x1", 2: "2x1", 3: "1x3", 4: "2x2", 5: "2x3", 6: "3x2", 7: "2x4", 8: "2x4", 9: "3x3", 10: "3x4"}
SHAPES |= {11: "3x4", 12: "4x3", 13: "4x4", 16: "4x4", 17: "5x4", 18: "5x4", 20: "5x4", 21: "5x5", 23: "5x5"}


def test_grids_have_the_published_shapes():
    assert {count: "{}x{}".format(*shape(count)) for count in SHAPES} == SHAPES
    assert all(rows * columns >= count for count in range(1, 99) for rows, columns in [shape(count)])


@pytest.mark.parametrize("count", range(1, 23))
def test_the_numbering_is_that_of_the_grid_where_the_code_s_differs(count):
    pages = [("d/a", index) for index in range(count)]
    agent, desk = vidorag(top_k=count), PlainDesk(dict.fromkeys(pages, ""))
    (ask,) = played(seek(), agent=agent, desk=desk, pages=pages).asks
    (picture,) = ask.turns[0].pictures
    rows, columns = shape(count)
    assert desk.size(picture) == (columns * 1040 - 40, rows * 1440 - 40)
    assert picture == Picture(tuple(pages)).grid(rows, columns, line=40)
    listed = re.findall(r"row (\d+): ([\d, ]+)", ask.turns[0].text)
    places = {int(n): (int(row) - 1, place) for row, line in listed for place, n in enumerate(line.split(", "))}
    assert places == {number: divmod(number, columns) for number in range(count)}
    assert f"{count} page(s) in a grid of {rows} row(s) and {columns} column(s)" in ask.turns[0].text
    assert "{" not in ask.turns[0].text.partition("Reply with")[0]


def test_pages_can_be_shown_one_by_one():
    record = played(seek(2, 0), answer("42", 0, 1), agent=vidorag(pages_as="images"))
    assert [ask.turns[0].pictures for ask in record.asks] == [
        tuple(Picture((page,)) for page in pages) for pages in (PAGES, (C, A))
    ]
    assert "There are 4 page image(s), whose numbers are, in the order in which they come, 0, 1, 2, 3." in (
        record.asks[0].turns[0].text
    )


def test_the_benchmark_s_instruction_is_in_the_prompts_that_answer():
    record = played(seek(0, 2), answer("41", 1), answer("42"), desk=PlainDesk(DESK.texts, instruction="One number."))
    assert ["One number." in ask.turns[0].text for ask in record.asks] == [False, True, True]


@pytest.mark.parametrize(
    ("retriever", "reads"),
    [
        (COLQWEN, {"image"}),
        ({"kind": "bm25"}, {"image", "text"}),
        ({"kind": "hybrid", "retrievers": [COLQWEN, {"kind": "bm25"}]}, {"image", "text"}),
        ({"kind": "gmm", "retrievers": [{"kind": "hybrid", "retrievers": [COLQWEN]}]}, {"image"}),
        ({"kind": "rerank", "retriever": COLQWEN}, {"image", "text"}),
    ],
)
def test_text_is_read_where_the_retriever_reads_it(retriever, reads):
    assert vidorag(retriever=retriever).reads == reads


def test_it_survives_processes_and_names_its_parts():
    agent = vidorag()
    assert pickle.loads(pickle.dumps(agent)) == agent
    assert (agent.models(), agent.retrievers()) == ({"vision": agent.vision}, {"retriever": agent.retriever})
    assert not {"vision", "retriever"} & set(agent.identity())
