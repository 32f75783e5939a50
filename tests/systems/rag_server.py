"""A server that plays a RAG: it takes documents, answers questions, and misbehaves as a test asks it to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..conftest import serving

Given = tuple[int, dict[str, str], str]
"""Status, headers and body."""


class RagServer(ThreadingHTTPServer):
    """Routes paths to functions of the handler and the body; `faults` are played first, in order."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.routes: dict[str, Callable[[Any], Any]] = {}
        self.faults: list[Given | float] = []
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []
        self.done = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def bodies(self, path: str) -> list[Any]:
        return [body for _, place, _, body in self.asked if place.partition("?")[0] == path]


class Handler(BaseHTTPRequestHandler):
    server: RagServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.play(b"")

    def do_POST(self) -> None:
        self.play(self.rfile.read(int(self.headers.get("content-length", 0))))

    def play(self, raw: bytes) -> None:
        is_json = "/json" in self.headers.get("content-type", "")
        body = json.loads(raw) if is_json else raw
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        fault = self.server.faults.pop(0) if self.server.faults else None
        if isinstance(fault, float):
            self.server.done.wait(fault)
            fault = None
        if fault is None:
            route = self.server.routes.get(self.path.partition("?")[0])
            if route is None:
                fault = (404, {}, "no such page")
            else:
                reply = route(body)
                fault = reply if isinstance(reply, tuple) else (200, {}, json.dumps(reply))
        status, headers, text = fault
        content = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with suppress(ConnectionError):  # of a client that does not wait
            self.wfile.write(content)


@contextmanager
def rag_server() -> Iterator[RagServer]:
    server = RagServer()
    try:
        with serving(server):
            yield server
    finally:
        server.done.set()
