"""olmOCR-bench (Poznanski et al., 2025, arXiv:2502.18443): unit tests of what a parsed page must and must not say."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import Aggregate, Document, Image, Mean, Page, Published, ScoringProtocol
from ohr.errors import DataError
from ohr.files import hub, pdf
from ohr.files.digests import input_digest
from ohr.keys import key

from ..copies import CopyBenchmark, only_mean
from ..published import published_numbers
from .test_files import PDFS, Tests, load, read_results

REPOSITORY = "allenai/olmOCR-bench"
SAMPLE = Path(__file__).parent / "sample"
PROTOCOL = ScoringProtocol(
    name="olmocr_bench",
    page=("passed",),
    index_scope="corpus",
    metric_fields={"passed": {"kind": "olmocr_test"}},
)


class OlmOcrBench(CopyBenchmark, kind="olmocr_bench"):
    """Tests of pages: words that must be there or must not, in this order, in these cells; and formulas.

    A PDF is a document, a test is a question of its page that no retriever or generator gets. There is no ground truth:
    results are scored as they are, `evaluate: [page]`. The score is the mean over files of the share of tests that
    pass.
    """

    packages: ClassVar[tuple[str, ...]] = ("pypdfium2", "rapidfuzz", "beautifulsoup4")
    root: Annotated[
        Path | Literal["sample"],
        Field(description="Folder with tests in JSON Lines and `pdfs`; or `sample`, which is shipped."),
    ]
    repeat: Annotated[int, Field(ge=1, description="Which repeat of results counts, of `<PDF>_pg1_repeat1.md`.")] = 1
    dpi: Annotated[int, Field(ge=50, le=600, description="Resolution of the page images.")] = 150

    @property
    def scoring(self) -> ScoringProtocol:
        """The share of tests that pass."""
        return PROTOCOL

    def pages(self, document: Document) -> Sequence[Page]:  # noqa: ARG002
        """Return nothing: tests know parts of pages, and no page whole."""
        return ()

    def page_image(self, document: Document, index: int) -> Image:
        """Render a page of the document's PDF."""
        path = self._pdf(document)
        if not path.is_file():
            raise DataError(f"{path}: no such file")
        return pdf.render(path, index, self.dpi)

    def pdf(self, document: Document) -> Path | None:
        """Return the document's PDF, where this copy has it."""
        path = self._pdf(document)
        return path if path.is_file() else None

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the PDF and its resolution; there is no ground truth."""
        if not images:
            return key("truth", document.name, None)
        path = self.pdf(document)
        peculiar = pdf.peculiarities(path) if path else []
        return key("images", document.name, path and input_digest(path), self.dpi, *peculiar)

    def results(self, folder: Path) -> Mapping[str, Sequence[str | None]] | None:
        """Read results as the published code names them.

        Raises:
            DataError: none is of this copy and repeat.
        """
        return read_results(folder, self._copy(), self.repeat)

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the share of tests that pass by file, and the mean of these shares, which is the published score."""
        files = sorted({dict(question.groups)["file"] for question in self.questions()})
        means = [Mean("passed", {"file": file}) for file in files]
        by_file = [Aggregate(f"{file}: passed", (mean,), only_mean) for file, mean in zip(files, means, strict=True)]
        about = "mean over files of the share of tests that pass"
        return (Aggregate("olmocr_bench", tuple(means), _mean_of_files, ratio=True, source=about), *by_file)

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Download the data set from the hub."""
        files = hub.fetch(REPOSITORY, folder, revision)
        root = hub.root_below(folder, lambda path: any(path.glob("*.jsonl")) and (path / PDFS).is_dir())
        return [files.line, f"root: {root or folder}"]

    def published(self) -> Sequence[Published]:
        """Return the table of the repository."""
        return published_numbers(__package__, _about)

    @property
    def _root(self) -> Path:
        return SAMPLE if self.root == "sample" else Path(self.root)

    def _pdf(self, document: Document) -> Path:
        return self._root / PDFS / f"{self._copy().pdfs[document.name]}.pdf"

    def _copy(self) -> Tests:
        return load(self._root)


def _mean_of_files(parts: Any, counts: Any) -> Any:  # noqa: ARG001 # an aggregate's signature
    return np.mean(parts, axis=0)


def _about(table: Mapping[str, Any], row: Mapping[str, str], column: str) -> Mapping[str, Any]:  # noqa: ARG001
    metric = "olmocr_bench" if column == "overall" else f"{column}: passed"
    drawn = "overall" in column or column.endswith("math")
    warning = "its formulas are compared as they are drawn" if drawn else ""
    return {"stage": "page", "metric": metric, "warning": warning}
