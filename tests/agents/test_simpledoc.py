import pickle

import pytest

from ohr.agents.simpledoc import SimpleDoc
from ohr.contracts import Completion, Outcome
from ohr.errors import SpecError
from ohr.testing.agents import PlainDesk, found, play

PAGES = [("d/a", index) for index in range(5)]
DESK = PlainDesk({page: f"text {page[1] + 1}" for page in PAGES})
VISION = {"kind": "openai_vision", "base_url": "http://localhost:1/v1", "model": "m"}


def simpledoc(**fields):
    given = {"image": {"kind": "colqwen", "model": "x"}, "selector": {"kind": "extractive"}, "reader": VISION}
    return SimpleDoc.model_validate({**given, **fields})


def selection(summary, pages):
    return f"<document_summary>{summary}</document_summary>\n<selected_pages>{pages}</selected_pages>"


def update(query, notes):
    return f"<query_update>{query}</query_update><notes>{notes}</notes>"


def played(*replies, agent=None, desk=DESK, ranking=(2, 0, 1, 3, 4), summarised="S{}"):
    """Run the agent on a document of five pages; the summary of page N is `SN`."""
    waiting = iter(replies)

    def reply(ask):
        if ask.shared:
            return summarised.format(ask.turns[0].pictures[0].pages[0][1] + 1)
        return next(waiting)

    agent = agent or simpledoc()
    record = play(agent, "Q", desk, reply, lambda search: found(*[PAGES[n] for n in ranking])[: search.k])
    assert next(waiting, None) is None, "the agent made fewer calls than there are replies"
    assert len(own(record)) <= agent.max_calls
    return record


def own(record):
    return [ask for ask in record.asks if not ask.shared]


def text(ask):
    return ask.turns[0].text


def images(ask):
    return [picture.pages[0][1] + 1 for picture in ask.turns[0].pictures]


def numbers(ask):
    """Return what the prompt lists as the numbers of the pages."""
    (line,) = [line for line in text(ask).splitlines() if line.startswith("Numbers of the pages")]
    return line.partition(": ")[2]


def memory(ask):
    part = text(ask).partition("found so far:\n")[2]
    return part.partition("\n\nNumbers of the pages")[0]


def test_selected_pages_are_read_and_answered_from():
    record = played(selection("D", "4, 2"), "<scratchpad>so</scratchpad><answer> 42 </answer>")
    selector, reader = own(record)
    assert (selector.model, reader.model) == ("selector", "reader")
    assert "Query: Q\n" in text(selector)
    assert "Question: Q\n" in text(reader)
    assert (images(reader), numbers(reader), memory(reader)) == ([2, 4], "4, 2", "D")
    assert "--- Page 4 Text ---\ntext 4\n\n--- Page 2 Text ---\ntext 2\n" in text(reader)
    assert [type(part).__name__ for part in reader.turns[0].parts] == ["str", "Picture", "Picture"]
    assert reader.read == (PAGES[3], PAGES[1])
    assert record.outcome == Outcome("42", reply="<scratchpad>so</scratchpad><answer> 42 </answer>")


def test_summaries_are_listed_in_page_order():
    (selector, _) = own(played(selection("D", "1"), "<answer>42</answer>", agent=simpledoc(shortlist=3)))
    assert "Page 1: S1\n\nPage 2: S2\n\nPage 3: S3\n" in text(selector)
    assert "Page 4" not in text(selector)


TWO_ROUNDS = (selection("D1", "4"), update("Q2", "N1"), selection("D2", "1,2"), "<answer>42</answer>")


def test_the_paper_s_reader_gets_the_question_and_all_notes():
    record = played(*TWO_ROUNDS)
    _, first, second_selector, second = own(record)
    assert [search.query for search in record.searches] == ["Q", "Q2"]
    assert "Query: Q2\n" in text(second_selector)
    assert "Question: Q\n" in text(second)
    assert (memory(first), memory(second)) == ("D1", "D1\n\nN1\n\nD2")
    assert record.shown == [PAGES[3], PAGES[0], PAGES[1]]
    assert record.outcome.answer == "42"


def test_the_code_s_reader_gets_the_last_query_and_notes():
    replies = (*TWO_ROUNDS[:3], update("Q3", "N2"), selection("D3", "5"), "<answer>42</answer>")
    asks = own(played(*replies, agent=simpledoc(memory="code")))
    assert [memory(ask) for ask in asks[1::2]] == ["D1", "D2\n\nN1", "D3\n\nN2"]
    assert ["Question: Q2\n" in text(ask) for ask in asks[1::2]] == [False, True, False]


