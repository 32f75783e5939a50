"""Page images by any image embedding model of mteb's registry."""

from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar

from ohr.contracts import Hit, Image, Index, execution
from ohr.models.resident import batch_note

from ..mteb_models import MtebModel
from ..mteb_registry import Modality
from ..vector.maxsim import PageVectors
from ..vector.vectors import index_vectors, search_vectors
from .retriever import PageEmbedder, embed_pages, embed_queries


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
