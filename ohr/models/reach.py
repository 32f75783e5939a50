"""Whether servers can be reached: looked at before the work begins, and remembered where one cannot.

A server that was never met and does not take the connection will not take the next one either: all that need it fail at
once, for a minute. One that has answered before may be starting again, so its requests are tried as often as they say.
"""

import os
import socket
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from ipaddress import ip_address
from threading import Thread
from time import monotonic
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ohr import extras
from ohr.contracts import Server, Stage
from ohr.contracts.stage import within
from ohr.messages.variables import fill, hidden
from ohr.models.given_up import ask_again, give_up, given_up

CONNECT = 10.0
"""Seconds in which a server must take a connection: one that is busy takes it, and lets the request wait."""
_LOOK = 3.0
"""The same before the work begins, when nothing is busy yet."""
_CLOSES = 0.3
"""Seconds in which a port without a program behind it closes a connection."""
_KEY_REFUSED = (401, 403)
_NO_GET = 501
"""Status code of a server that takes other requests than the one that was sent."""
_PORTS = {8700: "python -m ohr.examples.service", 11434: "ollama serve", 6333: "qdrant"}
"""Commands of servers that are known by their usual port."""
_met: set[str] = set()
"""Servers that have answered this process."""


def origin(url: str) -> str:
    """Return scheme, host and port of an address, without the user and password that it may hold."""
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}"


def port_of(url: str) -> int:
    """Return the port of an address, 0 where its scheme has none or it is no number."""
    address = urlsplit(url)
    try:
        return address.port or {"http": 80, "https": 443}.get(address.scheme, 0)
    except ValueError:
        return 0


def is_here(url: str) -> bool:
    """Report whether an address is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def met(url: str) -> None:
    """Note that a server has answered, whatever it said."""
    place = origin(url)
    _met.add(place)
    ask_again(place)


def has_met(url: str) -> bool:
    """Report whether a server has answered this process before."""
    return origin(url) in _met


def lose(url: str, why: str, start: str = "") -> str:
    """Note that a server cannot be reached, and return that in words.

    Args:
        why: what the connection failed with.
        start: a command that starts such a server.
    """
    reason = unreachable(url, why, start)
    give_up(origin(url), reason)
    return reason


def lost(url: str) -> str:
    """Return why a server is not tried: it could not be reached a while ago; "" where it is tried."""
    return given_up(origin(url))


def drops(error: BaseException) -> bool:
    """Report whether a server has dropped the connection before it said anything, by an error of httpx."""
    return type(error).__name__ in ("ReadError", "RemoteProtocolError", "WriteError")


def word_for(error: BaseException) -> str:
    """Return what an error without words is about."""
    return "the connection was dropped" if drops(error) else type(error).__name__


def cause(error: BaseException) -> str:
    """Return what the system says of a connection that failed; libraries wrap it, some in words of their own."""
    if type(error).__name__ == "ConnectTimeout":  # with TLS its own words are about a read
        return f"no connection within {CONNECT:g} s"
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, ConnectionError) and inner.errno:  # asyncio writes what it called in place of the reason
            return os.strerror(inner.errno)
        if isinstance(inner, OSError) and inner.strerror:
            return inner.strerror
        inner = inner.exceptions[0] if isinstance(inner, BaseExceptionGroup) else inner.__cause__ or inner.__context__
    return str(error) or type(error).__name__


def unreachable(url: str, why: str, start: str = "") -> str:
    """Return in words that a server cannot be reached, and how it is started where it would be on this machine."""
    command = _PORTS.get(port_of(url)) or start
    is_plain = is_here(url) and url.startswith("http:")
    hint = f"; start it, for example with `{command}`" if command and is_plain else ""
    return f"cannot reach {origin(url)}: {why}{hint}"


def servers_of(stages: Iterable[Stage]) -> tuple[Server, ...]:
    """Return the servers that stages, and the stages in their fields, ask: one for each address and model."""
    known: dict[tuple[str, str], Server] = {}
    for server in (server for stage in stages for part in within(stage) for server in part.servers()):
        known.setdefault((origin(server.url), server.model), server)
    return tuple(known.values())


def without_connection(servers: Iterable[Server]) -> list[str]:
    """Open a connection to each server, all at once, send nothing, and say which do not take one within 3 s.

    Those behind a proxy are left out: nobody but the proxy knows.
    """
    from urllib.request import getproxies, proxy_bypass

    reasons: dict[str, str] = {}
    threads = []
    for server in servers:
        address = urlsplit(server.url)
        if origin(server.url) in reasons:
            continue
        if {address.scheme, "all"} & getproxies().keys() and not proxy_bypass(address.hostname or ""):
            continue
        reasons[origin(server.url)] = unreachable(server.url, f"no connection within {_LOOK:g} s", server.start)
        threads.append(Thread(target=_connect, args=(server, reasons), daemon=True))  # names may be looked up for long
        threads[-1].start()
    end = monotonic() + _LOOK
    for thread in threads:
        thread.join(max(end - monotonic(), 0))
    return list(reasons.copy().values())


def _connect(server: Server, reasons: dict[str, str]) -> None:
    address = urlsplit(server.url)
    try:
        with socket.create_connection((address.hostname or "", port_of(server.url)), _LOOK) as connection:
            _listen(connection, address)
    except TimeoutError:
        return  # the reason is there
    except (OSError, UnicodeError) as error:  # of a name that is none
        reasons[origin(server.url)] = unreachable(server.url, cause(error), server.start)
    else:
        del reasons[origin(server.url)]


def _listen(connection: socket.socket, address: SplitResult) -> None:
    """Look whether a server that has taken a connection keeps it, and begins with TLS where it should.

    Raises:
        OSError: it does not.
    """
    if address.scheme == "https":
        import ssl

        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # whom to trust, the requests decide
        context.wrap_socket(connection, server_hostname=address.hostname).close()
        return
    connection.settimeout(_CLOSES)
    with suppress(TimeoutError):  # it waits for a request
        if not connection.recv(1):
            raise ConnectionResetError("it takes connections and closes them, as a port without a program behind it")


def faults_of_servers(servers: Sequence[Server]) -> list[str]:
    """Send each server one request that costs and changes nothing, all at once; returns what is wrong."""
    if not servers:
        return []
    with ThreadPoolExecutor(len(servers)) as pool:
        return list(filter(None, pool.map(_fault_of, servers)))


def _fault_of(server: Server) -> str:
    httpx = extras.load("httpx", "openai")
    headers = {name: fill(value) for name, value in server.headers}
    try:
        reply: Any = httpx.get(f"{server.url.rstrip('/')}{server.path}", headers=headers, timeout=_LOOK)
    except httpx.HTTPError as error:
        return unreachable(server.url, hidden(cause(error)), server.start)
    if server.path and reply.status_code in _KEY_REFUSED:
        return f"{origin(server.url)} answered {reply.status_code}: it needs a key, or refuses the one that was sent"
    if reply.status_code >= 500 and reply.status_code != _NO_GET:
        return f"{origin(server.url)} answered {reply.status_code}"
    return _without_model(server, reply) if server.model else ""


def _without_model(server: Server, reply: Any) -> str:
    """Return in words that a server's list of models lacks the one that is asked for; "" where nothing is known."""
    try:
        names = [str(entry["id"]) for entry in reply.json()["data"]]
    except (ValueError, KeyError, TypeError):  # no list: not every server has one
        return ""
    if server.model in names or not names:
        return ""
    return f"{origin(server.url)} lists no model {server.model!r}, only {', '.join(names[:5])}"
