"""mteb's own loaders run here, on models of this machine that stand for those of the hub."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ohr.errors import MissingExtra, PluginError
from ohr.keys import identity
from ohr.models.resident import in_memory, release
from ohr.registry import Registry
from ohr.retrievers.embedders import folder_of
from ohr.retrievers.mteb import Mteb, MtebImages, _encoded, model_meta
from ohr.retrievers.vector.dense import Dense
from ohr.retrievers.vector.vectors import query_vectors
from ohr.testing import indexed

from ..corpus import chunks

TEXTS = ("The feline slept on a rug.", "Interest rates were raised.", "Pour milk into the bowl.", "")
QUERIES = ("Where did the cat nap?", "What did the central bank do?", "今年")
MINILM, E5 = "sentence-transformers/all-MiniLM-L6-v2", "intfloat/e5-small-v2"


def pinned(name: str):
    from mteb.models.model_implementations import MODEL_REGISTRY

    return MODEL_REGISTRY[name]


@pytest.fixture
def minilm_as(hub):
    """Return a function that lets MiniLM's files, or others, stand for a model; forgets those of other tests."""
    query_vectors.cache_clear()
    for key in in_memory():
        if isinstance(key, tuple) and key[0] == "mteb":
            release(key)
    return lambda name, files=None: hub(name, files or Path(folder_of("minilm")))


def scores(retriever, texts=TEXTS, queries=QUERIES):
    rankings = indexed(retriever, chunks(*texts)).search(queries, len(texts))
    return np.array([[hit.score for hit in sorted(hits, key=lambda hit: hit.place)] for hits in rankings])


@pytest.mark.acceptance
def test_minilm_gives_the_scores_of_dense(minilm_as):
    retriever = Mteb(model=minilm_as(MINILM))
    retriever.check()
    assert np.abs(scores(retriever) - scores(Dense())).max() < 1e-6


@pytest.mark.acceptance
def test_prompts_of_e5_come_before_queries_and_passages(minilm_as):
    ours = scores(Mteb(model=minilm_as(E5)))
    assert np.abs(ours - scores(Dense(query_prompt="query: ", passage_prompt="passage: "))).max() < 1e-6
    assert np.abs(ours - scores(Dense())).max() > 1e-2


def test_vectors_are_those_of_mteb_itself(minilm_as):
    from datasets import Dataset
    from mteb import get_task
    from mteb._create_dataloaders import create_dataloader
    from mteb.types import PromptType

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task, model = get_task("NQ").metadata, pinned(minilm_as(E5)).load_model(device="cpu")
    rows = Dataset.from_list([{"id": str(place), "text": text, "title": ""} for place, text in enumerate(TEXTS)])
    batches = create_dataloader(rows, task_metadata=task, prompt_type=PromptType.document)
    expected = model.encode(
        batches, task_metadata=task, hf_split="test", hf_subset="default", prompt_type=PromptType.document
    )
    vectors, _ = Mteb(model=E5).embed_passages(TEXTS)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.abs(vectors - expected / lengths).max() < 1e-6


def test_instructions_come_before_queries_alone(minilm_as):
    name = minilm_as("intfloat/multilingual-e5-large-instruct")  # mteb loads it in half precision
    given = scores(Mteb(model=name, instruction="Find the law."))
    prompt = "Instruct: {}\nQuery: "
    assert np.abs(given - scores(Dense(query_prompt=prompt.format("Find the law."), passage_prompt=""))).max() < 5e-3
    default = scores(Dense(query_prompt=prompt.format("Retrieve text based on user query."), passage_prompt=""))
    assert np.abs(scores(Mteb(model=name)) - default).max() < 5e-3
    nq = "Given a question, retrieve Wikipedia passages that answer the question"
    named = scores(Dense(query_prompt=prompt.format(nq), passage_prompt=""))
    assert np.abs(scores(Mteb(model=name, task="NQ")) - named).max() < 5e-3
    assert np.abs(default - named).max() > 5e-2


