"""OHRBench (Zhang et al., ICCV 2025, arXiv:2412.02592), read from a folder in its official layout."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Benchmark, Document, Image, Page, Prescribed, Published, Question, ScoringProtocol, Tally
from ohr.errors import DataError
from ohr.files import pdf
from ohr.files.ohrbench_json import by_form, json_files, other_form, read_document
from ohr.keys import file_digest, key
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted
from ohr.text.chinese import HAN

from .asking import document_fault, question_file, read_questions
from .bases import TRUTH, base_files, base_names, compare
from .fetch import REPOSITORY, fetch
from .tables import published
from .verify import tallies

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
"""What OHRBench's public code does (commit 1f421eb), and the settings of its scripts."""

PDF_FOLDERS = ("pdfs", "pdf")
_HAN = re.compile(f"[{HAN}]+")
_LATIN = re.compile("[A-Za-z]+")
_CHINESE = 0.2
"""A document is Chinese when at least this share of its Chinese and Latin letters are Chinese."""


class OhrBench(Benchmark):
    """OHRBench as released: `retrieval_base/gt/<domain>/<document>.json`, `qas_v2.json` or `qas.json`, PDFs if any.

    Documents and pages of every knowledge base under `retrieval_base` count, as in the published code, which indexes
    whatever a folder holds. `protocol: reference` repeats the published numbers, with the chunker `reference`, the
    retriever `bm25_reference` and the prompt of the code; `clean` asks the same questions with the accidents repaired.
    """

    kind: Literal["ohrbench"] = "ohrbench"
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
        return self._survey().documents

    def pages(self, document: Document) -> Sequence[Page]:
        """Read the ground truth; a document that only other knowledge bases have, or that is damaged, has none."""
        path = self._truth(document)
        return read_document(path, document.name).pages if path.is_file() else ()

    def page_image(self, document: Document, index: int) -> Image:
        """Render a page of the document's PDF, in `pdfs/<domain>/<document>.pdf`."""
        return pdf.render(self._pdf(document), index, self.dpi)

    def questions(self) -> Sequence[Question]:
        """List the questions of the kept domains, in the file's order; only those without a text are missing."""
        return self._asked().questions

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the PDF and its resolution, or the file of the ground truth; what is absent is told by its name."""
        if images:
            found = next((path for path in self._pdfs(document) if path.is_file()), None)
            return key("images", document.name, found and file_digest(found), self.dpi)
        path = self._truth(document)
        return key("truth", document.name, file_digest(path) if path.is_file() else None)

    def notes(self) -> Sequence[str]:
        """Say what is damaged, missing, left out or read otherwise than it is written."""
        about = f"questions of {question_file(self.root).name}, protocol {self.protocol}"
        survey, asked = self._survey(), self._asked()
        known = {document.name: document for document in survey.documents}
        # the reference protocol has told already which documents are named in another form
        lost = [question for question in asked.questions if question.id not in asked.misnamed]
        absent = (document_fault(question, known.get(question.document)) for question in lost)
        return [about, *sentences([*survey.faults, *asked.faults, *filter(None, absent)])]

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None) -> Sequence[str]:
        """Download the data set from the hub, check it and unpack it."""
        found = fetch(folder, revision)
        return [
            f"{counted(found.files, 'file')} of {REPOSITORY} at commit {found.commit}, {found.unpacked} unpacked",
            f"root: {found.root}",
        ]

    def verify(self) -> Sequence[Tally]:
        """Count documents, pages and questions beside Tables 1 and S1."""
        truth = {d.name: len(pages) for d in self.documents() if (pages := self.pages(d))}
        return list(tallies(truth, self.questions()))

    def published(self) -> Sequence[Published]:
        """Give the paper's tables 2 and S3 to S8, and that of its repository, which has later systems."""
        return published()

    def _survey(self) -> "_Survey":
        self.check()
        return _survey(self.root, self.domains, _signature(self.root / "retrieval_base"))

    def _asked(self) -> "_Asked":
        self.check()
        path = question_file(self.root)
        about = path.stat()
        written = (about.st_size, about.st_mtime_ns)
        # names are enough, so that no knowledge base is read for the questions alone
        names = tuple(dict.fromkeys(name for files in base_files(self.root, self.domains).values() for name in files))
        return _asked(path, written, self.domains, self.protocol == "reference", names)

    def _truth(self, document: Document) -> Path:
        return self.root / "retrieval_base" / TRUTH / f"{document.name}.json"

    def _pdfs(self, document: Document) -> list[Path]:
        return [self.root / folder / f"{document.name}.pdf" for folder in PDF_FOLDERS]

    def _pdf(self, document: Document) -> Path:
        for path in self._pdfs(document):
            if path.is_file():
                return path
        raise DataError(f"{self._pdfs(document)[0]}: no such file; page images need OHRBench's PDFs")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The questions, and what is wrong with them.

    Args:
        misnamed: questions that name their document in another Unicode form, where that is not matched.
    """

    questions: tuple[Question, ...]
    faults: tuple[Fault, ...]
    misnamed: frozenset[str]


@lru_cache(maxsize=4)
def _asked(
    path: Path,
    written: object,  # noqa: ARG001 # a cache key
    domains: tuple[str, ...] | None,
    as_published: bool,
    documents: tuple[str, ...],
) -> _Asked:
    read, faults = read_questions(path, as_published=as_published)
    names = by_form(documents)
    told = "scored 0 in a run as in the published code" if as_published else "matched"
    asked, misnamed = [], []
    for question in read:
        if domains is not None and question.domain not in domains:
            faults.append(Fault("question", "outside the chosen domains, left out", question.id))
            continue
        other = other_form(question.document, names)
        if other is not None:
            where = f"{question.id} ({question.document})"
            faults.append(Fault("question", f"whose document is named in another Unicode form, {told}", where))
            if as_published:
                misnamed.append(question.id)
            else:
                question = replace(question, document=other)
        asked.append(question)
    return _Asked(tuple(asked), tuple(faults), frozenset(misnamed))


@dataclass(frozen=True, slots=True)
class _Survey:
    """The documents of all knowledge bases, and what is wrong with their files."""

    documents: tuple[Document, ...]
    faults: tuple[Fault, ...]


def _signature(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Give every file's name, size and time, so that a changed folder is read again."""
    found = ((entry.path, entry.stat()) for entry in json_files(folder))
    return tuple(sorted((path, about.st_size, about.st_mtime_ns) for path, about in found))


