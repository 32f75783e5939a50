"""Batches that shrink until they fit into memory."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_SIGNS = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")


def fitting(run: Callable[[int], Result], size: int) -> tuple[Result, int]:
    """Call `run` with a batch size, halved as long as memory runs out; gives the result and the size that fitted.

    Raises: what `run` raises, when a batch of one does not fit either.
    """
    while True:
        try:
            return run(size), size
        except (MemoryError, RuntimeError) as error:  # torch's own error is a RuntimeError
            if size == 1 or not _is_memory(error):
                raise
        size //= 2
        _release()


def told(asked: int, fitted: int) -> tuple[str, ...]:
    """Say that a batch did not fit."""
    return () if fitted == asked else (f"a batch of {asked} did not fit into memory: {fitted} was used",)


def parts(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Cut a sequence into batches."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def _is_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in _SIGNS)


def _release() -> None:
    """Give cached blocks back to the GPU, so that the smaller batch finds room."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
