"""Texts that are longer than a model reads."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from ohr.messages.wording import counted

_AT_ONCE = 1000  # texts: the tokens of a whole corpus would take more memory than its vectors


def cut_off(tokenizer: Any, texts: Iterable[str], window: int, prompt: str = "") -> tuple[str, int]:
    """Return how many texts are longer than `window` tokens after a prompt, in words, and their tokens beyond it."""
    size = cut = lost = 0
    texts = iter(texts)
    while part := list(islice(texts, _AT_ONCE)):
        size += len(part)
        # a token is at least one byte, so a text with fewer bytes need not be cut into tokens
        long = [prompt + text for text in part if len((prompt + text).encode()) + 2 > window]
        for ids in tokenizer(long, truncation=False, verbose=False)["input_ids"] if long else ():
            cut += len(ids) > window
            lost += max(len(ids) - window, 0)
    share = f"{cut:,} of {counted(size, 'different chunk')} longer than the {window} tokens"
    return share if cut else "", lost
