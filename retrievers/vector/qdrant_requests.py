"""Requests to a Qdrant server, or to the engine that its client embeds: tried again, and faults in ohr's words."""

import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

from ohr import extras
from ohr.errors import PluginError
from ohr.messages.wording import shortened
from ohr.models.tries import Failure, Tries, noted, refused

_OLDEST = (1, 10)
"""The first version of a server that answers the requests sent here (Qdrant 1.10, July 2024: the query API)."""
_LONGEST_WRITE = 2.0
"""Seconds in which another process that uses a folder writes one of its files; a file damaged for longer stays so."""
_LONGEST_REASON = 200
"""Characters of a reason that is not ohr's own."""


class CollectionGone(Exception):
    """There is no collection of that name."""


class _Reply(NamedTuple):
    """An answer, as `Tries` reads one."""

    status_code: int
    headers: Mapping[str, str] = {}
    text: str = ""
    value: Any = None


@dataclass(frozen=True)
class Requests:
    """A server, or the embedded engine.

    Args:
        owner: the beginning of messages.
        client: a QdrantClient.
        tries: how requests are tried; their `place` is the address or folder.
        timeout: seconds for one request.
        embedded: it is the client's own engine, which compares all vectors and needs no requests.
    """

    owner: str
    client: Any
    tries: Tries
    timeout: float
    embedded: bool

    def check_version(self) -> tuple[str, ...]:
        """Raise unless a server of a fitting version answers; returns a warning where Qdrant promises nothing."""
        info = self.ask(lambda: self.client.info())
        own, other = (_version(text) for text in (_client_version(), info.version))
        if "qdrant" not in info.title.lower() or not any(other):
            raise PluginError(
                f"{self.owner}: {self.tries.place} is not a Qdrant server: it calls itself {info.title!r}"
            )
        if other < _OLDEST or other[0] != own[0]:
            raise PluginError(
                f"{self.owner}: {self.tries.place} is Qdrant {info.version}, and the client {_client_version()} needs "
                f"a version from {_OLDEST[0]}.{_OLDEST[1]} below {own[0] + 1}"
            )
        if abs(other[1] - own[1]) <= 1:
            return ()
        return (
            f"the server is Qdrant {info.version} and the client {_client_version()}: Qdrant promises that they fit "
            "together only where they are one minor version apart",
        )

    def ask(self, request: Callable[[], Any]) -> Any:
        """Return the answer to a request, which is tried again as long as that may help.

        Raises:
            CollectionGone: the collection is not there.
            PluginError: there is no answer, or one that is not of Qdrant.
        """
        known = refused(*self.tries.asked)
        if known:  # unreachable several times in a row: each question would wait for all tries
            raise PluginError(f"{self.owner}: {known}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the embedded engine warns of its size, and of what it leaves out
                end = monotonic() + self.timeout * (self.tries.retries + 1)
                return self.tries.sent(lambda: self._sent(request), end).value
        except Failure as failure:
            reason = noted(*self.tries.asked, str(failure), refusal=True)
            raise PluginError(f"{self.owner}: {reason.rstrip('.')}{_hint(reason)}") from None

    def _sent(self, request: Callable[[], Any]) -> _Reply:
        """Translate what the client returns or raises."""
        errors = extras.load("qdrant_client.http.exceptions", "qdrant")
        limits = extras.load("qdrant_client.common.client_exceptions", "qdrant")
        httpx = extras.load("httpx", "qdrant")
        try:
            return _Reply(200, value=request())
        except errors.UnexpectedResponse as error:
            text = error.content.decode("utf-8", "replace")
            if error.status_code == 404 and "collection" in text.lower() and text.lstrip().startswith("{"):
                raise CollectionGone from None
            return _Reply(error.status_code or 500, error.headers, text)
        except limits.ResourceExhaustedResponse as error:
            return _Reply(429, {"retry-after": str(error.retry_after_s)}, str(error))
        except errors.ResponseHandlingException as error:
            if isinstance(error.source, httpx.RequestError):
                raise error.source from None
            raise self._unlike(error) from None
        except (AssertionError, RecursionError, TypeError, ValueError, sqlite3.Error) as error:
            # no result, JSON of a thousand lists, broken JSON or UTF-8; or a folder that cannot be written
            if self.embedded and isinstance(error, ValueError) and "not found" in str(error):
                raise CollectionGone from None
            raise self._unlike(error) from None

    def _unlike(self, error: Exception) -> Failure:
        """Return the failure of an answer that is none of Qdrant's, or of the embedded engine."""
        if self.embedded:
            return Failure(f"cannot use {self.tries.place}: {shortened(str(error), _LONGEST_REASON)}")
        return Failure(f"{self.tries.place} does not answer as Qdrant does")


def _hint(reason: str) -> str:
    """Return what helps, where that is known."""
    if "answered 401" in reason or "answered 403" in reason:
        return "; is `api_key_env` the variable with the key?"
    return "; `path` in place of `url` needs no server" if reason.startswith("cannot reach") else ""


def _version(text: str) -> tuple[int, int]:
    """Read the first two numbers of a version; zeros where it has none."""
    numbers = list(islice((int(part) for part in text.split(".") if part.isdigit()), 2))
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def _client_version() -> str:
    from importlib.metadata import version

    return version("qdrant-client")


@contextmanager
def opened(owner: str, path: Path, timeout: float) -> Iterator[Any]:
    """Open the embedded engine; its folder belongs to one process at a time, and the others wait.

    Raises:
        PluginError: the folder is in use, cannot be written, or is damaged.
    """
    start = monotonic()
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                client = extras.load("qdrant_client", "qdrant").QdrantClient(path=str(path.expanduser()))
            break
        except OSError as error:
            raise PluginError(f"{owner}: cannot use the folder {path}: {error.strerror or error}") from None
        except Exception as error:  # damaged files raise whatever their readers do
            in_use = isinstance(error, RuntimeError) and "already accessed" in str(error)
            waited = monotonic() - start
            if in_use and waited > timeout:
                raise PluginError(f"{owner}: another process uses the folder {path} for {timeout:g} s") from None
            if not in_use and waited > min(timeout, _LONGEST_WRITE):
                reason = shortened(f"{type(error).__name__}: {error}", _LONGEST_REASON)
                raise PluginError(
                    f"{owner}: the folder {path} is damaged, or no folder of Qdrant's embedded engine ({reason}): name "
                    "another one, or remove it; ohr fills it again from its store"
                ) from None
            sleep(0.1)
    try:
        yield client
    finally:
        client.close()
