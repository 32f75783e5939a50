"""The models that this process holds in memory, until when, and batches that shrink until they fit beside them."""

import gc
import logging
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import Any, TypeVar

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


Model = TypeVar("Model")

_lock = RLock()
_models: dict[Hashable, tuple[Any, Callable[[Any], None] | None]] = {}
_unscoped: list[Hashable] = []
_scope: ContextVar[list[Hashable]] = ContextVar("scope", default=_unscoped)  # each thread has its own scopes


def resident(key: Hashable, load: Callable[[], Model], close: Callable[[Model], None] | None = None) -> Model:
    """Return a model from memory, or load it.

    Inside `holding()` the model stays until the scope ends. Outside of any scope one model stays at most: it is dropped
    before another one is loaded, since a GPU seldom has room for two.

    Args:
        key: whatever decides what is loaded; by convention it begins with the plugin's kind.
        load: makes the model. Whoever keeps the result beyond the scope keeps it in memory.
        close: frees what the garbage collector does not, such as the processes of an engine.
    """
    with _lock:
        scope = _scope.get()
        if key not in _models:
            _drop(_unscoped)
            _models[key] = load(), close
            scope.append(key)
        elif key in _unscoped and scope is not _unscoped:
            _unscoped.remove(key)
            scope.append(key)
        model: Model = _models[key][0]
        return model


@contextmanager
def holding() -> Iterator[None]:
    """Keep every model that is loaded inside, and free those models at the end.

    Scopes nest: each one frees what was loaded in it. A thread sees the scopes that it opened itself.
    """
    outer, scope = _scope.get(), list[Hashable]()
    _scope.set(scope)
    try:
        yield
    finally:
        _scope.set(outer)
        with _lock:
            _drop(scope)


def in_memory() -> tuple[Hashable, ...]:
    """Return the keys of the models in memory, in the order in which they were loaded."""
    return tuple(_models)


def release(key: Hashable) -> None:
    """Free one model before its scope ends."""
    with _lock:
        for scope in (_scope.get(), _unscoped):
            if key in scope:
                scope.remove(key)
                _drop([key])
                return


def _drop(keys: list[Hashable]) -> None:
    if not keys:
        return
    while keys:
        _close(*_models.pop(keys.pop()))
    free_unused()


def _close(model: Any, close: Callable[[Any], None] | None) -> None:
    if close is None:
        return
    try:
        close(model)
    except Exception as error:  # an engine that does not shut down must not fail the stage that follows
        _log.warning("a model did not close: %s: %s", type(error).__name__, str(error))
