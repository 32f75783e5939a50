import logging
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.text import chinese
from ohr.text.chinese import chinese_cutter, chinese_words

SENTENCE = "他来到了网易杭研大厦租约从一九六四年开始租金是三百元"


def test_cutting_logs_nothing_and_leaves_no_cache_file(capfd, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    chinese_cutter.cache_clear()
    chinese._chinese_run.cache_clear()
    with caplog.at_level(logging.DEBUG):
        assert chinese_words("北京上海") == ["北京", "上海"]
    assert capfd.readouterr() == ("", "")
    assert list(Path(tmp_path).iterdir()) == []


@given(st.text(st.sampled_from("约租金ab1年，。"), max_size=60), st.integers(1, 40))
def test_the_parts_are_the_whole_text(text, times):
    assert "".join(chinese_words(text * times)) == text * times


@given(st.lists(st.sampled_from(["约", SENTENCE, "2021年", "T恤", " ", "rent "]), max_size=20).map("".join))
def test_runs_of_usual_length_are_cut_as_jieba_cuts_them(text):
    assert chinese_cutter()(text) == pytest.importorskip("jieba").lcut(text)


def test_a_long_run_is_cut_at_500_characters():
    jieba = pytest.importorskip("jieba")
    run = SENTENCE * 50
    parts = [word for place in range(0, len(run), 500) for word in jieba.lcut(run[place : place + 500])]
    assert chinese_cutter()(f"rent {run} due") == ["rent", " ", *parts, " ", "due"]
