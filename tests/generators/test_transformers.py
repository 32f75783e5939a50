"""Local models: prompts, and conversations, of which their chat templates decide what they take."""

import json
import re
import shutil
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from ohr.contracts import Conversation, Prompt
from ohr.errors import PluginError
from ohr.files.lazy import Made
from ohr.generators import transformers
from ohr.generators.transformers import Transformers, TransformersVision
from ohr.keys import identity

from .conftest import PAGE, talk

PAGES = [np.full((300, 200, 3), shade, dtype=np.uint8) for shade in (0, 90, 255)]
STRICT = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
)
"""A template that takes no system message, and users and assistants in turns, as Gemma's does."""


SYSTEM, USER = ("system", "Be brief."), ("user", "When did the lease begin?")
LONG = talk(SYSTEM, USER, ("assistant", "It began in 1964."), ("user", "lease", "Are you sure?"))


@pytest.fixture
def chat(tiny_model):
    def given(*conversations, **how):
        return list(Transformers(**{"model": str(tiny_model), "max_tokens": 6, **how}).chat(conversations))

    return given


@pytest.fixture
def see(tiny_vision_model):
    def given(*conversations, **how):
        return list(TransformersVision(**{"model": str(tiny_vision_model), "max_tokens": 6, **how}).chat(conversations))

    return given


# --- prompts ----------------------------------------------------------------------------------------------


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


def shown(*images, user="When did the lease begin?"):
    return Prompt(user, (), "Be brief.", user, images=images)


@pytest.fixture
def look(tiny_vision_model):
    def given(*prompts, **how):
        how = {"model": str(tiny_vision_model), "max_tokens": 6, **how}
        return list(TransformersVision(**how).answer(prompts))

    return given


def test_a_page_image_is_read(look):
    none, one, two = look(shown(), shown(PAGES[0]), shown(*PAGES[:2]))
    assert (none.error, one.error, two.error) == (None, None, None)
    assert one.tokens_in - none.tokens_in == two.tokens_in - one.tokens_in == 16


def test_different_pages_are_reported_apart_and_one_page_gets_one_answer(look):
    texts = [given.text for given in look(*(shown(page, user="lease") for page in (*PAGES, *PAGES)))]
    assert texts[:3] == texts[3:]
    assert len(set(texts)) > 1


def test_pages_that_do_not_fit_are_left_out_and_reported(look):
    (given,) = look(shown(*PAGES * 15))
    assert given.truncated
    assert given.tokens_in <= 512 - 6


@pytest.mark.skipif(find_spec("torchvision") is not None, reason="what is missing is there")
def test_a_processor_that_needs_torchvision_says_so(tmp_path):
    from tests.tiny_models import qwen2_vl_without_videos

    with pytest.raises(PluginError, match=r"cannot load '.*': it needs torchvision, of the version that fits"):
        list(TransformersVision(model=str(qwen2_vl_without_videos(tmp_path))).answer([shown()]))


def test_a_model_that_reads_no_images_is_reported(tiny_model):
    with pytest.raises(PluginError, match=r"^generator transformers_vision: cannot load '"):
        list(TransformersVision(model=str(tiny_model)).answer([shown()]))


# --- conversations ----------------------------------------------------------------------------------------


def test_one_message_is_answered_as_a_prompt_is(chat, tiny_model):
    (talked,) = chat(talk(SYSTEM, USER))
    (answered,) = Transformers(model=str(tiny_model), max_tokens=6).answer([Prompt("", (), SYSTEM[1], USER[1])])
    assert (talked.text, talked.tokens_in, talked.tokens_out) == (
        answered.text,
        answered.tokens_in,
        answered.tokens_out,
    )


def test_every_turn_is_read(chat, tiny_model):
    from transformers import AutoTokenizer

    text = (
        "<s>system: Be brief.</s><s>user: When did the lease begin?</s><s>assistant: It began in 1964.</s>"
        "<s>user: lease\n\nAre you sure?</s><s>assistant: "
    )
    (reply,) = chat(LONG)
    assert reply.tokens_in == len(AutoTokenizer.from_pretrained(tiny_model).encode(text, add_special_tokens=False))
    assert not reply.truncated


