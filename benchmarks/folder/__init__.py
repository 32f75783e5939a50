"""A user's own documents: a folder of PDFs or page images, and a file of questions about them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from ohr.contracts import Benchmark, Document, Image, Page, Question, ScoringProtocol
from ohr.errors import DataError
from ohr.files import ohrbench_json, pdf
from ohr.keys import file_digest, key
from ohr.messages.wording import counted, named

from .asking import Asking
from .documents import DOMAIN, Found, Source, find

_NAMED = 3
_READING = 2  # raised when the same image files give other pixels


class Folder(Benchmark):
    """Your own PDFs or page images; ground truth, answers and evidence are optional.

    What is missing switches off the scores that need it, and the notes say so.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)  # `questions` is a verb of benchmarks
    kind: Literal["folder"] = "folder"
    packages: ClassVar[tuple[str, ...]] = ("pypdfium2",)
    root: Annotated[Path, Field(description="Folder of PDFs, or of folders of page images.")]
    questions_file: Annotated[Path, Field(alias="questions", description="Questions: JSON, JSON Lines or CSV.")]
    ground_truth: Annotated[
        Literal["text_layer"] | Path | None,
        Field(description="`text_layer` of the PDFs, or a folder of <domain>/<document>.json; none."),
    ] = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$", description="Of the documents (ISO 639-1).")] = "en"
    first_page: Annotated[Literal[0, 1], Field(description="Number of the first page in the questions.")] = 1
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
        """Refuse a folder without documents, and questions that are wrong; all their faults are told."""
        self._asking().questions()
        if isinstance(self.ground_truth, Path) and not self.ground_truth.is_dir():
            raise DataError(f"ground_truth: no such folder: {self.ground_truth}")

    def documents(self) -> Sequence[Document]:
        """List the documents by name."""
        return [Document(s.name, s.name.split("/")[0], self.language, s.pages) for s in self._found().sources]

    def pages(self, document: Document) -> Sequence[Page]:
        """Read the ground truth, if any; a page without text in its text layer has none."""
        if self.ground_truth is None:
            return ()
        source = self._source(document)
        if self.ground_truth == "text_layer":
            texts = pdf.text_layer(source.files[0]) if source.is_pdf else []
            return [Page(document.name, index, text) for index, text in enumerate(texts) if text.strip()]
        return [page for page in self._recorded(self.ground_truth, document.name) if page.index < document.pages]

    def page_image(self, document: Document, index: int) -> Image:
        """Render a page of the PDF, or read its image."""
        return self._source(document).image(index, self.dpi)

    def questions(self) -> Sequence[Question]:
        """List the questions, in the file's order."""
        return self._asking().questions()

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the files of the images and their resolution, or the ground truth."""
        if images:
            source = self._source(document)
            return key("images", _READING, document.name, [file_digest(file) for file in source.files], self.dpi)
        return key("truth", document.name, [[page.index, page.text, page.error] for page in self.pages(document)])

    def notes(self) -> Sequence[str]:
        """Say which files are left out, and which scores are switched off for want of what they need."""
        found, asking = self._found(), self._asking()
        questions = asking.questions()
        notes = [f"left out: {reason}" for reason in found.broken.values()]
        notes += [f"fails: {reason}" for source in found.sources for reason in source.unreadable()]
        notes += self._unasked(questions)
        if asking.unused:
            notes.append(f"{self.questions_file.name}: not used: {', '.join(sorted(asking.unused))}")
        return [*notes, *self._truth_notes()]

    def _unasked(self, questions: Sequence[Question]) -> Iterator[str]:
        """Tell which scores some or all questions cannot have."""
        for lacking, switched_off in (
            ([q for q in questions if not q.answers], "an answer: what is answered is kept, not scored"),
            ([q for q in questions if not q.pages], "a document or page: no retrieval score, no generation stage"),
            ([q for q in questions if q.pages and not any(q.evidence)], "evidence: no LCS, no r_noise"),
        ):
            if lacking:
                share = f"{len(lacking):,} of {counted(len(questions), 'question')}"
                yield f"{share} without {switched_off} ({named([q.id for q in lacking])})"

    def _truth_notes(self) -> Iterator[str]:
        if self.ground_truth is None:
            yield "no ground truth: no edit distance, evidence loss or floors; r_noise is measured against the evidence"
            return
        lacking = [document.name for document in self.documents() if not self.pages(document)]
        if lacking:
            yield f"{counted(len(lacking), 'document')} without ground truth: {named(lacking)}"

    def _recorded(self, root: Path, name: str) -> Sequence[Page]:
        """Read the ground truth of a document; one that lies in no folder need not have one there either."""
        short = name.removeprefix(f"{DOMAIN}/")
        if not (root / f"{name}.json").is_file() and (root / f"{short}.json").is_file():
            return [Page(name, page.index, page.text, page.error) for page in ohrbench_json.read_pages(root, short)]
        return ohrbench_json.read_pages(root, name)

    def _found(self) -> Found:
        return _find(self.root, _signature(self.root))

    def _source(self, document: Document) -> Source:
        return next(source for source in self._found().sources if source.name == document.name)

    def _asking(self) -> Asking:
        found = self._found()
        pages = {source.name: source.pages for source in found.sources}
        return Asking(self.questions_file, pages, list(found.broken), self.first_page)


@lru_cache(maxsize=4)
def _find(root: Path, signature: object) -> Found:  # noqa: ARG001 # a cache key
    return find(root)


def _signature(root: Path) -> tuple[tuple[str, int, int], ...]:
    """Give every file's name, size and time, so that a changed folder is read again."""
    files = [(path, path.stat()) for path in sorted(root.rglob("*")) if path.is_file()] if root.is_dir() else []
    return tuple((str(path), about.st_size, about.st_mtime_ns) for path, about in files)
