"""VRAG-RL on scripted replies; T1 to T6 are the cases of a published run, T7 is ohr's repair."""

import re
from typing import Literal

import pytest

from ohr.agents.vrag import VRAG, action_of, box_of
from ohr.contracts import Completion, Outcome, PageRetriever, Picture
from ohr.testing import Scripted, check_agent
from ohr.testing.agents import PlainDesk, found, play

A, B, C = ("report", 0), ("report", 1), ("law/lease", 0)
SIZES = {A: (1600, 1200), B: (800, 600), C: (300, 200)}
DESK = PlainDesk(dict.fromkeys(SIZES, "never read"), SIZES)
QUESTION = "How much?"
LEAST, MOST = 200_704, 401_408
VISION = {"kind": "openai_vision", "base_url": "http://localhost:1/v1", "model": "m"}


def agent(**fields):
    parts = {"image": {"kind": "colqwen", "model": "x"}, "vision": VISION}
    return VRAG.model_validate({"kind": "vrag", **parts, **fields})


def played(*replies, hits=(A, B), desk=DESK, **fields):
    """Run the agent on replies that begin with a thought, and check what every run of it must keep."""
    thought = [one if isinstance(one, Completion) else f"<think>Well.</think>{one}" for one in replies]
    given = hits if callable(hits) else lambda search: found(*hits)
    run = play(agent(**fields), QUESTION, desk, thought, given)
    assert len(run.asks) == len(replies)
    for place, ask in enumerate(run.asks):
        assert [turn.role for turn in ask.turns] == ["user", *["assistant", "user"] * place]
        said = [one if isinstance(one, str) else one.text for one in thought]
        assert [turn.text for turn in ask.turns[1::2]] == said[:place]
    for before, after in zip(run.asks, run.asks[1:], strict=False):
        assert after.turns[: len(before.turns)] == before.turns
    return run


def steps(run):
    """Name the steps in order: a call by its model, a search by its query."""
    return [getattr(step, "query", None) or step.model for step in run.steps]


def seen(run, call=-1):
    """Return the last message of a call: its pictures with the size at which they are sent, and its texts."""
    return [part if isinstance(part, str) else DESK.size(part) for part in run.asks[call].turns[-1].parts]


def crops(run, call=-1):
    """Return the boxes that were cut out of the picture of a call."""
    (picture,) = run.asks[call].turns[-1].pictures
    return [numbers for name, numbers in picture.steps if name == "crop"]


class Looks(PageRetriever):
    """Says that it looks at page images."""

    kind: Literal["looks"] = "looks"

    def index_images(self, images):
        raise NotImplementedError

    def search(self, index, queries, k):
        raise NotImplementedError


FIELDS = {"actions": 2, "coordinates": "thousandths", "pad": 0}, {"actions": 1, "pixels": (1, 1)}


@pytest.mark.parametrize("fields", [*FIELDS, pytest.param({}, marks=pytest.mark.acceptance)])  # ten actions take long
def test_it_keeps_the_contract(tmp_path, fields):
    (tmp_path / "script.jsonl").write_text("")
    check_agent(VRAG(image=Looks(), vision=Scripted(script=tmp_path / "script.jsonl"), **fields))


def test_t1_it_searches_and_answers():
    run = played("<search> net debt </search>", "<answer> 42 </answer>")
    assert steps(run) == ["vision", "net debt", "vision"]
    assert [(search.retriever, search.k) for search in run.searches] == [("image", 10)]
    assert run.asks[1].turns[-1].parts == (Picture((A,)).fit(LEAST, MOST),)
    assert seen(run) == [(731, 548)]
    assert run.shown == [A]
    assert run.outcome == Outcome("42", "answered", "<think>Well.</think><answer> 42 </answer>")


def test_t1_the_first_message_has_the_rules_and_the_question():
    (only,) = played("<answer>42</answer>").asks
    (text,) = only.turns[0].parts
    assert text.endswith(f"\n\nQuestion: {QUESTION}")
    assert all(f"<{tag}>" in text for tag in ("think", "search", "bbox", "answer"))
    assert "in pixels of the image" in text


def test_t2_a_search_shows_a_new_page_and_the_last_hit_where_all_are_known():
    run = played("<search>one</search>", "<search>two</search>", "<search>three</search>", "<answer>x</answer>")
    assert steps(run) == ["vision", "one", "vision", "two", "vision", "three", "vision"]
    assert [ask.turns[-1].pictures[0].pages for ask in run.asks[1:]] == [(A,), (B,), (B,)]
    assert run.shown == [A, B]


