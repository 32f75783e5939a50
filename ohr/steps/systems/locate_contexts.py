"""Finds out where the contexts of a system come from: the pages of the knowledge base that hold their words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, ClassVar

from rapidfuzz.fuzz import partial_ratio_alignment

from ohr.contracts import Chunk, PageId, Span, System
from ohr.dataset.inputs import Inputs
from ohr.messages.wording import counted
from ohr.steps.documents.make_document import expected, read_pages
from ohr.steps.documents.page_images import ImageRecipe
from ohr.steps.retrieval.retrieve import Found, as_value
from ohr.steps.systems.given_documents import file_stems, page_files
from ohr.text.locate import PageLocator
from ohr.work.plugin_checks import storable
from ohr.work.step import Context, Ready, Report, Work, missing

LOCATE_VERSION = 1
"""Raised when a context is located differently."""
_LATEST: dict[int, tuple[PageLocator, Mapping[PageId, str]]] = {}
"""The locator and the texts that this process made last, by a hash of their documents' keys and truth."""
_LONG = 50_000
"""Characters of a page in which a context is not looked for letter by letter: it would take a tenth of a second."""
NOWHERE = ""
"""Document of a context that is on no page; it keeps its rank."""


@dataclass(frozen=True, slots=True)
class LocateContexts(Work):
    """Locate the contexts of replies. Writes those of each batch as hits, with the questions `without` contexts.

    Its inputs: the replies, then the documents of the knowledge base in their order.

    Args:
        condition: name of the knowledge base, for messages.
        batches: for each output, the places of its questions in `Inputs.questions`.
        replies: for each of these, the place of its reply in the inputs.
        images: says in which order the pages were handed over, where a treatment has changed it.
    """

    kind: ClassVar[str] = "locating contexts"
    shape: ClassVar[str] = "hits"
    role: ClassVar[str] = "contexts"
    named: ClassVar[str] = "contexts of {0.name} on {0.condition}"
    system: System
    name: str
    condition: str
    batches: tuple[tuple[int, ...], ...]
    replies: tuple[tuple[int, ...], ...]
    images: ImageRecipe | None = None

    def _numbers(self, inputs: Inputs) -> dict[str, Sequence[int]]:
        """Return the numbers of each document's pages as they were handed over."""
        if self.images is None:
            return {name: range(document.pages) for name, document in inputs.by_name.items()}
        placed = {name: self.images.placed(document) for name, document in inputs.by_name.items()}
        return {name: [page.number for page in pages] for name, pages in placed.items()}

    def label(self, place: int) -> str:
        """Name a batch of questions."""
        return self.item if len(self.batches) == 1 else f"{self.item}, batch {place + 1}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Locate the contexts of the batches that are missing."""
        inputs, store = context.inputs, context.store
        documents = [document.name for document in inputs.documents]
        places = _Places(documents, self._numbers(inputs), self.system)
        pages = _pages(context, documents, ready.inputs[len(ready.inputs) - len(documents) :])
        for output in missing(ready.outputs, ready, store):
            context.watch.restart()
            place = ready.outputs.index(output)
            asked = {
                number: ready.inputs[at] for number, at in zip(self.batches[place], self.replies[place], strict=True)
            }
            store.put(output, self._located(asked, Locating(places, *pages), context))
        return Report()

    def _located(self, asked: Mapping[int, str | None], locating: "Locating", context: Context) -> dict[str, Any]:
        """Locate the contexts of some questions, each with the key of its reply; one without a reply has no entry."""
        names = dict.fromkeys(name for name in asked.values() if name is not None)
        replies = expected(context.store, list(names), self.item, "answer")
        hits: dict[str, list[Found]] = {}
        # a system that names contexts for others has found nothing for these; where it names none, it says nothing
        names_some = any(reply["contexts"] is not None for reply in replies.values())
        without: list[int] = []
        for number, name in asked.items():
            question, reply = context.inputs.questions[number].id, replies.get(name or "")
            if reply is not None and reply["contexts"] is None and not names_some:
                without.append(number)
            elif reply is not None:
                hits[question] = list(locating.found((reply["contexts"] or ())[: self.system.top_k]))
        warnings = [*locating.warnings(), *_left_out(replies, self.system.top_k)]
        return {**as_value(hits, warnings), "without": without}


def _left_out(replies: Mapping[str, Mapping[str, Any]], top_k: int) -> Iterator[str]:
    """Yield what lacks: contexts of some replies, and those beyond the first `top_k`, which are not scored."""
    without = sum(reply["contexts"] is None for reply in replies.values())
    if 0 < without < len(replies):
        yield f"{without:,} of {counted(len(replies), 'reply', 'replies')} name no contexts, as if nothing was found"
    if longer := sum(len(reply["contexts"] or ()) > top_k for reply in replies.values()):
        yield (
            f"{counted(longer, 'reply', 'replies')} with more contexts than `top_k: {top_k}`: the first count, and "
            "they alone are read again where a loss is split"
        )


