import json
from dataclasses import replace

import pytest

from ohr.contracts import Prompt
from ohr.errors import PluginError
from ohr.generators.transformers import Transformers
from ohr.keys import identity


def prompt(user, question="When?"):
    return Prompt(question, (user,), "Be brief.", user)


def answer(model, *prompts, **how):
    return list(Transformers(model=str(model), **{"max_tokens": 6, **how}).answer(prompts))


def test_a_model_in_a_folder_answers(tiny_model):
    (given,) = answer(tiny_model, prompt("When did the lease begin?"))
    assert given.error is None
    assert 0 < given.tokens_out <= 6
    assert given.tokens_in > 10
    assert not given.truncated


def test_a_reply_of_the_longest_length_says_so(tiny_model):
    (given,) = answer(tiny_model, prompt("When did the lease begin?"), max_tokens=1)
    assert (given.tokens_out, given.finish) in ((1, "length"), (0, "stop"))


def test_a_prompt_that_is_too_long_is_cut_and_says_so(tiny_model):
    (given,) = answer(tiny_model, prompt("lease " * 500), context=100)
    assert given.truncated
    assert given.tokens_in <= 94


def test_a_model_is_known_by_its_content(tiny_model, tmp_path):
    for path in tiny_model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert identity(Transformers(model=str(tmp_path))) == identity(Transformers(model=str(tiny_model)))


def test_a_missing_folder_is_reported_before_any_work(tmp_path):
    with pytest.raises(PluginError) as caught:
        Transformers(model=f"{tmp_path}/no").check()
    assert str(caught.value) == f"generator transformers: no such model: {tmp_path}/no"


def test_a_model_without_a_chat_template_is_refused(tiny_model, tmp_path):
    for path in tiny_model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "chat_template.jinja").unlink(missing_ok=True)
    about = json.loads((tmp_path / "tokenizer_config.json").read_text())
    about.pop("chat_template", None)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(about))
    with pytest.raises(PluginError) as caught:
        answer(tmp_path, prompt("x"))
    assert str(caught.value) == (
        f"generator transformers: {str(tmp_path)!r} has no chat template: use an instruction-tuned model"
    )


def test_a_folder_that_is_no_model_is_reported(tmp_path):
    with pytest.raises(PluginError, match=r"^generator transformers: cannot load '"):
        answer(tmp_path, prompt("x"))


def test_a_reply_ends_before_a_stop_text(tiny_model):
    (free,) = answer(tiny_model, prompt("When did the lease begin?"), max_tokens=20)
    end = free.text[len(free.text) // 2]
    (cut,) = answer(tiny_model, prompt("When did the lease begin?"), max_tokens=20, stop=(end,))
    assert cut.text == free.text.partition(end)[0]
    assert cut.finish == "stop"


def test_the_opening_of_a_reply_is_read_but_not_repeated(tiny_model):
    asked = prompt("When did the lease begin?")
    plain, opened = answer(tiny_model, asked, replace(asked, opening="It began in"))
    assert opened.tokens_in > plain.tokens_in
    assert not opened.text.startswith("It began in")
