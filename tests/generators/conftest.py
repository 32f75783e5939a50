"""A chat server that refuses what is no well-formed conversation, and misbehaves as each conversation asks it to."""

import http.server
import json
import threading
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from ohr.contracts import Conversation, Picture, Turn

from ..conftest import completion, serving

PAGE = Picture((("law/lease", 0),))
PNG = "data:image/png;base64,"
Reply = tuple[int, dict[str, str], str]
"""Status, headers and body; the status 0 stalls until the test ends."""


def talk(*said: Any, images: Any = ()) -> Conversation:
    """Make a conversation of ("user", part, part, ...)."""
    return Conversation(tuple(Turn(role, tuple(parts)) for role, *parts in said), images)


def transcript(body: dict[str, Any]) -> str:
    """Write a request's messages as one text, with the size of each picture in its place."""
    return "\n".join(f"{message['role']}: {_said(message['content'])}" for message in body["messages"])


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    return " | ".join(
        part["text"] if part["type"] == "text" else "{}x{}".format(*picture(part).size) for part in content
    )


def picture(part: dict[str, Any]) -> Image.Image:
    """Return the picture of a part."""
    return Image.open(BytesIO(b64decode(part["image_url"]["url"].removeprefix(PNG), validate=True)))


def fault(body: dict[str, Any]) -> str:
    """Return the fault of a request; empty where there is none."""
    messages = body.get("messages")
    if not isinstance(body.get("model"), str) or not isinstance(messages, list) or not messages:
        return "no model or no messages"
    roles = [message["role"] for message in messages]
    if not set(roles) <= {"system", "user", "assistant"} or "system" in roles[1:] or roles[-1] != "user":
        return f"roles {roles}"
    if any(set(message) != {"role", "content"} for message in messages):
        return "a message has further keys"
    parts = [part for message in messages if not isinstance(message["content"], str) for part in message["content"]]
    if any(message["content"] == [] for message in messages):
        return "no parts"
    return next((found for found in map(_part_fault, parts) if found), "")


def _part_fault(part: dict[str, Any]) -> str:
    if part["type"] == "text":
        return "" if set(part) == {"type", "text"} and part["text"] else "an empty text"
    if set(part) != {"type", "image_url"} or not set(part["image_url"]) <= {"url", "detail"}:
        return f"a part of {sorted(part)}"
    if not part["image_url"]["url"].startswith(PNG):
        return "no PNG"
    shown = picture(part)
    shown.verify()
    return "" if shown.format == "PNG" else "no PNG"


class StrictServer(http.server.ThreadingHTTPServer):
    """Answers each conversation with its transcript, once the replies that are listed for its last text are used up."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.replies: dict[str, list[Reply]] = {}
        self.bodies: list[dict[str, Any]] = []
        self.asked = Counter[str]()
        self.faults: list[str] = []
        self.done, self.lock = threading.Event(), threading.Lock()

    def reply(self, body: dict[str, Any]) -> Reply:
        """Take the next reply to a request."""
        found = fault(body)
        text = "" if found else _said(body["messages"][-1]["content"]).rpartition(" | ")[2]
        with self.lock:
            self.bodies.append(body)
            self.asked[text] += 1
            if found:
                self.faults.append(found)
                return 400, {}, found
            waiting = self.replies.get(text)
            return waiting.pop(0) if waiting else (200, {}, completion(transcript(body)))


class _Handler(http.server.BaseHTTPRequestHandler):
    server: StrictServer

    def do_POST(self) -> None:  # the library's name
        status, headers, text = self.server.reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        if status == 0:
            self.server.done.wait(20)
            return
        self.send_response(status)
        for name, value in {"content-length": str(len(text.encode())), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def strict_server() -> Iterator[StrictServer]:
    server = StrictServer()
    with serving(server):
        yield server
        server.done.set()
    assert server.faults == []
