import json
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohr.errors import MissingExtra, PluginError
from ohr.keys import identity
from ohr.retrievers.hybrid import Hybrid
from ohr.retrievers.vector.maxsim import PageVectors
from ohr.retrievers.vision.late_interaction import ColPali, ColQwen, LateEncoder
from ohr.retrievers.vision.retriever import embed_pages
from ohr.testing import indexed

QUERIES = ["When did the lease begin?", "What is the observatory founded in 1923 by Margaret Ellison, and where?", "x"]


def images(count=7, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 255, (60 + 40 * (n % 3), 200 - 30 * (n % 2), 3), dtype=np.uint8) for n in range(count)]


def plain(pages, queries):
    """MaxSim as its formula reads."""
    return np.array([[(query @ page.T).max(1).sum() for page in pages] for query in queries])


lengths = st.lists(st.integers(1, 9), min_size=1, max_size=12)


@settings(max_examples=40)
@given(lengths, st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 40), st.integers(1, 14))
def test_scores_are_those_of_the_formula_whatever_the_block(pages, queries, block, k):
    rng = np.random.default_rng(0)
    stored = [rng.normal(size=(length, 6)).astype(np.float32) for length in pages]
    asked = [rng.normal(size=(length, 6)).astype(np.float32) for length in queries]
    gathered = PageVectors.gather(iter(stored), "cpu", "test")
    found = PageVectors(gathered.vectors, gathered.ends, block=block).search(asked, k)
    expected = plain(stored, asked)
    for row, hits in zip(expected, found, strict=True):
        order = np.argsort(-row, kind="stable")[:k]
        assert [hit.place for hit in hits] == order.tolist()
        assert [hit.score for hit in hits] == pytest.approx(row[order].tolist(), abs=1e-4)


def test_equal_pages_come_in_their_order():
    page = np.ones((3, 4), dtype=np.float32)
    vectors = PageVectors.gather([page] * 30, "cpu", "test")
    for block in (3, 10, 1000):
        found = PageVectors(vectors.vectors, vectors.ends, block=block).search([page], 5)
        assert [hit.place for hit in found[0]] == [0, 1, 2, 3, 4]


@pytest.fixture(params=["colqwen", "colpali"])
def retriever(request):
    kinds = {"colqwen": ColQwen, "colpali": ColPali}
    return kinds[request.param](model=str(request.getfixturevalue(f"tiny_{request.param}")))


def test_scores_do_not_depend_on_the_batch(retriever):
    alone = indexed(retriever.model_copy(update={"batch_size": 1}), images=images())
    for size in (2, 7):
        together = indexed(retriever.model_copy(update={"batch_size": size}), images=images())
        assert together.index["ends"].tolist() == alone.index["ends"].tolist()  # no padding is kept
        for ours, theirs in zip(together.search(QUERIES, 9), alone.search(QUERIES, 9), strict=True):
            assert {h.place: h.score for h in ours} == pytest.approx({h.place: h.score for h in theirs}, abs=1e-4)


def test_scores_of_one_query_are_the_library_s_own(retriever):
    import torch

    encoder = retriever.encoder()
    index = indexed(retriever, images=images(1))
    from PIL import Image

    with torch.inference_mode():
        page = encoder.model(**encoder.processor.process_images([Image.fromarray(images(1)[0])])).embeddings
        query = encoder.model(**encoder.processor.process_queries(QUERIES[:1])).embeddings
    expected = encoder.processor.score_retrieval(query, page)
    assert index.search(QUERIES[:1], 1)[0][0].score == pytest.approx(float(expected[0, 0]), abs=1e-4)


def test_images_are_taken_a_batch_at_a_time(retriever):
    taken = []

    def counted():
        for place, image in enumerate(images(9)):
            taken.append(place)
            yield image

    first = next(embed_pages(retriever.encoder(), counted(), [2]))
    assert first.ndim == 2
    assert taken == [0, 1]


def test_half_precision_is_kept_half(retriever):
    half = retriever.model_copy(update={"dtype": "bfloat16"})
    index = indexed(half, images=images(2))
    assert index.index["vectors"].dtype == np.float16
    assert identity(half) != identity(retriever)
    assert identity(retriever.model_copy(update={"dtype": "float32"})) == identity(retriever)


def test_another_architecture_is_reported_before_any_work(tiny_colpali):
    with pytest.raises(PluginError, match=r"is a colpali \(ColPaliForRetrieval\), which colqwen does not run"):
        ColQwen(model=str(tiny_colpali)).check()


