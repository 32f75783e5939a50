"""llama.cpp with the packaged model, and what transformers makes of the same file."""

from pathlib import Path

import numpy as np
import pytest

from ohr.contracts import Prompt
from ohr.errors import PluginError
from ohr.generators.llama_cpp import LlamaCpp
from ohr.models.resident import holding

from .conftest import PAGE, talk

pytest.importorskip("xllamacpp")
LEASE = "The lease of the ferry berth began in 1964. It ends after ninety years."


def lease(repeated=1, **how):
    passage = " ".join([LEASE] * repeated)
    return Prompt("When?", (passage,), "Answer briefly.", f"{passage}\n\nWhen did the lease begin?", **how)


def answer(*prompts, **how):
    return list(LlamaCpp(**{"max_tokens": 24, "context": 512, "threads": 1, **how}).answer(prompts))


@pytest.mark.slow
def test_a_prompt_is_answered_alone_and_after_another():
    first, second, again = answer(lease(), lease(opening="The answer is:"), lease())
    assert first.text == "The lease of the ferry berth began in 1964."
    assert (second.text.strip(), second.finish) == ("1964", "stop")
    assert (again.text, again.tokens_in, again.tokens_out) == (first.text, first.tokens_in, first.tokens_out)


@pytest.mark.slow
def test_a_reply_ends_at_a_stop_text_and_at_its_longest():
    (stopped,), (cut,) = answer(lease(), stop=(" began",)), answer(lease(), max_tokens=3)
    assert (stopped.text, stopped.finish) == ("The lease of the ferry berth", "stop")
    assert (cut.tokens_out, cut.finish) == (3, "length")


def continued(*conversations, **how):
    return list(LlamaCpp(**{"max_tokens": 24, "context": 512, "threads": 1, **how}).chat(conversations))


@pytest.mark.slow
def test_a_conversation_is_continued_with_all_its_turns():
    prompt = lease()
    asked = (("system", prompt.system), ("user", prompt.user))
    (first,), (same,) = answer(prompt), continued(talk(*asked))
    assert (same.text, same.tokens_in, same.tokens_out) == (first.text, first.tokens_in, first.tokens_out)
    (second,) = continued(talk(*asked, ("assistant", first.text), ("user", "And when does it end?")))
    assert second.tokens_in > first.tokens_in + first.tokens_out
    assert second.text != first.text


@pytest.mark.slow
def test_a_conversation_that_cannot_be_read_fails_alone():
    long = talk(("user", " ".join([LEASE] * 40)))
    seen = talk(("user", PAGE, "What?"), images=[np.zeros((9, 9, 3), np.uint8)])
    faults = [reply.error for reply in continued(long, seen, talk(("user", "Hello.")), max_tokens=2)]
    assert faults[0].endswith("tokens is too long: 510 fit beside a reply of 2")
    assert faults[1:] == ["generator llama_cpp reads text, and got an image", None]


@pytest.mark.acceptance
def test_documents_that_are_too_long_lose_their_end_and_the_question_stays():
    (given,) = answer(lease(40))
    assert (given.truncated, given.error) == (True, None)
    assert given.tokens_in <= 512 - 24
    assert "1964" in given.text


def test_the_engine_stops_at_the_end_of_its_scope():
    threads = Path("/proc/self/task")
    with holding():
        answer(lease(), max_tokens=1)  # perhaps by an engine that an earlier test left
        during = set(threads.iterdir())
    assert len(during - set(threads.iterdir())) > 1


def test_a_file_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(PluginError) as caught:
        LlamaCpp(model=f"{tmp_path}/m.gguf").check()
    assert str(caught.value) == f"generator llama_cpp: no such model: {tmp_path}/m.gguf"


def test_a_folder_is_refused(tiny_model):
    with pytest.raises(PluginError) as caught:
        LlamaCpp(model=str(tiny_model)).check()
    assert str(caught.value) == f"generator llama_cpp: {tiny_model} is not a .gguf file"


def test_a_file_that_is_no_model_is_reported(tmp_path):
    (tmp_path / "m.gguf").write_text("no model")
    with pytest.raises(PluginError, match=r"^generator llama_cpp: cannot load '"):
        answer(lease(), model=f"{tmp_path}/m.gguf")


def test_a_window_without_room_for_a_prompt_is_refused():
    with pytest.raises(PluginError) as caught:
        LlamaCpp(context=1000).check()
    assert str(caught.value) == (
        "generator llama_cpp: context 1000 leaves no room for a prompt beside a reply of 1280 tokens"
    )


def test_the_engine_keeps_no_earlier_prompts(monkeypatch):
    started = []
    monkeypatch.setattr("xllamacpp.Server", started.append)
    LlamaCpp(context=512).load()
    assert [settings.cache_ram_mib for settings in started] == [0]  # 8 GiB by default


@pytest.mark.acceptance
def test_the_converted_model_says_what_llama_cpp_says_of_the_same_file(tmp_path, monkeypatch):
    """llama.cpp multiplies in 8 bits, so the two differ by a little at every token, and agree on what is clear."""
    from ohr.generators.transformers import Transformers

    monkeypatch.setattr("huggingface_hub.utils._cache_assets.HF_ASSETS_CACHE", str(tmp_path))
    asked = [lease(), lease(opening="The answer is:")]
    converted = list(Transformers(max_tokens=24).answer(asked))
    assert [given.text for given in converted] == [given.text for given in answer(*asked)]
    assert [given.tokens_in for given in converted] == [given.tokens_in for given in answer(*asked)]
