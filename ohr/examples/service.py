"""A small RAG service, as a team might have one: documents are uploaded, questions answered, over HTTP.

    python -m ohr.examples.service --port 8700 --folder collections

BM25 finds chunks, and the sentence that shares the most words with the question is the answer. Collections are kept in
the folder, so that a service that was stopped finds them again. `--start` returns as soon as a service answers at the
port, and starts one in the background where none does.
"""

import json
import re
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from ohr.contracts import Chunk, Index, Page, Prompt
from ohr.registry import Registry

VERSION = "1"
_NAME = re.compile(r"[\w-][\w.-]{0,199}")
_STARTING = 60.0
"""Seconds in which a service in the background must answer."""


def _plugin(family: str, kind: str, **fields: Any) -> Any:
    return Registry().load(family, kind)(**fields)


@dataclass
class Collections:
    """Documents by collection, on disk; a collection is indexed when it is first asked.

    Args:
        folder: has a folder for each collection, with a list of page texts for each file that was uploaded.
        size: most tokens of a chunk.
    """

    folder: Path
    size: int = 256
    _indexed: dict[str, tuple[list[Chunk], Index]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, name: str, file: str, content: bytes) -> None:
        """Keep a document: text, or page images in a PDF, which Tesseract reads."""
        pages = list(_read(content)) if file.endswith(".pdf") else [content.decode("utf-8")]
        place = self.folder / name / f"{file}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_suffix(".part")
        unfinished.write_text(json.dumps(pages), encoding="utf-8")
        with self._lock:
            unfinished.replace(place)
            self._indexed.pop(name, None)

    def ask(self, name: str, question: str, top_k: int) -> dict[str, Any]:
        """Answer from the best chunks; raises KeyError where nothing was uploaded."""
        with self._lock:
            if name not in self._indexed:
                self._indexed[name] = self._index(name)
            chunks, index = self._indexed[name]
        (hits,) = _plugin("retriever", "bm25").search(index, [question], top_k)
        passages = tuple(chunks[hit.place].text for hit in hits)
        (completion,) = _plugin("generator", "extractive").answer([Prompt(question, passages, "", question)])
        contexts = [
            {"text": chunk.text, "document": chunk.document, "page": chunk.pages[0] + 1, "score": hit.score}
            for hit in hits
            for chunk in (chunks[hit.place],)
        ]
        return {"answer": completion.text, "contexts": contexts, "version": VERSION}

    def _index(self, name: str) -> tuple[list[Chunk], Index]:
        files = sorted((self.folder / name).glob("*.json"))
        if not files:
            raise KeyError(name)
        chunker = _plugin("chunker", "tokens", size=self.size)
        chunks: list[Chunk] = []
        for file in files:
            texts = enumerate(json.loads(file.read_text(encoding="utf-8")))
            chunks += chunker.split([Page(file.stem, number, text) for number, text in texts])
        return chunks, _plugin("retriever", "bm25").index(chunks)


class Handler(BaseHTTPRequestHandler):
    """Answers requests; every reply is JSON.

    GET /health; POST /collections/NAME/documents, files as multipart/form-data; POST /collections/NAME/ask, a mapping
    with `question` and perhaps `top_k`.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together
    collections: Collections
    server: "Service"

    def do_GET(self) -> None:
        """Report whether the service is there."""
        known = self.path == "/health"
        self._reply(200 if known else 404, {"status": "ok", "version": VERSION} if known else {"error": "no such page"})

    def do_POST(self) -> None:
        """Take documents, or a question."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = re.fullmatch(rf"/collections/({_NAME.pattern})/(documents|ask)", self.path)
        try:
            if path is None:
                self._reply(404, {"error": "post to /collections/NAME/documents or /collections/NAME/ask"})
            elif path[2] == "ask":
                asked = json.loads(body)
                self._reply(200, self.collections.ask(path[1], str(asked["question"]), int(asked.get("top_k", 5))))
            else:
                self._reply(200, {"collection": path[1], "files": self._take(path[1], body)})
        except KeyError as error:
            self._reply(404, {"error": f"there is no {error}"})
        except (ValueError, TypeError) as error:
            self._reply(400, {"error": str(error)})

    def _take(self, name: str, body: bytes) -> list[str]:
        head = f"Content-Type: {self.headers.get('Content-Type', '')}\r\n\r\n".encode()
        message = BytesParser(policy=HTTP).parsebytes(head + body)
        files = [part for part in message.iter_parts() if part.get_filename()]
        if not files or not all(_NAME.fullmatch(str(part.get_filename())) for part in files):
            raise ValueError("send files as multipart/form-data, with plain names")
        for part in files:
            self.collections.add(name, str(part.get_filename()), bytes(part.get_payload(decode=True)))
        return [str(part.get_filename()) for part in files]

    def _reply(self, status: int, value: Any) -> None:
        self.server.asked = monotonic()
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def _read(pdf: bytes) -> Iterator[str]:
    """Yield the text of each page image of a PDF."""
    import numpy as np
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    for page in document:
        image = np.asarray(page.render(scale=150 / 72).to_pil().convert("RGB"))
        (read,) = _plugin("ocr", "tesseract").recognise([image])
        yield read.text


class Service(ThreadingHTTPServer):
    """A server on the loopback address; `serve_forever` runs it.

    Args:
        port: 0 for any that is free.
        idle: seconds without a request after which it ends; None for never.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder: Path, port: int = 0, idle: float | None = None) -> None:
        """Listen."""
        self._idle, self.asked = idle, monotonic()
        super().__init__(("127.0.0.1", port), type("Bound", (Handler,), {"collections": Collections(folder)}))

    def service_actions(self) -> None:
        """End when nobody came for long: called twice a second."""
        if self._idle is not None and monotonic() - self.asked > self._idle:
            Thread(target=self.shutdown).start()


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return bool(json.load(reply).get("version") == VERSION)
    except (URLError, OSError, ValueError):
        return False


def _start(given: Namespace) -> None:
    words = [sys.executable, "-m", "ohr.examples.service", "--port", str(given.port), "--folder", str(given.folder)]
    words += ["--idle", str(given.idle)] if given.idle else []
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if not _answers(given.port):
        subprocess.Popen(words, start_new_session=True, **quiet)  # type: ignore[call-overload]
    end = monotonic() + _STARTING
    while not _answers(given.port):
        if monotonic() > end:
            sys.exit(f"no service answers at port {given.port} after {_STARTING:g} seconds")
        sleep(0.1)


def main(words: Sequence[str] | None = None) -> None:
    """Serve until stopped."""
    parser = ArgumentParser(prog="python -m ohr.examples.service", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=8700)
    parser.add_argument("--folder", type=Path, default=Path("collections"), help="where collections are kept")
    parser.add_argument("--idle", type=float, help="seconds without a request after which it ends; never")
    parser.add_argument("--start", action="store_true", help="start it in the background unless it answers")
    given = parser.parse_args(words)
    if given.start:
        _start(given)
        return
    with Service(given.folder.resolve(), given.port, given.idle) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
