"""OmniDocBench (Ouyang et al., CVPR 2025, arXiv:2412.07626) by its layout: annotated pages, scored block by block."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Aggregate, Document, Image, OcrFormat, Page, Published, Question, ScoringProtocol
from ohr.errors import DataError
from ohr.files import hub
from ohr.files.digests import input_digest
from ohr.files.images import read_image
from ohr.keys import key
from ohr.markup.page import Markup, page_text
from ohr.messages.wording import counted, named, quoted
from ohr.parse_scores.omnidocbench import VERSIONS, read_record
from ohr.registry import Registry

from ..copies import Copy, CopyBenchmark
from ..known_items import KnownItem, known_items
from ..published import published_numbers
from . import protocol
from .annotations import AnnotatedPage, Annotations, image_files, read_annotations
from .metrics import PAGE, TABLE
from .protocol import Conversions, Versions
from .results import read_results

REPOSITORY = "opendatalab/OmniDocBench"
SAMPLE = Path(__file__).parent / "sample"


class OmniDocBench(CopyBenchmark, kind="omnidocbench"):
    """Any set of pages in OmniDocBench's form: also Real5, MDPBench, and PureDocBench with its tracks of images.

    A page is a document of one index. It has a question of its own, which is scored by blocks, one for each table, and
    queries for passages of the truth, which retrieval looks for. Nothing here has an answer for a generator.
    """

    packages: ClassVar[tuple[str, ...]] = ("rapidfuzz", "scipy", "pylatexenc", "beautifulsoup4", "lxml")
    root: Annotated[
        Path | Literal["sample"],
        Field(description="JSON list of pages, its folder, or PureDocBench's; `sample`, which is shipped."),
    ]
    images: Annotated[Path | None, Field(description="Folder of the page images, of several tracks; below `root`.")] = (
        None
    )
    versions: Annotated[Versions, Field(description="Versions of the published code that score the pages.")] = VERSIONS[
        ::-1
    ]
    conversions: Conversions = ()
    queries: Annotated[bool, Field(description="Ask for passages of the truth, for retrieval; no question else.")] = (
        True
    )

    def check(self) -> None:
        """Read the annotations, and list the images where their folder is named."""
        super().check()
        if self.images and not len(image_files(self.images)):
            there = "holds none" if self.images.is_dir() else "is no folder"
            raise DataError(f"{self.images}: `images` must be a folder with images of pages, and {there}")

    @property
    def scoring(self) -> ScoringProtocol:
        """Scores of pages by version; one index over all pages."""
        return protocol.scoring(self.versions, self.conversions, "layout", "omnidocbench")

    def pages(self, document: Document) -> Sequence[Page]:
        """Return the page's blocks in Markdown, in reading order."""
        return [Page(document.name, 0, _text(self._page(document)))]

    def page_image(self, document: Document, index: int) -> Image:
        """Read the page's image."""
        if index:
            raise DataError(f"{document.name}: no page {index}: a document is one page")
        return read_image(self._annotations().image(self._page(document).name, self._images))

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the page's image, or its annotations; an image that is missing counts by the document's name."""
        page = self._page(document)
        if not images:
            return key("truth", document.name, page.truth)
        try:
            return key("images", document.name, input_digest(self._annotations().image(page.name, self._images)))
        except DataError:
            return key("images", document.name, None)

    def results(self, folder: Path) -> Mapping[str, Sequence[str]] | None:
        """Read predictions in the published layout, `<image without ending>.md`; a page without one is absent.

        Raises:
            DataError: no file is of a page of this copy, or two are of one page.
        """
        return read_results(folder, self._annotations())

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the means of each version."""
        return tuple(protocol.aggregates(self.versions, self.conversions))

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Download the data set from the hub."""
        files = hub.fetch(REPOSITORY, folder, revision)
        return [files.line, f"root: {folder / 'OmniDocBench.json'}"]

    def published(self) -> Sequence[Published]:
        """Return the table of the repository, of the version that it names."""
        return published_numbers(__package__, _about)

    def _annotations(self) -> Annotations:
        return read_annotations(SAMPLE if self.root == "sample" else Path(self.root))

    @property
    def _images(self) -> Path:
        root = SAMPLE if self.root == "sample" else Path(self.root)
        return self.images or (root.parent if root.is_file() else root)

    def _page(self, document: Document) -> AnnotatedPage:
        page = self._annotations().pages.get(document.name)
        if page is None:
            raise DataError(f"{self.root}: there is no page {document.name}")
        return page

    def _copy(self) -> Copy:
        return _copied(self._annotations(), self.queries)


@lru_cache(maxsize=4)
def _copied(annotations: Annotations, queries: bool) -> Copy:
    pages = annotations.pages
    questions = [question for page in pages.values() for question in _of_blocks(page)]
    questions += map(_of_item, known_items({page.name: _text(page) for page in pages.values()} if queries else {}))
    return Copy(
        documents=tuple(Document(page.name, page.domain, page.language, 1) for page in pages.values()),
        questions=tuple(replace(question, groups=pages[question.document].groups) for question in questions),
        places={question.id: pages[question.document].where for question in questions},
        notes=tuple(_notes(annotations)),
    )


def _of_blocks(page: AnnotatedPage) -> Iterator[Question]:
    """Yield what stands for a page and for its tables."""
    yield _unasked(page, page.name, PAGE, page.truth)
    tables = [region for region in read_record(page.record).of("table") if region.content]
    for number, _ in enumerate(tables):
        yield _unasked(page, f"{page.name}-table-{number}", TABLE, str(number))


def _of_item(item: KnownItem) -> Question:
    return Question(
        id=f"{item.page}-query-{item.source}-{item.number}",
        text=item.query,
        answers=(item.passage,),
        document=item.page,
        pages=(0,),
        evidence=(item.written,),
        evidence_source=item.source,
        domain=item.page.split("/")[0],
    )


def _unasked(page: AnnotatedPage, id: str, stands_for: str, truth: str) -> Question:
    return Question(
        id=id,
        text=f"the {stands_for} itself",
        answers=(truth,),
        document=page.name,
        pages=(0,),
        evidence=(),
        evidence_source="table" if stands_for == TABLE else "text",
        domain=page.domain,
        task_type=stands_for,
        asked=False,
    )


def _text(page: AnnotatedPage) -> str:
    reader = Registry().load("ocr_format", "omnidocbench")()
    assert isinstance(reader, OcrFormat)  # by the registry
    return page_text(tuple(reader.pages([page.record])[0]), Markup())


def _notes(annotations: Annotations) -> Iterator[str]:
    if annotations.unknown:
        listed = [
            f"{category.strip() or quoted(category)} ({times})"
            for category, times in sorted(annotations.unknown.items())
        ]
        blocks = counted(sum(annotations.unknown.values()), "block")
        yield f"{blocks} of categories that no version scores: {named(listed)}"
    if annotations.not_html:
        yield f"{counted(annotations.not_html, 'table')} of the truth without HTML of a table, whose TEDS is 0"
    if strange := [page.stated_language for page in annotations.pages.values() if page.has_unknown_language]:
        languages = named(sorted(set(strange)))
        yield f"{counted(len(strange), 'page')} in a language without a code, taken for English: {languages}"


def _about(table: Mapping[str, str], row: Mapping[str, str], column: str) -> Mapping[str, object]:  # noqa: ARG001
    return {"stage": "page", "metric": f"{column}@{table['version']}"}
