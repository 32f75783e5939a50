"""Models of mteb's registry: loaded by mteb, and asked as mteb asks them."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, partialmethod
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr import extras
from ohr.contracts import Image, execution
from ohr.errors import PluginError
from ohr.models.places import Catalog
from ohr.models.resident import resident

from .embedders import EMBEDDERS
from .models import ModelRetriever, TrustRemoteCode, quiet_transformers
from .mteb_registry import Modality, model_meta, retrieval_task, task_of

_HUB = Catalog({}, marks=(*EMBEDDERS.marks, "open_clip_config.json"))


class MtebModel(ModelRetriever):
    """A retriever with a model of mteb's registry; what its kinds share."""

    extra: ClassVar[str | None] = "mteb"
    packages: ClassVar[tuple[str, ...]] = ("mteb", "sentence-transformers", "transformers", "torch")
    modules: ClassVar[tuple[str, ...]] = ("torch", "mteb")
    modality: ClassVar[Modality] = "text"
    """The form of a passage that the model embeds."""
    model: Annotated[str, Field(description="A name in mteb's registry, such as intfloat/e5-base-v2.")]
    revision: Annotated[str | None, Field(description="Commit of the model on the hub; by default mteb's.")] = None
    instruction: Annotated[
        str | None, Field(min_length=1, description="What to retrieve, for models that take instructions for queries.")
    ] = None
    task: Annotated[
        str | None, Field(description="A task of mteb whose prompts are used; by default those for any retrieval.")
    ] = None
    trust_remote_code: TrustRemoteCode = False
    batch_size: Annotated[int, execution("Items encoded at once; halved when memory runs out.", gt=0)] = 32

    def check_model(self) -> None:
        """Raise unless mteb runs the model here, and its files are in the hub's cache or on the hub."""
        meta = self._meta()
        try:
            meta._check_requirements()  # as its load_model does, but before any work
        except ImportError as error:
            raise PluginError(f"retriever {self.kind}: {' '.join(str(error).splitlines()[:2])}") from None
        self._task()
        _HUB.check(f"retriever {self.kind}", meta.name, self._revision)

    def encoder(self) -> "MtebEncoder":
        """Return the model, which is loaded if it is not in memory."""
        meta, task, revision = self._meta(), self._task(), self._revision
        owner = f"retriever {self.kind}"
        load = partial(_loaded, owner, meta.model_copy(update={"revision": revision}), self.device)
        loaded = resident(("mteb", self.model, revision, self.device), load)
        return MtebEncoder(loaded, task, self.modality, self.is_late, self.batch_size)

    def checked_encoder(self) -> "MtebEncoder":
        """Return the model, and raise where an instruction is set that it does not take."""
        encoder = self.encoder()
        if self.instruction:
            prompts = self.instruction, f"{self.instruction} Nothing else."
            first, second = (encoder.instructed(prompt).queries(["?"])[0] for prompt in prompts)
            if np.array_equal(first, second):
                raise PluginError(
                    f"retriever {self.kind}: {self.model} takes no instruction in mteb: leave `instruction` out, or "
                    "use `dense` with a `query_prompt`"
                )
        return encoder

    @property
    def is_late(self) -> bool:
        """Whether the model gives many vectors for each item, which are compared by MaxSim."""
        return "late-interaction" in self._meta().model_type

    def identity(self) -> Mapping[str, object]:
        """Identify the model; mteb's version, which is in every key, decides its revision."""
        return {**super().identity(), "model": _HUB.identity(self.model, self.revision or "mteb")}

    @property
    def _revision(self) -> str | None:
        return self.revision or self._meta().revision

    def _task(self) -> Any:
        return task_of(self.kind, self.task, self.instruction, self.modality)

    def _meta(self) -> Any:
        return model_meta(self.kind, self.model, self.modality, trusted=self.trust_remote_code)


