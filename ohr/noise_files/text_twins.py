"""Twins: the same pages twice, clean and noisy, as texts in two folders or of a benchmark."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ohr.contracts import ABSENT, Benchmark, Document, OcrBackend, Page, PublishedBenchmark, RecordedOcr, Treatment
from ohr.engine.progress import Progress
from ohr.errors import DataError
from ohr.files import documents
from ohr.markup.page import Markup, tidy
from ohr.messages.wording import counted, named
from ohr.metrics.dose import Floats
from ohr.noise_files.page_changes import CleanPage, changes, clean_pages, sizes
from ohr.noise_files.truth_pairs import Reading, recognised
from ohr.steps.documents.treat import TreatedPages, treat

FEWEST = 4
"""Documents of twins at least: the strength is fitted on one half of them and judged on the other."""

Pages = Mapping[str, Sequence[Page]]
"""Pages by document."""


@dataclass(frozen=True)
class Twin:
    """A document: its clean pages, and the texts of the noisy side by page.

    Args:
        counted: what noises change in the clean pages, by noise and seed, as far as it was asked.
    """

    name: str
    pages: Sequence[CleanPage]
    noisy: Mapping[int, str]
    counted: dict[tuple[str, int], Floats] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def size(self) -> Floats:
        """Divisors of the counts."""
        return sizes(self.pages)

    @cached_property
    def changed(self) -> Floats:
        """Counts of changes on the noisy side."""
        return changes(self.pages, self.noisy)

    def changed_by(self, noise: Treatment, seed: int) -> Floats:
        """Count what a noise changes."""
        key = noise.model_dump_json(), seed
        if key not in self.counted:
            self.counted[key] = changes(self.pages, self.under(noise, seed))
        return self.counted[key]

    def under(self, noise: Treatment, seed: int) -> dict[int, str]:
        """Return the texts by page under a noise."""
        pages = TreatedPages.of([Page(self.name, page.index, page.text) for page in self.pages])
        return _texts(treat(pages, [noise], (), seed).pages)


@dataclass(frozen=True, slots=True)
class Twins:
    """Documents that both sides have.

    Args:
        left_out: documents that one side lacks, or that have no clean text; and pages whose noisy text cannot be read.
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
    twins, unreadable = [], list[str]()
    for name in sorted(clean.keys() & noisy.keys()):
        broken = {page.index: page.error for page in noisy[name] if page.error not in (None, ABSENT)}
        unreadable += [f"{name} page {index + 1} ({error})" for index, error in broken.items()]
        pages = clean_pages([page for page in clean[name] if page.index not in broken])
        if any(page.text.strip() for page in pages):
            twins.append(Twin(name, pages, _texts(noisy[name])))
    if len(twins) < FEWEST:
        has = counted(len(twins), "document") if twins else "no document"
        raise DataError(
            f"{names[0]} and {names[1]} have {has} with clean text in common, of the same name: at least {FEWEST} are "
            "needed, half of them to fit a noise on and half to judge it by"
            + (f"; pages that cannot be read: {named(unreadable)}" if unreadable else "")
        )
    left_out = [*sorted((clean.keys() | noisy.keys()) - {twin.name for twin in twins}), *unreadable]
    changed = sum(twin.noisy.get(page.index) != page.text for twin in twins for page in twin.pages)
    return Twins(twins, left_out, changed)


def _texts(pages: Sequence[Page]) -> dict[int, str]:
    return {page.index: page.text for page in pages if page.error is None}


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


def readings(clean: Pages, read: Pages) -> list[Reading]:
    """Pair the pages that failed on neither side, by document and number."""
    return [
        Reading(name, page.index, page.text, texts[page.index])
        for name in clean
        for texts in [_texts(read.get(name, ()))]
        for page in clean[name]
        if page.error is None and page.index in texts
    ]


def recorded(truth: Path, read: Path) -> list[Reading]:
    """Pair the pages of two folders; pages that one of them lacks are left out.

    Raises:
        DataError: as of `of_folder`; or no page is in both.
    """
    pairs = readings(of_folder(truth), of_folder(read))
    if not pairs:
        raise DataError(f"no page of {truth} is in {read}: documents must have the same name in both")
    return pairs


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


def of_own_layout(benchmark: Benchmark, folder: Path) -> Pages | None:
    """Read results in a benchmark's own published layout; None where the folder is in another, or not there.

    Raises:
        DataError: the results cannot be read.
    """
    texts = benchmark.results(folder) if isinstance(benchmark, PublishedBenchmark) and folder.is_dir() else None
    if texts is None:
        return None
    return {
        document: [Page(document, index, text) for index, text in enumerate(pages) if text is not None]
        for document, pages in texts.items()
    }


def tidied(pages: Pages) -> Pages:
    """Tidy the texts of a folder as those of results in a system's format are, so that only noise tells them apart."""
    return {
        name: [replace(page, text=tidy(page.text, Markup())) for page in document] for name, document in pages.items()
    }


def of_engine(benchmark: Benchmark, engine: OcrBackend, progress: Progress) -> Pages:
    """Read a benchmark's pages with an engine."""
    pages: dict[str, list[Page]] = defaultdict(list)
    for reading in recognised(benchmark, engine, progress):
        pages[reading.document].append(Page(reading.document, reading.page, reading.read))
    return pages
