"""The base of ohr's HTTP servers: they answer this machine only, unless a token protects them, and end with Ctrl-C.

Every request takes one way: its head within a time limit, whether it is admitted, its body, what is at its address.
"""

import errno
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from socket import SHUT_WR, socket
from threading import active_count
from time import monotonic
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit, urlunsplit

from ohr.errors import DataError, OhrError, Terminated
from ohr.files.json_input import parse_json, whole_number
from ohr.messages.blame import fault_of
from ohr.messages.variables import hidden
from ohr.messages.wording import quoted
from ohr.registry import choices

_LONGEST = 1_000
"""Characters of a reason that are sent."""


class Refusal(Exception):
    """A request that is not served.

    Args:
        number: the error code of the knowledge API, where it names one; else the status.
        code: that of the chat API, where it names one.
        headers: that its answer has besides.
    """

    def __init__(
        self,
        status: HTTPStatus,
        message: str,
        number: int = 0,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message[:_LONGEST])
        self.status, self.number, self.code, self.headers = status, number or int(status), code, headers or {}

    @classmethod
    def of(cls, error: BaseException, status: HTTPStatus = HTTPStatus.INTERNAL_SERVER_ERROR) -> "Refusal":
        """Return the answer to a fault, without secrets; `status` is that of an OhrError."""
        if isinstance(error, cls):
            return error
        status = status if isinstance(error, OhrError) else HTTPStatus.INTERNAL_SERVER_ERROR
        return cls(status, hidden(fault_of(error)))


class Parameters(dict[str, str]):
    """Parameters of an address; each method refuses a value that is not allowed, and says which are."""

    def number(self, name: str, least: int, most: int | None = None, default: int | None = None) -> int:
        """Return a whole number from `least` to `most`."""
        number = default if name not in self else whole_number(self[name])
        if number is None or number < least or (most is not None and number > most):
            allowed = f"of at least {least}" if most is None else f"from {least} to {most:,}"
            raise self._wrong(name, f"It must be a whole number {allowed}.")
        return number

    def word(self, name: str, allowed: Sequence[str], default: str = "") -> str:
        """Return one of some words."""
        if (given := self.get(name, default)) not in allowed:
            raise self._wrong(name, choices(given, [word for word in allowed if word]))
        return given

    def _wrong(self, name: str, allowed: str) -> Refusal:
        given = f"got {quoted(self[name])}" if name in self else "is missing"
        return Refusal(HTTPStatus.BAD_REQUEST, f"{name}: {given}. {allowed}")


def json_of(body: bytes) -> Any:
    """Read the JSON of a request.

    Raises:
        Refusal: it is none.
    """
    try:
        return parse_json(body)
    except ValueError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"the request is not JSON: {error}") from None


LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine for itself."""

_NAMES = "|".join(re.escape(f"[{name}]" if ":" in name else name) for name in LOOPBACK)
_OWN = re.compile(rf"({_NAMES})(:[0-9]{{1,5}})?", re.IGNORECASE | re.ASCII)
_LINE = 1 << 16
"""Bytes of the first line of a request."""
_LARGEST = 1 << 20
"""Bytes of a request that is read; a conversation of a day has less."""
_DROPPED = 64 << 20
"""Bytes that are dropped after the answer."""

_log = logging.getLogger(__name__)

Verbs = Mapping[str, Callable[[bytes], None]]
"""Functions that answer a request, by its verb; each takes the request's body."""


class _Gone(Exception):
    """The client has gone, or is too slow: nobody waits for an answer."""


