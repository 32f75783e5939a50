"""What local models share: prompts that fit their window, replies that end in time, batches that fit memory."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from ohr.contracts import Completion, Prompt
from ohr.errors import PluginError

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Tokenizer(Protocol):
    """As much of a transformers tokenizer as is needed here."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Give the tokens of a text."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Give the text of tokens."""
        ...


def check_room(told: str, context: int | None, longest: int) -> None:
    """Raise when a window has no room for a prompt beside the longest reply."""
    if context is not None and context <= longest:
        raise PluginError(f"{told}: context {context} leaves no room for a prompt beside a reply of {longest} tokens")


def fitted(
    prompt: Prompt, room: int, tokenizer: Tokenizer, lay_out: Callable[[str], list[int]]
) -> tuple[list[int], bool]:
    """Lay a prompt out in at most `room` tokens, and tell whether its documents lost their end for that.

    Args:
        prompt: whose user's message holds its passages, joined by blank lines.
        lay_out: gives the tokens of the whole prompt with this user's message.
    """
    ids = lay_out(prompt.user)
    if len(ids) <= room:
        return ids, False
    documents = "\n\n".join(prompt.passages)
    if not documents or documents not in prompt.user:
        documents = prompt.user
    before, _, after = prompt.user.partition(documents)
    kept = tokenizer.encode(documents, add_special_tokens=False)
    while len(ids) > room and kept:
        kept = kept[: max(len(kept) - (len(ids) - room), 0)]
        ids = lay_out(before + tokenizer.decode(kept) + after)
    return ids[-room:], True


def ended(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """Cut a reply before the first of its stop texts, and tell whether there was one."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def in_batches(
    items: Sequence[T], size: int, run: Callable[[Sequence[T]], Sequence[Completion]]
) -> Iterator[Completion]:
    """Answer items a batch at a time; where memory is too small the batch is halved, and one alone fails."""
    start = 0
    while start < len(items):
        batch = items[start : start + size]
        try:
            done = run(batch)
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
            if len(batch) == 1:
                done = [Completion("", finish="error", error="out of memory with one prompt alone")]
            else:
                size = len(batch) // 2
                _log.warning("out of memory with %d prompts at once: going on with %d", len(batch), size)
                continue
        yield from done
        start += len(batch)


def _is_out_of_memory(error: BaseException) -> bool:
    """Tell a full memory from other faults; torch has a class of its own on GPUs, and only words on CPUs."""
    words = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, MemoryError) or any(part in str(error).lower() for part in words)
