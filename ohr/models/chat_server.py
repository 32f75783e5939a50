"""A server with an OpenAI-style chat API: the fields that name it, and requests to it, several at once, in order."""

import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from functools import cache, partial
from ipaddress import ip_address
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from ohr import extras
from ohr.contracts import execution
from ohr.errors import MissingKey, PluginError
from ohr.models.chat_client import ChatClient

_log = logging.getLogger(__name__)
_AHEAD = 16
"""Items handed out per request under way: results come in order, and a slow one must not hold up the others."""
_IDLE = 8
"""Idle connections that are kept to a server without TLS: with 64, half of the time of a request goes into them."""
Item = TypeVar("Item")
Result = TypeVar("Result")


class ChatServer(BaseModel):
    """The fields of a plugin that asks a server."""

    base_url: Annotated[
        str, Field(pattern=r"^https?://", description="The API's root, such as http://localhost:8000/v1.")
    ]
    model: Annotated[str, Field(description="The model's name on the server.")]
    api_key_env: Annotated[str | None, execution("Environment variable that holds the key.")] = None
    concurrency: Annotated[int, execution("Requests under way at once.", gt=0)] = 8
    timeout: Annotated[float, execution("Seconds for one whole reply.", gt=0)] = 120.0
    retries: Annotated[int, execution("Further tries of a failing request.", ge=0)] = 4
    backoff: Annotated[float, execution("Seconds before the first further try; doubled each time.", ge=0)] = 1.0

    def check_server(self, owner: str) -> None:
        """Raise when a library or the key is missing, or when the key cannot be one; asks the server nothing.

        Args:
            owner: the beginning of messages, such as `generator openai`.
        """
        extras.require("httpx", "openai")
        check_key(owner, self.base_url, self.api_key_env)

    def in_order(
        self, owner: str, items: Sequence[Item], ask: Callable[[ChatClient, Item], Awaitable[Result]]
    ) -> Iterator[Result]:
        """Ask about each item, `concurrency` at once; results come in the order of the items."""
        if not items:
            return
        with self._asking(owner, ask) as start:
            waiting: deque[Future[Result]] = deque()
            for item in items:
                waiting.append(start(item))
                if len(waiting) >= _AHEAD * self.concurrency:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def as_done(
        self, owner: str, items: Sequence[Item], ask: Callable[[ChatClient, Item], Awaitable[Result]]
    ) -> Iterator[tuple[int, Result]]:
        """Ask about each item, `concurrency` at once; yields the place of an item with its result, as they come."""
        if not items:
            return
        with self._asking(owner, ask) as start:
            waiting: dict[Future[Result], int] = {}
            for place, item in enumerate(items):
                waiting[start(item)] = place
                if len(waiting) >= _AHEAD * self.concurrency:
                    yield from _done(waiting)
            while waiting:
                yield from _done(waiting)

    @contextmanager
    def _asking(
        self, owner: str, ask: Callable[[ChatClient, Item], Awaitable[Result]]
    ) -> Iterator[Callable[[Item], Future[Result]]]:
        """Open a client; returns what starts a request. Those under way are cancelled at the end, also on Ctrl-C."""
        httpx, anyio = extras.load("httpx", "openai"), extras.load("anyio.from_thread", "openai")
        key = key_of(owner, self.base_url, self.api_key_env)
        with anyio.start_blocking_portal() as portal:
            safe = self.base_url.startswith("https")
            # at each request the pool looks at every idle connection; to open one without TLS costs less than that
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None if safe else _IDLE)
            http = httpx.AsyncClient(timeout=None, limits=limits, verify=safe)  # to read certificates takes 20 ms
            settings = (self.timeout, self.retries, self.backoff)
            client = ChatClient(http, self.base_url, self.model, key, self.api_key_env, *settings)
            with portal.wrap_async_context_manager(http):
                limit = portal.call(partial(extras.load("anyio", "openai").CapacityLimiter, self.concurrency))
                yield partial(portal.start_task_soon, _within, limit, ask, client)


def _done(waiting: dict[Future[Result], int]) -> Iterator[tuple[int, Result]]:
    """Wait until some results are there, and take them."""
    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        yield waiting.pop(future), future.result()


async def _within(
    limit: Any, ask: Callable[[ChatClient, Item], Awaitable[Result]], client: ChatClient, item: Item
) -> Result:
    async with limit:
        return await ask(client, item)


def check_key(owner: str, url: str, variable: str | None) -> None:
    """Raise when a key is in the address, or the variable that is to hold it has none that can be one."""
    address = urlsplit(url)
    if "@" in address.netloc:
        raise PluginError(f"{owner}: base_url holds a user name or a key; use `api_key_env` instead")
    if address.query or address.fragment:
        raise PluginError(f"{owner}: base_url must end with its path, without `?` or `#`; use `api_key_env` for a key")
    if not variable:
        return
    key = os.environ.get(variable, "")
    if not key:
        raise MissingKey(f"{owner}: environment variable {variable} is not set")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise PluginError(
            f"{owner}: environment variable {variable} has a space, a line end, or another character that cannot be "
            "part of a key"
        )


def key_of(owner: str, url: str, variable: str | None) -> str:
    """Return the key in an environment variable; warns once where it leaves this machine."""
    key = os.environ.get(variable, "") if variable else ""
    if variable and key:
        _announce(owner, variable, url)
    return key


@cache  # once per process and server
def _announce(owner: str, variable: str, url: str) -> None:
    """Warn where a key goes that leaves this machine: the spec that names both may be a stranger's."""
    host = urlsplit(url).hostname or url
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name
        is_here = False
    if not is_here:
        _log.warning("%s: sends the key in %s to %s", owner, variable, url)
