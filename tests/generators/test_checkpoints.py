import pytest

from ohr.errors import PluginError
from ohr.generators import checkpoints


def told(model, revision=None):
    with pytest.raises(PluginError) as caught:
        checkpoints.check("generator x", str(model), revision)
    return str(caught.value)


def test_a_missing_folder(tmp_path):
    assert told(f"{tmp_path}/no") == f"generator x: no such model: {tmp_path}/no"


def test_a_folder_without_a_model(tmp_path):
    assert told(tmp_path) == f"generator x: {tmp_path} is not a model: it has no config.json"


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "model.bin").write_text("")
    assert told(tmp_path / "model.bin") == (
        f"generator x: {tmp_path}/model.bin is not a model: name its folder, or a .gguf file"
    )


def test_a_short_name_that_is_none_names_the_nearest():
    assert told("qwen-7b") == (
        "generator x: no model 'qwen-7b'. Name one of smollm2-135m-instruct, qwen2-7b, qwen2-72b, llama-3.1-8b, "
        "ext2gen-8b-r2, qwen2-vl-7b, a folder, or a hub model as owner/name. Did you mean 'qwen2-7b'?"
    )


@pytest.mark.parametrize(("model", "revision", "at"), [("qwen2-7b", None, ""), ("Qwen/Qwen2-7B-Instruct", "v9", "v9")])
def test_a_hub_model_that_cannot_be_had_is_told_before_any_work(model, revision, at):
    named = "Qwen/Qwen2-7B-Instruct" + (f" at revision {at!r}" if at else "")
    assert told(model, revision).startswith(
        f"generator x: {named} is not in the local cache, and the hub cannot be asked (LocalEntryNotFoundError: "
    )


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A hub cache with one model, whose branch `main` is known."""
    import huggingface_hub.constants

    home = tmp_path / "models--acme--tiny"
    (home / "refs").mkdir(parents=True)
    (home / "snapshots" / "0a1").mkdir(parents=True)
    (home / "refs" / "main").write_text("0a1")
    (home / "snapshots" / "0a1" / "config.json").write_text("{}")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return home


def test_a_cached_hub_model_is_found_offline(cache):
    checkpoints.check("generator cached", "acme/tiny")


def test_a_wrong_revision_of_a_cached_model_is_told(cache):
    assert told("acme/tiny", "no-such-branch").startswith("generator x: acme/tiny at revision 'no-such-branch' is not")


def test_a_revision_is_part_of_what_a_hub_model_is():
    assert checkpoints.identity("qwen2-7b") == "hub:Qwen/Qwen2-7B-Instruct"
    assert checkpoints.identity("qwen2-7b", "v1") == "hub:Qwen/Qwen2-7B-Instruct@v1"


def test_cuda_on_a_machine_without_it(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(PluginError) as caught:
        checkpoints.check_device("generator x", "cuda:0")
    assert str(caught.value) == "generator x: device cuda:0: no CUDA device here; use `device: cpu`"
