"""A small server of Qdrant's REST API around the engine that its client embeds, which fails on demand."""

import http.server
import json
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from ...conftest import serving


@dataclass
class QdrantServer:
    """A running server.

    Args:
        faults: replies in place of the next ones: (status, headers, body), where status 0 closes the connection.
        only: of which requests, as a pattern of `METHOD path`.
        requests: what was asked, as `METHOD path`.
    """

    url: str = ""
    version: str = "1.20.0"
    title: str = "qdrant - vector search engine"
    faults: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    only: str = ""
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: Any = field(default_factory=threading.RLock)
    client: Any = None

    def restart(self) -> None:
        """Lose all collections."""
        from qdrant_client import QdrantClient

        self.client = QdrantClient(":memory:")

    def points(self) -> int:
        (name,) = [collection.name for collection in self.client.get_collections().collections]
        return self.client.count(name).count

    def answer(self, method: str, path: str, body: Any) -> Any:
        """Carry out a request."""
        from qdrant_client import models

        if path == "/":
            return {"title": self.title, "version": self.version}
        name, rest = re.fullmatch(r"/collections/([^/]+)(.*)", path).groups()
        match method, rest:
            case "PUT", "":
                made = models.CreateCollection(**body)
                self.client.create_collection(name, made.vectors)
                return True
            case "GET", "":
                return {**self.client.get_collection(name).model_dump(mode="json")}
            case "POST", "/points/count":
                return {"count": self.client.count(name).count}
            case "POST", "/points":
                points = self.client.retrieve(name, body["ids"], with_vectors=body["with_vector"])
                return [point.model_dump(mode="json") for point in points]
            case "PUT", "/points":
                self.client.upsert(name, models.Batch(**body["batch"]))
                return {"operation_id": 1, "status": "completed"}
            case "POST", "/points/query/batch":
                asked = models.QueryRequestBatch(**body).searches
                replies = [self.client.query_points(name, each.query, limit=each.limit) for each in asked]
                return [reply.model_dump(mode="json") for reply in replies]
        raise AssertionError(f"not expected: {method} {path}")


class _Handler(http.server.BaseHTTPRequestHandler):
    def _respond(self) -> None:
        state: QdrantServer = self.server.state
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.partition("?")[0]
        with state.lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state.requests.append(f"{self.command} {path}")
            state.headers.append(dict(self.headers))
            if state.faults and re.search(state.only, state.requests[-1]):
                status, headers, text = state.faults.pop(0)
            else:
                status, headers, text = self._carried_out(state, path, json.loads(body) if body else None)
        if not status:
            self.connection.close()
            return
        with suppress(BrokenPipeError, ConnectionResetError):  # the client waited long enough
            self._send(status, headers, text)

    def _send(self, status: int, headers: dict[str, str], text: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def _carried_out(self, state: QdrantServer, path: str, body: Any) -> tuple[int, dict[str, str], str]:
        try:
            answer = state.answer(self.command, path, body)
            is_greeting = path == "/"
            return 200, {}, json.dumps(answer if is_greeting else {"result": answer, "status": "ok", "time": 0.0})
        except ValueError as error:
            exists = "already exists" in str(error)
            said = str(error) if exists else f"Not found: {error}"
            return 409 if exists else 404, {}, json.dumps({"status": {"error": said}, "time": 0.0})

    do_GET = do_PUT = do_POST = _respond  # names of the library

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def qdrant_server() -> Iterator[QdrantServer]:
    state = QdrantServer()
    state.restart()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.state = state
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    with serving(server):
        yield state
