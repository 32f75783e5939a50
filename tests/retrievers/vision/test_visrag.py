import numpy as np
import pytest

from ohr.errors import PluginError, SpecError
from ohr.keys import identity
from ohr.retrievers.vision.visrag import VisRag, pooled
from ohr.spec.read import read_spec
from ohr.testing import indexed

QUERIES = ["When did the lease begin?", "What is the observatory founded in 1923 by Margaret Ellison, and where?", "x"]
HIDDEN = [[3.0, 0.0], [0.0, 1.0], [4.0, 2.0]]


def images(count=7, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 255, (60 + 40 * (n % 3), 200 - 30 * (n % 2), 3), dtype=np.uint8) for n in range(count)]


@pytest.mark.parametrize(
    ("pooling", "expected"),
    # (1 a + 2 b + 3 c) / 6, (a + b + c) / 3, c; then unit length
    [("weighted_mean", [15, 8]), ("mean", [7, 3]), ("last", [4, 2])],
)
@pytest.mark.parametrize("mask", [[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]])
def test_pooling_is_that_of_the_formula_on_whichever_side_the_padding_is(pooling, expected, mask):
    import torch

    hidden = torch.full((5, 2), 99.0)
    hidden[torch.tensor(mask).bool()] = torch.tensor(HIDDEN)
    (found,) = pooled(hidden[None], torch.tensor([mask]), pooling).tolist()
    assert found == pytest.approx((np.array(expected) / np.linalg.norm(expected)).tolist())


@pytest.fixture(params=["llava", "qwen2_vl"])
def model(request):
    if request.param == "qwen2_vl":
        return str(request.getfixturevalue("tiny_qwen2_vl"))
    return str(request.getfixturevalue("tiny_vision_model"))


@pytest.mark.parametrize("pooling", ["weighted_mean", "mean", "last"])
def test_scores_do_not_depend_on_the_batch(model, pooling):
    retriever = VisRag(model=model, pooling=pooling, page_prompt="What is shown?", max_pixels=20_000)
    alone = indexed(retriever.model_copy(update={"batch_size": 1}), images=images())
    for size in (2, 7):
        together = indexed(retriever.model_copy(update={"batch_size": size}), images=images())
        for ours, theirs in zip(together.search(QUERIES, 9), alone.search(QUERIES, 9), strict=True):
            assert {h.place: h.score for h in ours} == pytest.approx({h.place: h.score for h in theirs}, abs=1e-4)