def test_an_instruction_that_a_model_does_not_take_is_an_error(minilm_as):
    with pytest.raises(PluginError, match="e5-small-v2 takes no instruction in mteb: leave `instruction` out"):
        Mteb(model=minilm_as(E5), instruction="Find the law.").index(chunks(*TEXTS))


def test_what_a_folder_states_and_mteb_overrides_is_a_note(minilm_as, tmp_path):
    folder = tmp_path / "stating"
    shutil.copytree(folder_of("minilm"), folder)
    stated = {"prompts": {"query": "Q: ", "document": "D: "}, "similarity_fn_name": "euclidean"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(stated))
    index = Mteb(model=minilm_as(E5, folder)).index(chunks(*TEXTS))
    assert any("these will overwrite the default model prompts" in note for note in index.notes)
    wanted = f"{E5} is compared in mteb neither by cosine nor by inner product: scores are cosines in its place"
    assert wanted in index.notes
    assert (
        np.abs(scores(Mteb(model=E5)) - scores(Dense(query_prompt="query: ", passage_prompt="passage: "))).max() < 1e-6
    )


def test_the_similarity_that_mteb_uses_decides(minilm_as, tmp_path):
    folder = tmp_path / "dot"
    shutil.copytree(folder_of("minilm"), folder)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"similarity_fn_name": "dot"}))
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps(modules[:2]))  # without the module that makes unit vectors
    retriever = Mteb(model=minilm_as(MINILM, folder))
    index = retriever.index(chunks(*TEXTS))
    assert f"mteb's registry states cosine for {MINILM}, and mteb compares it by dot: so do scores here" in index.notes
    assert np.abs(scores(retriever) - scores(Dense(model=str(folder), normalise=False))).max() < 1e-5
    assert scores(retriever).max() > 1.5


def test_chunks_that_are_cut_are_counted(minilm_as):
    index = Mteb(model=minilm_as(MINILM)).index(chunks("word " * 300, "short"))
    assert index.notes == (
        f"1 of 2 different chunks longer than the 256 tokens that {MINILM} reads: 46 tokens cut off",
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "all-minilm-l6-v3",
            "mteb has no model 'all-minilm-l6-v3'. Did you mean sentence-transformers/all-MiniLM-L6-v2",
        ),
        ("nix/nix", "mteb has no model 'nix/nix'. None of its"),
        (
            "openai/text-embedding-3-small",
            "runs on its maker's servers; this retriever runs models on this machine alone",
        ),
        ("cross-encoder/ms-marco-MiniLM-L6-v2", "is a model of the type cross-encoder; this retriever runs those that"),
        ("facebook/dinov2-small", "embeds image, and not text"),
        ("nomic-ai/nomic-embed-text-v1.5", "comes with Python code of its own, which mteb runs: read it, then set"),
    ],
)
def test_models_that_cannot_be_used_are_named(name, reason):
    with pytest.raises(PluginError) as caught:
        Mteb(model=name).check()
    assert str(caught.value).startswith("retriever mteb: ")
    assert reason in str(caught.value)


def test_a_model_that_is_not_on_this_machine_is_an_error_before_any_work(minilm_as):
    with pytest.raises(PluginError) as caught:
        Mteb(model=E5).check()
    assert f"retriever mteb: {E5} at revision '{pinned(E5).revision}' is not in the local cache" in str(caught.value)


def test_an_unknown_task_is_an_error_before_any_work(minilm_as):
    with pytest.raises(PluginError, match=r"mteb has no task 'NQs'\. Did you mean NQ"):
        Mteb(model=minilm_as(MINILM), task="NQs").check()


def test_code_of_a_model_needs_trust():
    with pytest.raises(ValueError, match="allow it with --trust-plugins"):
        Mteb.model_validate({"model": E5, "trust_remote_code": True}, context={"registry": Registry()})


