"""FinMMDocR: numerical questions about long financial documents, answered by programs (arXiv:2512.24903)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr.contracts import (
    Aggregate,
    Document,
    Image,
    Mean,
    Page,
    Prescribed,
    Published,
    Question,
    ScoringProtocol,
    Tally,
    execution,
)
from ohr.errors import DataError
from ohr.files import hub
from ohr.files.digests import input_digest
from ohr.files.images import read_image
from ohr.keys import key
from ohr.messages.faults import sentences
from ohr.messages.wording import counted, named
from ohr.registry import choices

from ..copies import CopyBenchmark, only_mean
from .from_records import Asked, asked, domain_of, file_faults, label_notes, texts_of
from .metrics import PAGES
from .published_numbers import published, tallies
from .release_records import FILES, Protocol, Record, find_below, page_image_file

SAMPLE = Path(__file__).parent / "sample"
REPOSITORY = "BUPT-Reasoning-Lab/FinMMDocR"


class FinMMDocR(CopyBenchmark, kind="finmmdocr"):
    """FinMMDocR as published: `test.json`, page images, and texts of pages as OCR read them.

    A reply is a program; it runs in a sandbox, and what it returns must be the gold within 0.2 %. Each document has an
    index of its own pages. `protocol: reference` scores as the published code does; `clean` repairs its faults.
    """

    packages: ClassVar[tuple[str, ...]] = ("pillow",)
    root: Annotated[
        Path | Literal["sample"],
        Field(description="Folder with test.json, images and texts; or `sample`, for two invented documents."),
    ]
    protocol: Annotated[
        Protocol, Field(description="`reference` scores as the published code does, faults included.")
    ] = "clean"
    languages: Annotated[tuple[Literal["en", "zh"], ...], Field(min_length=1, description="Languages to keep.")] = (
        "en",
        "zh",
    )
    domains: Annotated[
        tuple[str, ...] | None, Field(min_length=1, description="Types of documents to keep, as company_research; all.")
    ] = None
    unsafe: Annotated[
        Literal["", "I accept that programs run without isolation"],
        execution("These words let programs run where this machine cannot isolate them."),
    ] = ""

    @property
    def scoring(self) -> ScoringProtocol:
        """One index per document; replies are programs."""
        rules = {"protocol": self.protocol}
        running = {**rules, "unsafe": self.unsafe}
        pages = {
            f"{name}_at_{k}": {"kind": f"page_{name}", "k": k, **rules} for name in ("recall", "mrr") for k in (10, 20)
        }
        return ScoringProtocol(
            name=self.protocol,
            retrieval="recall_at_10",
            answer=("pot_accuracy", "executed"),
            ranking=("mrr_at_10", "recall_at_20", "mrr_at_20", "golden_rank", "golden_found"),
            facts="number_in_text",
            index_scope="document",
            instruction="Answer with one number, in the unit that the question asks for, and nothing else.",
            prompt=f"{__name__}:pot_text",
            image_prompt=f"{__name__}:pot_images",
            reply="whole",
            prescribed=(Prescribed("chunker", "page"),) if self.protocol == "reference" else (),
            metric_fields={**pages, "pot_accuracy": running, "executed": running},
        )

    def check(self) -> None:
        """Refuse a folder without questions, records with which scores would be wrong, and domains that it lacks."""
        there = sorted({document.domain for document in self._copy().documents})
        absent = [domain for domain in self.domains or () if domain not in there]
        if absent:
            raise DataError(f"{self._root}: no document of domain {absent[0]!r}. {choices(absent[0], there)}")

    def documents(self) -> Sequence[Document]:
        """List the documents that are kept, in the order of the file."""
        return [document for document in self._copy().documents if self._keeps(self._record(document))]

    def pages(self, document: Document) -> Sequence[Page]:
        """Read the texts of a document, which are the published OCR results; none where the file cannot be used."""
        texts = texts_of(self._root, self._record(document))
        return [Page(document.name, index, text) for index, text in enumerate(texts)]

    def page_image(self, document: Document, index: int) -> Image:
        """Read a page image."""
        return read_image(page_image_file(self._root, self._record(document), index))

    def questions(self) -> Sequence[Question]:
        """List the questions about the documents that are kept, in the order of the file."""
        kept = {document.name for document in self.documents()}
        return [question for question in self._copy().questions if question.document in kept]

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the page images, or the texts; a file that is missing counts by its absence."""
        record = self._record(document)
        if not images:
            texts = find_below(self._root, record.texts)
            return key("truth", document.name, texts and input_digest(texts))
        digests = []
        for index in range(len(record.images)):
            try:
                digests.append(input_digest(page_image_file(self._root, record, index)))
            except DataError:
                digests.append("")
        return key("images", document.name, digests)

    def notes(self) -> Sequence[str]:
        """List what is left out, records that are used with reservations, missing files, and derived labels."""
        kept = {document.name for document in self.documents()}
        records = self._copy().records
        left = [name for name in records if name not in kept]
        what = f"left out {counted(len(left), 'document')} (other languages or domains): {named(left)}"
        return [
            *([what] if left else []),
            *self._copy().notes,
            *sentences(file_faults(self._root, {name: records[name] for name in records if name in kept})),
            *label_notes(self._copy().found.records),
        ]

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the accuracy, to see what noise leaves of it, and golden_k."""
        rank = "the rank of the last gold page: a meaning that fits the published means, which nobody defines"
        found = "questions with a gold page that was not found, which counts as the document's last page"
        return [
            Aggregate(
                "acc", (Mean("pot_accuracy"),), only_mean, ratio=True, source="ACC (arXiv:2512.24903, section 4.1)"
            ),
            Aggregate("golden_k", (Mean("golden_rank"),), _golden_k, unit="number", source=rank),
            Aggregate("golden_k_estimated", (Mean("golden_found"),), _estimated, unit="number", source=found),
        ]

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Download the data set from the hub, check it and unpack it."""
        return fetched(folder, revision)

    def verify(self) -> Sequence[Tally]:
        """Count questions, documents and the members of groups, beside the published numbers."""
        return list(tallies([record for record in self._copy().found.records if self._keeps(record)]))

    def published(self) -> Sequence[Published]:
        """Return the paper's tables 3, E.1 to E.4, G.2 and G.3, and what its notebook printed."""
        return published()

    @property
    def _root(self) -> Path:
        return SAMPLE if isinstance(self.root, str) else self.root

    def _copy(self) -> Asked:
        return asked(self._root)

    def _record(self, document: Document) -> Record:
        return self._copy().records[document.name]

    def _keeps(self, record: Record) -> bool:
        return record.language in self.languages and (self.domains is None or domain_of(record) in self.domains)


def fetched(folder: Path, revision: str | None = None, *, endpoint: str | None = None) -> list[str]:
    """Download the data set into a folder as `ohr.files.hub.fetch` does, and return lines to print."""
    found = hub.fetch(REPOSITORY, folder, revision, endpoint=endpoint)
    root = hub.root_below(folder, lambda path: any((path / name).is_file() for name in FILES))
    return [found.line, f"root: {root or folder}"]


def _golden_k(parts: Any, counts: Any) -> Any:  # noqa: ARG001 # of the contract
    return PAGES * (1 - parts[0])


def _estimated(parts: Any, counts: Any) -> Any:
    return counts[0] * (1 - parts[0])
