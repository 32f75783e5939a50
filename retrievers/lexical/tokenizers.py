"""How BM25 cuts a text into words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from ohr.text.words import words

from . import porter

Tokenizer = Literal["words", "stems", "whitespace"]
Language = Literal["auto", "en", "zh"]


def _words(text: str, language: Language) -> Sequence[str]:
    return words(text, segment_chinese=language != "en")


def _stems(text: str, language: Language) -> Sequence[str]:
    """Stem English words; a Chinese word is its own stem."""
    return [porter.stem(word) if word.isascii() else word for word in _words(text, language)]


def _whitespace(text: str, language: Language) -> Sequence[str]:  # noqa: ARG001 # what is between spaces is a word
    return text.split()


TOKENIZERS: Mapping[Tokenizer, Callable[[str, Language], Sequence[str]]] = {
    "words": _words,
    "stems": _stems,
    "whitespace": _whitespace,
}
