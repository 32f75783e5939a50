"""Models in memory: loaded once, freed at the end of their scope, and never two at once outside of one."""

import gc
from pathlib import Path
from threading import Thread
from weakref import ref

import numpy as np
import pytest

from ohr.contracts import Chunk, Prompt, Resources
from ohr.generators.transformers import Transformers, TransformersVision
from ohr.models.resident import holding, in_memory, resident
from ohr.ocr.tesseract import Tesseract
from ohr.registry import Registry
from ohr.retrievers.rerank import Rerank
from ohr.retrievers.vector.bge_m3 import BgeM3
from ohr.retrievers.vector.dense import Dense
from ohr.testing import indexed

from ..test_conformance import generator_arguments, ocr_arguments, retriever_arguments

TEXTS = ("the cat sat on the mat", "stock prices fell sharply", "rain fell on the wall")
CHUNKS = [Chunk(str(place), "d", (0,), 0, len(text), text) for place, text in enumerate(TEXTS)]
PAGE = np.full((60, 60, 3), 200, np.uint8)


class Model:
    """Something that is loaded."""

    alive = 0
    most = 0

    def __init__(self):
        Model.alive += 1
        Model.most = max(Model.most, Model.alive)

    def __del__(self):
        Model.alive -= 1


@pytest.fixture(autouse=True)
def nothing_in_memory():
    with holding():
        resident("a model of the test before is dropped", object)
    Model.alive = Model.most = 0
    assert in_memory() == ()


def test_a_model_is_loaded_once():
    with holding():
        assert resident("a", Model) is resident("a", Model)
    assert Model.alive == 0


def test_a_scope_keeps_all_its_models_and_frees_them_at_its_end():
    with holding():
        first = ref(resident("a", Model))
        resident("b", Model)
        assert (Model.alive, in_memory()) == (2, ("a", "b"))
    assert (first(), Model.alive, in_memory()) == (None, 0, ())


def test_a_scope_is_left_by_an_error_too():
    with pytest.raises(ValueError, match="broken"), holding():
        resident("a", Model)
        raise ValueError("broken")
    assert in_memory() == ()


def test_outside_of_a_scope_the_old_model_is_dropped_before_the_new_one_is_loaded():
    for name in "abab":
        resident(name, Model)
        assert in_memory() == (name,)
    assert (Model.alive, Model.most) == (1, 1)


def test_a_model_from_before_the_scope_is_used_in_it_and_freed_with_it():
    before = ref(resident("a", Model))
    with holding():
        assert resident("a", Model) is before()
        resident("b", Model)
        assert Model.alive == 2
    assert Model.alive == 0


def test_a_scope_that_loads_another_model_drops_the_one_from_before():
    resident("a", Model)
    with holding():
        resident("b", Model)
        assert in_memory() == ("b",)
    assert Model.most == 1


def test_an_inner_scope_frees_its_own_models_only():
    with holding():
        resident("a", Model)
        with holding():
            resident("a", Model)
            resident("b", Model)
        assert in_memory() == ("a",)
    assert Model.alive == 0


def test_each_thread_has_its_own_scope():
    def other():
        with holding():
            resident("b", Model)

    with holding():
        resident("a", Model)
        thread = Thread(target=other)
        thread.start()
        thread.join()
        assert in_memory() == ("a",)


def test_a_model_is_closed_and_a_broken_close_stops_nothing(caplog):
    closed = []

    def close(model):
        closed.append(type(model))
        raise RuntimeError("still busy")

    with holding():
        resident("a", Model, close)
        resident("b", Model)
    assert (closed, Model.alive) == ([Model], 0)
    assert caplog.messages == ["a model did not close: RuntimeError: still busy"]


def test_a_model_that_does_not_load_is_not_kept():
    def broken():
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        resident("a", broken)
    assert in_memory() == ()


# --- real models -------------------------------------------------------------------------------------------------


def search(stage):
    assert indexed(stage, CHUNKS).search(["the cat"], 2)[0]


def view(stage):
    assert indexed(stage, CHUNKS, [PAGE] * len(CHUNKS)).search(["the cat"], 2)[0]


def ask(stage):
    (given,) = stage.answer([Prompt("When?", (), "", "When?", images=[PAGE])])
    assert given.error is None


def read(stage):
    assert next(iter(stage.recognise([PAGE]))).error is None


