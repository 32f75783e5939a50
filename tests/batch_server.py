"""A small real server of chat completions, files and batches, which fails and stalls as a test says."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from .conftest import completion, serving


def reply_to(body: dict[str, Any]) -> dict[str, Any]:
    """The completion of a request, the same by each way in which it is asked."""
    words = json.dumps(body["messages"])
    return json.loads(completion(f"answer {sha256(words.encode()).hexdigest()[:8]}"))


def line_of(request: dict[str, Any]) -> str:
    response = {"status_code": 200, "request_id": "r", "body": reply_to(request["body"])}
    return json.dumps({"id": "x", "custom_id": request["custom_id"], "response": response, "error": None})


def error_line(request: dict[str, Any], code: str, message: str) -> str:
    error = {"code": code, "message": message}
    return json.dumps({"id": "x", "custom_id": request["custom_id"], "response": None, "error": error})


@dataclass
class Desk:
    """The files and batches of the server, and how it behaves.

    Args:
        looks: how often a batch is in progress before it ends.
        ends: how it ends.
        output: makes the lines of the output file from the requests; `errors` those of the error file.
        stalls: before the reply to which kind of request the server waits until `go`: it has done what was asked.
        refuses: by kind of request, replies (status, text) that come first.
        hides: batches that the list does not have.
    """

    url: str = ""
    looks: int = 2
    ends: str = "completed"
    output: Callable[[list[dict[str, Any]]], list[str]] = lambda requests: [line_of(each) for each in requests]
    errors: Callable[[list[dict[str, Any]]], list[str]] = lambda requests: []
    faults: list[dict[str, str]] = field(default_factory=list)
    stalls: str = ""
    refuses: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    completions: int = 0
    reached: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    lock: Any = field(default_factory=threading.RLock)

    def requests(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    def sizes(self) -> list[int]:
        """How many prompts each batch has."""
        return [len(self.requests(batch)) for batch in self.batches.values()]

    def upload(self, content: bytes) -> dict[str, Any]:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return {"id": name, "object": "file", "purpose": "batch"}

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        name = f"batch-{len(self.batches)}"
        self.batches[name] = {"id": name, "status": "validating", "looks": 0, **body}
        return self.batches[name]

    def look(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        batch["looks"] += 1
        batch["status"] = "in_progress" if batch["looks"] <= self.looks else self.ends
        requests = self.requests(batch)
        batch["request_counts"] = {"total": len(requests), "completed": len(requests) // 2, "failed": 0}
        if batch["status"] == "failed":
            batch["request_counts"]["completed"] = 0
            batch["errors"] = {"object": "list", "data": self.faults}
        elif batch["status"] == self.ends and "output_file_id" not in batch:
            for field_, lines in (("output_file_id", self.output), ("error_file_id", self.errors)):
                content = "\n".join(lines(requests))
                batch[field_] = self.upload(content.encode("utf-8", "surrogateescape"))["id"] if content else None
        return batch


def _part(body: bytes, kind: str) -> bytes:
    """The file in a form."""
    boundary = b"--" + kind.split("boundary=")[1].encode()
    (part,) = [part for part in body.split(boundary) if b'name="file"' in part]
    return part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")


def _page(state: Desk, query: str) -> dict[str, Any]:
    """Two batches at a time, the newest first."""
    names = sorted(state.batches, key=lambda name: -int(name.split("-")[1]))
    after = query.partition("after=")[2]
    names = names[names.index(after) + 1 :] if after else names
    return {"object": "list", "data": [state.batches[name] for name in names[:2]], "has_more": len(names) > 2}


@contextmanager
def desk() -> Iterator[Desk]:
    """Serve until the end of the block."""
    state = Desk()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, kind: str, make: Callable[[], Any]) -> None:
            with state.lock:
                state.asked.append(kind)
                status, text = state.refuses[kind].pop(0) if state.refuses.get(kind) else (200, None)
                made = text if text is not None else make() if status == 200 else ""
            if state.stalls == kind:
                state.reached.set()
                state.go.wait(60)
            content = (
                made
                if isinstance(made, bytes)
                else str(made).encode()
                if text is not None
                else json.dumps(made).encode()
            )
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            with suppress(OSError):  # who asked was killed
                self.wfile.write(content)

        def do_POST(self):  # the library's name
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.path == "/v1/files":
                self.answer("upload", lambda: state.upload(_part(body, self.headers["content-type"])))
            elif self.path == "/v1/batches":
                self.answer("create", lambda: state.create(json.loads(body)))
            else:
                state.completions += 1
                self.answer("chat", lambda: reply_to(json.loads(body)))

        def do_GET(self):  # the library's name
            path, _, query = self.path.partition("?")
            name = path.split("/")[3] if path.count("/") > 2 else ""
            if path.endswith("/content"):
                errors = any(batch.get("error_file_id") == name for batch in state.batches.values())
                self.answer("fetch errors" if errors else "fetch", lambda: state.files[name])
            elif name:
                self.answer("look", lambda: state.look(name)) if name in state.batches else self.send_error(404)
            else:
                self.answer("list", lambda: _page(state, query))

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    with serving(server):
        yield state
        state.go.set()
