"""Coroutines and streams of a user's class, awaited on one event loop that lives as long as the object."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from inspect import isawaitable
from threading import Lock, Thread
from typing import Any
from weakref import finalize

from ohr.errors import DataError

_LOOK = 0.5
"""Seconds between two looks whether the loop still runs."""


class EventLoop:
    """One loop in a thread of its own: what one coroutine opens, such as a client's session, the others can use.

    It starts with the first coroutine, and ends when nothing refers to the object.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def result(self, given: Any) -> Any:
        """Return what a method came to: a coroutine is awaited, and the pieces of a stream are joined.

        Raises:
            BaseException: what the coroutine raised.
            DataError: a piece of a stream is neither text nor a mapping.
        """
        if isawaitable(given) or isinstance(given, AsyncIterator):
            given, error = self._outcome(given)
            if error is not None:
                raise error
        return _joined(given) if isinstance(given, Iterator) else given

    def _outcome(self, given: Any) -> tuple[Any, BaseException | None]:
        """Wait for a coroutine; one that ends the loop, or all of its tasks, leaves the others without an end."""
        coroutine = _ended(given)
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
        except RuntimeError:  # the loop is closed
            raise _gone(coroutine, given) from None
        while True:
            try:
                return future.result(_LOOK)
            except TimeoutError:
                if future.done() or not (self._thread and self._thread.is_alive()):
                    raise _gone(coroutine, given) from None
            except CancelledError:
                raise DataError("the coroutine was cancelled") from None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                ready = Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]()
                self._thread = Thread(target=_run, args=(ready,), daemon=True)
                self._thread.start()
                self._loop, end = ready.result()
                finalize(self, _stop, self._loop, end).atexit = False
            return self._loop


def _run(ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    with suppress(BaseException):  # a coroutine may end the loop: the questions say so
        asyncio.run(_serve(ready))


def _stop(loop: asyncio.AbstractEventLoop, end: asyncio.Event) -> None:
    with suppress(RuntimeError):  # it is closed
        loop.call_soon_threadsafe(end.set)


def _gone(*coroutines: Any) -> DataError:
    """Return the fault of a loop that was ended, and close the coroutines that it did not run."""
    for each in coroutines:
        if isinstance(each, Coroutine):
            with suppress(RuntimeError, ValueError):  # it has begun
                each.close()
    return DataError("the event loop of the class was ended by a coroutine of its own")


async def _serve(ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    end = asyncio.Event()
    ready.set_result((asyncio.get_running_loop(), end))
    await end.wait()


async def _ended(given: Any) -> tuple[Any, BaseException | None]:
    """Return a result or what was raised: SystemExit would end the loop, and all questions with it."""
    try:
        if isawaitable(given):
            given = await given
        if isinstance(given, AsyncIterator):
            given = iter([piece async for piece in given])
        return given, None
    except BaseException as error:
        return None, error


def _joined(pieces: Iterator[Any]) -> Any:
    """Join the texts of a stream to an answer; a mapping among them brings contexts and whatever else a reply has."""
    texts, rest = list[str](), dict[str, Any]()
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
        elif isinstance(piece, Mapping):
            rest |= piece
        else:
            raise DataError(f"a stream yielded {type(piece).__name__}: it must yield text, and perhaps a mapping")
    return {"answer": "".join(texts), **rest} if rest else "".join(texts)
