"""A server that reads the pictures that it gets, with Tesseract, and answers in the convention of a model or service.

So image noise travels through the path that is tested: only the model behind it is another one.
"""

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image as Pillow

from ohr.models.resident import holding
from ohr.ocr.tesseract import Tesseract

from ..conftest import serving

_lock = threading.Lock()  # one engine in this process


def read(file: bytes) -> str:
    """Read a picture, or the first page of a PDF."""
    if file.startswith(b"%PDF"):
        import pypdfium2

        image = pypdfium2.PdfDocument(file)[0].render(scale=1).to_pil()
    else:
        image = Pillow.open(BytesIO(file))
    with _lock:
        (found,) = Tesseract().recognise([np.asarray(image.convert("RGB"))])
    return found.text


def picture(body: Any) -> bytes:
    """Return the picture of a chat request."""
    content = body["messages"][-1]["content"]
    url = next(part["image_url"]["url"] for part in content if part["type"] == "image_url")
    return base64.b64decode(url.partition(",")[2])


class ReadingServer(ThreadingHTTPServer):
    """Answers chat requests; `reply` makes the content of what was read, `faults` are played first, in order."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply: Callable[[str, Any], str] = lambda text, _: text
        self.routes: dict[str, Callable[[Handler, Any], Any]] = {}
        self.faults: list[Any] = []
        self.asked: list[Any] = []
        self.model = "reader-1"
        self.together: threading.Barrier | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: ReadingServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._route(None)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw  # a form, or a file
        with _lock:
            self.server.asked.append(body)
        if self.server.together is not None:
            self.server.together.wait()  # answer only when as many requests have come; broken after its time limit
        self._route(body)

    def _route(self, body: Any) -> None:
        for pattern, answer in self.server.routes.items():
            if re.search(pattern, self.path):
                answer(self, body)
                return
        if self.path.endswith("/models"):
            self.json({"data": [{"id": self.server.model}]})
            return
        with _lock:
            fault = self.server.faults.pop(0) if self.server.faults else None
        if callable(fault):
            fault(self, body)
        else:
            self.chat(self.server.reply(read(picture(body)), body), fault or "stop")

    def chat(self, content: str | None, finish: str = "stop") -> None:
        """Answer with a chat completion."""
        choice = {"message": {"role": "assistant", "content": content}, "finish_reason": finish}
        usage = {"prompt_tokens": 11, "completion_tokens": 7}
        self.json({"choices": [choice], "usage": usage, "model": self.server.model})

    def json(self, value: Any, status: int = 200, **headers: str) -> None:
        """Answer with JSON."""
        self.text(json.dumps(value), status, **{"Content-Type": "application/json", **headers})

    def text(self, value: str, status: int = 200, **headers: str) -> None:
        """Answer with any text."""
        raw = value.encode()
        self.send_response(status)
        for name, each in headers.items():
            self.send_header(name.replace("_", "-"), each)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@contextmanager
def reading_server() -> Iterator[ReadingServer]:
    """Run a server until the end of the block."""
    Tesseract().recognise([np.full((8, 8, 3), 255, np.uint8)])  # a model that a scope holds is not loaded by a thread
    server = ReadingServer()
    with holding(), serving(server):
        yield server