@pytest.mark.parametrize("kind", ["paper", "code"])
def test_after_the_last_round_there_is_no_answer_where_the_code_answers_with_its_query(kind):
    replies = [reply for n, page in ((2, 4), (3, 1), (4, 5)) for reply in (selection("D", page), update(f"Q{n}", "N"))]
    record = played(*replies, agent=simpledoc(memory=kind))
    assert len(own(record)) == 6
    assert record.outcome == Outcome("", "budget", update("Q4", "N"))


@pytest.mark.parametrize("bad", [Completion(selection("D", "1"), finish="length"), "", "  \n"])
def test_a_selector_that_was_cut_or_is_empty_is_asked_again_with_half_of_the_pages(bad):
    asks = own(played(bad, selection("D", "3"), "<answer>42</answer>"))
    assert [(ask.model, ask.attempt) for ask in asks] == [("selector", 0), ("selector", 1), ("reader", 0)]
    assert [text(ask).count("\nPage ") for ask in asks[:2]] == [5, 2]
    listed = [line for line in text(asks[1]).splitlines() if line.startswith("Page ")]
    assert listed == sorted(listed)
    assert images(asks[2]) == [3]


def test_the_same_half_is_drawn_again():
    first, second = (own(played("", selection("D", "3"), "<answer>42</answer>")) for _ in range(2))
    assert first == second


def test_a_selector_that_always_fails_is_replaced_by_the_best_pages_where_the_code_asks_without_limit():
    record = played("", "", "", "<answer>42</answer>", agent=simpledoc(max_pages=2))
    *selectors, reader = own(record)
    assert [text(ask).count("\nPage ") for ask in selectors] == [5, 2, 1]
    assert (numbers(reader), memory(reader)) == ("3, 1", "")


@pytest.mark.parametrize("tries", [1, 7])
def test_a_selector_may_be_tried_more_often_than_there_are_halves(tries):
    record = played(*[""] * tries, "<answer>42</answer>", agent=simpledoc(tries=tries))
    assert len(own(record)) == tries + 1


@pytest.mark.parametrize(
    ("reply", "answer", "end"),
    [
        ("The result. Answer: 7", "7", "answered"),
        ("The result. ANSWER: 7. Answer: 8", "7. Answer: 8", "answered"),
        ("It is seven.", "It is seven.", "answered"),
        ("答案是七。", "答案是七。", "answered"),
        ("<scratchpad>cut he", "<scratchpad>cut he", "answered"),
        ("<answer> </answer>Answer: 7", "7", "answered"),
        ("<query_update></query_update> seven", "<query_update></query_update> seven", "answered"),
        ("<query_update>Q2</query_update><answer>7</answer>", "7", "answered"),
        ("<answer>forty-two", "forty-two", "answered"),  # where the code cuts the last character
        ("<answer>forty-two</answer>", "forty-two", "answered"),
        *((reply, "", "unparsed") for reply in ("", " \n", "Answer:", "answer:  ")),  # where the code answers nothing
        ("<not_answerable>The document does not hold the answer.</not_answerable>", "", "not_answerable"),
    ],
)
def test_a_reply_is_an_answer_with_and_without_tags(reply, answer, end):
    assert played(selection("D", "1"), reply).outcome == Outcome(answer, end, reply)


@pytest.mark.parametrize(
    ("reply", "listed", "how"),
    [
        (selection("D", "none"), "", {}),
        ("no tag at all, page 3", "", {}),
        ("第三页", "", {}),
        (selection("D", "Page 3 (2024 table)"), "3", {}),
        (selection("D", "0, 6, -1, 9" + "9" * 5000), "1", {}),
        ("<selected_pages>4, 5", "4, 5", {}),
        ("<selected_pages>[4]</selected_pages><selected_pages>5</selected_pages>", "4", {}),
        ('{"selected_pages": [3]}', "", {}),
        (selection("D", "9, 3, 3"), "3", {}),  # where the code repeats the page's text
        (selection("D", "5 5 4 4 3 2"), "5, 4, 3", {"max_pages": 3}),
        (selection("D", "5"), "5", {"shortlist": 2}),  # beyond the shortlist
    ],
)
def test_pages_that_are_there_are_read_once_and_the_reader_is_asked_even_without_images(reply, listed, how):
    record = played(reply, "<answer>42</answer>", agent=simpledoc(**how))
    (_, reader) = own(record)
    assert numbers(reader) == listed
    assert sorted(map(str, images(reader))) == sorted(number for number in listed.split(", ") if number)
    assert text(reader).count(" Text ---") == len(images(reader))
    assert record.outcome.answer == "42"


def test_pages_are_summarised_once_and_without_the_question():
    record = played(*TWO_ROUNDS, agent=simpledoc(shortlist=3))
    shared = [ask for ask in record.asks if ask.shared]
    assert [images(ask) for ask in shared] == [[1], [2], [3]]
    assert {ask.model for ask in shared} == {"reader"}
    assert "Q" not in "".join(map(text, shared))
    assert "text 1" not in "".join(map(text, shared))


