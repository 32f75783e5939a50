"""Retrieval of page images by vision-language models that give one vector per patch."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr import extras
from ohr.contracts import Hit, Image, Index, PageRetriever, execution
from ohr.errors import PluginError

from .batches import fitting, parts, told
from .embedders import check_device, check_model, folder_of, model_identity
from .maxsim import PageVectors

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
_LONGEST = 2000  # characters of a query; no benchmark's question is longer


class LateInteraction(PageRetriever):
    """Ranks page images by MaxSim; what its kinds share.

    Of a query at most 2,000 characters are read. Padding of a batch is cut off before anything is compared, so that a
    score does not depend on what else was in the batch.
    """

    architecture: ClassVar[str]
    """Name of the model's classes in transformers, less their ending."""
    extra: ClassVar[str | None] = "dense"
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")]
    revision: Annotated[str | None, Field(description="Commit, tag or branch of a model on the hub.")] = None
    dtype: Annotated[Dtype, Field(description="Weights' type; auto is bfloat16 on a GPU, float32 on a CPU.")] = "auto"
    batch_size: Annotated[int, execution("Pages embedded at once; halved when memory runs out.", gt=0)] = 4
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    @property
    def weights(self) -> str:
        """The type of the weights, resolved."""
        if self.dtype != "auto":
            return self.dtype
        return "bfloat16" if self.device.startswith("cuda") else "float32"

    def check(self) -> None:
        """Raise when a library, the model or the device is missing."""
        for module in ("torch", "transformers"):
            extras.require(module, "dense")
        check_model(f"retriever {self.kind}", self.model, self.revision)
        check_device(f"retriever {self.kind}", self.device, "dense")

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, and say the type of its weights."""
        return {**super().identity(), "model": model_identity(self.model, self.revision), "dtype": self.weights}

    def index_images(self, images: Iterable[Image]) -> Index:
        """Embed pages batch by batch; their vectors go to a temporary file, never all into memory."""
        encoder = _encoder(self)
        fitted = [self.batch_size]
        vectors = PageVectors.gather(_embedded(encoder, images, fitted), self.device, f"retriever {self.kind}")
        return LateIndex(vectors, self, told(self.batch_size, fitted[0]))

    def load(self, folder: Path) -> Index:
        """Map a saved index into memory."""
        return LateIndex(PageVectors.load(folder, self.device), self)


@dataclass(frozen=True)
class LateIndex:
    """Vectors of the pages, and the retriever that embeds queries beside them."""

    pages: PageVectors
    retriever: LateInteraction
    notes: tuple[str, ...] = ()

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by MaxSim; ties in the order of the pages."""
        return self.pages.search(_queries(self.retriever, tuple(queries)), k)

    def save(self, folder: Path) -> None:
        """Write the vectors."""
        self.pages.save(folder)


@dataclass(frozen=True)
class Encoder:
    """A loaded model and its processor."""

    model: Any
    processor: Any

    def pages(self, images: Sequence[Image]) -> list[NDArray[Any]]:
        """Embed page images: each (vectors, dim), float16 where the weights are half as long as float32."""
        from PIL import Image as Pillow

        return self._vectors(self.processor.process_images([Pillow.fromarray(image) for image in images]))

    def queries(self, texts: Sequence[str]) -> list[NDArray[Any]]:
        """Embed queries: each (vectors, dim)."""
        return self._vectors(self.processor.process_queries([text[:_LONGEST] for text in texts]))

    def _vectors(self, read: Any) -> list[NDArray[Any]]:
        torch = extras.load("torch", "dense")
        read = read.to(self.model.device)
        with torch.inference_mode():
            made = self.model(**read)
        vectors = getattr(made, "embeddings", made)
        vectors = vectors.float() if self.model.dtype == torch.float32 else vectors.half()
        kept = zip(vectors, read["attention_mask"].bool(), strict=True)
        return [page[mask].cpu().numpy() for page, mask in kept]


def _encoder(retriever: LateInteraction) -> Encoder:
    place = (retriever.model, retriever.revision, retriever.weights, retriever.device)
    return _loaded(retriever.kind, retriever.architecture, *place)


@lru_cache(maxsize=1)
def _loaded(kind: str, architecture: str, model: str, revision: str | None, dtype: str, device: str) -> Encoder:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch, library = extras.load("torch", "dense"), extras.load("transformers", "dense")
    library.utils.logging.disable_progress_bar()
    options = {"revision": revision} if revision else {}
    try:
        found = library.AutoConfig.from_pretrained(folder_of(model), **options).model_type
        if found != architecture.lower():
            raise PluginError(f"retriever {kind}: {model} is a {found}, not a {architecture.lower()}")
        processor = getattr(library, f"{architecture}Processor").from_pretrained(folder_of(model), **options)
        loaded = getattr(library, f"{architecture}ForRetrieval").from_pretrained(
            folder_of(model), dtype=getattr(torch, dtype), **options
        )
    except (OSError, ValueError) as error:  # no such model or revision, no network, damaged weights
        first = str(error).strip().partition("\n")[0]
        raise PluginError(f"retriever {kind}: cannot load {model!r}: {first}") from error
    return Encoder(loaded.to(device).eval(), processor)


def _embedded(encoder: Encoder, images: Iterable[Image], fitted: list[int]) -> Iterator[NDArray[Any]]:
    """Embed images in batches; `fitted` holds the size, which shrinks when memory runs out."""
    waiting = iter(images)
    while batch := list(islice(waiting, fitted[0])):
        made, fitted[0] = fitting(partial(_in_parts, encoder, batch), fitted[0])
        yield from made


def _in_parts(encoder: Encoder, batch: Sequence[Image], size: int) -> list[NDArray[Any]]:
    return [page for part in parts(batch, size) for page in encoder.pages(part)]


@lru_cache(maxsize=4)
def _queries(retriever: LateInteraction, queries: tuple[str, ...]) -> list[NDArray[np.float32]]:
    """Embed the questions once, those of similar length together: every knowledge base is asked the same ones."""
    encoder = _encoder(retriever)
    order = sorted(range(len(queries)), key=lambda place: len(queries[place]))
    made: list[NDArray[np.float32]] = [np.zeros((0, 1), dtype=np.float32)] * len(queries)
    for part in parts(order, 8 * retriever.batch_size):
        for place, vectors in zip(part, encoder.queries([queries[place] for place in part]), strict=True):
            made[place] = vectors.astype(np.float32)
    return made
