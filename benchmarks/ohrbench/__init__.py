"""OHRBench (Zhang et al., ICCV 2025, arXiv:2412.02592), read from a folder in its official layout."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import (
    Document,
    Image,
    Page,
    Prescribed,
    Published,
    PublishedBenchmark,
    Question,
    ScoringProtocol,
    Tally,
)
from ohr.errors import DataError
from ohr.files import hub, pdf
from ohr.files.built_set import read_set
from ohr.files.changes import State, state_of
from ohr.files.digests import input_digest
from ohr.files.ohrbench_json import read_document
from ohr.keys import key
from ohr.messages.faults import sentences

from .published_scores import published, tallies
from .survey import TRUTH, Asked, asked, base_files, base_names, built_notes, document_fault, question_file, survey

REFERENCE = ScoringProtocol(
    name="reference",
    answer=("f1", "em"),
    prompt="ohrbench_code",
    joined="rank",
    segment_chinese=False,
    prescribed=(
        Prescribed("chunker", "reference", {"size": 1024}),
        Prescribed("retriever", "bm25_reference", {"k1": 1.5, "b": 0.75, "epsilon": 0.25}),
    ),
    metric_fields={
        "lcs": {"segment_chinese": False, "wordless": 0.5},
        "f1": {"as_published": True},
        "em": {"as_published": True},
    },
    passage_end="\nGiven the context information",
    unanswered=-1.0,
)
"""The rules of OHRBench's public code (commit 1f421eb), and the settings of its scripts."""

REPOSITORY = "opendatalab/OHR-Bench"
PDF_FOLDERS = ("pdfs", "pdf")


@lru_cache(maxsize=4)
def _pdf_folders(root: Path, state: State) -> list[Path]:  # noqa: ARG001 # a key of the cache
    """List the folders of PDFs that a copy has; most have none, and each document is asked for its own."""
    return [root / name for name in PDF_FOLDERS if (root / name).is_dir()]


class OhrBench(PublishedBenchmark, kind="ohrbench"):
    """OHRBench as released: `retrieval_base/gt/<domain>/<document>.json`, `qas_v2.json` or `qas.json`, PDFs if any.

    Documents and pages of every knowledge base under `retrieval_base` count, as in the published code, which indexes
    whatever a folder holds. `protocol: reference` repeats the published numbers, with the chunker `reference`, the
    retriever `bm25_reference` and the prompt of the code; `clean` asks the same questions with the accidents repaired.
    """

    packages: ClassVar[tuple[str, ...]] = ("pypdfium2",)
    root: Annotated[Path, Field(description="Folder with retrieval_base and the questions.")]
    domains: Annotated[tuple[str, ...] | None, Field(min_length=1, description="Domains to keep; all.")] = None
    protocol: Annotated[
        Literal["clean", "reference"],
        Field(description="`reference` repeats the published numbers, accidents included."),
    ] = "clean"
    dpi: Annotated[int, Field(ge=50, le=600, description="Resolution of the page images.")] = 200

    @property
    def scoring(self) -> ScoringProtocol:
        """One index per domain; the reference protocol prescribes the rest as well."""
        return REFERENCE if self.protocol == "reference" else ScoringProtocol()

    def check(self) -> None:
        """Refuse a folder without ground truth or questions, and domains that it does not have."""
        base_names(self.root)
        question_file(self.root)
        there = sorted(path.name for path in (self.root / "retrieval_base" / TRUTH).iterdir() if path.is_dir())
        absent = [domain for domain in self.domains or () if domain not in there]
        if absent:
            raise DataError(f"{self.root}: ground truth has no domain {absent[0]!r}; it has {', '.join(there)}")

    def documents(self) -> Sequence[Document]:
        """List the documents of all knowledge bases, domain by domain in the order of their files."""
        self.check()
        documents, built = survey(self.root, self.domains).documents, read_set(self.root)
        languages = built.languages if built else {}
        return tuple(replace(each, language=languages.get(each.name, each.language)) for each in documents)

    def pages(self, document: Document) -> Sequence[Page]:
        """Read the ground truth; a document that only other knowledge bases have, or that is damaged, has none."""
        path = self._truth(document)
        return read_document(path, document.name).pages if path.is_file() else ()

    def page_image(self, document: Document, index: int) -> Image:
        """Render a page of the document's PDF, in `pdfs/<domain>/<document>.pdf`."""
        found = self.pdf(document)
        if found is None:
            raise DataError(f"{self._pdfs(document)[0]}: no such file; page images need OHRBench's PDFs")
        return pdf.render(found, index, self.dpi)

    def pdf(self, document: Document) -> Path | None:
        """Return the document's PDF, where this copy has it."""
        if not _pdf_folders(self.root, state_of(self.root)):
            return None
        return next((path for path in self._pdfs(document) if path.is_file()), None)

    def questions(self) -> Sequence[Question]:
        """List the questions of the kept domains, in the file's order; only those without a text are missing."""
        return self._asked().questions

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the PDF and its resolution, or the file of the ground truth; an absent file counts by its name."""
        if images:
            found = self.pdf(document)
            peculiar = pdf.peculiarities(found) if found else []
            return key("images", document.name, found and input_digest(found), self.dpi, *peculiar)
        path = self._truth(document)
        return key("truth", document.name, input_digest(path) if path.is_file() else None)

    def notes(self) -> Sequence[str]:
        """List files and questions that are damaged, missing, left out or changed on reading."""
        built = read_set(self.root)
        about = [] if built and self.protocol == "clean" else [self._source()]
        about += built_notes(built, {d.name: self.pages(d) for d in self.documents()}) if built else []
        asked, surveyed = self._asked(), survey(self.root, self.domains)
        known = {document.name: document for document in surveyed.documents}
        # faults of the questions name those whose document is in another form already
        located = [question for question in asked.questions if question.id not in asked.misnamed]
        absent = (document_fault(question, known.get(question.document)) for question in located)
        return [*about, *sentences([*surveyed.faults, *asked.faults, *filter(None, absent)])]

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Download the data set from the hub, check it and unpack it."""
        found = hub.fetch(REPOSITORY, folder, revision)
        root = hub.root_below(folder, lambda path: (path / "retrieval_base").is_dir())
        return [found.line, f"root: {root or folder}"]

    def verify(self) -> Sequence[Tally]:
        """Count documents, pages and questions beside Tables 1 and S1; a set that ohr built is none of its copies."""
        if read_set(self.root):
            return ()
        truth = {d.name: len(pages) for d in self.documents() if (pages := self.pages(d))}
        return list(tallies(truth, self.questions()))

    def published(self) -> Sequence[Published]:
        """Return the paper's tables 2 and S3 to S8, and that of its repository, which has later systems.

        Of a set that ohr built nothing is published.
        """
        if read_set(self.root):
            return ()
        return published()

    def _source(self) -> str:
        """Return which of the files counts, and by which rules: a copy may have two, and a built set has one."""
        return f"questions of {question_file(self.root).name}, protocol {self.protocol}"

    def _asked(self) -> Asked:
        self.check()
        # names are enough, so that no knowledge base is read for the questions alone
        names = tuple(dict.fromkeys(name for files in base_files(self.root, self.domains).values() for name in files))
        as_published = self.protocol == "reference"
        return asked(question_file(self.root), self.domains, names, as_published=as_published)

    def _truth(self, document: Document) -> Path:
        return self.root.joinpath("retrieval_base", TRUTH, f"{document.name}.json")

    def _pdfs(self, document: Document) -> list[Path]:
        return [self.root.joinpath(folder, f"{document.name}.pdf") for folder in PDF_FOLDERS]
