"""vLLM's own engine where it is installed (its CPU build is enough); elsewhere, the message without it."""

from importlib.util import find_spec

import pytest

from ohr.contracts import Prompt
from ohr.errors import MissingExtra, PluginError
from ohr.generators.transformers import Transformers
from ohr.generators.vllm import VLLM
from ohr.keys import identity

without = pytest.mark.skipif(find_spec("vllm") is not None, reason="what is missing is there")
# triton's and torch's own warnings, when the engine is imported and when its model is compiled
engine = pytest.mark.filterwarnings("ignore")
USERS = ["When did the lease of the ferry berth begin?", "lease", "It began in 1964. " * 9]


def prompt(user, *passages):
    return Prompt(user, passages, "Be brief.", user, opening="It began")


@without
def test_the_missing_engine_names_its_extra(tiny_model):
    with pytest.raises(MissingExtra, match=r"^vllm is not installed: pip install 'ohr\[vllm\]'$"):
        VLLM(model=str(tiny_model)).check()
    with pytest.raises(MissingExtra, match="vllm is not installed"):
        list(VLLM(model=str(tiny_model)).answer([prompt("When?")]))


def test_no_prompt_needs_no_engine(tiny_model):
    assert list(VLLM(model=str(tiny_model)).answer([])) == []


def test_how_fast_it_runs_is_in_no_key(tiny_model):
    known = identity(VLLM(model=str(tiny_model)))
    assert identity(VLLM(model=str(tiny_model), kept_every=2, tensor_parallel=4, memory=0.5)) == known
    assert identity(VLLM(model=str(tiny_model), max_tokens=9)) != known


@engine
@pytest.mark.slow
def test_it_replies_as_transformers_does_and_cuts_what_does_not_fit(tiny_model):
    pytest.importorskip("vllm")
    how = {"model": str(tiny_model), "dtype": "float32"}
    asked = [prompt(user) for user in USERS]
    ours = list(VLLM(**how, max_tokens=6, memory=0.2, context=256, kept_every=2).answer(asked))
    theirs = list(Transformers(**how, max_tokens=6).answer(asked))
    # random weights end in the middle of a letter, and vLLM leaves such an end away
    assert [one.text.rstrip("\ufffd") for one in ours] == [one.text.rstrip("\ufffd") for one in theirs]
    assert [one.tokens_in for one in ours] == [one.tokens_in for one in theirs]
    documents = "The lease began in 1964. " * 90
    (cut,) = VLLM(**how, max_tokens=6, memory=0.2, context=256).answer([prompt(f"{documents}\n\nWhen?", documents)])
    assert (cut.truncated, cut.tokens_in, cut.error) == (True, 250, None)


@engine
@pytest.mark.slow
def test_a_folder_that_is_no_model_is_reported(tmp_path):
    pytest.importorskip("vllm")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(PluginError, match=r"^generator vllm: cannot load '"):
        list(VLLM(model=str(tmp_path), max_tokens=6).answer([prompt("When?")]))