def test_t3_a_box_is_cut_out_of_the_picture_before_it_was_scaled():
    boxes = ("<bbox>[100, 50, 300, 250]</bbox>", "<bbox>[0, 0, 100, 100]</bbox>")
    run = played("<search>one</search>", *boxes, "<answer>x</answer>", hits=(A,))
    assert steps(run) == ["vision", "one", "vision", "vision", "vision"]
    assert (crops(run, 2), seen(run, 2)) == ([(163, 53, 713, 603)], [(550, 550)])
    assert (crops(run, 3), seen(run, 3)) == ([(163, 53, 713, 603), (0, 0, 156, 156)], [(448, 448)])
    cut = Picture((A,)).crop((163, 53, 713, 603)).crop((0, 0, 156, 156))
    assert run.asks[3].turns[-1].parts == (cut.fit(LEAST, MOST),)
    assert run.shown == [A]


def test_t3_after_a_crop_a_search_shows_a_whole_page_and_boxes_are_cut_out_of_that():
    box = "<bbox>[0, 0, 100, 100]</bbox>"
    run = played("<search>one</search>", box, "<search>two</search>", box, "<answer>x</answer>")
    assert [ask.turns[-1].pictures[0].pages for ask in run.asks[1:]] == [(A,), (A,), (B,), (B,)]
    assert crops(run, 3) == []
    assert crops(run, 4) == [(0, 0, 165, 165)]


def test_t4_a_small_page_is_scaled_up():
    run = played("<search>one</search>", "<answer>x</answer>", hits=(C,))
    assert seen(run) == [(548, 365)]


def test_t5_after_the_last_action_it_is_asked_to_answer():
    searches = [f"<search>{name}</search>" for name in ("one", "two", "three")]
    run = played(*searches, actions=2)
    assert steps(run) == ["vision", "one", "vision", "two", "vision"]
    order = "This was your last action. Give your answer now inside <answer> and </answer>."
    assert seen(run, 1) == [(731, 548)]
    assert seen(run, 2) == [(731, 548), order]
    assert run.outcome == Outcome("", "budget", "<think>Well.</think><search>three</search>")
    assert played(*searches[:2], "<answer>42</answer>", actions=2).outcome.answer == "42"


def test_t5_ten_actions_make_at_most_eleven_calls():
    run = played(*["<search>one</search>"] * 11)
    assert (len(run.asks), len(run.searches), agent().max_calls) == (11, 10, 11)
    assert run.outcome.end == "budget"


def test_t6_the_first_action_counts():
    run = played("<search>x</search><answer>3</answer>", "<answer>4</answer><bbox>[0, 0, 9, 9]</bbox>")
    assert steps(run) == ["vision", "x", "vision"]
    assert run.outcome.answer == "4"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Let me see.", "Your reply has no action. "),
        ("", "Your reply has no action. "),
        ("<search>never closed", "Your reply has no action. "),
        ("<search>another</answer>", "Your reply has no action. "),
        (Completion("<answer>4", finish="length"), "Your reply has no action. "),
        ("<search> \n </search>", "Your search has no words."),
        ("<bbox>[0, 0, 9, 9]</bbox>", "There is no image yet "),
        ("<bbox>nonsense</bbox>", "There is no image yet "),
    ],
)
def test_t7_a_reply_that_cannot_be_followed_is_answered_in_words(reply, said):
    run = played(reply, "<search>one</search>", "<answer>42</answer>")
    assert steps(run) == ["vision", "vision", "one", "vision"]
    (text,) = seen(run, 1)
    assert text.startswith(said)
    assert run.outcome.answer == "42"


def test_t7_such_a_reply_is_an_action():
    run = played("Hm.", "<search></search>", "<bbox>[]</bbox>", actions=2)
    assert steps(run) == ["vision"] * 3
    assert seen(run, 2) == [
        "Your search has no words.",
        "This was your last action. Give your answer now inside <answer> and </answer>.",
    ]
    assert run.outcome.end == "budget"


def test_t7_thoughts_are_not_required():
    assert play(agent(), QUESTION, DESK, ["<answer>42</answer>"], lambda search: ()).outcome.answer == "42"


def test_t7_a_search_without_hits_says_so_and_leaves_the_last_image():
    hits = {"one": found(A), "two": ()}
    run = played(
        "<search>one</search>", "<search>two</search>", "<bbox>[0, 0, 100, 100]</bbox>", "<answer>x</answer>",
        hits=lambda search: hits[search.query],
    )  # fmt: skip
    assert seen(run, 2) == ["Your search found no page. Search for something else."]
    assert crops(run, 3) == [(0, 0, 275, 275)]


NUMBERS = "A box must be four numbers in brackets, [x1, y1, x2, y2], with x1 less than x2 and y1 less than y2."
OUTSIDE = "The box is outside of the last image, which goes from [0, 0] to [731, 548]."


