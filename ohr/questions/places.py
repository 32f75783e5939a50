"""Places of passages that a question set brings: word for word, over a page's end, else the page that resembles one.

What programs write around passages is left out, and several in one text are divided, only where that is what is found.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from ohr.messages.wording import counted, quoted
from ohr.questions.candidate import Evidence
from ohr.questions.truth_texts import Texts, letters, numbers
from ohr.text.chinese import HAS_HAN
from ohr.text.locate import PageLocator
from ohr.text.whole_words import whole_words

_NAME = (
    r"(?:documents?|docs?|passages?|contexts?|chunks?|sources?|excerpts?|extracts?|paragraphs?|sections?|snippets?|nodes?"
    r"|references?|evidence|quotes?|quotations?|citations?|text|content|file(?:name)?|page|title|url|hit|result"
    r"|文档|文件|段落|参考资料|资料库|上下文|来源|资料|片段|内容|证据|原文|引用)"
)
"""Names that programs give a passage, or the place where it is from."""
_FILE = r"[^\s,;:]{1,200}\.[a-z]{2,5}(?:[,;]?\s*\(?(?:pages?|pp?\.?)\s*\d+\)?)?"
"""A file, and perhaps a page: `x.pdf, page 3`."""
_SIGNS = r"\W{0,40}"
_WORDS = r"[^\s:：]{0,40}(?:[ \t]{1,4}[^\s:：]{1,60}){0,5}[ \t]{0,4}"
"""Few words of one line, such as `ID`, `3` or `x.pdf, page 3`: more would be a passage."""
_LABEL = rf"\A{_SIGNS}(?:[\w-]{{1,20}}[ \t]){{0,2}}{_NAME}(?![a-z])"
"""The beginning of a text that names it: `Document`, `Relevant context`."""
_FROM = r"(?:sources?|references?|citations?|sections?|file(?:name)?|page|title|url|来源|文件|引用)"
_LINE = rf"(?:{_NAME}(?![a-z]){_WORDS}[:：]?|{_FROM}(?![a-z]){_WORDS}[:：][ \t]{{0,4}}\S{{0,60}}{_WORDS})"
"""A line that says what a passage is, or where it is from; after `Document 3:` a passage may follow."""
_WRAPPERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\A{_SIGNS}?<[^<>\n]{{1,60}}>|</[^<>\n]{{1,60}}>{_SIGNS}\Z",  # <1-hop>, <context> ... </context>
        rf"\A{_SIGNS}?[\[【][^\[\]【】\n]{{1,100}}[\]】]|[\[【][^\[\]【】\n]{{1,100}}[\]】]{_SIGNS}\Z",  # [1]
        r"\A\s*(?:第\s?\d{1,5}\s?页|[Pp]age \d{1,5})\s?[:：]",  # 第5页：
        # Document(page_content='...', metadata={})
        r"\A\w{1,20}\((?:page_content|text|content)=['\"]|['\"](?:, \w{1,20}=[^\n]{0,400})?\)\s*\Z",
        rf"\A{_SIGNS}\(?\d{{1,4}}[.):：]\s|\({_NAME}\b[^()\n]{{0,100}}\){_SIGNS}\Z",  # 1. or (1), (Source: x.pdf)
        rf"{_LABEL}\s*[:：]\s*{_FILE}{_SIGNS}",  # Source: x.pdf, page 3
        rf"{_LABEL}{_WORDS}[:：]",  # Document 3:
        rf"\A{_SIGNS}{_LINE}\n(?!\s*\n)|(?<!\n)\n[^\w\n]{{0,4}}{_LINE}\Z",  # lines of their own in a paragraph
    )
)
_LABEL_ALONE = re.compile(rf"{_SIGNS}{_LINE}", re.IGNORECASE)
_MOST_READINGS = 24
_BETWEEN = re.compile(r"\n[^\S\n]*\n\s*|(?<=\S)\|(?=\S)|\n[^\S\n]*[-=_*]{3,}[^\S\n]*\n")
"""Between passages: blank lines, lines of dashes, and the sign with which DeepEval joins contexts."""
_FEWEST_LETTERS, _FEWEST_SIGNS, _MOST_PARTS = 12, 6, 60
"""Letters of a part, or of one with Chinese, since one word is on any page; and parts of a text."""


def unwrapped(passage: str) -> list[str]:
    """Return a passage without what a program may have written around it, the readings that leave out least first.

    Signs at its ends need not be left out: they do not count where a passage is looked for.
    """
    readings = [passage]
    for reading in readings:  # it grows
        for wrapper in _WRAPPERS:
            rest = wrapper.sub("", reading, count=1).strip()
            if rest not in readings and len(readings) < _MOST_READINGS and is_long(rest):
                readings.append(rest)
    return readings[1:]


def divided(text: str) -> list[str]:
    """Return the passages of a text that may hold several; none where it holds one."""
    parts = [part for part in _BETWEEN.split(text) if letters(part).text]
    return parts if 1 < len(parts) <= _MOST_PARTS else []


def is_long(passage: str) -> bool:
    """Report whether a part of a text is long enough that it is not on a page by chance."""
    return len(letters(passage).text) >= (_FEWEST_SIGNS if HAS_HAN.search(passage) else _FEWEST_LETTERS)


def is_label(part: str) -> bool:
    """Report whether a part of a text may only say what comes before or after it: `Source: x.pdf, page 3`."""
    return bool(_LABEL_ALONE.fullmatch(part.strip()))


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
        self._wrapped = dict[str, str]()
        self._divided = set[str]()
        whole = self._held(list(passages))
        lost = [part for passage in passages if not whole[passage] for part in (passage, *divided(passage))]
        self._holders = whole | self._held([reading for part in lost for reading in (part, *unwrapped(part))])

    def _held(self, passages: Sequence[str]) -> dict[str, frozenset[str]]:
        """Return the documents that hold each passage on one page."""
        return dict(zip(passages, self._texts.documents_with(passages), strict=True))

    @property
    def notes(self) -> Iterator[str]:
        """Sentences about the passages that were looked for."""
        if self._wrapped:
            passage, rest = next(iter(self._wrapped.items()))
            several = counted(len(self._wrapped), "passage")
            around = quoted(" ".join(part.strip() for part in passage.split(rest, 1) if part.strip()))
            yield f"{several} with words around them that are on no page, such as {around}: they are left out"
        if self._divided:
            yield f"{counted(len(self._divided), 'text')} of several passages, divided between them"

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
            counts = Counter(name for passage in passages for name in self._documents(passage))
            guesses = (page[0] for passage in passages for page in self._locator.locate(passage))
            name = counts.most_common(1)[0][0] if counts else next(guesses, document)
        return name, tuple(evidence for passage in passages for evidence in self._in(passage, name))

    def _documents(self, passage: str) -> list[str]:
        """Return the documents that hold a passage, else those that hold its parts, once for each."""
        for parts in ([passage], divided(passage)):
            readings = [(part, *unwrapped(part)) for part in parts]
            holders = [next(filter(None, map(self._holders.__getitem__, several)), ()) for several in readings]
            if any(holders):
                return [name for names in holders for name in sorted(names)]
        return []

    def _in(self, passage: str, document: str) -> Sequence[Evidence]:
        wrapped = dict[str, str]()
        places = self._read(passage, document, wrapped)
        if not places and (places := self._parts(passage, document, wrapped)):
            self._divided.add(passage)
        if not places:
            likely = self._locator.locate(passage, document)
            return [Evidence(likely[0][1] if likely else -1, passage)]
        self._wrapped |= wrapped
        return places

    def _read(self, passage: str, document: str, wrapped: dict[str, str]) -> list[Evidence]:
        """Find a passage, else what is left of it without what is around it, which is added to `wrapped`."""
        for reading in (passage, *unwrapped(passage)):
            if places := self._found(reading, document):
                wrapped |= {passage: reading} if reading != passage else {}
                return places
        return []

    def _parts(self, text: str, document: str, wrapped: dict[str, str]) -> list[Evidence]:
        """Find all passages of a text; none unless all are there, each as many of its paragraphs as are on a page."""
        given, places = divided(text), list[Evidence]()
        lost = {part for part in given if not self._read(part, document, {})}
        if any(is_long(part) and not is_label(part) for part in lost):
            return []
        rest = [part for part in given if part not in lost or not is_label(part)]
        while rest:
            joined = ["\n\n".join(rest[:end]) for end in range(len(rest), 0, -1)]
            long = [part for part in joined if is_long(part)]
            part = next((part for part in long if self._read(part, document, wrapped)), None)
            if part is None:
                return []
            places += self._read(part, document, wrapped)
            rest = rest[len(rest) - joined.index(part) :]
        return places

    def _found(self, passage: str, document: str) -> list[Evidence]:
        wanted = letters(passage).text
        is_there = bool(wanted) and document in self._texts.truth and wanted in self._texts.documents[document]
        places = []
        for page in self._texts.truth[document] if is_there else ():
            is_here = wanted in self._texts.letters[document, page.index].text  # most pages do not hold it
            if is_here and (span := self._texts.span(document, page.index, passage)):
                places.append(Evidence(page.index, page.text[slice(*span)], *span))
        if places:  # by letters and digits 1.5 is 15
            return [next((each for each in places if numbers(each.text) == numbers(passage)), places[0])]
        return self._in_parts(wanted, document) if is_long(passage) else []

    def _in_parts(self, wanted: str, document: str) -> list[Evidence]:
        """Find the letters of a passage over the end of a page, or cut inside of words, which are completed."""
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