def test_pages_of_a_later_shortlist_are_summarised_when_they_are_needed():
    agent, rankings = simpledoc(shortlist=2), {"Q": (0, 1), "Q2": (1, 4)}
    waiting = iter(TWO_ROUNDS)
    record = play(
        agent,
        "Q",
        DESK,
        lambda ask: f"S{images(ask)[0]}" if ask.shared else next(waiting),
        lambda search: found(*[PAGES[n] for n in rankings[search.query]]),
    )
    assert [images(ask)[0] for ask in record.asks if ask.shared] == [1, 2, 5]
    assert "Page 2: S2\n\nPage 5: S5\n" in text(own(record)[2])


def test_summaries_see_the_text_as_in_the_paper():
    record = played(*TWO_ROUNDS, agent=simpledoc(summaries_see_text=True))
    assert ["text 1" in text(ask) for ask in record.asks if ask.shared] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("<summary>\nS <table_summary>T</table_summary>\n</summary> bye", "S <table_summary>T</table_summary>"),
        ("no tags\n", "no tags"),
        ("<summary>cut", "cut"),
    ],
)
def test_a_summary_is_the_text_in_its_tag(reply, kept):
    (selector, _) = own(played(selection("D", "1"), "<answer>42</answer>", summarised=reply))
    assert f"Page 1: {kept}\n\nPage 2: {kept}\n" in text(selector)


def test_a_page_without_summary_is_not_listed():
    (selector, _) = own(played(selection("D", "1"), "<answer>42</answer>", summarised=""))
    assert "Page 1" not in text(selector)
    assert len(own(played("", selection("D", "1"), "<answer>42</answer>", summarised=""))) == 3


def test_where_nothing_is_found_no_model_is_asked():
    record = played(ranking=())
    assert (record.asks, record.outcome) == ([], Outcome("", "no_evidence"))


def test_pages_of_several_documents_are_counted_through():
    pages = [("d/a", 0), ("d/a", 1), ("d/b", 0)]
    desk, waiting = PlainDesk(dict.fromkeys(pages, "t")), iter([selection("D", "3"), "<answer>42</answer>"])
    record = play(
        simpledoc(), "Q", desk, lambda ask: "S" if ask.shared else next(waiting), lambda search: found(pages[2])
    )
    assert "\nPage 3: S\n" in text(own(record)[0])
    assert record.shown == [("d/b", 0)]


def test_a_page_without_text_has_no_block():
    desk = PlainDesk({page: " \n" if page[1] else "words" for page in PAGES})
    (_, reader) = own(played(selection("D", "2, 1"), "<answer>42</answer>", desk=desk))
    assert "Page 2 Text" not in text(reader)
    assert images(reader) == [1, 2]


def test_the_benchmark_s_instruction_is_in_the_reader_s_prompt_only():
    desk = PlainDesk(DESK.texts, instruction="One number.")
    record = played(selection("D", "1"), "<answer>42</answer>", desk=desk)
    assert ["One number." in text(ask) for ask in own(record)] == [False, True]
    assert not any("One number." in text(ask) for ask in record.asks if ask.shared)
    assert "instruction" not in text(own(played(selection("D", "1"), "<answer>42</answer>"))[1])


def test_braces_of_a_reply_are_left_alone():
    (_, reader) = own(played(selection("{question} {pages}", "1"), "<answer>42</answer>"))
    assert memory(reader) == "{question} {pages}"


def test_it_says_what_it_uses():
    agent = simpledoc(rounds=4, tries=2)
    assert (agent.max_calls, agent.reads) == (12, {"text", "image"})
    assert agent.models() == {"selector": agent.selector, "reader": agent.reader}
    assert agent.retrievers() == {"image": agent.image}
    assert pickle.loads(pickle.dumps(agent)) == agent
    assert "shortlist" in agent.identity()
    assert not {"image", "selector", "reader"} & set(agent.identity())


def test_prompts_of_a_file_replace_its_own(tmp_path):
    texts = {**simpledoc().texts(), "select": "{question}|{summaries}"}
    path = tmp_path / "mine.yaml"
    path.write_text("".join(f"{name}: {value!r}\n" for name, value in texts.items() if name != "select"))
    with pytest.raises(SpecError, match="select: is required"):
        simpledoc(prompt=path).texts()
    path.write_text(path.read_text() + 'select: "{question}|{summaries}"\n')
    agent = simpledoc(prompt=path, shortlist=1)
    assert text(own(played(selection("D", "1"), "<answer>42</answer>", agent=agent))[0]) == "Q|Page 3: S3"
    assert agent.identity()["prompt"] != simpledoc().identity()["prompt"]