class Handler(BaseHTTPRequestHandler):
    """Answers the request of a connection. A server's own class says what is at its addresses, and who may ask."""

    server_version = "ohr"
    sys_version = ""
    default_request_version = "HTTP/1.0"  # so that the refusal of half a line has a status, too
    timeout: ClassVar[float] = 60
    """Seconds in which a whole request must come, and in which a client must take each part of the answer."""
    linger: float = 2
    """Seconds after the answer in which a client may still be sending."""
    on_data_error = HTTPStatus.INTERNAL_SERVER_ERROR
    """Status of an OhrError."""

    requestline = request_version = command = path = address = host = ""
    headers = Message()
    values = Parameters()

    def routes(self) -> Verbs:
        """Return what answers at `self.address`.

        Raises:
            Refusal: there is nothing.
        """
        raise NotImplementedError

    def admit(self) -> None:
        """Refuse who may not ask: under another name than this machine's, a page of somebody else asks, by its name.

        Raises:
            Refusal: always the same, whatever is at the address.
        """
        if not _OWN.fullmatch(self.host):
            raise Refusal(HTTPStatus.FORBIDDEN, "this address is for this machine only")

    def refuse(self, refusal: Refusal) -> None:
        """Send the reason why a request is not served."""
        self.send(refusal.status, "text/plain; charset=utf-8", str(refusal).encode("utf-8", "replace"), refusal.headers)

    def setup(self) -> None:
        """Begin to read; the time limit is that of all that comes, so that a byte now and then does not extend it."""
        super().setup()
        self.rfile.close()
        self._arriving = _Arriving(self.connection, monotonic() + self.timeout)
        self.rfile = BufferedReader(self._arriving)

    def handle_one_request(self) -> None:
        """Answer a request, whatever goes wrong."""
        with suppress(_Gone):
            try:
                self._answer()
            except _Gone:
                raise
            except (Exception, SystemExit) as error:  # plugins may raise anything
                _log.debug("%s", self.requestline, exc_info=True)
                self.refuse(Refusal.of(error, self.on_data_error))

    def finish(self) -> None:
        """Close the connection; one that is cut off while it sends sees no answer, so what comes now is dropped."""
        with suppress(OSError, _Gone):
            self.connection.shutdown(SHUT_WR)
            self._arriving.end = min(self._arriving.end, monotonic() + self.linger)
            left = _DROPPED
            while left > 0 and (part := self.rfile.read1(_LINE)):
                left -= len(part)
        super().finish()

    def _answer(self) -> None:
        self.raw_requestline = self.rfile.readline(_LINE + 1)
        if not self.raw_requestline:
            raise _Gone
        if len(self.raw_requestline) > _LINE:
            raise Refusal(HTTPStatus.REQUEST_URI_TOO_LONG, f"the address has more than {_LINE:,} bytes")
        if not self.raw_requestline.decode("latin-1").split():
            raise Refusal(HTTPStatus.BAD_REQUEST, "the first line of the request is empty")
        if not self.parse_request():
            return  # `send_error` has said why
        self._read_address()
        self.admit()
        body = self._body() if self.command == "POST" else b""
        verbs = self.routes()
        verb = "GET" if self.command == "HEAD" else self.command
        if verb not in verbs:
            allowed = ", ".join(verbs).replace("GET", "GET, HEAD")
            message = f"{self.command[:20]} is not answered at this address, only {allowed}"
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, message, headers={"Allow": allowed})
        verbs[verb](body)

    def _read_address(self) -> None:
        """Take the address apart; one in the absolute form, as proxies send it, names the host itself."""
        hosts, target = self.headers.get_all("Host", []), self.path
        self.host = hosts[0].strip(" \t") if len(hosts) == 1 else ""
        if not target.startswith("/"):
            try:
                parts = urlsplit(target)
            except ValueError:
                parts = urlsplit("")
            if parts.scheme not in ("http", "https") or not parts.netloc:
                raise Refusal(HTTPStatus.BAD_REQUEST, f"this is no address: {quoted(target)}")
            self.host, target = parts.netloc, urlunsplit(("", "", parts.path or "/", parts.query, ""))
        self.address, _, query = target.partition("?")
        given = parse_qs(query, keep_blank_values=True)
        self.values = Parameters({name: values[-1] for name, values in given.items()})

    def _body(self) -> bytes:
        lengths = set(self.headers.get_all("Content-Length", []))
        length = whole_number(lengths.pop()) if len(lengths) == 1 else None
        if length is None:
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "the request must have a Content-Length")
        if length > _LARGEST:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request has more than {_LARGEST:,} bytes")
        body = self.rfile.read(length)
        if len(body) < length:
            raise Refusal(HTTPStatus.BAD_REQUEST, f"the request has {len(body):,} of {length:,} bytes")
        return body

    def send(self, status: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Send an answer of a media type."""
        self.begin(status, {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})})
        if self.command != "HEAD":
            self.write(body)

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer, whose body may follow in parts; the end of the connection is its end."""
        self.send_response(status)
        own = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        for name, value in {**headers, **own}.items():
            self.send_header(name, value)
        self.connection.settimeout(self.timeout)
        with _noticed():
            self.end_headers()

    def write(self, part: bytes) -> None:
        """Send a part of an answer's body; a client has the time limit for each piece of it."""
        with _noticed():
            for start in range(0, len(part), _LINE):
                self.wfile.write(part[start : start + _LINE])

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Refuse what is no request."""
        self.refuse(Refusal(HTTPStatus(code), message or HTTPStatus(code).phrase))

    def log_message(self, format: str, *args: Any) -> None:
        """Log a request, at the level of details."""
        _log.debug(format, *args)


class _Arriving(RawIOBase):
    """Bytes that a client sends until a point in time, `end`, of the monotonic clock; later it counts as gone."""

    def __init__(self, connection: socket, end: float) -> None:
        self._connection, self.end = connection, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.end - monotonic()
        if left <= 0:
            raise _Gone
        self._connection.settimeout(left)
        with _noticed():
            return self._connection.recv_into(buffer)


@contextmanager
def _noticed() -> Iterator[None]:
    """Raise _Gone for faults of a client's connection: those of servers that it needs look the same."""
    try:
        yield
    except OSError:
        raise _Gone from None


class Server(ThreadingHTTPServer):
    """A server with a thread for each connection."""

    request_queue_size = 128  # a page opens many connections at once, and those beyond the queue are refused
    most = 2_000
    """Threads of the process; further connections are refused, as each thread takes memory."""

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        """Report whether there is room for a connection, and refuse one that there is none for."""
        if active_count() <= self.most:
            return True
        with suppress(OSError):
            request.sendall(b"HTTP/1.0 503 Too many connections\r\nContent-Length: 0\r\nRetry-After: 5\r\n\r\n")
        return False

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Log what went wrong outside of an answer, at the level of details."""
        _log.debug("connection", exc_info=True)


def open_server(handler: type[Handler], port: int, host: str = LOOPBACK[0]) -> Server:
    """Open a server; the port 0 takes a free one.

    Raises:
        DataError: the port is taken, or the address is not one of this machine.
    """
    try:
        return Server((host, port), handler)
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            why = "is taken" if error.errno == errno.EADDRINUSE else "is reserved"
            raise DataError(f"port {port} {why}: choose another with --port, or 0 for a free one") from None
        raise DataError(f"--host {host} is no address of this machine: {error.strerror}") from None


def serve_until_interrupted(server: Server) -> None:
    """Answer until Ctrl-C, after which the command continues; a SIGTERM ends the command, too."""
    try:
        server.serve_forever()
    except Terminated:
        raise
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
