import json
import os
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.text.chinese import HAN_RUN, chinese_words, cut_as_jieba

SENTENCE = "他来到了网易杭研大厦租约从一九六四年开始租金是三百元"
PIECES = (
    "约", SENTENCE, "2021年", "T恤", "A座", " ", "\r\n", "rent ", "naïve", "，", "“", "№5", "㐀", "𠀀", "々〇", "⺀",
    "龥鿕鿖",
)  # fmt: skip
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def jieba():
    module = pytest.importorskip("jieba")
    module.setLogLevel("ERROR")
    return module


@given(st.text(st.sampled_from("约租金ab1年，。"), max_size=60), st.integers(1, 40))
def test_the_parts_are_the_whole_text(text, times):
    assert "".join(chinese_words(text * times)) == text * times


@given(
    st.lists(st.sampled_from(PIECES) | st.text(st.characters(min_codepoint=0x3400, max_codepoint=0xFAFF), max_size=9))
)
def test_texts_are_cut_as_jieba_cuts_them(jieba, pieces):
    text = "".join(pieces).translate(str.maketrans("", "", string.punctuation))
    assert cut_as_jieba(text) == jieba.lcut(text)


def runs(folder):
    """Collect the runs of Chinese in the files of a folder."""
    found = set()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in {".json", ".jsonl", ".md", ".txt"}):
        text = path.read_text(encoding="utf-8")
        found |= set(
            HAN_RUN.findall(json.dumps(json.loads(text), ensure_ascii=False) if path.suffix == ".json" else text)
        )
    return found


@pytest.mark.parametrize("benchmark", ["mini", "finmmdocr"])
def test_runs_of_a_benchmark_are_cut_as_jieba_cuts_them(jieba, benchmark):
    found = runs(ROOT / "benchmarks" / benchmark)
    assert len(found) > 100
    assert {run: chinese_words(run) for run in found} == {run: jieba.lcut(run) for run in found}


@pytest.mark.ohrbench
def test_runs_of_ohrbench_are_cut_as_jieba_cuts_them(jieba):
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    found = runs(Path(os.environ["OHRBENCH_DATA"]) / "retrieval_base" / "gt")
    assert len(found) > 100
    assert {run: chinese_words(run) for run in found} == {run: jieba.lcut(run) for run in found}
