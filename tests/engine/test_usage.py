"""Use of models by a run: each different reply once, and apart what it asked itself."""

from ohr.engine.ledger import Usage
from ohr.prices import Payee

MODEL, OTHER = Payee("answers", "a", "", ("a",)), Payee("answers", "b", "", ("b",))


def reply(tokens_in=10, tokens_out=2, text="yes"):
    return {"text": text, "tokens_in": tokens_in, "tokens_out": tokens_out}


def rows(usage):
    return {row["name"]: row for row in usage.rows()}


def test_a_reply_counts_once_and_new_ones_apart():
    usage = Usage({"k2"})
    usage.add(MODEL, {"k1": reply(), "k2": reply(20, 3)})
    usage.add(MODEL, {"k2": reply(20, 3)})
    assert rows(usage)["a"] == {
        "use": "answers", "name": "a", "role": "", "names": ("a",), "count": 2, "uncounted": 0, "tokens_in": 30,
        "tokens_out": 5, "new": 1, "new_in": 20, "new_out": 3,
    }  # fmt: skip


def test_a_reply_that_two_share_is_paid_by_the_first():
    usage = Usage({"k"})
    usage.add(MODEL, {"k": reply()})
    usage.add(OTHER, {"k": reply()})
    assert [rows(usage)[name]["count"] for name in "ab"] == [1, 0]
    assert [rows(usage)[name]["new"] for name in "ab"] == [1, 0]


def test_a_call_that_an_earlier_question_took_from_another_is_still_new():
    usage = Usage({"t2"})
    usage.add(MODEL, {"k": reply()}, new=set())
    usage.add(MODEL, {"k": reply()}, new={"k"})
    assert (rows(usage)["a"]["count"], rows(usage)["a"]["new"]) == (1, 1)


def test_replies_without_tokens_are_counted_as_such_and_have_no_mean():
    usage = Usage()
    usage.add(MODEL, {"k1": reply(0, 0), "k2": reply(2**63 - 1, 2**63 - 1)})
    usage.add(OTHER, {"k3": reply(5, 4), "k4": reply(5, 2)})
    assert rows(usage)["a"]["uncounted"] == 1
    assert rows(usage)["a"]["tokens_in"] == 2**63 - 1
    assert usage.lengths() == {OTHER: 3.0}


def test_recorded_pages_of_several_draws_are_the_same_pages():
    usage = Usage()
    for pages in (7, 8, 8):
        usage.add_recorded(MODEL, pages)
    assert (rows(usage)["a"]["count"], rows(usage)["a"]["new"]) == (8, 0)
