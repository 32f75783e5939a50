"""How BM25 cuts a text into words."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from ohr.contracts import Retriever
from ohr.markup.strip import strip_markup
from ohr.text.porter import stem
from ohr.text.words import searched_words, typed_words

Tokenizer = Literal["words", "stems", "content", "whitespace", "ohrbench"]
Language = Literal["auto", "en", "zh"]

_STOPWORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being have
has had having do does did doing a an the and but if or because as until while of at by for with about against between
into through during before after above below to from up down in out on off over under again further then once here there
when where why how all any both each few more most other some such no nor not only own same so than too very s t can
will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan
shouldn wasn weren won wouldn
"""
STOPWORDS = frozenset(_STOPWORDS.split())
"""NLTK's English stop words, less those with an apostrophe, which no word of `\\w+` can be."""

_WORD = re.compile(r"\w+")
_SEPARATORS = bytes(sign if sign >= 0x80 or chr(sign).isalnum() or chr(sign) == "_" else 0x20 for sign in range(0x100))
"""Turns each ASCII sign that is in no word into a space; the bytes of other signs stay."""
_PUNCTUATION = re.compile(rb"\xe2\x80[\x80-\xbf]")
"""The spaces, dashes and quotation marks of U+2000 to U+203F: common, and in no word."""


def different_words(text: str) -> Collection[str]:
    r"""List the different words of `\w+` in lower case, stop words too, in a fixed order.

    The text is cut at the common signs that are in no word, which is several times as fast as the expression; what
    is left beside other signs (`2·x`, `a，b`) is cut by the expression.
    """
    separated = text.lower().encode("utf-8", "surrogatepass").translate(_SEPARATORS)
    found = dict.fromkeys(_PUNCTUATION.sub(b" ", separated).decode("utf-8", "surrogatepass").split())
    for piece in [] if text.isascii() else [piece for piece in found if not piece.isascii()]:
        if (parts := _WORD.findall(piece)) != [piece]:
            del found[piece]
            found.update(dict.fromkeys(parts))
    return found


def _words(text: str, language: Language) -> Sequence[str]:
    return typed_words(text) if language == "en" else searched_words(text)


def _stems(text: str, language: Language) -> Sequence[str]:
    """Stem English words; a Chinese word is its own stem."""
    return [stem(word) if word.isascii() else word for word in _words(text, language)]


def ohrbench_words(text: str) -> list[str]:
    """Stem the different words of a text that are no stop words, as OHRBench's public code does."""
    return [stem(word) for word in different_words(text) if word not in STOPWORDS]


_TOKENIZERS: Mapping[Tokenizer, Callable[[str, Language], Sequence[str]]] = {
    "words": _words,
    "stems": _stems,
    "content": lambda text, language: _words(strip_markup(text), language),
    "whitespace": lambda text, _: text.split(),
    "ohrbench": lambda text, _: ohrbench_words(text),
}


class WordRetriever(Retriever):
    """A retriever that cuts texts into words in one of several ways."""

    tokenizer: Annotated[
        Tokenizer,
        Field(
            description="words; stems (words by Porter's stemmer); content (words without markup: a cell of HTML is "
            "else one word with its tags); whitespace (no normalization); ohrbench (stems of different words without "
            "stop words)."
        ),
    ] = "words"
    language: Annotated[
        Language,
        Field(description="auto and zh cut scripts without spaces, Chinese as jieba does; en leaves them whole."),
    ] = "auto"

    def cut(self, text: str) -> Sequence[str]:
        """Cut a text into the words that count."""
        return _TOKENIZERS[self.tokenizer](text, self.language)


class Lexical(WordRetriever):
    """A BM25 whose two constants can be set."""

    k1: Annotated[float, Field(gt=0, description="How late repeated words stop counting.")] = 1.5
    b: Annotated[float, Field(ge=0, le=1, description="How much long chunks are penalised.")] = 0.75