@lru_cache(maxsize=4)
def _survey(root: Path, domains: tuple[str, ...] | None, signature: object) -> _Survey:  # noqa: ARG001 # a cache key
    faults: list[Fault] = []
    truth: Mapping[str, tuple[Page, ...]] = {}
    documents: dict[str, Document] = {}
    for base, files in base_files(root, domains).items():
        here: dict[str, tuple[Page, ...]] = {}
        for name, path in files.items():
            reading = read_document(path, name)
            here[name] = reading.pages
            faults += reading.faults if base == TRUTH else ()
        truth = here if base == TRUTH else truth
        faults += compare(base, truth, here) if base != TRUTH else ()
        for name, pages in here.items():
            count = max((page.index + 1 for page in pages), default=0)
            known = documents.get(name) or Document(name, name.split("/")[0], _language(pages), count)
            documents[name] = replace(known, pages=max(known.pages, count))
    faults += [Fault("document", "without a page, left out", d.name) for d in documents.values() if not d.pages]
    kept = (document for document in documents.values() if document.pages)
    return _Survey(tuple(sorted(kept, key=lambda document: f"{document.name}.json".split("/"))), tuple(faults))


def _language(pages: Sequence[Page]) -> str:
    chinese = sum(len(run) for page in pages if not page.text.isascii() for run in _HAN.findall(page.text))
    if not chinese:
        return "en"
    latin = 0
    for page in pages:  # mostly the first page tells
        latin += sum(map(len, _LATIN.findall(page.text)))
        if chinese < _CHINESE * (chinese + latin):
            return "en"
    return "zh"
