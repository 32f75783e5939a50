"""Ground truth of a run: pages by document, and their numbers."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Any

from ohr.contracts import Benchmark, Document, Page, PageId

_KEPT = 256
"""Documents whose ground truth is held at once: all of a small benchmark, a small part of one with a million pages."""

_FEW_WORDS = 20
"""Characters without white space that a page has at least: fewer are a heading, a page number or a stamp."""


class Truth(Mapping[str, Sequence[Page]]):
    """Ground-truth pages by document, read when they are looked at; a document without ground truth has none."""

    def __init__(self, benchmark: Benchmark, documents: Sequence[Document]) -> None:
        self._benchmark = benchmark
        self._documents = {document.name: document for document in documents}
        self._held: OrderedDict[str, Sequence[Page]] = OrderedDict()

    def __getitem__(self, name: str) -> Sequence[Page]:
        pages = self._held.pop(name, None)
        if pages is None:
            pages = tuple(self._benchmark.pages(self._documents[name]))
            while len(self._held) >= _KEPT:
                self._held.popitem(last=False)
        self._held[name] = pages
        return pages

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the pages behind: another process reads its own."""
        return {**self.__dict__, "_held": OrderedDict()}


def find_copies(truth: Mapping[str, Sequence[Page]]) -> dict[PageId, PageId]:
    """Map each page whose text is there more than once to the first page with it; pages with few words are none."""
    firsts: dict[bytes, PageId] = {}
    copies: dict[PageId, PageId] = {}
    for name in truth:
        for page in truth[name]:
            text = "".join(page.text.split())
            if len(text) >= _FEW_WORDS:
                digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
                place = page.document, page.index
                first = firsts.setdefault(digest, place)
                if first != place:
                    copies[first] = copies[place] = first
    return copies


class TruthPages:
    """The pages of some documents, numbered through.

    Args:
        sizes: how many pages each document's ground truth has.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._names = list(sizes)
        self._places = {name: place for place, name in enumerate(sizes)}
        self._starts = [0, *accumulate(sizes.values())]

    def __len__(self) -> int:
        return self._starts[-1]

    def numbers(self, document: str) -> range:
        """Return the numbers of a document's pages; none for a document that is not among these."""
        place = self._places.get(document)
        return range(0) if place is None else range(self._starts[place], self._starts[place + 1])

    def page(self, number: int) -> tuple[str, int]:
        """Return the document of a page, and the page's place in its ground truth."""
        place = bisect_right(self._starts, number) - 1
        return self._names[place], number - self._starts[place]
