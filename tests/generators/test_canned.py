import json

import pytest

from ohr.contracts import Prompt
from ohr.errors import DataError
from ohr.generators.canned import Canned, read_value


def asked(passages, name="q"):
    return Prompt("How much?", tuple(passages), "", "How much?", id=name)


@pytest.fixture
def canned(tmp_path):
    def make(*records):
        path = tmp_path / "replies.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
        return Canned(replies=path)

    return make


@pytest.mark.parametrize(
    ("reply", "passage", "text"),
    [
        ("return {{1204.5}} / {{33}} * 100", "Revenue was 1,204.5 in 33 stores.", "return 1204.5 / 33 * 100"),
        ("{{1204.5}}", "Revenue was 1,2O4.5, or 1,284.5 before.", "1284.5"),  # misread
    ],
)
def test_a_value_is_read_in_the_passages(canned, reply, passage, text):
    (given,) = canned({"id": "q", "reply": reply}).answer([asked([passage])])
    assert given.text == text


ROW, FORMULA = "Work in process 57.9 63.4 1 204.5", "=([416.5] - [466.6]) / [466.6] * 100:.1f"


@pytest.mark.parametrize(
    ("value", "text", "read"),
    [
        ("-1204", "a loss of (1,204)", "-1204"),
        ("1204", "nothing of the kind: 7", "?"),
        ("1204", "", "?"),
        ("Ada Venn", "by Ado Venn, clerk", "Ado Venn"),
        ("Ada Venn", 'by Ada "enn', "Ada enn"),
        ("Ada Venn", "someone else entirely", "?"),
        ("2024", "2,024 and 2024", "2024"),
        # neighbors in a row of a table are numbers of their own
        ("57.9", ROW, "57.9"),
        ("63.4", ROW, "63.4"),
        ("1,204.5", ROW, "1204.5"),
        ("124375", "124,375 146,000", "124375"),
        ("146000", "124,375 146,000", "146000"),
        # a formula is computed from what is read, and can be arithmetic only
        (FORMULA, "net 416.5 466.6", "-10.7"),
        (FORMULA, "net 416.5 466.5", "-10.7"),
        (FORMULA, "net 446.5 466.6", "-4.3"),
        (FORMULA, "net 416.5", "0.0"),
        (FORMULA, "net", "?"),
        (FORMULA, "", "?"),
        *(
            (formula, "0", "?")
            for formula in ("=1 / [0]:.1f", "=[0] +:.1f", "=open(1):.1f", "=9 ** 9 ** 9:.1f", "='a' * 3:s", "=1:q")
        ),
    ],
)
def test_a_value_is_the_most_similar_one_that_is_there(value, text, read):
    assert read_value(value, text, "?") == read


def test_a_question_without_a_reply_is_a_failed_item(canned):
    first, second = canned({"id": "q", "reply": "x"}).answer([asked([], "other"), asked([])])
    assert first.error == "replies.jsonl has no reply to question 'other'"
    assert second.text == "x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "replies.jsonl:1: not readable as JSON"),
        (b'{"id": "q"}', "replies.jsonl:1: must have `id` and `reply`"),
        (b'{"id": "q", "reply": "a"}\n{"id": "q", "reply": "b"}', "replies.jsonl:2: question 'q' has a reply already"),
        ("{}".encode("utf-16"), "replies.jsonl: is not UTF-8 text (byte 0); save it as UTF-8"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(tmp_path, text, said):
    path = tmp_path / "replies.jsonl"
    path.write_bytes(text)
    with pytest.raises(DataError) as caught:
        Canned(replies=path).check()
    assert said in str(caught.value)


def test_other_replies_are_another_generator(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text('{"id": "q", "reply": "a"}')
    before = Canned(replies=path).identity()
    path.write_text('{"id": "q", "reply": "b"}')
    assert Canned(replies=path).identity() != before


def test_replies_of_no_benchmark_are_refused():
    said = r"^replies: Choose one of: .*Or name a file, as in \./replies.jsonl \(got 'nope'\)"
    with pytest.raises(DataError, match=said):
        Canned(replies="nope").check()
