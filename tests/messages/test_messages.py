"""Sentences for people: counts, names and faults, without secrets and values of variables."""

import pickle
from time import process_time

import pytest

from ohr.messages.faults import Fault, sentences
from ohr.messages.secrets import without_key, without_passwords
from ohr.messages.variables import FilledPath, fill, hidden
from ohr.messages.wording import counted, named, quoted, shortened


@pytest.mark.parametrize(
    ("number", "words", "message"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (2, ("knowledge base",), "2 knowledge bases"),
        (1, ("entry", "entries"), "1 entry"),
        (2500, ("entry", "entries"), "2,500 entries"),
    ],
)
def test_things_are_counted_in_words(number, words, message):
    assert counted(number, *words) == message


@pytest.mark.parametrize(
    ("names", "message"), [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcde"), "a, b, c and 2 more")]
)
def test_the_first_names_stand_for_a_long_list(names, message):
    assert named(names) == message


def test_faults_of_one_kind_are_one_sentence():
    faults = [Fault("page", "without text in gt", f"gt/a page {number}") for number in range(4)]
    faults.append(Fault("question", "about an absent document, scored 0", "q1 (b)"))
    assert sentences(faults) == [
        "4 pages without text in gt: gt/a page 0, gt/a page 1, gt/a page 2 and 1 more",
        "1 question about an absent document, scored 0: q1 (b)",
    ]


def test_a_long_text_is_cut():
    assert shortened("a" * 80) == "a" * 80
    assert shortened("a" * 1000, 5) == "aaaaa... (1,000 characters)"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", "'a'"),
        (["a", 1, None], "['a', 1, None]"),
        ({"kind": "bm25", "k1": 1.5}, "{'k1': 1.5, 'kind': 'bm25'}"),
        ("\x1b\ud800", "'\\x1b\\ud800'"),
        (10**5000, "a number of 16,610 bits"),
        ([10**5000], "[a number of 16,610 bits]"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, 6, 7, ...]"),
    ],
    ids=["text", "list", "mapping", "signs", "huge number", "in a list", "long list"],
)
def test_a_value_is_quoted_in_few_signs(value, shown):
    assert quoted(value) == shown


def test_a_long_value_is_quoted_in_few_signs():
    assert len(quoted("a" * 10**6)) == 80


KEY = "kx7-Tq2%Zp9_Lm4\\W"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot reach http://ann:pw@host/v1", "cannot reach http://***@host/v1"),
        ("s3://AKIA:xyz@bucket/store: gone", "s3://***@bucket/store: gone"),
        ("postgres://u:p@ss@h/x", "postgres://***@h/x"),
        ("http://x/v1?api_key=abc&n=2", "http://x/v1?api_key=***&n=2"),
        ('{"url": "https://x/?n=2&X-Auth-Token=abc"}', '{"url": "https://x/?n=2&X-Auth-Token=***"}'),
        ("https://x/a?sig=abc%3D", "https://x/a?sig=***"),
        ("https://x/a?design=abc", "https://x/a?design=abc"),
        ("ask ann@host about token=abc", "ask ann@host about token=abc"),
    ],
)
def test_keys_and_passwords_in_addresses_are_masked(text, shown):
    assert without_passwords(text) == shown


@pytest.mark.parametrize("part", ["key", "?key", ";sig", "?", "a@"])
def test_long_addresses_take_no_long_time(part):
    began = process_time()
    without_passwords("://?" + part * 20_000)
    assert process_time() - began < 1


@pytest.mark.parametrize(
    "text", [KEY, KEY.upper(), "".join(f"%{ord(c):02X}" for c in KEY), "".join(f"\\u{ord(c):04x}" for c in KEY)]
)
def test_a_key_is_masked_whole_however_it_is_written(text):
    assert without_key(f"a {text} b", KEY) == "a *** b"


def test_text_that_only_resembles_a_key_stays():
    text = "kx7-Tq2 and Zp9_Lm4: 100% of \\alpha"
    assert without_key(text, KEY) == text
    assert without_key("The box is EMPTY.", "EMPTY") == "The box is EMPTY."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("yes, it is required.", "yes, it is required."),
        ("sk-no-key-required", "***"),
        ("the key ends with key-required", "the key ends with ***"),
        ("prerequired", "pre***"),
    ],
)
def test_a_word_of_a_key_of_words_is_no_part_of_it_by_itself(text, shown):
    assert without_key(text, "sk-no-key-required") == shown


def test_a_text_is_filled_and_its_value_hidden(monkeypatch):
    monkeypatch.setenv("OHR_TEST_A", "open-sesame")
    assert fill("${OHR_TEST_A}/x") == "open-sesame/x"
    assert hidden("no such folder: /open-sesame/x/y") == "no such folder: /${OHR_TEST_A}/x/y"


def test_a_value_within_another_is_hidden_last(monkeypatch):
    monkeypatch.setenv("OHR_TEST_B", "/data/study")
    monkeypatch.setenv("OHR_TEST_C", "/data/study/secret")
    fill("${OHR_TEST_B}${OHR_TEST_C}")
    assert hidden("/data/study/secret/x /data/study/y") == "${OHR_TEST_C}/x ${OHR_TEST_B}/y"


def test_a_short_value_is_left_alone(monkeypatch):
    monkeypatch.setenv("OHR_TEST_D", "data")
    fill("${OHR_TEST_D}")
    assert hidden("data: no such folder") == "data: no such folder"


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("OHR_TEST_UNSET", raising=False)
    with pytest.raises(KeyError, match="OHR_TEST_UNSET"):
        fill("${OHR_TEST_UNSET}")


def test_what_no_spec_named_is_not_hidden(monkeypatch):
    monkeypatch.setenv("OHR_TEST_E", "never-filled-in")
    assert hidden("never-filled-in") == "never-filled-in"


def test_a_filled_path_is_a_path_that_shows_as_it_is_written():
    path = FilledPath("/open-sesame/x")
    path.written = "${A}/x"
    assert (str(path), repr(path), path.name) == ("/open-sesame/x", "'${A}/x'", "x")
    assert (path / "y").written == ""
    assert pickle.loads(pickle.dumps(path)) == path