def test_conversations_of_different_lengths_are_continued_as_alone(chat):
    asked = [LONG, talk(USER), talk(USER, ("assistant", "lease " * 9), ("user", "When?")), talk(("user", "x"))]
    together = [reply.text for reply in chat(*asked, batch_size=3)]
    assert together == [reply.text for each in asked for reply in chat(each)]


def test_sampled_replies_depend_on_the_conversation_alone(chat):
    how = {"temperature": 1.0, "max_tokens": 12, "batch_size": 1}
    first, other = chat(LONG, talk(USER), **how)
    assert [reply.text for reply in chat(talk(USER), LONG, **how)] == [other.text, first.text]


def test_a_conversation_is_not_cut(chat):
    (fits,) = chat(LONG)
    good, bad = chat(talk(USER), LONG, context=fits.tokens_in + 5)
    assert (good.error, bad.text, bad.finish) == (None, "", "error")
    assert bad.error == (
        f"a conversation of {fits.tokens_in} tokens is too long: {fits.tokens_in - 1} fit beside a reply of 6"
    )
    assert chat(LONG, context=fits.tokens_in + 6)[0].text == fits.text


def test_a_model_of_text_says_that_it_reads_no_picture(chat):
    first, bad, last = chat(LONG, talk(("user", PAGE, "What?"), images=PAGES[:1]), LONG, batch_size=3)
    assert bad.error == "generator transformers reads text, and got an image"
    assert first.error is None
    assert last.text == first.text


def test_a_template_that_refuses_the_roles_fails_these_conversations_alone(chat, tiny_model, tmp_path):
    strict = shutil.copytree(tiny_model, tmp_path / "strict")
    (strict / "chat_template.jinja").write_text(STRICT)
    two = talk(("user", "Texts."), ("user", "Images."))
    good, system, users = chat(talk(USER), LONG, two, model=str(strict), batch_size=3)
    assert good.error is None
    assert system.error == (
        "the model's chat template refuses the roles system, user, assistant, user: System role not supported"
    )
    assert users.error == "the model's chat template refuses the roles user, user: Roles must alternate"


def test_a_prompt_whose_system_message_is_refused_fails_with_the_reason(tiny_model, tmp_path):
    strict = shutil.copytree(tiny_model, tmp_path / "strict")
    (strict / "chat_template.jinja").write_text(STRICT)
    (reply,) = Transformers(model=str(strict), max_tokens=6).answer([Prompt("", (), "Be brief.", "When?")])
    assert reply.error == "the model's chat template refuses the roles system, user: System role not supported"


def test_without_conversations_no_model_is_loaded(tmp_path):
    assert list(Transformers(model=f"{tmp_path}/no").chat([])) == []


# --- conversations with pictures --------------------------------------------------------------------------


def test_pictures_are_in_several_turns_and_in_any_order(see):
    def turns(*counts):
        """Texts before, between and after pictures; each picture has 16 tokens."""
        first, second = ([PAGE, "lease"] * counts[0], ["lease", PAGE] * counts[1])
        return talk(SYSTEM, ("user", "a", *first), ("assistant", "b"), ("user", *second, "c"), images=PAGES * 2)

    texts = talk(SYSTEM, ("user", "a", "lease"), ("assistant", "b"), ("user", "lease", "c"))
    none, one, four = see(texts, turns(1, 0), turns(2, 2))
    assert (none.error, one.error, four.error) == (None, None, None)
    assert four.tokens_in - one.tokens_in > 3 * 16


def test_the_order_of_pictures_and_texts_reaches_the_model(see, monkeypatch):

    sent, processed = [], transformers._processed

    def spied(engine, texts, images):
        sent.append((texts, [image.getpixel((0, 0))[0] for image in images]))
        return processed(engine, texts, images)

    monkeypatch.setattr(transformers, "_processed", spied)
    asked = talk(("user", "one", PAGE, "", "two", PAGE), ("assistant", "x", "y"), ("user", PAGE, "3"), images=PAGES)
    (reply,) = see(asked)
    text = "<s>user: one<image>two<image></s><s>assistant: x\n\ny</s><s>user: <image>3</s><s>assistant: "
    assert reply.error is None
    assert sent[-1] == ([text], [0, 90, 255])


