"""HTTP servers of ohr's commands: they answer this machine only, unless a token protects them, and end with Ctrl-C."""

import errno
import logging
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ohr.errors import DataError, Terminated
from ohr.files.json_input import whole_number

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine for itself."""

_LARGEST = 1 << 20
"""Bytes of a request that is read; a conversation of a day has less."""
_SWALLOWED = 64 << 20
"""Bytes of a request that is refused: a client that is cut off while it sends sees no answer."""

_log = logging.getLogger(__name__)


class Refusal(Exception):
    """A request that is not served.

    Args:
        number: the error code of the knowledge API, where it names one; else the status.
        code: that of the chat API, where it names one.
    """

    def __init__(self, status: HTTPStatus, message: str, number: int = 0, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.number, self.code = status, number or int(status), code


class Handler(BaseHTTPRequestHandler):
    """Answers one request after another of a connection."""

    server_version = "ohr"
    sys_version = ""

    @property
    def is_for_this_machine(self) -> bool:
        """Whether it was asked under a name of this machine; else a page of somebody else could ask, by its name."""
        host = self.headers.get("Host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        return name.strip("[]") in LOOPBACK

    def body(self) -> bytes:
        """Read what was sent with a request.

        Raises:
            Refusal: its length is not stated, or too large.
        """
        length = whole_number(self.headers.get("Content-Length"))
        if length is None:
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "the request must have a Content-Length")
        if length <= _LARGEST:
            return self.rfile.read(length)
        left = min(length, _SWALLOWED)
        while left and (part := self.rfile.read(min(left, _LARGEST))):
            left -= len(part)
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request has more than {_LARGEST:,} bytes")

    def send(self, status: int, kind: str, body: bytes) -> None:
        """Send an answer of a media type."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        with suppress(BrokenPipeError, ConnectionResetError):  # the reader has gone
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log a request, at the level of details."""
        _log.debug(format, *args)


class Server(ThreadingHTTPServer):
    """A server with a thread for each connection."""

    request_queue_size = 128  # a page opens many connections at once, and those beyond the queue are refused


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
