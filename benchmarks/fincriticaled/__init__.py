"""FinCriticalED (He et al., 2025, arXiv:2511.14998): the facts of financial pages that survive OCR."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Aggregate, Document, Image, Page, Published, ScoringProtocol, Tally
from ohr.errors import DataError
from ohr.files import hub
from ohr.files.below import files_below
from ohr.keys import key
from ohr.messages.wording import counted, named

from ..copies import Copy, CopyBenchmark
from . import protocols
from .fact_questions import load, pages_of
from .page_texts import spaced
from .protocols import Protocol
from .release_files import TABLES, GoldPage, read_predictions, table_in

REPOSITORY = "TheFinAI/FinCriticalED"


class FinCriticalED(CopyBenchmark, kind="fincriticaled"):
    """Pages of financial documents whose facts are tagged: numbers, dates, monetary units, entities, concepts.

    A page is a document. It has a question for each fact, which retrieval can look for, and one of its own, which has
    the scores of its words. `clean` wants whole values, each of which counts once, and scores a page without text 0;
    `reference` repeats the published search for values, and leaves out pages without text and the last of 859.
    """

    packages: ClassVar[tuple[str, ...]] = ("beautifulsoup4", "lxml")
    root: Annotated[
        Path | Literal["sample"],
        Field(description="Folder with raw_input_859.csv and gold_annotation_html; or `sample`, which is shipped."),
    ]
    protocol: Annotated[
        Protocol, Field(description="`reference` repeats the published search, accidents included.")
    ] = "clean"

    @property
    def scoring(self) -> ScoringProtocol:
        """Facts and words of pages; one index over all pages."""
        return protocols.scoring(self.protocol)

    def pages(self, document: Document) -> Sequence[Page]:
        """Return the page's HTML without tags of facts, its words apart from its tags."""
        return [Page(document.name, 0, spaced(self._page(document).html))]

    def page_image(self, document: Document, index: int) -> Image:
        """Read the page's image, from its file or from the table."""
        page = self._page(document)
        if index:
            raise DataError(f"{document.name}: no page {index}: a document is one page")
        return pages_of(self.root).image(page)

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the page's image, or its HTML; an image that is missing counts by the document's name."""
        page = self._page(document)
        if images:
            return key("images", document.name, pages_of(self.root).image_digest(page))
        return key("truth", document.name, page.html)

    def results(self, folder: Path) -> Mapping[str, Sequence[str]] | None:
        """Read predictions in the published layout, `pred_{i}.txt`; a page without one is absent.

        Raises:
            DataError: there is no prediction and no JSON file, no prediction is of a page of this copy, or two are
                of one page.
        """
        if not any(folder.glob("pred_*.txt")):
            if files_below(folder, ".json"):
                return None
            raise DataError(f"{folder}: holds no pred_<i>.txt, nor a <domain>/<document>.json")
        predictions, pages = read_predictions(folder), pages_of(self.root).by_name
        # an empty prediction is one, unlike a page without any
        texts = {
            name: [spaced(predictions[page.index]) or "\n"] for name, page in pages.items() if page.index in predictions
        }
        if not texts:
            of_none = f"none of its {counted(len(predictions), 'prediction')} is of a page of {self.root}"
            raise DataError(f"{folder}: {of_none}")
        return texts

    def aggregates(self) -> Sequence[Aggregate]:
        """Return FFA, the accuracy among found facts, the missing rate and the edit distance."""
        return protocols.aggregates(self.protocol)

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Download the data set from the hub, check it and unpack it."""
        return fetched(folder, revision)

    def verify(self) -> Sequence[Tally]:
        """Count pages, facts by type, and documents by type, beside the published counts."""
        return list(protocols.tallies(pages_of(self.root)))

    def published(self) -> Sequence[Published]:
        """Return the tables of the project's page and README."""
        return protocols.published()

    def _copy(self) -> Copy:
        return load(self.root, as_published=self.protocol == "reference")

    def _page(self, document: Document) -> GoldPage:
        page = pages_of(self.root).by_name.get(document.name)
        if page is None:
            raise DataError(f"{self.root}: there is no page {document.name}")
        return page


def fetched(folder: Path, revision: str | None = None, *, endpoint: str | None = None) -> Sequence[str]:
    """Download the data set into a folder as `ohr.files.hub.fetch` does, and return lines to print."""
    files = hub.fetch(REPOSITORY, folder, revision, endpoint=endpoint)
    root = hub.root_below(folder, lambda path: table_in(path) is not None)
    if root is None:  # the layout on the hub was never seen by this project
        there = named(sorted(files.files))
        absent = f"no {' or '.join(TABLES)} among them ({there}): put one together as the docs of fincriticaled say"
        return [files.line, absent]
    return [files.line, f"root: {root}"]
