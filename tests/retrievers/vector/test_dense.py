import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ohr.errors import PluginError
from ohr.keys import identity
from ohr.retrievers.embedders import Embedder, embedder, folder_of
from ohr.retrievers.vector.dense import Dense, encoder
from ohr.testing import indexed

from ..corpus import chunks


def test_meaning_is_found_without_a_common_word():
    index = indexed(
        Dense(), chunks("The feline slept on a rug.", "Interest rates were raised.", "Pour milk into the bowl.")
    )
    found = index.search(["Where did the cat nap?", "What did the central bank do?"], 1)
    assert [[hit.place for hit in hits] for hits in found] == [[0], [1]]


def test_scores_are_cosines():
    (hits,) = indexed(Dense(), chunks("rain", "wall")).search(["rain"], 2)
    assert hits[0].score == pytest.approx(1, abs=1e-5)
    assert -1 <= hits[1].score < 1


def test_a_prompt_changes_the_index_and_its_identity():
    assert identity(Dense(passage_prompt="passage: ")) != identity(Dense())


def test_a_folder_without_a_model_is_reported(tmp_path):
    with pytest.raises(PluginError) as caught:
        Dense(model=str(tmp_path)).check()
    assert str(caught.value) == f"retriever dense: {tmp_path} is not a model: it has no config.json"


def test_an_approximate_index_of_few_chunks_is_exact():
    index = indexed(Dense(index_type="pq"), chunks("rain", "wall"))
    assert index.notes == ("2 passages, too few for `pq`: the search is exact",)
    assert index.search(["rain"], 9) == indexed(Dense(), chunks("rain", "wall")).search(["rain"], 9)


def test_a_stored_index_is_mapped_not_read():
    import numpy as np

    assert isinstance(indexed(Dense(), chunks("rain", "wall")).index["vectors"].base, np.memmap)


def test_a_prompt_comes_before_each_chunk_and_counts_as_read():
    prompted = indexed(Dense(passage_prompt="passage: ", max_tokens=8), chunks("rain on the old harbour", "rain"))
    written = indexed(Dense(max_tokens=8), chunks("passage: rain on the old harbour", "passage: rain"))
    assert (prompted.index["vectors"] == written.index["vectors"]).all()
    assert (
        prompted.notes
        == written.notes
        == ("1 of 2 different chunks longer than the 8 tokens that minilm reads: 1 token cut off",)
    )


def test_what_the_model_cuts_off_is_counted():
    texts = chunks("rain " * 300, "rain " * 300, "wall " * 400, "short", "x" * 500)
    assert indexed(Dense(), texts).notes == (
        "2 of 4 different chunks longer than the 256 tokens that minilm reads: 192 tokens cut off".replace(
            "192", str(302 + 402 - 2 * 256)
        ),
    )
    assert "8 tokens" in indexed(Dense(max_tokens=8), texts).notes[0]
    assert indexed(Dense(), chunks("short")).notes == ()