def test_a_chat_model_is_not_taken_for_a_retriever(tmp_path):
    (tmp_path / "config.json").write_text(
        '{"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"]}'
    )
    with pytest.raises(PluginError, match=r"is a qwen2_vl \(Qwen2VLForConditionalGeneration\), which colqwen does not"):
        ColQwen(model=str(tmp_path)).check()


@pytest.mark.skipif(find_spec("torchvision") is not None, reason="what is missing is there")
def test_an_adapter_names_the_extra_that_runs_it(tmp_path):
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    base.mkdir(), adapter.mkdir()
    (base / "config.json").write_text('{"model_type": "qwen2_5_vl", "architectures": ["ColQwen2_5"]}')
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(base)}))
    message = (
        r"(torchvision|colpali_engine) is not installed: pip install 'ohr\[colqwen\]'"  # whichever is looked for first
    )
    with pytest.raises(MissingExtra, match=message):
        ColQwen(model=str(adapter)).check()
    before = identity(ColQwen(model=str(adapter)))
    (base / "config.json").write_text('{"model_type": "qwen2_5_vl"}')
    assert identity(ColQwen(model=str(adapter))) != before, "the base's content must be in the key"


# peft asks transformers for something by its old name
old_name = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")


@old_name
@pytest.mark.parametrize("which", ["2", "2.5", "adapter"])
def test_colpali_engine_s_models_score_as_its_own_scorer_without_padding(which, engine_models):
    import torch
    from PIL import Image

    retriever = ColQwen(model=str(engine_models[which]), batch_size=1)
    retriever.check()
    encoder = retriever.encoder()
    assert type(encoder.model).__module__.startswith("colpali_engine")
    found = indexed(retriever, images=images()).search(QUERIES, 9)
    with torch.inference_mode():
        pages = [encoder.model(**encoder.processor.process_images([Image.fromarray(i)]))[0] for i in images()]
        asked = [encoder.model(**encoder.processor.process_queries([query]))[0] for query in QUERIES]
    for hits, query in zip(found, asked, strict=True):
        own = [float(encoder.processor.score_multi_vector([query], [page])[0, 0]) for page in pages]
        assert {hit.place: hit.score for hit in hits} == pytest.approx(dict(enumerate(own)), abs=1e-4)
    together = indexed(retriever.model_copy(update={"batch_size": 7}), images=images()).search(QUERIES, 9)
    for ours, theirs in zip(together, found, strict=True):
        assert {h.place: h.score for h in ours} == pytest.approx({h.place: h.score for h in theirs}, abs=1e-4)


@old_name
def test_an_adapter_changes_its_base(engine_models):
    from peft import PeftModel

    base, adapter = (ColQwen(model=str(engine_models[which])) for which in ("2.5", "adapter"))
    adapted = adapter.encoder().queries(QUERIES)
    plain = base.encoder()
    assert not np.allclose(adapted[0], plain.queries(QUERIES)[0], atol=1e-3)
    merged = PeftModel.from_pretrained(plain.model, str(engine_models["adapter"])).merge_and_unload().eval()
    by_hand = LateEncoder(merged, plain.processor).queries(QUERIES)
    for ours, theirs in zip(adapted, by_hand, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-4)


def test_a_model_of_no_numbers_is_reported(tiny_colqwen, tmp_path):
    import torch
    from transformers import ColQwen2ForRetrieval, ColQwen2Processor

    broken = ColQwen2ForRetrieval.from_pretrained(tiny_colqwen)
    torch.nn.init.constant_(broken.embedding_proj_layer.weight, float("nan"))
    broken.save_pretrained(tmp_path)
    ColQwen2Processor.from_pretrained(tiny_colqwen).save_pretrained(tmp_path)
    with pytest.raises(PluginError, match="gave NaN or infinity for page 0"):
        indexed(ColQwen(model=str(tmp_path)), images=images(1))


def test_text_and_images_are_joined(tiny_colqwen):
    from ohr.contracts import Chunk

    texts = ["rain fell", "the lease began in 1964", "a dog"]
    pages = [Chunk(str(n), "d/a", (n,), 0, len(text), text) for n, text in enumerate(texts)]
    hybrid = Hybrid(retrievers=[{"kind": "bm25"}, {"kind": "colqwen", "model": str(tiny_colqwen)}], weights=[1, 0])
    assert hybrid.reads_images
    index = indexed(hybrid, pages, images(3))
    assert index.search(["lease"], 1)[0][0].place == 1