def test_a_page_is_found_by_its_own_image(model):
    """With random weights no question finds its page; but a page's vector is its image's, and no other's."""
    index = indexed(VisRag(model=model), images=images())
    vectors = np.asarray(index.index["vectors"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    again = np.asarray(indexed(VisRag(model=model), images=images()[::-1]).index["vectors"])[::-1]
    nearest = (again @ vectors.T).argmax(axis=1)
    assert nearest.tolist() == list(range(7))
    assert np.ptp((vectors @ vectors.T)[np.triu_indices(7, 1)]) > 0


def test_prompts_system_and_ending_change_what_the_model_reads(model):
    index = indexed(VisRag(model=model), images=images(2))
    plain = index.search(QUERIES, 2)
    for change in ({"query_prompt": ""}, {"system": "Represent it."}, {"ending": "</s>"}):
        other = VisRag(model=model, **change)
        assert identity(other) != identity(VisRag(model=model))
        assert indexed(other, images=images(2)).search(QUERIES, 2) != plain
    assert np.any(
        indexed(VisRag(model=model, page_prompt="Shown?"), images=images(2)).index["vectors"] != index.index["vectors"]
    )


def test_larger_pages_are_made_smaller(tiny_vision_model):
    from ohr.files.images import bounded

    assert bounded(images(1)[0], 5000).size == (129, 38)
    assert identity(VisRag(model=str(tiny_vision_model), max_pixels=5000)) != identity(
        VisRag(model=str(tiny_vision_model))
    )


def test_a_model_of_no_numbers_is_reported(tiny_vision_model, tmp_path):
    import shutil

    import torch
    from transformers import AutoModelForImageTextToText

    shutil.copytree(tiny_vision_model, tmp_path / "broken")
    broken = AutoModelForImageTextToText.from_pretrained(tiny_vision_model)
    torch.nn.init.constant_(broken.model.language_model.norm.weight, float("nan"))
    broken.save_pretrained(tmp_path / "broken")
    with pytest.raises(PluginError, match="gave NaN or infinity for 2 of 2"):
        indexed(VisRag(model=str(tmp_path / "broken")), images=images(2))


# --- a model with code of its own -------------------------------------------------------------------------

CODE = '''
import torch
from dataclasses import dataclass
from transformers import PretrainedConfig, PreTrainedModel
from transformers.utils import ModelOutput


class OwnConfig(PretrainedConfig):
    model_type = "own_vision"


@dataclass
class Read(ModelOutput):
    last_hidden_state: torch.Tensor = None
    attention_mask: torch.Tensor = None


class Own(PreTrainedModel):
    """Takes what VisRAG-Ret's code takes; a token's state is its number, an image's its brightness."""

    config_class = OwnConfig

    def __init__(self, config):
        super().__init__(config)
        self.scale = torch.nn.Parameter(torch.ones(1))
        self.post_init()

    def forward(self, text, image, tokenizer, max_inp_length=2048, **rest):
        states = []
        for words, shown in zip(text, image):
            ids = tokenizer(words)["input_ids"]
            light = [] if shown is None else [float(sum(shown.resize((1, 1)).getpixel((0, 0))))]
            states.append([[1.0, value] for value in light + [float(one) for one in ids]] or [[1.0, 0.0]])
        longest = max(map(len, states))
        mask = torch.tensor([[1] * len(s) + [0] * (longest - len(s)) for s in states])
        hidden = torch.tensor([s + [[7.0, 7.0]] * (longest - len(s)) for s in states])
        return Read(last_hidden_state=hidden * self.scale, attention_mask=mask)
'''


@pytest.fixture
def own_code(tiny_vision_model, tmp_path):
    """A model whose folder holds its code, as VisRAG-Ret's does."""
    import json

    import torch
    from safetensors.torch import save_file

    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "modeling_own.py").write_text(CODE)
    mapped = {"AutoConfig": "modeling_own.OwnConfig", "AutoModel": "modeling_own.Own"}
    (folder / "config.json").write_text(json.dumps({"model_type": "own_vision", "auto_map": mapped}))
    save_file({"scale": torch.ones(1)}, folder / "model.safetensors", {"format": "pt"})
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).write_bytes((tiny_vision_model / file).read_bytes())
    return folder


def test_code_of_a_model_does_not_run_by_itself(own_code):
    with pytest.raises(PluginError, match="own comes with Python code of its own: read it, then set `trust_remote"):
        indexed(VisRag(model=str(own_code)), images=images(1))


def test_code_of_a_model_runs_when_it_is_trusted(own_code, tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    dark, light = np.zeros((40, 40, 3), np.uint8), np.full((40, 40, 3), 200, np.uint8)
    retriever = VisRag(model=str(own_code), trust_remote_code=True, batch_size=2)
    index = indexed(retriever, images=[dark, light])
    assert np.asarray(index.index["vectors"]) == pytest.approx(np.array([[1, 0], [1 / 600, 1]]), abs=1e-3)
    assert [len(hits) for hits in index.search(QUERIES, 2)] == [2, 2, 2]


def test_a_spec_may_not_trust_code_by_itself(tmp_path):
    written = tmp_path / "spec.yaml"
    written.write_text(
        "benchmark: {kind: mini}\nknowledge_bases: [{name: clean, image_noise: {kind: rotation}}]\n"
        "retrievers: [{kind: visrag, trust_remote_code: true}]\nevaluate: [retrieval]\n"
    )
    with pytest.raises(SpecError, match="run code that comes with a model; allow it with --trust-plugins"):
        read_spec(written)
    assert read_spec(written, trust_plugins=True).retrievers[0].stage.trust_remote_code
