"""A small hub on this machine, which answers as the Hugging Face hub does for any data set."""

import hashlib
import http.server
import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, urlparse

from ..conftest import serving

COMMITS = {"main": "a" * 40, "a" * 40: "a" * 40, "v2": "b" * 40, "b" * 40: "b" * 40}


def archive(members: dict[str, bytes], **modes: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, content in members.items():
            about = zipfile.ZipInfo(name)
            about.external_attr = modes.get(name, 0o100644) << 16
            opened.writestr(about, content)
    return made.getvalue()


@dataclass
class Hub:
    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    forged: dict[str, bytes] = field(default_factory=dict)
    """Content that is sent in place of a file's."""
    breaks: dict[str, int] = field(default_factory=dict)
    """After how many bytes of a file the connection is cut; from then on the file is out of reach."""
    pages: dict[str, bytes] = field(default_factory=dict)
    """Other pages of the server, by path."""
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the hub does."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.do_GET()

    def answer(self, status, body, most=None, **headers):
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:most])

    def do_GET(self):
        path = unquote(urlparse(self.path).path)
        self.server.hub.asked.append((self.command, path, self.headers.get("range")))
        if path in self.server.hub.pages:
            return self.answer(200, self.server.hub.pages[path])
        listed = re.fullmatch(r"/api/datasets/[^/]+/[^/]+(?:/revision/(.+))?", path)
        if listed and (listed[1] or "main") in COMMITS:
            about = [listing(name, content) for name, content in self.server.hub.files.items()]
            answer = {"id": "o/r", "sha": COMMITS[listed[1] or "main"], "siblings": about}
            return self.answer(200, json.dumps(answer).encode(), content_type="application/json")
        found = re.fullmatch(r"/datasets/[^/]+/[^/]+/resolve/([ab]{40})/(.+)", path)
        if not found or found[2] not in self.server.hub.files:
            return self.answer(404, b"{}")
        content = self.server.hub.files[found[2]]
        tag = large(content) if is_large(found[2]) else blob(content)
        headers = {"etag": f'"{tag}"', "x_repo_commit": found[1], "accept_ranges": "bytes"}
        content = self.server.hub.forged.get(found[2], content)
        start = re.match(r"bytes=(\d+)-", self.headers.get("range", ""))
        if found[2] in self.server.hub.breaks and self.command == "GET":
            if start:
                return self.answer(503, b"")
            self.close_connection = True
            return self.answer(200, content, self.server.hub.breaks[found[2]], **headers)
        if start and self.command == "GET":
            place = f"bytes {start[1]}-{len(content) - 1}/{len(content)}"
            return self.answer(206, content[int(start[1]) :], **headers, content_range=place)
        return self.answer(200, content, **headers)


@contextmanager
def served(state: Hub) -> Iterator[Hub]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.hub = state
    state.url = f"http://127.0.0.1:{server.server_port}"
    with serving(server):
        yield state


def listing(name, content):
    about = {"rfilename": name, "size": len(content), "blobId": blob(content)}
    lfs = {"sha256": large(content), "size": len(content), "pointerSize": 1}
    return {**about, "lfs": lfs} if is_large(name) else about


def is_large(name):
    return name.endswith(".zip")


def blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def large(content):
    return hashlib.sha256(content).hexdigest()
