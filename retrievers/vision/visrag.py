"""VisRAG: each page image as one vector of a vision-language model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr import extras
from ohr.contracts import Hit, Image, Index
from ohr.errors import PluginError
from ohr.files.images import bounded
from ohr.models.resident import resident

from ..embedders import TrustRemoteCode, folder_of, quiet_transformers
from ..vector.vectors import index_vectors, search_vectors
from .retriever import Encoder, VisionRetriever, embed_pages, embed_queries

Pooling = Literal["weighted_mean", "mean", "last"]


class VisRag(VisionRetriever, kind="visrag"):
    """Ranks page images by the cosine of one vector each (VisRAG, Yu et al., arXiv:2410.10594).

    The vector is pooled from the last hidden states of any vision-language model that transformers loads. VisRAG-Ret's
    own weights come with code of their own, which runs with `trust_remote_code` only.
    """

    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")] = "openbmb/VisRAG-Ret"
    trust_remote_code: TrustRemoteCode = False
    pooling: Annotated[
        Pooling, Field(description="How token vectors become one; weighted_mean weighs a token by its position.")
    ] = "weighted_mean"
    query_prompt: Annotated[str, Field(description="Put before each query.")] = (
        "Represent this query for retrieving relevant documents: "
    )
    page_prompt: Annotated[str, Field(description="Words beside each page image.")] = ""
    system: Annotated[str, Field(description="A system message, where the model's chat template has one.")] = ""
    ending: Annotated[str, Field(description="Put after everything, such as <|endoftext|> for `last`.")] = ""
    max_pixels: Annotated[int | None, Field(gt=783, description="Larger pages are made smaller.")] = None

    def index_images(self, images: Iterable[Image]) -> Index:
        """Embed pages batch by batch."""
        fitted = [self.batch_size]
        pages = list(embed_pages(self.encoder(), images, fitted))
        vectors = np.stack(pages).astype(np.float32) if pages else np.zeros((0, 1), dtype=np.float32)
        return index_vectors(vectors, "exact", "retriever visrag", self.notes(fitted[0]))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the cosine; ties in the order of the pages."""
        embedded = embed_queries(self, tuple(queries))
        return search_vectors(index, np.stack(embedded) if embedded else np.zeros((0, 1), dtype=np.float32), k)

    def encoder(self) -> Encoder:
        """Return the model, which is loaded if it is not in memory."""
        settings = (folder_of(self.model), self.revision, self.weights, self.device, self.trust_remote_code)
        with extras.loading("retriever visrag", self.model):
            try:
                model, processor = resident(("visrag", *settings), lambda: _loaded(*settings))
            except ValueError as error:
                if "trust_remote_code" not in str(error):
                    raise
                raise PluginError(
                    f"retriever visrag: {self.model} comes with Python code of its own: read it, then set "
                    "`trust_remote_code: true` and run with --trust-plugins"
                ) from None
        return VisRagEncoder(model, processor, self)


@dataclass(frozen=True)
class VisRagEncoder:
    """A loaded model, and its processor; for VisRAG-Ret's own code, its tokenizer."""

    model: Any
    processor: Any
    how: VisRag

    def pages(self, images: Sequence[Image]) -> list[NDArray[Any]]:
        """Embed page images: each (dim,)."""
        from PIL import Image as Pillow

        most = self.how.max_pixels
        shown = [bounded(image, most) if most else Pillow.fromarray(image) for image in images]
        return self._vectors([self.how.page_prompt] * len(shown), shown)

    def queries(self, texts: Sequence[str]) -> list[NDArray[Any]]:
        """Embed queries: each (dim,)."""
        return self._vectors([self.how.query_prompt + text for text in texts], None)

    def _vectors(self, texts: Sequence[str], images: Sequence[Any] | None) -> list[NDArray[Any]]:
        torch = extras.load("torch", "dense")
        with torch.inference_mode():
            if _reads_by_itself(self.model):
                given = {"text": list(texts), "image": list(images or [None] * len(texts)), "tokenizer": self.processor}
                made = self.model(**given)
                mask = made.attention_mask
            else:
                given = self._inputs([self._message(text, images is not None) for text in texts], images)
                made, mask = self.model(**given), given["attention_mask"]
        return list(pooled(made.last_hidden_state, mask, self.how.pooling).float().cpu().numpy())

    def _inputs(self, texts: list[str], images: Sequence[Any] | None) -> Any:
        shown = {"images": list(images)} if images else {}
        return self.processor(text=texts, padding=True, return_tensors="pt", **shown).to(self.model.device)

    def _message(self, text: str, shows: bool) -> str:
        """Write a text as a chat message, with a place for its image, where the model has a template for it."""
        if not self.processor.chat_template:
            return (self.processor.image_token if shows else "") + text + self.how.ending
        content = [*({"type": "image"} for _ in range(shows)), *({"type": "text", "text": t} for t in [text] if t)]
        messages = [{"role": "user", "content": content}]
        if self.how.system:
            messages.insert(0, {"role": "system", "content": [{"type": "text", "text": self.how.system}]})
        message = self.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return str(message) + self.how.ending


def pooled(hidden: Any, mask: Any, pooling: Pooling) -> Any:
    """Pool token vectors (items, tokens, dim) into unit vectors (items, dim); padding has no weight on either side."""
    torch = extras.load("torch", "dense")
    place = mask.cumsum(dim=1) * mask  # a token's place among its text's own, from 1
    if pooling == "weighted_mean":
        weights = place
    elif pooling == "mean":
        weights = mask
    else:
        weights = place == mask.sum(dim=1, keepdim=True)
    sums = (hidden.float() * weights.unsqueeze(-1).float()).sum(dim=1)
    return torch.nn.functional.normalize(sums, dim=1)  # a sum points where its mean does


def _reads_by_itself(model: Any) -> bool:
    """Report whether a model takes texts, images and its tokenizer, as VisRAG-Ret's own code does."""
    return {"text", "image", "tokenizer"} <= signature(model.forward).parameters.keys()


def _loaded(model: str, revision: str | None, dtype: str, device: str, trusted: bool) -> tuple[Any, Any]:
    torch, library = extras.load("torch", "dense"), quiet_transformers()
    options = {"trust_remote_code": trusted, **({"revision": revision} if revision else {})}
    loaded = library.AutoModel.from_pretrained(model, dtype=getattr(torch, dtype), **options).to(device).eval()
    if _reads_by_itself(loaded):
        return loaded, library.AutoTokenizer.from_pretrained(model, **options)
    processor = library.AutoProcessor.from_pretrained(model, **options)
    processor.tokenizer.padding_side = "right"  # so that a token's place does not depend on the batch
    return loaded, processor
