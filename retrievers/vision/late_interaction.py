"""Retrieval of page images by vision-language models that give one vector per patch."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

from numpy.typing import NDArray
from pydantic import Field

from ohr import extras
from ohr.contracts import Hit, Image, Index
from ohr.errors import PluginError
from ohr.models.resident import resident

from ..embedders import folder_of, looks_local, quiet_transformers
from ..vector.maxsim import PageVectors
from .retriever import Encoder, VisionRetriever, embed_pages, embed_queries


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that run a model: those of transformers, or of colpali-engine."""

    library: str
    model: str
    processor: str

    @property
    def extra(self) -> str:
        """The extra that installs them."""
        return "dense" if self.library == "transformers" else "colqwen"

    @property
    def needs(self) -> tuple[str, ...]:
        """The modules that must be there."""
        return ("transformers",) if self.library == "transformers" else ("colpali_engine", "torchvision", "peft")


class LateInteraction(VisionRetriever):
    """Ranks page images by MaxSim; what its kinds share.

    Padding of a batch is cut off before anything is compared, so that a score does not depend on what else was in the
    batch. Models in transformers' own form and in colpali-engine's are distinguished by their configuration.
    """

    packages: ClassVar[tuple[str, ...]] = ("transformers", "torch", "colpali-engine", "peft")
    runs: ClassVar[Mapping[str, Classes]]
    """The classes that run a model, by the `model_type` of its configuration (an adapter's: of its base's)."""

    def check(self) -> None:
        """Raise when a library, the model or the device is missing."""
        super().check()
        if looks_local(self.model):
            with extras.loading(f"retriever {self.kind}", self.model):
                found = classes_of(self)
            for module in found.needs:
                extras.require(module, found.extra)

    def index_images(self, images: Iterable[Image]) -> Index:
        """Embed pages batch by batch; their vectors go to a temporary file, never all into memory."""
        fitted = [self.batch_size]
        pages = embed_pages(self.encoder(), images, fitted)
        vectors = PageVectors.gather(pages, self.device, f"retriever {self.kind}")
        return Index(vectors.arrays, self.notes(fitted[0]))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by MaxSim; ties in the order of the pages."""
        return PageVectors.of(index, self.device).search(embed_queries(self, tuple(queries)), k)

    def encoder(self) -> Encoder:
        """Return the model, which is loaded if it is not in memory."""
        quiet_transformers()
        with extras.loading(f"retriever {self.kind}", self.model):
            settings = (classes_of(self), self.model, self.revision, self.weights, self.device)
            return resident((self.kind, *settings), lambda: _loaded(*settings))


@dataclass(frozen=True)
class LateEncoder:
    """A loaded model and its processor, which have the same verbs in both libraries."""

    model: Any
    processor: Any

    def pages(self, images: Sequence[Image]) -> list[NDArray[Any]]:
        """Embed page images: each (vectors, dim), float16 where the weights are half as long as float32."""
        from PIL import Image as Pillow

        return self._vectors(self.processor.process_images([Pillow.fromarray(image) for image in images]))

    def queries(self, texts: Sequence[str]) -> list[NDArray[Any]]:
        """Embed queries: each (vectors, dim)."""
        return self._vectors(self.processor.process_queries(list(texts)))

    def _vectors(self, read: Any) -> list[NDArray[Any]]:
        torch = extras.load("torch", "dense")
        read = read.to(self.model.device)
        with torch.inference_mode():
            made = self.model(**read)
        vectors = getattr(made, "embeddings", made)
        vectors = vectors.float() if self.model.dtype == torch.float32 else vectors.half()
        kept = zip(vectors, read["attention_mask"].bool(), strict=True)
        return [page[mask].cpu().numpy() for page, mask in kept]


@lru_cache(maxsize=8)
def classes_of(retriever: LateInteraction) -> Classes:
    """Read from a model's configuration, or that of an adapter's base, what runs it."""
    transformers = extras.load("transformers", "dense")
    place, options = folder_of(retriever.model), _options(retriever.revision)
    adapter = transformers.utils.find_adapter_config_file(place, **options)
    if adapter:
        place, options = json.loads(Path(adapter).read_text())["base_model_name_or_path"], {}
    found, _ = transformers.PretrainedConfig.get_config_dict(place, **options)
    kind, made = found.get("model_type"), (found.get("architectures") or ["?"])[0]
    classes = retriever.runs.get(str(kind))
    # an adapter's base may be the plain model; without an adapter it must have the layer that makes its vectors
    if classes is None or not (adapter or made.startswith("Col")):
        known = ", ".join(retriever.runs)
        raise PluginError(
            f"retriever {retriever.kind}: {retriever.model} is a {kind} ({made}), which {retriever.kind} does not run: "
            f"it runs the late-interaction models (Col...) of {known}"
        )
    return classes


def _options(revision: str | None) -> dict[str, str]:
    return {"revision": revision} if revision else {}


def _loaded(classes: Classes, model: str, revision: str | None, dtype: str, device: str) -> LateEncoder:
    torch, library = extras.load("torch", "dense"), extras.load(classes.library, classes.extra)
    place, options = folder_of(model), _options(revision)
    processor = getattr(library, classes.processor).from_pretrained(place, **options)
    loaded = getattr(library, classes.model).from_pretrained(place, dtype=getattr(torch, dtype), **options)
    return LateEncoder(loaded.to(device).eval(), processor)


class ColPali(LateInteraction, kind="colpali"):
    """Ranks page images with ColPali, in transformers' or colpali-engine's form (Faysse et al., arXiv:2407.01449)."""

    runs: ClassVar[Mapping[str, Classes]] = {
        "colpali": Classes("transformers", "ColPaliForRetrieval", "ColPaliProcessor"),
        "paligemma": Classes("colpali_engine.models", "ColPali", "ColPaliProcessor"),
    }
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")] = "vidore/colpali-v1.3-hf"


class ColQwen(LateInteraction, kind="colqwen"):
    """Ranks page images with ColQwen2, or ColQwen2.5 through colpali-engine (Faysse et al., arXiv:2407.01449)."""

    runs: ClassVar[Mapping[str, Classes]] = {
        "colqwen2": Classes("transformers", "ColQwen2ForRetrieval", "ColQwen2Processor"),
        "qwen2_vl": Classes("colpali_engine.models", "ColQwen2", "ColQwen2Processor"),
        "qwen2_5_vl": Classes("colpali_engine.models", "ColQwen2_5", "ColQwen2_5_Processor"),
    }
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")] = "vidore/colqwen2-v1.0-hf"
