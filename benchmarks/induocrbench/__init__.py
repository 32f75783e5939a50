"""InduOCRBench (Sun et al., ACL 2026, arXiv:2605.00911): documents of industry, read as wholes, with questions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Aggregate, Document, Image, Page, ScoringProtocol, Tally
from ohr.errors import DataError
from ohr.files import hub
from ohr.keys import key
from ohr.parse_scores.omnidocbench import VERSIONS

from ..copies import CopyBenchmark
from ..omnidocbench import protocol
from ..omnidocbench.metrics import ParsedPage
from ..omnidocbench.protocol import Conversions, Versions
from .documents import QUESTIONS, WholeDocuments, load, read_results

REPOSITORY = "qihoo360/InduOCRBench"
SAMPLE = Path(__file__).parent / "sample"


class InduOcrBench(CopyBenchmark, kind="induocrbench"):
    """Documents whose truth is one Markdown file each, and questions with their evidence.

    A document is one page, since the truth has no page borders: results are Markdown files named as the documents', and
    page images cannot be read one by one. Texts are scored by blocks, Markdown against Markdown, and questions by words
    of the answer; the paper asks a large judge.
    """

    packages: ClassVar[tuple[str, ...]] = ParsedPage.packages
    root: Annotated[
        Path | Literal["sample"],
        Field(description="Folder with RAG_eval and ocr_data, unpacked; or `sample`, which is shipped."),
    ]
    types: Annotated[
        tuple[str, ...] | None, Field(min_length=1, description="Types of documents to keep, as UltraWide; all.")
    ] = None
    versions: Annotated[Versions, Field(description="Versions of OmniDocBench's code that score the texts.")] = (
        VERSIONS[::-1]
    )
    conversions: Conversions = ()

    @property
    def scoring(self) -> ScoringProtocol:
        """Scores of texts by version, retrieval of the evidence's words over one index, and answers by words."""
        return protocol.scoring(self.versions, self.conversions, "markdown", "induocrbench")

    def pages(self, document: Document) -> Sequence[Page]:
        """Return the Markdown of the document."""
        return [Page(document.name, 0, self._copy().texts[document.name])]

    def page_image(self, document: Document, index: int) -> Image:
        """Refuse: the truth has no page borders, so that no page image has a text of its own."""
        raise DataError(
            f"{document.name}: the truth is of whole documents, and page {index} has none: score results that "
            "were read elsewhere"
        )

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the Markdown; there are no images."""
        return key(
            "images" if images else "truth", document.name, None if images else self._copy().texts[document.name]
        )

    def results(self, folder: Path) -> Mapping[str, Sequence[str]] | None:
        """Read a Markdown file for each document, named as the truth's.

        Raises:
            DataError: no file is of a document of this copy.
        """
        return read_results(folder, self._copy())

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the means of each version."""
        return tuple(protocol.aggregates(self.versions, self.conversions))

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Download the data set from the hub and unpack it."""
        files = hub.fetch(REPOSITORY, folder, revision)
        root = hub.root_below(folder, lambda path: (path / QUESTIONS).is_file())
        return [files.line, f"root: {root or folder}"]

    def verify(self) -> Sequence[Tally]:
        """Count documents and questions, beside the published counts."""
        copy = self._copy()
        asked = sum(question.asked for question in copy.questions)
        return [Tally("documents", len(copy.documents), 570), Tally("questions", asked, 2071)]

    def _copy(self) -> WholeDocuments:
        return load(SAMPLE if self.root == "sample" else Path(self.root), self.types)
