"""Ground truth of a user's own documents, page by page: corrections, then text layers, then what an engine reads."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from ohr.contracts import Benchmark, Document, Page
from ohr.errors import DataError
from ohr.files.built_set import BuiltPage, page_digest, read_set
from ohr.files.names import composed
from ohr.files.ohrbench_json import benchmark_root, document_files, read_file, set_names
from ohr.markup.strip import strip_markup
from ohr.messages.faults import Fault, sentences
from ohr.questions.page_filters import LeftOut, left_out
from ohr.questions.truth_texts import firsts
from ohr.spec.read import make_benchmark
from ohr.text.language import language
from ohr.text_layers.looks import Look, looks

_DOMAIN = "documents/"
"""Domain of documents in the folder itself, which corrected files may leave out."""


def _read_corrected(folder: Path, documents: Sequence[Document]) -> tuple[dict[str, list[Page]], list[Fault]]:
    """Read corrected pages by document, and the faults of those that are not used.

    Of the ground truth of a set that ohr built, only the pages that were changed since are corrected, and those that
    were when it was built. Names of files may be those of a built set.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder of corrected pages")
    known = _by_name(documents)
    root = benchmark_root(folder)
    built = read_set(root) if root else None
    pages: defaultdict[str, list[Page]] = defaultdict(list)
    faults: list[Fault] = []
    loose = {path.stem: path for path in sorted(folder.glob("*.json"))}
    for name, path in [*document_files(folder).items(), *loose.items()]:
        document = known.get(composed(name))
        if document is None:
            faults.append(Fault("corrected file", "of no document, not used", path.relative_to(folder).as_posix()))
            continue
        as_built = built.pages.get(name, {}) if built else {}
        for page in read_file(path, document.name):
            if page.error is not None or page.index >= document.pages:
                why = page.error or f"the document has {document.pages}"
                faults.append(Fault("corrected page", "that cannot be used", f"{name} page {page.index + 1} ({why})"))
            elif _is_corrected(page, as_built):
                pages[document.name].append(page)
    return pages, faults


def _is_corrected(page: Page, as_built: Mapping[int, BuiltPage]) -> bool:
    before = as_built.get(page.index)
    return before is None or before.origin == "corrected" or before.digest != page_digest(page.text)


def _by_name(documents: Sequence[Document]) -> dict[str, Document]:
    """Return documents by each name that a corrected file may have."""
    renamed = set_names(document.name for document in documents)
    names = {composed(document.name.removeprefix(_DOMAIN)): document for document in documents}
    names |= {renamed[document.name]: document for document in documents}
    return names | {composed(document.name): document for document in documents}


Origin = Literal["text_layer", "corrected", "silver"]
"""How the ground truth of a page came about; `silver` is what an OCR engine read and nobody corrected."""


class TruthPage(NamedTuple):
    """A page's ground truth, how it came about, and why so: what spoke against its text layer; empty where nothing."""

    page: Page
    origin: Origin
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """The documents of a folder, and what is known of their pages.

    Args:
        benchmark: the folder, for page images and PDFs.
        documents: those that can be read, by name.
        pages: pages with a ground truth, by document.
        wanted: pages that an engine must read, with the reason, by index, of each document that has one.
        broken: pages that no engine can read either, as `wanted`.
        notes: sentences about files and corrections that are left out.
    """

    benchmark: Benchmark
    documents: tuple[Document, ...]
    pages: Mapping[str, Sequence[TruthPage]]
    wanted: Mapping[str, Mapping[int, str]]
    broken: Mapping[str, Mapping[int, str]]
    notes: tuple[str, ...]


def survey(
    folder: Path,
    corrected: Path | None = None,
    *,
    language: str = "en",
    dpi: int = 200,
    look: Callable[[Path], Sequence[Look]] = looks,
) -> Survey:
    """Decide for each page of a folder where its ground truth comes from.

    Args:
        folder: of PDFs and of folders of page images.
        corrected: folder of `<domain>/<document>.json` with corrected pages, each a list of {page_idx, text}.
        language: of documents whose text does not show it (ISO 639-1).
        dpi: resolution of the page images.
        look: `looks`, or what reports its progress.

    Raises:
        DataError: there is no readable document, two have one name, or a corrected file is damaged.
        SpecError: there is no such language or resolution.
    """
    if folder.is_file():
        raise DataError(f"{folder}: is a file: name its folder, {folder.parent}")
    keys = {"kind": "folder", "root": str(folder.absolute()), "language": language, "dpi": dpi}
    keys["questions"] = str((folder / "no questions yet").absolute())  # a file that is absent is no question
    benchmark = make_benchmark(keys, "ground truth")
    documents = tuple(benchmark.documents())
    corrections, faults = _read_corrected(corrected, documents) if corrected else ({}, [])
    known: dict[str, list[TruthPage]] = {}
    wanted: dict[str, dict[int, str]] = {}
    broken: dict[str, dict[int, str]] = {}
    for document in documents:
        own = [TruthPage(page, "corrected") for page in corrections.get(document.name, ())]
        layer, wanted[document.name], broken[document.name] = _layer_pages(benchmark, document, own, look)
        known[document.name] = sorted([*own, *layer], key=lambda each: each.page.index)
    # a set is given to others, to whom what is above the folder says nothing
    notes = (note.replace(f"{folder.absolute()}/", "") for note in (*benchmark.notes(), *sentences(faults)))
    return Survey(benchmark, documents, known, _filled(wanted), _filled(broken), tuple(notes))