@pytest.mark.parametrize(
    ("said", "box"),
    [(OUTSIDE, box) for box in ("[731, 0, 800, 9]", "[0, 548, 9, 560]", "[-9, 0, 0, 9]", "[0, -9, 9, 0]")]
    + [
        (NUMBERS, box)
        for box in (
            "", "[]", "[1, 2, 3]", "[1, 2, 3, 4, 5]", "1, 2, 3, 4", "(1, 2, 3, 4)", "null", "4", '{"a": 1}',
            '["0", "0", "9", "9"]', "[[0, 0, 9, 9]]", "[0, 0, true, 9]", "[0, 0, NaN, 9]", "[0, 0, Infinity, 9]",
            "[-Infinity, 0, 9, 9]", "[0, 0, 1e400, 9]", "[0, 0, 9, 1e300]", f"[0, 0, 9, {'9' * 400}]",
            f"[0, 0, 9, {'9' * 5000}]", "[0, 0, null, 9]", "[9, 0, 0, 9]", "[0, 9, 9, 0]", "[5, 5, 5, 5]", "[" * 9999,
        )
    ],
)  # fmt: skip
def test_t7_a_box_that_cannot_be_is_refused(said, box):
    assert seen(played("<search>one</search>", f"<bbox>{box}</bbox>", "<answer>x</answer>")) == [said]


@pytest.mark.parametrize(
    ("box", "cut", "how"),
    [
        # an image of 731x548 is seen as 728x560 by a model that works in patches of 28x28
        ("[-5, 300, 728, 560]", (0, 601, 1600, 1200), {}),
        ("[0.1, 0.1, 0.2, 0.2]", (0, 0, 1, 1), {"pad": 0}),
        ("[730.9, 547.9, 731, 548]", (1599, 1199, 1600, 1200), {"pad": 0}),
    ],
)
def test_a_box_is_clipped_and_has_at_least_a_pixel(box, cut, how):
    run = played("<search>one</search>", f"<bbox>{box}</bbox>", "<answer>x</answer>", **how)
    assert crops(run) == [cut]
    assert not how or seen(run) == [(448, 448)]


def test_coordinates_may_be_thousandths():
    run = played("<search>one</search>", "<bbox>[100, 50, 300, 250]</bbox>", "<answer>x</answer>",
                 coordinates="thousandths")  # fmt: skip
    assert crops(run) == [(104, 4, 536, 356)]
    assert "in thousandths of the image's width and height" in run.asks[0].turns[0].text
    refused = played("<search>one</search>", "<bbox>[1000, 0, 1001, 9]</bbox>", "<answer>x</answer>",
                     coordinates="thousandths")  # fmt: skip
    assert seen(refused) == ["The box is outside of the last image, which goes from [0, 0] to [1000, 1000]."]


def test_the_pad_and_the_pixels_may_be_others():
    run = played(
        "<search>one</search>", "<bbox>[10, 10, 20, 20]</bbox>", "<answer>x</answer>", pad=0, pixels=(100, 1200),
    )  # fmt: skip
    assert seen(run, 1) == [(40, 30)]
    assert (crops(run), seen(run)) == ([(400, 400, 800, 800)], [(34, 34)])


def test_the_question_is_asked_as_it_is_with_the_benchmark_s_instruction():
    desk = PlainDesk({}, instruction="One word.")
    run = play(agent(), "{coordinates}?", desk, ["<answer> </answer>"], lambda search: ())
    assert run.asks[0].turns[0].text.endswith("Question: {coordinates}?\n\nOne word.")
    assert run.outcome == Outcome("", "unparsed", "<answer> </answer>")


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("<answer>1</answer><search>2</search>", ("answer", "1")),
        ("<bbox><search>2</search>", ("search", "2")),
        ("<answer>see <search>2</search></answer>", ("answer", "see <search>2</search>")),
        ("</search><search>2", ("", "")),
        ("<ANSWER>1</ANSWER><answer>line\nline</answer>", ("answer", "line\nline")),
    ],
)
def test_the_first_action_that_is_closed_is_found(reply, action):
    assert action_of(reply) == action
    found = re.search(r"<(search|answer|bbox)>(.*?)</\1>", reply, re.DOTALL)  # as the published agent reads it
    assert action == ((found[1], found[2].strip()) if found else ("", ""))


def test_a_reply_of_many_open_tags_is_read_at_once():
    assert action_of("<search><answer>" * 50_000) == ("", "")


def test_a_box_may_have_fractions_and_blanks():
    assert box_of(" [0.5,\n1, 2e1, 3.25 ] ") == (0.5, 1, 20.0, 3.25)