def test_one_message_with_pages_is_answered_as_a_prompt_is(see, tiny_vision_model):
    (talked,) = see(talk(SYSTEM, ("user", PAGE, PAGE, "lease"), images=PAGES[:2]))
    asked = Prompt("", (), SYSTEM[1], "lease", images=PAGES[:2])
    (answered,) = TransformersVision(model=str(tiny_vision_model), max_tokens=6).answer([asked])
    assert (talked.text, talked.tokens_in) == (answered.text, answered.tokens_in)


def test_conversations_of_one_batch_are_continued_as_alone(see):
    asked = [
        talk(USER),
        talk(("user", PAGE, "lease"), images=PAGES[:1]),
        talk(("user", "a", PAGE), ("assistant", "b"), ("user", PAGE, "lease " * 9), images=PAGES[1:]),
    ]
    together = [reply.text for reply in see(*asked, batch_size=3)]
    assert together == [reply.text for reply in see(*asked, batch_size=1)]


def test_too_many_pictures_are_an_error_not_a_cut(see):
    good, bad = see(talk(USER), talk(("user", *[PAGE] * 45, "When?"), images=PAGES * 15), batch_size=2)
    assert good.error is None
    said = re.fullmatch(r"a conversation of (\d+) tokens is too long: 506 fit beside a reply of 6", bad.error)
    assert int(said[1]) > 45 * 16


def test_a_picture_that_cannot_be_made_fails_its_own_conversation(see):
    def broken():
        raise OSError("no such page")

    bad = talk(("user", PAGE, "When?"), images=Made([broken]))
    good = talk(("user", PAGE, "lease"), images=PAGES[:1])
    first, second, third = see(good, bad, good, batch_size=3)
    assert second.error == "no page image: OSError: no such page"
    assert first.error is None
    assert first.text == third.text


def test_a_text_with_the_models_own_mark_for_an_image_fails_its_own_conversation(see):
    odd = talk(("user", PAGE, "an <image> in a page's text"), images=PAGES[:1])
    good, bad = see(talk(USER), odd, batch_size=2)
    assert good.error is None
    assert bad.error.startswith("the model's processor refuses it: ")


def test_pictures_are_made_smaller_as_pages_are(see, monkeypatch):

    sizes, processed = [], transformers._processed
    monkeypatch.setattr(
        transformers,
        "_processed",
        lambda engine, texts, images: (
            sizes.append([image.size for image in images]) or processed(engine, texts, images)
        ),
    )
    see(talk(("user", PAGE, "x"), images=PAGES[:1]), max_pixels=15_000)
    assert sizes[-1] == [(100, 150)]


@pytest.mark.skipif(find_spec("torchvision") is None, reason="Qwen2-VL's processor needs torchvision")
def test_a_qwen2_vl_reads_pictures_in_several_turns(tiny_qwen2_vl):
    def given(*conversations, **how):
        return list(TransformersVision(model=str(tiny_qwen2_vl), max_tokens=6, **how).chat(conversations))

    asked = [
        talk(("user", "a", "b")),
        talk(("user", "a", PAGE, "b"), images=PAGES[:1]),
        talk(("user", PAGE), ("assistant", "b"), ("user", "a", PAGE, PAGE), images=PAGES),
    ]
    alone, together = given(*asked), given(*asked, batch_size=3)
    assert [reply.error for reply in alone] == [None] * 3
    assert alone[0].tokens_in < alone[1].tokens_in < alone[2].tokens_in
    assert [reply.text for reply in together] == [reply.text for reply in alone]


def test_another_try_is_another_sample_and_can_be_repeated(chat):
    asked = talk(SYSTEM, USER)
    tries = [Conversation(asked.turns, attempt=number) for number in (0, 1, 1)]
    first, second, again = (chat(each, temperature=1.0, max_tokens=12)[0].text for each in tries)
    assert first != second == again