def _layer_pages(
    benchmark: Benchmark, document: Document, own: Sequence[TruthPage], look: Callable[[Path], Sequence[Look]]
) -> tuple[list[TruthPage], dict[int, str], dict[int, str]]:
    """Return the pages with a good text layer, those that an engine must read, and those that nothing can read."""
    path = benchmark.pdf(document)
    left = sorted(set(range(document.pages)) - {each.page.index for each in own})
    if path is None or not left:
        return [], dict.fromkeys(left, "it is an image"), {}
    pages = look(path)
    faulty = [index for index in left if pages[index].verdict and pages[index].reason]
    broken = [index for index in left if not pages[index].verdict]
    return (
        [
            TruthPage(Page(document.name, index, pages[index].text), "text_layer")
            for index in left
            if index not in faulty and index not in broken
        ],
        {index: pages[index].reason for index in faulty},
        {index: pages[index].reason for index in broken},
    )


def _filled(reasons: Mapping[str, Mapping[int, str]]) -> dict[str, Mapping[int, str]]:
    return {name: reasons[name] for name in reasons if reasons[name]}


@dataclass(frozen=True)
class Truth:
    """The ground truth of a set.

    Args:
        benchmark: the folder that it is of.
        documents: those with a ground truth, in the languages of their text.
        pages: with a ground truth, by document, also those that no question is written about.
        missing: pages without one: nothing read them.
        left_out: pages that no question is written about, with the filter that says so.
        engine: that read the silver pages, with its version; empty where there are none.
        notes: sentences about files, corrections and pages that are not used.
    """

    benchmark: Benchmark
    documents: tuple[Document, ...]
    pages: Mapping[str, Sequence[TruthPage]]
    missing: tuple[LeftOut, ...]
    left_out: tuple[LeftOut, ...]
    engine: str
    notes: tuple[str, ...]

    @cached_property
    def texts(self) -> Mapping[str, Sequence[Page]]:
        """All pages with a ground truth, by document: what candidates are verified against."""
        return _texts(self.pages)

    @cached_property
    def usable(self) -> Mapping[str, Sequence[Page]]:
        """The pages that questions are written about, by document."""
        gone = {(page.document, page.page) for page in self.left_out}
        kept = {name: [page for page in self.texts[name] if (name, page.index) not in gone] for name in self.texts}
        return {name: kept[name] for name in kept if kept[name]}

    @property
    def origins(self) -> Counter[str]:
        """How many pages have a ground truth of each origin."""
        return Counter(each.origin for name in self.pages for each in self.pages[name])

    @property
    def removed(self) -> Counter[str]:
        """How many pages each filter leaves out, and how many have no ground truth, by the filter's name."""
        return Counter(page.filter for page in (*self.missing, *self.left_out))


def with_silver(
    survey: Survey,
    silver: Mapping[str, Mapping[int, Page]] | None = None,
    engine: str = "",
    *,
    pending: bool = False,
) -> Truth:
    """Complete the ground truth with what an engine read of the wanted pages.

    Args:
        survey: of the folder.
        silver: pages that the engine read, by document and index; without an engine none. A page with an error, and
            one that is not here, is missing.
        engine: its name and version.
        pending: the wanted pages are still to be read, so that no note names them.

    Raises:
        DataError: pages are silver and no engine is named.
    """
    silver = silver or {}
    if silver and not engine:
        raise DataError("pages that an engine read need its name and version")
    missing = [LeftOut(n, at, "damaged", survey.broken[n][at]) for n in survey.broken for at in survey.broken[n]]
    pages = {}
    for document in survey.documents:
        name, own = document.name, list(survey.pages[document.name])
        for index, reason in survey.wanted.get(name, {}).items():
            page = silver.get(name, {}).get(index)
            if page is None or page.error:
                why = f"the engine failed: {page.error}" if page else "no engine read it"
                missing.append(LeftOut(name, index, "unread", f"{reason}, and {why}"))
            else:
                own.append(TruthPage(replace(page, document=name, index=index), "silver", reason))
        if own:
            pages[name] = sorted(own, key=lambda each: each.page.index)
    documents = tuple(_in_its_language(each, pages[each.name]) for each in survey.documents if each.name in pages)
    languages = {document.name: document.language for document in documents}
    copies = {name: first for name, first in firsts(_texts(pages)).items() if first != name}
    gone = tuple(left_out((each.page for name in pages for each in pages[name]), languages, copies))
    copied, lacking = (
        "with the text of another, not asked about",
        "without a good text layer, read by no engine, left out",
    )
    faults = [Fault("document", copied, f"{name} has the same text as {first}") for name, first in copies.items()]
    unread = [] if pending else [page for page in missing if page.filter == "unread"]
    faults += [Fault("page", lacking, f"{name} page {at + 1} ({survey.wanted[name][at]})") for name, at, _, _ in unread]
    read_by = engine if any(each.origin == "silver" for name in pages for each in pages[name]) else ""
    return Truth(survey.benchmark, documents, pages, tuple(missing), gone, read_by, (*survey.notes, *sentences(faults)))


def _texts(pages: Mapping[str, Sequence[TruthPage]]) -> dict[str, list[Page]]:
    return {name: [each.page for each in pages[name]] for name in pages}


def _in_its_language(document: Document, pages: Sequence[TruthPage]) -> Document:
    """Return a document in the language of most of its pages; of none that is known, as it was."""
    counts = Counter(filter(None, (language(strip_markup(each.page.text)) for each in pages)))
    most = max(counts, key=lambda code: counts[code], default=document.language)
    return document if most == "other" else replace(document, language=most)
