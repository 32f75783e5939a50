"""The base of retrievers of page images: which model, in batches that fit, and queries embedded once."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Image, PageRetriever, execution
from ohr.models.resident import batch_note, fitting, parts

from ..embedders import ModelRetriever, unused_prompts

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
_LONGEST = 2000  # characters of a query; no benchmark's question is longer


class Encoder(Protocol):
    """A loaded model; its output for an item is (dim,) or (vectors, dim), and does not depend on the batch."""

    def pages(self, images: Sequence[Image]) -> list[NDArray[Any]]:
        """Embed page images."""
        ...

    def queries(self, texts: Sequence[str]) -> list[NDArray[Any]]:
        """Embed queries."""
        ...


class PageEmbedder(ModelRetriever, PageRetriever):
    """Ranks page images by a model that embeds them; of a query at most 2,000 characters are read."""

    batch_size: Annotated[int, execution("Pages embedded at once; halved when memory runs out.", gt=0)] = 4

    @abstractmethod
    def encoder(self) -> Encoder:
        """Return the model, which is loaded if it is not in memory."""


class VisionRetriever(PageEmbedder):
    """Ranks page images by a vision-language model that transformers or colpali-engine loads."""

    packages: ClassVar[tuple[str, ...]] = ("transformers", "torch")
    modules: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    revision: Annotated[str | None, Field(description="Commit, tag or branch of a model on the hub.")] = None
    dtype: Annotated[Dtype, Field(description="Weights' type; auto is bfloat16 on a GPU, float32 on a CPU.")] = "auto"

    @property
    def weights(self) -> str:
        """The type of the weights, resolved."""
        if self.dtype != "auto":
            return self.dtype
        return "bfloat16" if self.device.startswith("cuda") else "float32"

    def identity(self) -> Mapping[str, object]:
        """Identify the model, and say the type of its weights."""
        return {**super().identity(), "dtype": self.weights}

    def notes(self, fitted: int) -> tuple[str, ...]:
        """Warn of a batch that did not fit, and of the model's own prompts, of which these retrievers use none."""
        return (*unused_prompts(self.model), *batch_note(self.batch_size, fitted))


def embed_pages(encoder: Encoder, images: Iterable[Image], fitted: list[int]) -> Iterator[NDArray[Any]]:
    """Embed images batch by batch; `fitted` holds the size, which shrinks when memory runs out."""
    waiting = iter(images)
    while batch := list(islice(waiting, fitted[0])):
        made, fitted[0] = fitting(partial(_in_parts, encoder, batch), fitted[0])
        yield from made


def _in_parts(encoder: Encoder, batch: Sequence[Image], size: int) -> list[NDArray[Any]]:
    return [page for part in parts(batch, size) for page in encoder.pages(part)]


@lru_cache(maxsize=4)
def embed_queries(retriever: PageEmbedder, queries: tuple[str, ...]) -> list[NDArray[np.float32]]:
    """Embed the questions once, those of similar length together: every knowledge base is asked the same ones."""
    encoder = retriever.encoder()
    order = sorted(range(len(queries)), key=lambda place: len(queries[place]))
    made: list[NDArray[np.float32]] = [np.zeros((0, 1), dtype=np.float32)] * len(queries)
    for part in parts(order, 8 * retriever.batch_size):
        asked = [queries[place][:_LONGEST] for place in part]
        for place, vectors in zip(part, encoder.queries(asked), strict=True):
            made[place] = vectors.astype(np.float32)
    return made