@dataclass(frozen=True)
class MtebLoaded:
    """A loaded model.

    Args:
        model: mteb's wrapper.
        is_dot: whether mteb compares its vectors by inner product, and not by cosine.
        dim: the length of its vectors.
        notes: warnings about what the model's files or mteb's registry state and is not followed.
    """

    model: Any
    is_dot: bool
    dim: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MtebEncoder:
    """A loaded model that is asked for one task of mteb."""

    loaded: MtebLoaded
    task: Any
    modality: Modality
    is_late: bool
    batch_size: int

    def passages(self, items: Sequence[Any]) -> list[NDArray[Any]]:
        """Embed texts or Pillow images: each (dim,), or (vectors, dim) by late interaction."""
        return self._encode(items, self.modality, "document")

    def pages(self, images: Sequence[Image]) -> list[NDArray[Any]]:
        """Embed page images, likewise."""
        from PIL import Image as Pillow

        return self.passages([Pillow.fromarray(image) for image in images])

    def queries(self, texts: Sequence[str]) -> list[NDArray[Any]]:
        """Embed queries, likewise."""
        return self._encode(texts, "text", "query")

    def compared(self, vectors: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
        """Return vectors whose inner products are the model's similarity: (items, dim)."""
        if not len(vectors):
            return np.zeros((0, self.loaded.dim), dtype=np.float32)
        stacked = np.stack(vectors).astype(np.float32)
        if self.loaded.is_dot:
            return stacked
        lengths = np.linalg.norm(stacked, axis=1, keepdims=True)
        return np.asarray(stacked / np.where(lengths > 0, lengths, 1), dtype=np.float32)

    def instructed(self, instruction: str) -> "MtebEncoder":
        """Return the same with an instruction for queries."""
        return replace(self, task=self.task.model_copy(update={"prompt": {"query": instruction}}))

    def _encode(self, items: Sequence[Any], modality: Modality, role: str) -> list[NDArray[Any]]:
        vectors = [
            _array(vector) for vector in _encoded(self.loaded.model, self.task, items, modality, role, self.batch_size)
        ]
        # wrappers pad a batch with zeros, which are no vectors of the item
        return (
            [vector[vector.any(axis=1)] if vector.any() else vector[:1] for vector in vectors]
            if self.is_late
            else vectors
        )


def _encoded(model: Any, task: Any, items: Sequence[Any], modality: Modality, role: str, size: int) -> Any:
    """Embed items with mteb's wrapper, which chooses the prompt by the task and the role."""
    data, types = extras.load("torch.utils.data", "mteb"), extras.load("mteb.types", "mteb")
    batches = data.DataLoader(_Items(items, modality), size, collate_fn=lambda batch: {modality: batch})
    # late-interaction models search by themselves, and some have no public method that embeds
    encode = getattr(model, "encode", None) or model._encode
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one about each missing prompt, at each call
        return encode(
            batches,
            task_metadata=task,
            hf_split="test",
            hf_subset="default",
            prompt_type=types.PromptType(role),
            batch_size=size,
            show_progress_bar=False,
        )


class _Items:
    """A data set as mteb's wrappers read it: items of one modality, whose name is among its features."""

    def __init__(self, items: Sequence[Any], modality: Modality) -> None:
        self.items, self.features = items, {modality: None}

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Any:
        return self.items[place]


def _array(vector: Any) -> NDArray[Any]:
    """Return a tensor or array as float32, as mteb compares them, and float16 as it is."""
    if hasattr(vector, "detach"):
        vector = vector.detach().cpu()
        vector = (vector if str(vector.dtype) == "torch.float16" else vector.float()).numpy()
    return np.asarray(vector) if vector.dtype == np.float16 else np.asarray(vector, dtype=np.float32)


def _loaded(owner: str, meta: Any, device: str) -> MtebLoaded:
    """Load a model with mteb, and find out how mteb compares its vectors."""
    quiet_transformers()
    _without_bars()
    logging.getLogger("mteb").setLevel(logging.ERROR)
    with extras.loading(owner, meta.name), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = meta.load_model(device=device)
    texts = dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
    notes = tuple(f"mteb: {text}" for text in texts if "prompt" in text.lower())
    if "late-interaction" in meta.model_type:
        return MtebLoaded(model, is_dot=True, dim=1, notes=notes)
    probe = _array(_encoded(model, retrieval_task(), ["?"], "text", "query", 1)[0])
    is_dot, further = _similarity(model, meta, len(probe))
    return MtebLoaded(model, is_dot, len(probe), (*notes, *further))


def _similarity(model: Any, meta: Any, dim: int) -> tuple[bool, tuple[str, ...]]:
    """Compare made-up vectors as mteb does: whether by inner product, and what is stated and not followed."""
    torch = extras.load("torch", "mteb")
    draws = np.random.default_rng(0).standard_normal((2, 4, dim))
    left, right = torch.from_numpy(draws.astype(np.float32))
    scores = np.asarray(model.similarity(left, right).detach().cpu())
    lengths = np.linalg.norm(draws, axis=2)
    products = draws[0] @ draws[1].T
    cosines = products / np.outer(*lengths)
    stated = meta.similarity_fn_name.value if meta.similarity_fn_name else None
    used = next(
        (name for name, own in (("dot", products), ("cosine", cosines)) if np.allclose(scores, own, 1e-3, 1e-3)), ""
    )
    if not used:
        return False, (
            f"{meta.name} is compared in mteb neither by cosine nor by inner product: scores are cosines in its place",
        )
    if stated not in (None, used):
        return used == "dot", (
            f"mteb's registry states {stated} for {meta.name}, and mteb compares it by {used}: so do scores here",
        )
    return used == "dot", ()


@cache
def _without_bars() -> None:
    """Switch tqdm's bars off: some of mteb's wrappers show them whatever their arguments are."""
    bar = extras.load("tqdm", "mteb").tqdm
    bar.__init__ = partialmethod(bar.__init__, disable=True)
