"""Models of mteb's registry (Muennighoff et al., EACL 2023): loaded by mteb, and asked as mteb asks them."""

import inspect
import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial, partialmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Image, Index, execution
from ohr.errors import PluginError
from ohr.messages.wording import counted
from ohr.models.model_files import Catalog
from ohr.models.resident import batch_note, fitting, resident

from .embedders import EMBEDDERS, ModelRetriever, TrustRemoteCode, cut_off, quiet_transformers
from .vector.maxsim import PageVectors
from .vector.vectors import EmbeddingRetriever, Vectors, index_vectors, search_vectors
from .vision.retriever import PageEmbedder, embed_pages, embed_queries

Modality = Literal["text", "image"]
_IMAGE_TASK = "VidoreDocVQARetrieval"
"""A task of mteb that searches pages of documents, as this retriever does: by default its prompt is used."""


@cache
def model_meta(kind: str, name: str, modality: Modality, *, trusted: bool) -> Any:
    """Look a model up in mteb's registry.

    Raises:
        PluginError: mteb does not know it, or does not embed such items with it on this machine.
    """
    registry = extras.load("mteb.models.model_implementations", "mteb").MODEL_REGISTRY
    renamed = extras.load("mteb.models.get_model_meta", "mteb")._MODEL_RENAMES
    meta = registry.get(renamed.get(name, name))
    if meta is None:
        raise PluginError(f"retriever {kind}: mteb has no model {name!r}. {_nearest(name, list(registry))}")
    if fault := next(_faults(meta, modality, trusted=trusted), ""):
        raise PluginError(f"retriever {kind}: {name} {fault}")
    return meta


def _nearest(name: str, known: list[str]) -> str:
    """Name those that are like one, without regard to case and owner, if there are any."""
    from difflib import get_close_matches

    short = {each.lower().rpartition("/")[2]: each for each in known}
    similar = [short[each] for each in get_close_matches(name.lower().rpartition("/")[2], list(short), n=5, cutoff=0.5)]
    return f"Did you mean {' or '.join(similar)}?" if similar else f"None of its {len(known):,} names is like it."


def _faults(meta: Any, modality: Modality, *, trusted: bool) -> Iterator[str]:
    if "API" in meta.framework:
        yield "runs on its maker's servers; this retriever runs models on this machine alone"
    if meta.loader is None:
        yield "is in mteb's registry by name only: mteb has no code that runs it"
    if not {"dense", "late-interaction"} & set(meta.model_type):
        yield f"is a model of the type {', '.join(meta.model_type)}; this retriever runs those that embed"
    if missing := sorted({"text", modality} - set(meta.modalities)):
        yield f"embeds {' and '.join(meta.modalities)}, and not {' and '.join(missing)}"
    if not trusted and _runs_code(meta):
        yield (
            "comes with Python code of its own, which mteb runs: read it, then set `trust_remote_code: true` and run "
            "with --trust-plugins"
        )


def _runs_code(meta: Any) -> bool:
    """Report whether mteb lets a model run code from the hub: its loader's arguments, or its source, say so."""
    loader = getattr(meta.loader, "func", meta.loader)
    sources = inspect.getmro(loader) if inspect.isclass(loader) else [loader]
    return bool(meta.loader_kwargs.get("trust_remote_code")) or any(
        "trust_remote_code=True" in inspect.getsource(source)
        for source in sources
        if source.__module__.startswith("mteb.")
    )


@cache
def task_of(kind: str, task: str | None, instruction: str | None, modality: Modality) -> Any:
    """Return mteb's description of a task: the named one, or retrieval by texts or by page images."""
    name = task or (_IMAGE_TASK if modality == "image" else None)
    if name:
        tasks = extras.load("mteb.get_tasks", "mteb")._TASKS_REGISTRY
        if name not in tasks:
            raise PluginError(f"retriever {kind}: mteb has no task {name!r}. {_nearest(name, list(tasks))}")
        described = tasks[name].metadata
    else:
        described = retrieval_task()
    return described.model_copy(update={"prompt": {"query": instruction}}) if instruction else described


def retrieval_task() -> Any:
    """Describe a retrieval for which no model has prompts of its own."""
    default = extras.load("mteb.abstasks.retrieval", "mteb").AbsTaskRetrieval.abstask_prompt
    return extras.load("mteb.abstasks.task_metadata", "mteb").TaskMetadata(
        name="ohr",
        description="Retrieval of passages.",
        dataset={"path": "none", "revision": "none"},
        type="Retrieval",
        category="t2t",
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
        prompt={"query": default},
    )


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


_BLOCK = 1 << 10  # texts whose many vectors are held at once: 100 MB with 200 tokens of 128 float32 each


