import json

import pytest

from ohr.errors import MissingExtra, PluginError
from ohr.generators.local_model import MODELS
from ohr.models.places import Catalog, Packaged, check_device
from ohr.retrievers.embedders import EMBEDDERS


def fault(model, revision=None, catalog=MODELS):
    with pytest.raises(PluginError) as caught:
        catalog.check("generator x", str(model), revision)
    return str(caught.value)


def test_what_is_no_model_on_this_machine_is_named(tmp_path):
    file = tmp_path / "model.bin"
    file.write_text("")
    assert fault(f"{tmp_path}/no") == f"generator x: no such model: {tmp_path}/no"
    assert fault(tmp_path) == f"generator x: {tmp_path} is not a model: it has no config.json"
    assert fault(file) == f"generator x: {file} is not a model: name its folder, or a .gguf file"
    assert fault(file, catalog=EMBEDDERS) == f"generator x: {file} is not a model: name its folder"


def test_a_gguf_file_is_a_model_where_the_family_reads_them(tmp_path):
    file = tmp_path / "m.gguf"
    file.write_text("")
    MODELS.check("generator x", str(file))
    assert MODELS.location(str(file)) == str(file)
    assert fault(file, catalog=EMBEDDERS) == f"generator x: {file} is not a model: name its folder"


def test_a_wrong_short_name_names_the_nearest():
    assert fault("qwen-7b") == (
        "generator x: no model 'qwen-7b'. Choose one of: smollm2-135m-instruct, qwen2-7b, qwen2-72b, llama-3.1-8b, "
        "ext2gen-8b-r2, qwen2-vl-7b. Did you mean 'qwen2-7b'? Or name a folder, a .gguf file, or a model on the hub as "
        "owner/name"
    )
    assert fault("mini-lm", catalog=EMBEDDERS) == (
        "generator x: no model 'mini-lm'. Choose one of: minilm, bge-m3, contriever, gte, e5. Did you mean 'minilm'? "
        "Or name a folder or a model on the hub as owner/name"
    )


@pytest.mark.parametrize(("model", "revision", "at"), [("qwen2-7b", None, ""), ("Qwen/Qwen2-7B-Instruct", "v9", "v9")])
def test_a_hub_model_that_cannot_be_downloaded_is_reported_before_any_work(model, revision, at):
    named = "Qwen/Qwen2-7B-Instruct" + (f" at revision {at!r}" if at else "")
    assert fault(model, revision).startswith(
        f"generator x: {named} is not in the local cache, and the hub does not answer (LocalEntryNotFoundError: "
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
    MODELS.check("generator cached", "acme/tiny")


def test_a_wrong_revision_of_a_cached_model_is_reported(cache):
    assert fault("acme/tiny", "no-such-branch").startswith("generator x: acme/tiny at revision 'no-such-branch' is not")


def test_a_revision_of_a_local_model_is_refused(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    reason = f"generator x: a revision belongs to a model on the hub, and {tmp_path} is on this machine"
    assert fault(tmp_path, "main") == reason


def test_a_revision_is_part_of_what_a_hub_model_is():
    assert MODELS.identity("qwen2-7b") == "hub:Qwen/Qwen2-7B-Instruct@main"
    assert MODELS.identity("qwen2-7b", "v1") == "hub:Qwen/Qwen2-7B-Instruct@v1"


def test_a_local_model_is_identified_by_content_and_an_adapter_with_its_base(tmp_path):
    for name in ("one", "two", "base"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("other" if name == "base" else "{}")
    one, two, base = (EMBEDDERS.identity(str(tmp_path / name)) for name in ("one", "two", "base"))
    assert one == two != base
    (tmp_path / "two" / "config.json").write_text("changed")
    assert EMBEDDERS.identity(str(tmp_path / "two")) != two
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(tmp_path / "base")}))
    EMBEDDERS.check("retriever x", str(adapter))
    assert EMBEDDERS.identity(str(adapter)).endswith(f" over {base}")


def test_a_packaged_model_is_found_without_importing_its_package():
    catalog = Catalog(
        {
            "own": Packaged("pytest", "__init__.py", "pip install it"),
            "no": Packaged("no_such", "m", "install it yourself"),
        }
    )
    assert catalog.location("own") == pytest.__file__
    catalog.check("retriever x", "own")
    with pytest.raises(MissingExtra, match=r"^no-such is not installed: install it yourself$"):
        catalog.check("retriever x", "no")


def test_cuda_on_a_machine_without_it(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(PluginError) as caught:
        check_device("generator x", "cuda:0", "llm")
    assert str(caught.value) == "generator x: device cuda:0: this machine has no CUDA device; use `device: cpu`"
