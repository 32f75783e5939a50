"""Tokens are those of tiktoken, and of an independent implementation, and nothing is downloaded or kept for it."""

import json
import os
import subprocess
import sys
from hashlib import sha1, sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.errors import MissingExtra
from ohr.text import tokens
from ohr.text.tokens import count_tokens, encoding

URL = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
TEXTS = (
    "",
    "The rent fell by 4.25% in 1964, didn't it?",
    "北京上海的租金在五月到期。 １２３",
    "  \n\n\t a  \r\n" * 50,
    "a" * 5_000 + "." * 5_000,
    r"\begin{tabular}{ll} $\frac{a_1}{b^{2}}$ & \textbf{x} \\ \hline \end{tabular}",
    "👍🏽 naïve ﬁ \u200d\u0301 ",
    "<|endoftext|>",
)


def test_the_vocabulary_is_the_published_one():
    path = Path(tokens.__file__).with_name("vocabularies") / sha1(URL.encode()).hexdigest()
    assert sha256(path.read_bytes()).hexdigest() == "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
    assert encoding().n_vocab == 100_277


@given(st.text(max_size=200))
def test_tokens_are_those_of_another_implementation(text):
    other = pytest.importorskip("quicktok").get_encoding("cl100k_base")
    for some in (text, *TEXTS):
        assert encoding().encode_ordinary(some) == list(other.encode_ordinary(some))
        assert count_tokens(some) == other.count(some) == len(other.encode_ordinary(some))


@pytest.mark.ohrbench
def test_counts_of_real_pages_are_those_of_another_implementation():
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    folder = Path(os.environ["OHRBENCH_DATA"]) / "retrieval_base" / "gt"
    other = pytest.importorskip("quicktok").get_encoding("cl100k_base")
    for path in sorted(folder.rglob("*.json"))[::20]:
        for page in json.loads(path.read_text(encoding="utf-8")):
            assert len(encoding().encode_ordinary(page["text"])) == other.count(page["text"])


def test_nothing_is_downloaded_or_kept(tmp_path):
    code = "from ohr.text.tokens import encoding; print(len(encoding().encode_ordinary('a rent')))"
    nowhere = {"TMPDIR": str(tmp_path), "https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **nowhere}, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("2\n", "")
    assert list(tmp_path.iterdir()) == []


def test_the_users_folder_of_vocabularies_stays(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/somewhere")
    encoding.cache_clear()
    assert len(encoding().encode_ordinary("a rent")) == 2
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/somewhere"


def test_a_vocabulary_of_quicktok_needs_quicktok(monkeypatch):
    monkeypatch.setitem(sys.modules, "quicktok", None)
    monkeypatch.setattr(tokens, "installed_version", lambda name: None)
    for cached in (encoding, tokens._quicktok):
        cached.cache_clear()
    assert count_tokens("a rent") == 2
    with pytest.raises(MissingExtra, match=r"pip install 'ohr\[quicktok\]'"):
        count_tokens("a rent", "llama3")
    tokens._quicktok.cache_clear()


def test_half_a_surrogate_pair_counts_as_the_sign_for_it():
    assert count_tokens("x\ud800y") == count_tokens("x\ufffdy")