STAGES = {
    "dense": search, "bge_m3": search, "rerank": search, "colqwen": view, "colpali": view,
    "visrag": view, "transformers": ask, "transformers_vision": ask, "tesseract": read, "rapidocr": read,
    "transformers_ocr": read, "easyocr": read,
}  # fmt: skip
"""Plugins that load a model, and what makes each one load it."""
OFTEN = ("transformers", "tesseract")
"""One of each way to load; the others are tested by `make acceptance`."""


def stage(kind, request):
    family = {search: "retriever", view: "retriever", ask: "generator", read: "ocr"}[STAGES[kind]]
    arguments = {
        "retriever": lambda: retriever_arguments(kind, lambda model: str(request.getfixturevalue(model))),
        "generator": lambda: generator_arguments(kind, request.getfixturevalue),
        "ocr": lambda: ocr_arguments(kind, Path(), request.getfixturevalue),
    }[family]()
    return Registry().load(family, kind)(**arguments)


def loaded():
    """Refer to the models in memory and to their networks; engines in C have no weak references."""
    import torch

    models = [resident(key, object) for key in in_memory()]
    parts = [
        part
        for model in models
        for part in (model if isinstance(model, tuple) else getattr(model, "__dict__", {}).values())
    ]
    networks = [part for part in parts if isinstance(part, torch.nn.Module)]
    return [ref(thing) for thing in (*models, *networks) if type(thing).__weakrefoffset__]


def alive(references):
    gc.collect()
    return [type(thing).__name__ for reference in references if (thing := reference()) is not None]


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in OFTEN else pytest.mark.acceptance) for kind in STAGES]
)
def test_a_real_model_is_loaded_when_it_is_needed_and_gone_after_its_scope(kind, request):
    made = stage(kind, request)
    with holding():
        assert in_memory() == ()
        STAGES[kind](made)
        assert in_memory()
        found = loaded()
        assert found or kind == "tesseract"
    assert in_memory() == ()
    assert alive(found) == []


@pytest.mark.acceptance
def test_hybrid_and_rerank_hold_several_models_in_one_scope(tiny_bge_m3, tiny_reranker):
    parts = [{"kind": "dense"}, {"kind": "bge_m3", "model": str(tiny_bge_m3)}]
    hybrid = {"kind": "hybrid", "retrievers": parts}
    both = Rerank(retriever=hybrid, model=str(tiny_reranker))
    with holding():
        search(both)
        loaded = in_memory()
        search(both)
        assert in_memory() == loaded
        assert sorted(key[0] for key in loaded) == ["bge_m3", "dense", "rerank"]
    assert in_memory() == ()


@pytest.mark.acceptance
def test_outside_of_a_scope_two_real_models_are_never_there_at_once(tiny_model, tiny_vision_model, tiny_bge_m3):
    found = []
    stages = [
        (ask, Transformers(model=str(tiny_model), max_tokens=4)),
        (search, BgeM3(model=str(tiny_bge_m3))),
        (ask, TransformersVision(model=str(tiny_vision_model), max_tokens=4)),
        (ask, Transformers(model=str(tiny_model), max_tokens=4)),
    ]
    for use, made in stages:
        use(made)
        assert len(in_memory()) == 1
        assert alive(found) == []
        found = loaded()
        assert found


def test_stages_that_differ_in_what_is_not_loaded_share_a_model(tiny_model):
    with holding():
        ask(Transformers(model=str(tiny_model), max_tokens=2))
        ask(Transformers(model=str(tiny_model), max_tokens=3, stop=("x",)))
        assert len(in_memory()) == 1


def test_a_stage_declares_what_it_occupies(tiny_reranker):
    assert Tesseract().resources() == Resources()
    assert Dense().resources() == Resources(alone=True)
    assert Dense(device="cuda:1").resources() == Resources(gpus=1, alone=True)
    reranked = Rerank(retriever={"kind": "bm25"}, model=str(tiny_reranker), device="cuda")
    assert reranked.resources() == Resources(gpus=1, alone=True)
    hybrid = Registry().load("retriever", "hybrid")
    assert hybrid(retrievers=[{"kind": "bm25"}]).resources() == Resources()
    assert hybrid(retrievers=[{"kind": "bm25"}, {"kind": "dense"}]).resources() == Resources(alone=True)
    kinds = {"llama_cpp": {"threads": 3}, "transformers": {}, "transformers_vision": {}}
    assert [Registry().load("generator", kind)(**how).resources() for kind, how in kinds.items()] == [
        Resources(cpus=3, alone=True), Resources(alone=True), Resources(alone=True)
    ]  # fmt: skip
    assert Registry().load("generator", "llama_cpp")(threads=1, gpu_layers=-1).resources().gpus == 1
