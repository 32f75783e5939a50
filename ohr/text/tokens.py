"""Tokens of language models: tiktoken with its vocabulary in this package, so that nothing is downloaded."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ohr import extras
from ohr.errors import MissingExtra
from ohr.keys import installed_version

Encoding = Literal["cl100k_base", "o200k_base", "llama3", "qwen3"]
"""Name of a vocabulary; those after the first come with the package quicktok."""

_VOCABULARIES = Path(__file__).with_name("vocabularies")
_COMPARED = "0.4."
_FOLDER = "TIKTOKEN_CACHE_DIR"


@cache
def encoding(name: Encoding = "cl100k_base") -> Any:
    """Return the encoding of a vocabulary, which has tiktoken's functions; it takes a third of a second the first time.

    Raises:
        MissingExtra: the vocabulary needs quicktok, which is not installed.
    """
    if name != "cl100k_base":
        return extras.load("quicktok", "quicktok").get_encoding(name)
    import tiktoken

    with _shipped():
        return tiktoken.get_encoding(name)


def count_tokens(text: str, name: Encoding = "cl100k_base") -> int:
    """Count the tokens of a text; names of special tokens in it, such as `<|endoftext|>`, are text.

    Half of a surrogate pair, which no file can hold, counts as the sign U+FFFD.
    """
    fast = _quicktok(name)
    if fast is not None:
        try:  # not `suppress`, which takes as long as a short text
            return int(fast.count(text))
        except TypeError:  # it takes no half of a surrogate pair
            pass
    return len(encoding(name).encode_ordinary(text))


@cache
def _quicktok(name: Encoding) -> Any:
    """Return the encoding that counts more than twice as fast, where a version is installed that the tests compare."""
    if not (installed_version("quicktok-v1") or "").startswith(_COMPARED):
        return None
    with suppress(MissingExtra):  # it is installed, and does not import
        return extras.load("quicktok", "quicktok").get_encoding(name)
    return None


@contextmanager
def _shipped() -> Iterator[None]:
    """Let tiktoken read its vocabularies from this package; it knows no other way to give it a folder."""
    before = os.environ.get(_FOLDER)
    os.environ[_FOLDER] = str(_VOCABULARIES)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_FOLDER]
        else:
            os.environ[_FOLDER] = before