def test_presets_bring_their_prompts_and_pooling():
    e5, contriever = Dense(model="e5"), Dense(model="contriever")
    assert (e5.preset.query_prompt, e5.preset.passage_prompt) == ("query: ", "passage: ")
    assert (contriever.preset.pooling, contriever.preset.normalise) == ("mean", False)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "minlm"}, "Choose one of: minilm, bge-m3, contriever, gte, e5. Did you mean 'minilm'?"),
        ({"model": "bge_m3"}, "Did you mean 'bge-m3'?"),
        ({"model": "./nowhere"}, "no such model: ./nowhere"),
        ({"device": "cuda"}, "this machine has no CUDA device"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_reported_before_any_work(fields, message):
    with pytest.raises(PluginError, match=re.escape(message)):
        Dense(**fields).check()


def test_an_adapter_in_the_local_cache_is_found_without_the_hub(tmp_path, monkeypatch):
    import huggingface_hub.constants

    home = tmp_path / "models--acme--adapter"
    (home / "refs").mkdir(parents=True)
    (home / "snapshots" / "0a1").mkdir(parents=True)
    (home / "refs" / "main").write_text("0a1")
    (home / "snapshots" / "0a1" / "adapter_config.json").write_text("{}")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    Dense(model="acme/adapter").check()


def test_a_revision_is_of_the_hub(tiny_bge_m3):
    with pytest.raises(PluginError, match="a revision belongs to a model on the hub"):
        Dense(model=str(tiny_bge_m3), revision="v2").check()
    with pytest.raises(PluginError, match="cannot load 'nobody/nothing'"):
        indexed(Dense(model="nobody/nothing", revision="v2"), chunks("rain"))
    message = "retriever dense: nobody/nothing at revision 'v2' is not in the local cache, and the hub does not answer"
    with pytest.raises(PluginError, match=message):
        Dense(model="nobody/nothing", revision="v2").check()


@pytest.mark.parametrize("pooling", ["cls", "mean", "lasttoken"])
def test_a_plain_transformer_is_pooled_as_asked(pooling, tiny_bge_m3):
    import torch
    from transformers import AutoModel, AutoTokenizer

    (vector,) = indexed(Dense(model=str(tiny_bge_m3), pooling=pooling), chunks("the lazy dog")).index["vectors"]
    read = AutoTokenizer.from_pretrained(tiny_bge_m3)("the lazy dog", return_tensors="pt")
    with torch.inference_mode():
        states = AutoModel.from_pretrained(tiny_bge_m3)(**read).last_hidden_state[0]
    expected = {"cls": states[0], "mean": states.mean(0), "lasttoken": states[-1]}[pooling]
    assert vector == pytest.approx((expected / expected.norm()).numpy(), abs=1e-5)


def test_vectors_that_are_not_normalised_give_inner_products(tiny_bge_m3):
    plain = indexed(Dense(model=str(tiny_bge_m3), pooling="mean", normalise=False), chunks("the dog", "a fox"))
    lengths = (plain.index["vectors"] ** 2).sum(1) ** 0.5
    assert abs(lengths - 1).max() > 0.1
    (hits,) = plain.search(["the dog"], 2)
    assert {hit.place: hit.score for hit in hits}[0] == pytest.approx(lengths[0] ** 2, rel=1e-4)


def test_a_batch_that_does_not_fit_is_halved_and_reported(monkeypatch):
    plain = indexed(Dense(), chunks("rain", "wall", "lease"))
    model, asked = encoder(Dense()), []
    encode = model.encode

    def small(texts, batch_size, **options):
        asked.append(batch_size)
        if batch_size > 8:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return encode(texts, batch_size=batch_size, **options)

    monkeypatch.setattr(model, "encode", small)
    index = indexed(Dense(), chunks("rain", "wall", "lease"))
    assert asked == [32, 16, 8]
    assert index.notes == ("a batch of 32 did not fit into memory: 8 was used",)
    assert (index.index["vectors"] == plain.index["vectors"]).all()
    monkeypatch.setattr(model, "encode", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("out of memory")))
    with pytest.raises(MemoryError, match="out of memory"):
        indexed(Dense(), chunks("rain"))


def test_vectors_that_are_no_numbers_are_reported(tiny_bge_m3, tmp_path):
    import torch
    from transformers import AutoModel, AutoTokenizer

    broken = AutoModel.from_pretrained(tiny_bge_m3)
    torch.nn.init.constant_(broken.embeddings.LayerNorm.weight, float("nan"))
    broken.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_bge_m3).save_pretrained(tmp_path)
    with pytest.raises(PluginError, match="gave NaN or infinity for 1 of 1 chunks"):
        indexed(Dense(model=str(tmp_path), pooling="mean"), chunks("rain"))


