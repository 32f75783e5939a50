"""Places of passages that a question set brings: word for word, over a page's end, else the page that resembles one."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from ohr.text.locate import PageLocator
from ohr.text.whole_words import whole_words

from .candidate import Evidence
from .texts import Texts, letters


class Places:
    """Finds the document and pages of passages.

    Args:
        texts: of the ground truth.
        passages: all that will be asked for.
        unread: documents of which nothing may have been read; they can be named all the same.
    """

    def __init__(self, texts: Texts, passages: Collection[str], unread: Collection[str] = ()) -> None:
        self._texts = texts
        self._names = dict.fromkeys((*texts.truth, *unread))
        self._holders = dict(zip(passages, texts.documents_with(list(passages)), strict=True))

    @cached_property
    def _locator(self) -> PageLocator:
        return PageLocator({page: (text,) for page, text in self._texts.pages.items()})

    @cached_property
    def _by_file(self) -> dict[str, list[str]]:
        """Documents by the last part of their name in lower case, as people write the file's name."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._names:
            names[name.rpartition("/")[2].casefold()].append(name)
        return names

    def named(self, document: str) -> str:
        """Return the document that a name means: its own, or that of its file, if only one has it; else ""."""
        if document in self._names:
            return document
        file = PurePosixPath(document.replace("\\", "/")).name.casefold()
        found = self._by_file.get(file) or self._by_file.get(PurePosixPath(file).stem, [])
        return found[0] if len(found) == 1 else ""

    def of(self, passages: Sequence[str], document: str) -> tuple[str, tuple[Evidence, ...]]:
        """Return the document that holds most of some passages, the first of equals, and their places in it.

        Args:
            document: the one that is named, or "".
        """
        if not (name := self.named(document)):
            counts = Counter(name for passage in passages for name in sorted(self._holders[passage]))
            guesses = (page[0] for passage in passages for page in self._locator.locate(passage))
            name = counts.most_common(1)[0][0] if counts else next(guesses, document)
        return name, tuple(evidence for passage in passages for evidence in self._in(passage, name))

    def _in(self, passage: str, document: str) -> Sequence[Evidence]:
        wanted = letters(passage).text
        for page in self._texts.truth[document] if document in self._holders[passage] else ():
            is_there = wanted in self._texts.letters[document, page.index].text  # most pages do not hold it
            if is_there and (span := self._texts.span(document, page.index, passage)):
                return [Evidence(page.index, page.text[slice(*span)], *span)]
        return self._in_parts(wanted, document) or [self._likely(passage, document)]

    def _in_parts(self, wanted: str, document: str) -> list[Evidence]:
        """Find a passage as a tool for chunks cuts it: over the end of a page, or inside of words, which are completed.

        Args:
            wanted: letters of the passage.
        """
        pages = [page.index for page in self._texts.truth.get(document, ())]
        held = [self._texts.letters[document, page] for page in pages]
        start = "".join(text for text, _ in held).find(wanted) if wanted else -1
        parts = []
        for page, (text, places) in zip(pages, held, strict=True) if start >= 0 else ():
            first, last = max(start, 0), min(start + len(wanted), len(text))
            start -= len(text)
            if first < last:
                whole = self._texts.pages[document, page]
                span = whole_words(whole, places[first], places[last - 1] + 1)
                parts.append(Evidence(page, whole[slice(*span)], *span))
        return parts

    def _likely(self, passage: str, document: str) -> Evidence:
        pages = self._locator.locate(passage, document)
        return Evidence(pages[0][1] if pages else -1, passage)
