"""BEIR (Thakur et al., NeurIPS 2021, arXiv:2104.08663) by its layout: any corpus with queries and judgments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Document, Image, Page, ScoringProtocol, Tally
from ohr.errors import DataError
from ohr.keys import key

from ..copies import CopyBenchmark
from .corpus_lines import Corpus
from .data_set import SAMPLE, DataSet, corpus_of, load
from .fetch import DOCUMENTS_AND_QUERIES, fetch
from .rendering import Font, check_font, render, rendered_from

PROTOCOL = ScoringProtocol(
    name="beir",
    retrieval="ndcg@10",
    index_scope="corpus",
    ranked="pages",
    metric_fields={"ndcg@10": {"kind": "ndcg", "k": 10}},
)
"""nDCG@10 of documents, with grades as gains, over one index. With `top_k: 100` there is BEIR's recall@100, too."""


class Beir(CopyBenchmark, kind="beir"):
    """Any data set in BEIR's layout: `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`, each also as `.gz`.

    A document is one page of its title and text. Its image is drawn when an OCR engine or image noise asks for it.
    """

    packages: ClassVar[tuple[str, ...]] = ("pillow",)
    root: Annotated[
        Path | Literal["sample"],
        Field(description="Folder of the data set; or `sample`, a small one that is shipped."),
    ]
    split: Annotated[str, Field(min_length=1, description="File of judgments below qrels, without its ending.")] = (
        "test"
    )
    name: Annotated[str, Field(description="Of the data set, before the names of its documents; the folder's.")] = ""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$", description="Of the documents (ISO 639-1).")] = "en"
    font: Annotated[
        Font,
        Field(description="Of page images: dejavu (Matplotlib's), ascii (Pillow's), or a TrueType or OpenType file."),
    ] = "dejavu"
    missing_glyphs: Annotated[
        Literal["fail", "leave_out"],
        Field(description="What becomes of characters that the font lacks: the page fails, or does without them."),
    ] = "fail"
    dpi: Annotated[int, Field(ge=50, le=600, description="Resolution of the page images.")] = 150

    @property
    def scoring(self) -> ScoringProtocol:
        """BEIR's measures of rankings; there are no answers to score."""
        return PROTOCOL

    def check(self) -> None:
        """Read the data set, and a font that is a file."""
        super().check()
        check_font(self.font)

    def pages(self, document: Document) -> Sequence[Page]:
        """Read the document's text from its line of the corpus."""
        return [Page(document.name, 0, self._corpus.text(document.name))]

    def page_image(self, document: Document, index: int) -> Image:
        """Draw the document's text."""
        if index:
            raise DataError(f"{document.name}: no page {index}: a document is one page")
        text, leave_out = self._corpus.text(document.name), self.missing_glyphs == "leave_out"
        return render(text, self.font, self.dpi, document.name, leave_out=leave_out)

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the document's text, and what it is drawn with."""
        digest = self._corpus.digest(document.name)
        if images:
            return key("images", document.name, digest, self.dpi, self.missing_glyphs, *rendered_from(self.font))
        return key("truth", document.name, digest)

    @classmethod
    def names(cls) -> Sequence[str]:
        """List the public data sets of BEIR that the hub has in this layout."""
        return tuple(DOCUMENTS_AND_QUERIES)

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:
        """Download a data set from the hub, check it, and write it in BEIR's layout."""
        return fetch(folder, revision, name)

    def verify(self) -> Sequence[Tally]:
        """Count documents and queries beside the published ones, where the data set has a name of BEIR's."""
        data_set = self._copy()
        published = DOCUMENTS_AND_QUERIES.get(data_set.documents[0].domain)
        if published is None:
            return ()
        return [
            Tally("documents", len(data_set.documents), published[0]),
            Tally(f"queries of {self.split}", len(data_set.questions), published[1]),
        ]

    def _copy(self) -> DataSet:
        return load(self._root, self.split, self.name, self.language)

    @property
    def _root(self) -> Path:
        return SAMPLE if isinstance(self.root, str) else self.root

    @property
    def _corpus(self) -> Corpus:
        return corpus_of(self._root, self.name, self.language)