def _pages(
    context: Context, documents: Sequence[str], keys: Sequence[str | None]
) -> tuple[PageLocator, Mapping[PageId, str]]:
    """Return the locator of a knowledge base, and its pages' texts; this process keeps them for the next questions.

    Args:
        keys: of the documents, in their order.
    """
    texts: dict[PageId, list[str]] = {
        (name, page.index): [page.text] for name in documents for page in context.inputs.truth.get(name, ())
    }
    basis = hash((*keys, *((*page, text) for page, (text,) in texts.items())))
    if basis not in _LATEST:
        for key in keys:
            for page in read_pages(context.store, key) or ():
                texts.setdefault((page.document, page.index), []).append(page.text)
        _LATEST.clear()  # before the next is built: it may have 200 MB
        _LATEST[basis] = PageLocator(texts), {page: versions[-1] for page, versions in texts.items()}
    return _LATEST[basis]


@dataclass
class _Places:
    """Names of documents and pages as a system may give them."""

    documents: Sequence[str]
    pages: Mapping[str, Sequence[int]]
    system: System
    _known: dict[str, tuple[str, int | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known |= {name.casefold(): (name, None) for name in self.documents}
        for name, stem in file_stems(self.documents).items():  # these are the names that it was given
            self._known[stem.casefold()] = name, None
            numbers = self.pages[name] if self._paged else ()
            for file, index in zip(page_files(stem, numbers), numbers, strict=True):
                self._known[file.casefold()] = name, index

    @property
    def _paged(self) -> bool:
        """Whether each page has a file of its own, which bears its number."""
        return self.system.documents == "images" or self.system.text_files == "page"

    def of(self, document: str, page: int | None) -> tuple[str | None, int | None]:
        """Return the document and the page that a context names, as far as they are known."""
        plain = PurePath(document.replace("\\", "/")).name
        for known in (document, plain, PurePath(plain).stem):
            name, index = self._known.get(known.casefold(), (None, None))
            if name is not None:
                break
        else:
            return None, None
        if index is None and page is not None:
            place, numbers = page - self.system.first_page, self.pages[name]
            if self._paged:
                index = place if place in numbers else None
            elif 0 <= place < len(numbers):
                index = numbers[place]
        return name, index


@dataclass
class Locating:
    """Locates contexts, each different one once, and counts how.

    Args:
        places: what names of documents and pages mean; None where contexts are texts alone.
        locator: of the pages.
        texts: of the pages.
        aligned: find out which characters of its page a context is; a second for a page that was read with errors.
    """

    places: _Places | None
    locator: PageLocator
    texts: Mapping[PageId, str]
    aligned: bool = True
    count: Counter[str] = field(default_factory=Counter)
    _located: dict[tuple[str, str | None], tuple[PageId, ...]] = field(default_factory=dict)
    _spans: dict[tuple[str, PageId], Span] = field(default_factory=dict)

    def found(self, contexts: Sequence[Sequence[Any]]) -> Iterator[Found]:
        """Yield contexts as hits."""
        for rank, (text, document, page, score) in enumerate(contexts):
            name, index = self.places.of(document, page) if self.places else (None, None)
            if name is not None and index is not None:
                pages: tuple[PageId, ...] = ((name, index),)
            else:
                pages = self._by_text(text, name)
            self.count["contexts"] += 1
            self.count["nowhere"] += not pages
            if pages and not text and self.places and self.places.system.documents == "text":
                text = self.texts.get(pages[0], "")  # a place alone: what was handed over there
            self.count["empty"] += not text.strip()
            source = pages[0][0] if pages else NOWHERE
            indices = tuple(sorted(number for each, number in pages if each == source)) or (0,)
            start, end = self._span(text, (source, indices[0])) if pages and self.aligned else (0, len(text))
            chunk = Chunk(f"context {rank}", source, indices, start, end, storable(text))
            yield Found(chunk, -float(rank) if score is None else score)

    def _span(self, text: str, page: PageId) -> Span:
        """Return the characters of a page that a context is: contexts of a page are scored in the page's order."""
        if (text, page) not in self._spans:
            there = self.texts.get(page, "")
            start = there.find(text)
            end = start + len(text)
            # cut or wrapped by the system, or read by it
            if start < 0 and len(there) <= _LONG and (near := partial_ratio_alignment(text, there)):
                start, end = near.dest_start, near.dest_end
            self._spans[text, page] = (start, end) if start >= 0 else (0, len(there))
        return self._spans[text, page]

    def _by_text(self, text: str, document: str | None) -> tuple[PageId, ...]:
        place = (text, document)
        if place not in self._located:
            pages = self.locator.locate(text, document)
            self._located[place] = pages or (self.locator.locate(text) if document else ())
        return self._located[place]

    def warnings(self) -> Iterator[str]:
        """Yield how many contexts are on no page."""
        if nowhere := self.count["nowhere"]:
            yield f"{nowhere:,} of {counted(self.count['contexts'], 'context')} are on no page of the documents"
        if empty := self.count["empty"]:
            yield f"{empty:,} of {counted(self.count['contexts'], 'context')} have no text: scores of texts are 0 there"
