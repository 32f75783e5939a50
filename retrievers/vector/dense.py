"""Dense retrieval: a sentence-transformers model."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import execution
from ohr.messages.wording import counted
from ohr.models.resident import batch_note, fitting, resident

from ..embedders import PROMPTS, Embedder, Pooling, cut_off, embedder, folder_of, quiet_transformers, unused_prompts
from .vectors import EmbeddingRetriever, Vectors


class Dense(EmbeddingRetriever, kind="dense"):
    """Ranks chunks by the cosine of their embedding with the query's (Reimers & Gurevych, EMNLP 2019).

    `minilm` is all-MiniLM-L6-v2 from a package, so nothing is downloaded; it reads 256 word pieces. A warning counts
    what a model cuts off longer chunks. A preset brings its model's prompts, pooling and normalisation, also under the
    hub name of its family; for other models those count that their own files state. A field that is set takes
    precedence: `""` is no prompt. A warning names what a model states and is not followed.
    """

    version: ClassVar[int] = 5
    packages: ClassVar[tuple[str, ...]] = ("sentence-transformers", "transformers", "torch", "faiss-cpu", "faiss-gpu")
    modules: ClassVar[tuple[str, ...]] = ("torch", "sentence_transformers", "faiss")
    model: Annotated[
        str, Field(description="minilm, bge-m3, contriever, gte, e5, a model's folder, or its name on the hub.")
    ] = "minilm"
    revision: Annotated[str | None, Field(description="Commit, tag or branch of a model on the hub.")] = None
    query_prompt: Annotated[
        str | None, Field(description="Put before each query; by default the preset's or model's.")
    ] = None
    passage_prompt: Annotated[
        str | None, Field(description="Put before each chunk; by default the preset's or model's.")
    ] = None
    pooling: Annotated[
        Pooling | None, Field(description="How token vectors become one; by default the model's own.")
    ] = None
    normalise: Annotated[
        bool | None, Field(description="Unit vectors, so that scores are cosines; yes, but for models that state dot.")
    ] = None
    max_tokens: Annotated[int | None, Field(gt=0, description="Tokens read of a chunk; by default the model's.")] = None
    batch_size: Annotated[int, execution("Texts encoded at once; halved when memory runs out.", gt=0)] = 32

    @property
    def preset(self) -> Embedder:
        """The model as its authors use it."""
        return embedder(self.model)

    def identity(self) -> Mapping[str, object]:
        """Identify the model, and how its authors use it."""
        known = self.preset
        preset = [known.pooling, known.query_prompt, known.passage_prompt, known.normalise]
        return {**super().identity(), "preset": preset}

    def embed_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[str]]:
        """Embed texts after the passage prompt."""
        return _embed(self, list(texts), _prompt(self, "passage_prompt"), "document")

    def embed_queries(self, queries: Sequence[str]) -> Vectors:
        """Embed queries after the query prompt."""
        return _embed(self, list(queries), _prompt(self, "query_prompt"), "query")[0]

    def warnings(self, texts: Iterable[str]) -> Sequence[str]:
        """Warn of what the model states and is not followed, and of texts that it cuts off."""
        return (*_unfollowed(self), *_cut(self, texts, _prompt(self, "passage_prompt")))


def _loaded(model: str, revision: str | None, pooling: Pooling | None, max_tokens: int | None, device: str) -> Any:
    quiet_transformers()
    library = extras.load("sentence_transformers", "dense")
    with extras.loading("retriever dense", model):
        if pooling is None:
            loaded = library.SentenceTransformer(folder_of(model), device=device, revision=revision)
        else:
            modules = extras.load("sentence_transformers.sentence_transformer.modules", "dense")
            options = {"revision": revision} if revision else {}
            body = modules.Transformer(folder_of(model), model_kwargs=options, processor_kwargs=options)
            pool = modules.Pooling(body.get_embedding_dimension(), pooling)
            loaded = library.SentenceTransformer(modules=[body, pool], device=device)
        if max_tokens is not None:
            loaded.max_seq_length = max_tokens
        return loaded


def encoder(retriever: Dense) -> Any:
    """Return a retriever's SentenceTransformer, which is loaded if it is not in memory."""
    pooling = retriever.pooling or retriever.preset.pooling
    settings = (retriever.model, retriever.revision, pooling, retriever.max_tokens, retriever.device)
    return resident(("dense", *settings), lambda: _loaded(*settings))


def _prompt(retriever: Dense, field: str) -> str:
    """Return what is put before queries or passages: the field, else the preset's, else the model's own."""
    for given in (getattr(retriever, field), getattr(retriever.preset, field)):
        if given is not None:
            return str(given)
    stated = encoder(retriever).prompts
    return next((stated[name] for name in PROMPTS[field] if stated.get(name)), "")


def _unfollowed(retriever: Dense) -> tuple[str, ...]:
    """Warn of what a model states and is not followed, where neither a field nor a preset decides."""
    model, preset = encoder(retriever), retriever.preset
    notes: tuple[str, ...] = ()
    if retriever.query_prompt is retriever.passage_prompt is preset.query_prompt is None:
        notes = unused_prompts(retriever.model, [name for names in PROMPTS.values() for name in names])
    if retriever.normalise is preset.normalise is None and model.similarity_fn_name not in ("cosine", "dot"):
        notes += (f"{retriever.model} states {model.similarity_fn_name} similarity: scores are cosines in its place",)
    return notes


def _embed(
    retriever: Dense, texts: list[str], prompt: str, task: Literal["query", "document"]
) -> tuple[Vectors, tuple[str, ...]]:
    """Embed texts after a prompt, (texts, dim), in batches of similar length; also return the warnings."""
    model = encoder(retriever)
    if not texts:
        return np.zeros((0, int(model.get_embedding_dimension())), dtype=np.float32), ()
    stated = (retriever.normalise, retriever.preset.normalise, model.similarity_fn_name != "dot")
    normalise = next(given for given in stated if given is not None)
    vectors, fitted = fitting(
        lambda size: model.encode(
            texts,
            prompt=prompt,  # put before the texts of a batch, so that no second copy of the corpus is made
            task=task,
            batch_size=size,
            normalize_embeddings=normalise,
            show_progress_bar=False,
            convert_to_numpy=True,
        ),
        retriever.batch_size,
    )
    return np.ascontiguousarray(vectors, dtype=np.float32), batch_note(retriever.batch_size, fitted)


def _cut(retriever: Dense, texts: Iterable[str], prompt: str) -> tuple[str, ...]:
    model = encoder(retriever)
    window = model.max_seq_length
    cut, lost = cut_off(model.tokenizer, texts, window, prompt) if window else ("", 0)
    return (f"{cut} that {retriever.model} reads: {counted(lost, 'token')} cut off",) if cut else ()
