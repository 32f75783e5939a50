"""A user's own documents: a folder of PDFs or page images, and a file of questions about them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from ohr.contracts import Benchmark, Document, Image, Page, Question, ScoringProtocol
from ohr.errors import DataError
from ohr.files import ohrbench_json, pdf
from ohr.files.digests import input_digest
from ohr.files.pdf_text import Layer
from ohr.keys import key
from ohr.messages.wording import counted, named
from ohr.text.layer import clean_layer
from ohr.text_layers.looks import layers, looks, warnings

from .own_documents import DOMAIN, find, source
from .user_questions import Asked, ask

_READING = 3  # raised when the same image files give other pixels


class Folder(Benchmark, kind="folder"):
    """Your own PDFs or page images; ground truth, answers and evidence are optional.

    What is missing switches off the scores that need it, and warnings say why.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)  # `questions` is a verb of benchmarks
    packages: ClassVar[tuple[str, ...]] = ("pypdfium2",)
    root: Annotated[Path, Field(description="Folder of PDFs, or of folders of page images.")]
    questions_file: Annotated[
        Path, Field(alias="questions", description="Questions: CSV, .xlsx, JSON, JSON Lines or Parquet.")
    ]
    ground_truth: Annotated[
        Literal["text_layer"] | Path | None,
        Field(description="`text_layer` of the PDFs, or a folder of <domain>/<document>.json; none."),
    ] = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$", description="Of the documents (ISO 639-1).")] = "en"
    first_page: Annotated[Literal[0, 1], Field(description="Number of the first page in the questions.")] = 1
    ocr_sample: Annotated[
        int | None,
        Field(ge=0, description="Pages of each text layer that Tesseract verifies; by default two of the doubtful."),
    ] = None
    scope: Annotated[
        Literal["corpus", "domain"],
        Field(description="One index over all documents, or one per folder below root."),
    ] = "corpus"
    dpi: Annotated[int, Field(ge=50, le=600, description="Resolution of the images of PDF pages.")] = 200

    @property
    def scoring(self) -> ScoringProtocol:
        """The clean protocol."""
        return ScoringProtocol(index_scope=self.scope)

    def check(self) -> None:
        """Refuse a folder without documents, and questions that are wrong; all their faults are listed."""
        self._asked()
        if isinstance(self.ground_truth, Path) and not self.ground_truth.is_dir():
            raise DataError(f"ground_truth: no such folder: {self.ground_truth}")

    def documents(self) -> Sequence[Document]:
        """List the documents by name."""
        sources = find(self.root).sources.values()
        return [Document(s.name, s.name.split("/")[0], self.language, s.pages) for s in sources]

    def pages(self, document: Document) -> Sequence[Page]:
        """Read the ground truth, if any; a page without text in its text layer has none."""
        if self.ground_truth is None:
            return ()
        if self.ground_truth == "text_layer":
            texts = enumerate(clean_layer([layer.text for layer in self._text_layer(document)]))
            return [Page(document.name, index, text) for index, text in texts if text.strip()]
        return [page for page in self._recorded(self.ground_truth, document.name) if page.index < document.pages]

    def page_image(self, document: Document, index: int) -> Image:
        """Render a page of the PDF, or read its image."""
        return source(self.root, document.name).image(index, self.dpi)

    def pdf(self, document: Document) -> Path | None:
        """Return the document's PDF; a document of page images has none."""
        found = source(self.root, document.name)
        return found.files[0] if found.is_pdf else None

    def questions(self) -> Sequence[Question]:
        """List the questions, in the file's order."""
        return self._asked().questions

    def origin(self, question: Question) -> str:
        """Name the file and line in which a question is written."""
        return self._asked().origins.get(question.id, "")

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the files of the images and their resolution, or the ground truth."""
        if images:
            files = source(self.root, document.name).files
            reading = [2, *pdf.peculiarities(files[0])] if files[0].suffix.lower() == ".pdf" else [_READING]
            return key("images", *reading, document.name, [input_digest(file) for file in files], self.dpi)
        return key("truth", document.name, [[page.index, page.text, page.error] for page in self.pages(document)])

    def notes(self) -> Sequence[str]:
        """Report which files are left out, and which scores are switched off for lack of what they need."""
        warnings = list(self._file_warnings())
        if not self.questions_file.is_file():  # a folder that is only looked at
            return warnings
        asked = self._asked()
        warnings += _unscored(asked.questions)
        return [*warnings, *asked.notes, *self._truth_warnings()]

    def _file_warnings(self) -> Iterator[str]:
        found = find(self.root)
        yield from (f"left out: {reason}" for reason in found.broken.values())
        own = [path.resolve() for path in (self.questions_file, self.ground_truth) if isinstance(path, Path)]
        if others := [
            path.relative_to(self.root).as_posix()
            for path in found.others
            if not any(path.resolve() == known or known in path.resolve().parents for known in own)
        ]:
            left = f"{counted(len(others), 'file')} that cannot be read as a PDF or an image: {named(others)}"
            yield f"left out: {left}. Save pages among them as PDF or PNG"
        yield from (f"fails: {reason}" for each in found.sources.values() for reason in each.unreadable(self.dpi))

    def _truth_warnings(self) -> Iterator[str]:
        if self.ground_truth is None:
            yield "no ground truth: no edit distance, evidence loss or floors; r_noise is measured against the evidence"
            return
        lacking = [document.name for document in self.documents() if not self._has_truth(document)]
        if lacking:
            yield f"{counted(len(lacking), 'document')} without ground truth: {named(lacking)}"
        if self.ground_truth == "text_layer":
            files = {document.name: self.pdf(document) for document in self.documents()}
            yield from warnings({name: looks(path, self.ocr_sample) for name, path in files.items() if path})

    def _recorded(self, root: Path, name: str) -> Sequence[Page]:
        """Read the ground truth of a document; that of a file in the root itself may be in the root, too."""
        short = name.removeprefix(f"{DOMAIN}/")
        if not (root / f"{name}.json").is_file() and (root / f"{short}.json").is_file():
            return [Page(name, page.index, page.text, page.error) for page in ohrbench_json.read_pages(root, short)]
        return ohrbench_json.read_pages(root, name)

    def _text_layer(self, document: Document) -> tuple[Layer, ...]:
        found = source(self.root, document.name)
        return layers(found.files[0]) if found.is_pdf else ()

    def _has_truth(self, document: Document) -> bool:
        if self.ground_truth == "text_layer":
            return any(layer.text.strip() for layer in self._text_layer(document))
        return bool(self.pages(document))

    def _asked(self) -> Asked:
        found = find(self.root)
        pages = tuple((name, each.pages) for name, each in found.sources.items())
        return ask(self.questions_file, pages, tuple(found.broken), self.first_page)


def _unscored(questions: Sequence[Question]) -> Iterator[str]:
    """Report which scores some or all questions cannot have."""
    for lacking, switched_off in (
        ([q for q in questions if not q.answers], "an answer: replies are kept, not scored"),
        ([q for q in questions if not q.pages], "a document or page: no retrieval score, no generation stage"),
        ([q for q in questions if q.pages and not any(q.evidence)], "evidence: no LCS, no r_noise"),
    ):
        if lacking:
            share = f"{len(lacking):,} of {counted(len(questions), 'question')}"
            yield f"{share} without {switched_off} ({named([q.id for q in lacking])})"
