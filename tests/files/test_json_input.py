import pytest

from ohr.files.json_input import lines, parse_json, whole_number


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"{", b"", b'"\xff"', b"9" * 5000], ids=["deep", "cut", "empty", "bytes", "long"]
)
def test_whatever_is_wrong_is_a_value_error(content):
    with pytest.raises(ValueError):
        parse_json(content)


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b'{"\\uD83D": ["\\ude00 x"]}', {"?": ["? x"]}),
        (b'"\xed\xa0\xbd"', "?"),
        (b"\xef\xbb\xbf[1]", [1]),
    ],
    ids=["pair", "halves", "bytes", "mark"],
)
def test_halves_of_characters_become_question_marks(content, read):
    assert parse_json(content) == read


def test_only_line_feeds_end_lines():
    assert list(lines("a\u2028b\n\r\n c\x85")) == [(1, "a\u2028b"), (3, " c\x85")]


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (0, 0),
        (" 12 ", 12),
        ("\u0663", 3),
        (-1, None),
        (True, None),
        (1.0, None),
        ("-1", None),
        ("9" * 5000, None),
        (None, None),
    ],
)
def test_numbers_from_0_are_read_as_text_too(given, number):
    assert whole_number(given) == number