def test_a_library_that_a_model_needs_is_named(minilm_as):
    with pytest.raises(PluginError, match=r"missing required dependencies: pylate.* `pip install mteb\[pylate\]`"):
        Mteb(model=minilm_as("colbert-ir/colbertv2.0")).check()


def test_the_commit_is_part_of_the_identity():
    assert identity(Mteb(model=E5)) != identity(Mteb(model=E5, revision="abc"))
    assert identity(Mteb(model=E5)) == identity(Mteb(model=E5, batch_size=1, device="cuda"))
    assert identity(Mteb(model=E5)) != identity(Mteb(model=E5, task="NQ"))


def test_late_interaction_is_compared_by_maxsim(minilm_as, monkeypatch):
    """mteb loads this model with PyLate, which does not run beside sentence-transformers 6; its own wrapper does."""
    from mteb.models.model_implementations import MODEL_REGISTRY
    from mteb.models.sentence_transformer_wrapper import MultiVectorWrapper

    name = "colbert-ir/colbertv2.0"
    runs_here = {"loader": MultiVectorWrapper, "extra_requirements_groups": None}
    monkeypatch.setitem(MODEL_REGISTRY, name, pinned(name).model_copy(update=runs_here))
    model_meta.cache_clear()
    retriever = Mteb(model=minilm_as(name), trust_remote_code=True)
    (hits,) = indexed(retriever, chunks(*TEXTS, TEXTS[0])).search([QUERIES[0]], 5)
    model, task = retriever.encoder().loaded.model, retriever.encoder().task
    query, passages = (
        _encoded(model, task, texts, "text", role, 4)
        for texts, role in ((QUERIES[:1], "query"), ((*TEXTS, TEXTS[0]), "document"))
    )
    expected = model.similarity(query, passages)[0].tolist()
    assert [hit.place for hit in hits] == sorted(range(5), key=lambda place: (-expected[place], place))
    assert [hit.score for hit in hits] == pytest.approx(sorted(expected, reverse=True), rel=1e-5)
    with pytest.raises(PluginError, match="gives many vectors for each text: use it by itself"):
        retriever.check_one_vector()
    model_meta.cache_clear()


def test_without_mteb_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("ohr.extras.find_spec", lambda name: None if name == "mteb" else object())
    with pytest.raises(MissingExtra, match=r"mteb is not installed: pip install 'ohr\[mteb\]'"):
        Mteb(model=E5).check()


# --- page images, by mteb's own wrapper of CLIP -----------------------------------------------------------


def pages():
    return [np.full((70, 50, 3), level, dtype=np.uint8) for level in (0, 120, 250)]


@pytest.mark.acceptance
def test_scores_of_pages_are_those_of_the_model(mteb_images_model, tiny_clip):
    import torch
    from transformers import AutoModel, AutoProcessor

    retriever = MtebImages(model=mteb_images_model, batch_size=2)
    retriever.check()
    index = retriever.index_images(pages())
    (hits,) = retriever.search(index, ["the lease"], 3)
    model, processor = AutoModel.from_pretrained(tiny_clip), AutoProcessor.from_pretrained(tiny_clip)
    read = processor(text=["the lease"], images=[Image.fromarray(page) for page in pages()], return_tensors="pt")
    with torch.inference_mode():
        made = model(**read)
    expected = (made.text_embeds @ made.image_embeds.T)[0].tolist()
    assert [hit.place for hit in hits] == sorted(range(3), key=lambda place: -expected[place])
    assert [hit.score for hit in hits] == pytest.approx(sorted(expected, reverse=True), abs=1e-5)


def test_a_model_of_texts_is_refused():
    with pytest.raises(PluginError, match="all-MiniLM-L6-v2 embeds text, and not image"):
        MtebImages(model="sentence-transformers/all-MiniLM-L6-v2").check()


def test_an_instruction_that_clip_does_not_take_is_an_error(mteb_images_model):
    with pytest.raises(PluginError, match="takes no instruction in mteb"):
        MtebImages(model=mteb_images_model, instruction="Find the page.").index_images(pages())
