"""The ground truth of all pages, with those that an engine read, and the pages that questions are written about."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ohr.contracts import Benchmark, Document, Page
from ohr.errors import DataError
from ohr.markup.strip import strip_markup
from ohr.messages.faults import Fault, sentences
from ohr.questions.texts import firsts
from ohr.text.language import language

from .filters import LeftOut, left_out
from .survey import Survey, TruthPage


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
    unread = [] if pending else [page for page in missing if page.filter == "unread"]
    notes = (*survey.notes, *sentences([*map(_copy, copies.items()), *map(_unread, unread)]))
    read_by = engine if any(each.origin == "silver" for name in pages for each in pages[name]) else ""
    return Truth(survey.benchmark, documents, pages, tuple(missing), gone, read_by, notes)


def _texts(pages: Mapping[str, Sequence[TruthPage]]) -> dict[str, list[Page]]:
    return {name: [each.page for each in pages[name]] for name in pages}


def _copy(pair: tuple[str, str]) -> Fault:
    return Fault("document", "with the text of another, not asked about", f"{pair[0]} has the same text as {pair[1]}")


def _unread(page: LeftOut) -> Fault:
    return Fault(
        "page", "without a good text layer, read by no engine, left out", f"{page.document} page {page.page + 1}"
    )


def _in_its_language(document: Document, pages: Sequence[TruthPage]) -> Document:
    """Return a document in the language of most of its pages; of none that is known, as it was."""
    counts = Counter(filter(None, (language(strip_markup(each.page.text)) for each in pages)))
    most = max(counts, key=lambda code: counts[code], default=document.language)
    return document if most == "other" else replace(document, language=most)
