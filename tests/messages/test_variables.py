"""Environment variables in specs: filled in for the work, hidden from people."""

import pickle

import pytest

from ohr.messages.variables import FilledPath, fill, hidden


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