@pytest.fixture
def stating(tmp_path):
    """Make a copy of minilm whose files state something else."""

    def make(**stated):
        folder = Path(shutil.copytree(folder_of("minilm"), tmp_path / "model"))
        file = folder / "config_sentence_transformers.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **stated}))
        return str(folder)

    return make


def scores(index, query="When is the rent due?"):
    return {hit.place: pytest.approx(hit.score, abs=1e-5) for hit in index.search([query], 9)[0]}


TEXTS = chunks("The rent is due in May.", "The mast was painted.")


BOTH = {"query_prompt": "ask: ", "passage_prompt": "read: "}
OFF = {"query_prompt": "", "passage_prompt": ""}


@pytest.mark.parametrize(
    ("prompts", "default", "fields", "same", "unused"),
    [
        ({"query": "ask: ", "document": "read: "}, None, {}, BOTH, ""),
        ({"query": "ask: ", "passage": "read: "}, "query", {}, BOTH, ""),
        ({"query": "ask: "}, "query", {}, {"query_prompt": "ask: "}, ""),  # not put before passages
        ({"query": "ask: ", "document": "read: "}, "query", OFF, {}, ""),
        ({"s2p": "ask: ", "empty": ""}, "s2p", {}, {}, "s2p"),
    ],
)
def test_a_model_s_own_prompts_are_put_before_queries_and_passages(stating, prompts, default, fields, same, unused):
    model = stating(prompts=prompts, default_prompt_name=default)
    index = indexed(Dense(model=model, **fields), TEXTS)
    assert index.notes == ((f"{model} has prompts of its own that are put before nothing: {unused}",) if unused else ())
    assert scores(index) == scores(indexed(Dense(**same), TEXTS))


def test_a_stated_similarity_is_followed_or_reported(tiny_bge_m3, tmp_path):
    from sentence_transformers import SentenceTransformer

    for measure in ("dot", "euclidean"):
        folder = str(tmp_path / measure)
        SentenceTransformer(str(tiny_bge_m3), similarity_fn_name=measure, device="cpu").save(folder)
        index = indexed(Dense(model=folder), TEXTS)
        are_unit = bool((abs((index.index["vectors"] ** 2).sum(1) - 1) < 1e-3).all())
        assert are_unit == (measure != "dot")
        assert bool(index.notes) == (measure != "dot")
    assert index.notes == (f"{folder} states euclidean similarity: scores are cosines in its place",)
    assert indexed(Dense(model=folder, normalise=True), TEXTS).notes == ()


@pytest.mark.parametrize(
    ("model", "preset"),
    [
        ("intfloat/multilingual-e5-large", "e5"),
        ("intfloat/e5-base-v2", "e5"),
        ("facebook/contriever", "contriever"),
        ("facebook/contriever-msmarco", "contriever"),
        ("thenlper/gte-base", "gte"),
        ("BAAI/bge-m3", "bge-m3"),
    ],
)
def test_a_hub_name_of_a_preset_s_family_gets_the_preset(model, preset):
    assert embedder(model) == replace(embedder(preset), model=model)


def test_bge_s_instruction_is_put_before_queries_alone():
    small, chinese = embedder("BAAI/bge-small-en-v1.5"), embedder("BAAI/bge-large-zh")
    assert small.query_prompt == "Represent this sentence for searching relevant passages: "
    assert chinese.query_prompt == "为这个句子生成表示以用于检索相关文章："
    assert (small.passage_prompt, small.pooling, chinese.passage_prompt) == ("", "cls", "")


@pytest.mark.parametrize("model", ["intfloat/e5-mistral-7b-instruct", "intfloat/multilingual-e5-large-instruct"])
def test_a_model_of_another_recipe_is_used_as_its_files_say(model):
    assert embedder(model) == Embedder(model, None, None, None, None)


def test_what_is_used_of_a_preset_is_in_the_identity():
    assert identity(Dense(model="e5"))[2]["preset"] == ["mean", "query: ", "passage: ", True]
