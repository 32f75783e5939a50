"""Batches that shrink until they fit into memory."""

import gc
import logging
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

_log = logging.getLogger(__name__)
Item = TypeVar("Item")
Result = TypeVar("Result")

# torch has an error class of its own on GPUs, and only words on CPUs
_SIGNS = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")


def fitting(run: Callable[[int], Result], size: int) -> tuple[Result, int]:
    """Call `run` with a batch size, halved as long as memory runs out; return the result and the size that fitted.

    Raises: what `run` raises; a MemoryError if not even a batch of one fits.
    """
    while True:
        try:
            return run(size), size
        except (MemoryError, RuntimeError) as error:
            if not (isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in _SIGNS)):
                raise
            if size == 1:
                raise MemoryError("out of memory with a batch of 1") from error
        # outside of the handler, whose traceback holds the tensors of the batch that failed
        _log.warning("out of memory with a batch of %d: continuing with %d", size, size // 2)
        size //= 2
        free_unused()


def batch_note(asked: int, fitted: int) -> tuple[str, ...]:
    """Report that a batch did not fit, as an index's warnings; empty if it did."""
    return () if fitted == asked else (f"a batch of {asked} did not fit into memory: {fitted} was used",)


def parts(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Cut a sequence into batches."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def free_unused() -> None:
    """Collect what nothing refers to, and return torch's cached blocks to the GPU."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
