"""Twins: the same pages twice, clean and noisy, as texts in two folders or of a benchmark."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ohr.contracts import Benchmark, Document, OcrBackend, Page, RecordedOcr
from ohr.engine.progress import Progress
from ohr.errors import DataError
from ohr.files import documents
from ohr.messages.wording import counted
from ohr.noise_files.likeness import Twin, twins_of
from ohr.noise_files.truth_pairs import recognised

FEWEST = 4
"""Documents of twins at least: the strength is fitted on one half of them and judged on the other."""

Pages = Mapping[str, Sequence[Page]]
"""Pages by document."""


@dataclass(frozen=True, slots=True)
class Twins:
    """Documents that both sides have.

    Args:
        left_out: documents that one side lacks, or that have no clean text.
        changed: pages whose texts differ; a page that the noisy side lacks is one.
    """

    documents: Sequence[Twin]
    left_out: Sequence[str]
    changed: int

    @property
    def pages(self) -> int:
        """Clean pages."""
        return sum(len(twin.pages) for twin in self.documents)


def pair(clean: Pages, noisy: Pages, names: tuple[str, str]) -> Twins:
    """Pair two sides.

    Args:
        names: of the two sides, for messages.

    Raises:
        DataError: they have fewer than FEWEST documents in common.
    """
    twins = list(twins_of(clean, noisy))
    if len(twins) < FEWEST:
        has = counted(len(twins), "document") if twins else "no document"
        raise DataError(
            f"{names[0]} and {names[1]} have {has} with clean text in common, of the same name: at least {FEWEST} are "
            "needed, half of them to fit a noise on and half to judge it by"
        )
    left_out = sorted((clean.keys() | noisy.keys()) - {twin.name for twin in twins})
    changed = sum(twin.noisy.get(page.index) != page.text for twin in twins for page in twin.pages)
    return Twins(twins, left_out, changed)


def of_folder(folder: Path) -> Pages:
    """Read a folder's documents: JSON pages in OHRBench's layout, and texts, each one page.

    Raises:
        DataError: there is no such folder, or it holds no text; a file is damaged.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder")
    ledgers = (Path(documents.LEDGER), Path(documents.SUMMARY))
    files = [path for path in documents.files(folder) if documents.can_be(path) and path not in ledgers]
    if not files:
        raise DataError(f"{folder}: holds no text (.json, .txt, .md)")
    return {name: documents.read(folder / path, name) for path, name in documents.names(files).items()}


def of_benchmark(benchmark: Benchmark) -> Pages:
    """Return the ground truth of a benchmark.

    Raises:
        DataError: it has none.
    """
    pages = {document.name: list(benchmark.pages(document)) for document in benchmark.documents()}
    if not any(pages.values()):
        raise DataError(f"benchmark {benchmark.kind} has no ground truth here")
    return pages


def of_results(results: RecordedOcr, clean: Pages) -> Pages:
    """Read recorded results of the documents of the clean side; a page that they lack has an error."""
    held = {}
    for name, pages in clean.items():
        count = max((page.index for page in pages), default=-1) + 1
        read = results.recorded(Document(name, name.split("/")[0], "", count))
        if any(page.error is None for page in read):
            held[name] = read
    return held


def of_engine(benchmark: Benchmark, engine: OcrBackend, progress: Progress) -> Pages:
    """Read a benchmark's pages with an engine."""
    pages: dict[str, list[Page]] = defaultdict(list)
    for reading in recognised(benchmark, engine, progress):
        pages[reading.document].append(Page(reading.document, reading.page, reading.read))
    return pages
