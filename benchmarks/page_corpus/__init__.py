"""Page corpora: page images with texts, queries and graded judgments as Parquet, in the layout of ViDoRe V3."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ohr.contracts import Document, Image, Page, ScoringProtocol, Tally
from ohr.errors import DataError
from ohr.files.digests import input_digest
from ohr.keys import key
from ohr.messages.wording import counted

from ..copies import CopyBenchmark
from .corpus import PageCopy, load, root_of
from .parquet_pages import REPOSITORIES, fetch, read_image_row, tallies


class PageCorpus(CopyBenchmark, kind="page_corpus"):
    """Page images, and queries whose relevant pages have grades: the data sets of ViDoRe, and any like them.

    A document is all pages with its id in the corpus; all are searched in one index. The text of the pages is the
    ground truth. Where the corpus has none, text retrieval needs an OCR engine.
    """

    root: Annotated[
        Path | Literal["sample"],
        Field(description="Folder with corpus, queries and qrels as Parquet; or `sample`, which is shipped."),
    ]
    languages: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, description="Languages of the queries to keep, as the data name them; all."),
    ] = None
    split: Annotated[str | None, Field(description="Split of the data; `test`, or the only one.")] = None
    document_language: Annotated[
        str, Field(pattern=r"^[a-z]{2,3}$", description="Of documents whose metadata name none (ISO 639-1).")
    ] = "en"

    @property
    def scoring(self) -> ScoringProtocol:
        """NDCG@10 with grades, as the leaderboard of ViDoRe V3; each page counts once."""
        return ScoringProtocol(
            name="page_corpus",
            retrieval="ndcg@10",
            metric_fields={"ndcg@10": {"kind": "ndcg", "k": 10}},
            ranked="pages",
            index_scope="corpus",
        )

    def pages(self, document: Document) -> Sequence[Page]:
        """Return the texts of the pages; none where the corpus has no texts."""
        pages = self._copy().pages
        if not pages.texts:
            return ()
        texts = map(pages.text, pages.places[document.name])
        return [Page(document.name, index, text) for index, text in enumerate(texts)]

    def page_image(self, document: Document, index: int) -> Image:
        """Read the image of a page from its file."""
        pages = self._copy().pages
        places = pages.places[document.name]
        if not 0 <= index < len(places):
            raise DataError(f"{document.name}: no page {index}: it has {counted(len(places), 'page')}")
        path, columns = pages.shards[places[index].file]
        if "image" not in columns:
            raise DataError(f"{document.name}: the corpus has no images")
        return read_image_row(path, columns["image"], places[index].row)

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the texts, or the files that have the images and the rows in them."""
        pages = self._copy().pages
        places = pages.places[document.name]
        if images:  # a file is hashed once, where each image would be read for its hash
            files = {file: input_digest(pages.shards[file].path) for file in sorted({place.file for place in places})}
            return key("images", document.name, [[files[place.file], place.row] for place in places])
        return key("truth", document.name, [pages.text(place) for place in places] if pages.texts else None)

    @classmethod
    def names(cls) -> Sequence[str]:
        """List the data sets that can be fetched."""
        return tuple(REPOSITORIES)

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:
        """Download the Parquet files of a data set from the hub."""
        return fetch(REPOSITORIES[name], folder, revision)

    def verify(self) -> Sequence[Tally]:
        """Count pages, queries, judgments and documents beside those of the set on the hub."""
        return tallies(root_of(self.root), self.split)

    def _copy(self) -> PageCopy:
        return load(self.root, self.split, self.languages, self.document_language)
