"""Chunks of a fixed number of sentences, which begin where untrained Punkt sees it, as in the published OHRBench code.

Sources: Kiss and Strunk, Unsupervised multilingual sentence boundary detection (Computational Linguistics 32, 2006),
and NLTK up to 3.9, `PunktSentenceTokenizer()` without training: no known abbreviations, collocations or sentence
starters. Written here because later versions of NLTK treat typographic quotes differently and would cut elsewhere.
"""

import re
import string
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts import Chunk, Chunker, Page, Span
from ohr.text.sentences import sentence_spans

_NOT_IN_WORD = r"[)\";}\]*:@'({\[?!]"
_MARKS = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_CANDIDATE = re.compile(rf"[.?!](?=(?P<after>{_NOT_IN_WORD}|\s+(?P<next>\S+)))")
"""A sign that may end a sentence, and what follows: a sign that is in no word, or white space and a token."""

_TOKEN = re.compile(
    rf"{_MARKS}"
    rf"|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_NOT_IN_WORD}|{_MARKS}|,(?=$|\s|{_NOT_IN_WORD}|{_MARKS}))"
    r"|\S"
)
_CLOSING = re.compile(r"[\"')\]}]+?(?:\s+|(?=--)|$)", re.MULTILINE)
"""Brackets and quotes at the head of a sentence that belong to the one before."""

_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?$")
_INITIAL = re.compile(r"[^\W\d]\.$")


def sentence_starts(text: str) -> list[int]:
    """Return the places where sentences begin, ascending; text of white space alone has none."""
    spans = [*_spans(text)]
    starts, moved = [], 0
    for (start, end), following in zip(spans, [*spans[1:], None], strict=True):
        start += moved
        closing = _CLOSING.match(text[following[0] : following[1]]) if following else None
        if closing or start < end:
            starts.append(start)
        moved = closing.end() if closing else 0
    return starts


def _spans(text: str) -> Iterator[Span]:
    start = 0
    for candidate, context in _candidates(text):
        if _has_end(context):
            yield start, candidate.end()
            start = candidate.start("next") if candidate["next"] else candidate.end()
    yield start, len(text.rstrip())


def _candidates(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each place that may end a sentence with its context: the word before, and what follows.

    Of several in one word, as in `U.S. (`, the last one counts.
    """
    before: Span = (0, 0)
    last: re.Match[str] | None = None
    for match in _CANDIDATE.finditer(text):
        space = _last_space(text, before[1], match.start())
        word = (space + 1 if space > before[1] else before[0], match.start())
        if last is not None and before[1] <= word[0]:
            yield last, text[before[0] : before[1]] + last[0] + last["after"]
        last, before = match, word
    if last is not None:
        yield last, text[before[0] : before[1]] + last[0] + last["after"]


def _last_space(text: str, start: int, end: int) -> int:
    """Find the last white space before `end`, not before `start`; -1 when there is none."""
    return next((place for place in range(end - 1, start - 1, -1) if text[place] in string.whitespace), -1)


def _has_end(context: str) -> bool:
    """Report whether a token of the context ends a sentence and another follows."""
    tokens = [token for line in context.split("\n") for token in _TOKEN.findall(line)]
    return any(_ends(token, following) for token, following in pairwise(tokens))


def _ends(token: str, following: str) -> bool:
    """Report whether a token ends a sentence: `.`, `?`, `!`, or a word with a period that is no initial or number."""
    if token in (".", "?", "!"):
        return True
    if not token.endswith(".") or token.endswith(".."):
        return False
    initial = bool(_INITIAL.match(token))
    if not initial and not _NUMBER.match(token):
        return True
    continues = following in tuple(";:,.!?") or following[0].islower()
    return not continues and not (initial and following[0].isupper())


class Sentence(Chunker, kind="sentence"):
    """Makes every `count` sentences of a page one chunk, without overlap."""

    version: ClassVar[int] = 2
    count: Annotated[int, Field(gt=0, description="Sentences in a chunk.")] = 3

    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Cut each page; the last chunk of a page may be shorter."""
        chunks = []
        for page in pages:
            spans = sentence_spans(page.text)
            for place in range(0, len(spans), self.count):
                start, end = spans[place][0], spans[min(place + self.count, len(spans)) - 1][1]
                name = f"{page.document}:{page.index}:{start}"
                chunks.append(Chunk(name, page.document, (page.index,), start, end, page.text[start:end]))
        return chunks