class Mteb(MtebModel, EmbeddingRetriever, kind="mteb"):
    """Ranks chunks by a text model of mteb's registry, with mteb's prompts, pooling, precision and similarity.

    Models that give one vector for each token are compared by MaxSim. Sparse models, cross-encoders, and models that
    run on their maker's servers are refused.
    """

    def embed_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[str]]:
        """Embed texts as documents."""
        self.check_one_vector()
        encoder = self.encoder()
        vectors, fitted = _fitting(encoder, texts, "passages")
        return encoder.compared(vectors), batch_note(self.batch_size, fitted)

    def embed_queries(self, queries: Sequence[str]) -> Vectors:
        """Embed texts as queries."""
        encoder = self.encoder()
        return encoder.compared(_fitting(encoder, queries, "queries")[0])

    def check_one_vector(self) -> None:
        """Raise where the model gives many vectors for each text."""
        if self.is_late:
            raise PluginError(f"retriever {self.kind}: {self.model} gives many vectors for each text: use it by itself")

    def warnings(self, texts: Iterable[str]) -> Sequence[str]:
        """Warn of what is stated and not followed, and of texts that are cut."""
        encoder = self.checked_encoder()
        return (*encoder.loaded.notes, *_cut(encoder, texts, self.model))

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Embed every chunk."""
        if not self.is_late:
            return super().index(chunks)
        notes = dict.fromkeys(self.warnings(chunk.text for chunk in chunks))
        pages = PageVectors.gather(self._many_vectors(chunks, notes), self.device, f"retriever {self.kind}")
        return Index(pages.arrays, tuple(notes))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the model's similarity; ties in the order of the chunks."""
        if not self.is_late:
            return super().search(index, queries, k)
        return PageVectors.of(index, self.device).search(_many_query_vectors(self, tuple(queries)), k)

    def _many_vectors(self, chunks: Sequence[Chunk], notes: dict[str, None]) -> Iterator[NDArray[np.float32]]:
        """Embed block after block of texts, each (vectors, dim), equal ones of a block once; fills in the warnings."""
        for start in range(0, len(chunks), _BLOCK):
            texts = [chunk.text for chunk in chunks[start : start + _BLOCK]]
            different = list(dict.fromkeys(texts))
            vectors, fitted = _fitting(self.encoder(), different, "passages")
            notes |= dict.fromkeys(batch_note(self.batch_size, fitted))
            by_text = dict(zip(different, vectors, strict=True))
            yield from (by_text[text].astype(np.float32) for text in texts)


def _fitting(encoder: MtebEncoder, texts: Sequence[str], role: str) -> tuple[list[NDArray[np.float32]], int]:
    """Embed texts in batches that fit into memory; also return their size."""
    if not texts:
        return [], encoder.batch_size
    return fitting(lambda size: getattr(replace(encoder, batch_size=size), role)(texts), encoder.batch_size)


@lru_cache(maxsize=4)
def _many_query_vectors(retriever: Mteb, queries: tuple[str, ...]) -> list[NDArray[np.float32]]:
    """Embed the questions once, each (vectors, dim): every knowledge base is asked the same ones."""
    vectors, _ = _fitting(retriever.encoder(), queries, "queries")
    return [vector.astype(np.float32) for vector in vectors]


def _cut(encoder: MtebEncoder, texts: Iterable[str], name: str) -> tuple[str, ...]:
    """Report the texts that are longer than a model reads, where it is one of sentence-transformers."""
    inner = getattr(encoder.loaded.model, "model", None)
    window, tokenizer = getattr(inner, "max_seq_length", None), getattr(inner, "tokenizer", None)
    if not window or tokenizer is None:
        return ()
    module, types = extras.load("mteb.models.abs_encoder", "mteb"), extras.load("mteb.types", "mteb")
    prompts = getattr(encoder.loaded.model, "model_prompts", None)
    prompt = module.get_prompt(prompts, encoder.task, types.PromptType.document) or ""
    cut, lost = cut_off(tokenizer, texts, window, prompt)
    return (f"{cut} that {name} reads: {counted(lost, 'token')} cut off",) if cut else ()


class MtebImages(MtebModel, PageEmbedder, kind="mteb_images"):
    """Ranks page images by an image model of mteb's registry, with mteb's prompts, pooling, precision and similarity.

    Models that give one vector for each patch are compared by MaxSim.
    """

    extra: ClassVar[str | None] = "mteb_images"
    modules: ClassVar[tuple[str, ...]] = ("torch", "mteb")
    modality: ClassVar[Modality] = "image"
    batch_size: Annotated[int, execution("Pages embedded at once; halved when memory runs out.", gt=0)] = 4

    def index_images(self, images: Iterable[Image]) -> Index:
        """Embed pages batch by batch."""
        encoder, fitted, owner = self.checked_encoder(), [self.batch_size], f"retriever {self.kind}"
        pages = embed_pages(encoder, images, fitted)
        if encoder.is_late:
            index = Index(PageVectors.gather(pages, self.device, owner).arrays)
        else:
            index = index_vectors(encoder.compared(list(pages)), "exact", owner)
        return Index(index.contents, (*encoder.loaded.notes, *batch_note(self.batch_size, fitted[0])))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the model's similarity; ties in the order of the pages."""
        embedded = embed_queries(self, tuple(queries))
        if "ends" in index.contents:
            return PageVectors.of(index, self.device).search(embedded, k)
        return search_vectors(index, self.encoder().compared(embedded), k)
