"""A server with an OpenAI-style chat API: the fields that name it, and requests to it, several at once, in order."""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from ohr import extras
from ohr.contracts import Server, execution
from ohr.errors import MissingKey, PluginError
from ohr.models.allowance import allowance
from ohr.models.chat_client import ChatClient, start_of
from ohr.models.reach import CONNECT, is_here
from ohr.models.tries import Backoff, Policy, Retries

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
    retries: Retries = 4
    backoff: Backoff = 1.0
    requests_per_minute: Annotated[
        int | None, execution("The server's limit, for all that ask its model with this key; waiting is free.", gt=0)
    ] = None
    tokens_per_minute: Annotated[int | None, execution("The same for tokens, of prompts and replies.", gt=0)] = None

    @property
    def patient(self) -> bool:
        """Whether it waits for its turn under a limit per minute."""
        return self.requests_per_minute is not None or self.tokens_per_minute is not None

    def servers(self) -> tuple[Server, ...]:
        """Return the server, whose list of models anybody with the key may read."""
        start = start_of(self.base_url, self.model)
        return (Server(self.base_url, "/models", key_header(self.api_key_env), self.model, start),)

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
        with self.asking(owner, ask) as start:
            waiting: deque[Future[Result]] = deque()
            for item in items:
                waiting.append(start(item))
                if len(waiting) >= _AHEAD * self.concurrency:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    @contextmanager
    def asking(
        self, owner: str, ask: Callable[[ChatClient, Item], Awaitable[Result]]
    ) -> Iterator[Callable[[Item], Future[Result]]]:
        """Open a client; returns what starts a request. Those under way are cancelled at the end, also on Ctrl-C."""
        httpx, anyio = extras.load("httpx", "openai"), extras.load("anyio.from_thread", "openai")
        key = key_of(owner, self.base_url, self.api_key_env)
        with anyio.start_blocking_portal() as portal:
            safe = self.base_url.startswith("https")
            # at each request the pool looks at every idle connection; to open one without TLS costs less than that
            pool = httpx.Limits(max_connections=None, max_keepalive_connections=None if safe else _IDLE)
            limit = httpx.Timeout(None, connect=CONNECT)
            http = httpx.AsyncClient(timeout=limit, limits=pool, verify=safe)  # to read certificates takes 20 ms
            per_minute = (self.requests_per_minute, self.tokens_per_minute)
            policy, limits = Policy(self.retries, self.backoff), allowance(self.base_url, self.model, key, per_minute)
            client = ChatClient(http, self.base_url, self.model, key, self.api_key_env, self.timeout, policy, limits)
            with portal.wrap_async_context_manager(http):
                limit, loop = asyncio.Semaphore(self.concurrency), portal.call(asyncio.get_running_loop)
                tasks = set[asyncio.Task[None]]()  # the loop alone does not keep them

                def begin(item: Item, future: Future[Result]) -> None:
                    task = loop.create_task(_within(limit, lambda: ask(client, item), future))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)

                def start(item: Item) -> Future[Result]:
                    future: Future[Result] = Future()
                    loop.call_soon_threadsafe(begin, item, future)  # the portal's own way waits for the loop
                    return future

                yield start


async def _within(limit: asyncio.Semaphore, ask: Callable[[], Awaitable[Result]], future: Future[Result]) -> None:
    """Pass on the result of a request, or what it raised."""
    try:
        async with limit:
            result = await ask()
    except BaseException as error:
        future.set_exception(error)
        if not isinstance(error, Exception):
            raise
    else:
        future.set_result(result)


def check_key(owner: str, url: str, variable: str | None, field: str = "base_url") -> None:
    """Raise when a key is in the address, or the variable that is to hold it has none that can be one."""
    try:
        address, has_place = urlsplit(url), bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        has_place = False
    if not has_place:
        raise PluginError(f"{owner}: {field} is no address of a server: it has no host, or a port that none has")
    if "@" in address.netloc:
        raise PluginError(f"{owner}: {field} holds a user name or a key; use `api_key_env` instead")
    if address.query or address.fragment:
        raise PluginError(f"{owner}: {field} must end with its path, without `?` or `#`; use `api_key_env` for a key")
    if variable:
        check_variable(owner, variable)


def key_header(
    variable: str | None, name: str = "Authorization", prefix: str = "Bearer "
) -> tuple[tuple[str, str], ...]:
    """Return the header of a `Server` that has the key in an environment variable; none without a variable."""
    return ((name, f"{prefix}${{{variable}}}"),) if variable else ()


def check_variable(owner: str, variable: str) -> None:
    """Raise when a variable that is to hold a key has none that can be one."""
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
        announce(owner, variable, url)
    return key


@cache  # once per process and server
def announce(owner: str, variable: str, url: str) -> None:
    """Warn where a key goes that leaves this machine: the spec that names both may be a stranger's."""
    if not is_here(url):
        _log.warning("%s: sends the key in %s to %s", owner, variable, url)
