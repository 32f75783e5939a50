"""Times the OCR stage with a server, 32 pages in flight, against a bare asynchronous loop that asks the same server.

The server answers each page at once with a fixed text, in a process of its own. Both sides encode the same pictures.

    python speed/ocr_servers.py [RUNS] [PAGES]
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from time import perf_counter

import httpx
import numpy as np
import psutil

from ohr.contracts import Benchmark, Document, Image, Page, Question
from ohr.dataset.inputs import read_inputs
from ohr.engine.executors.inline import Inline
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.compile import compile_graph
from ohr.ocr.servers.pictures import as_url
from ohr.ocr.servers.vlm import Vlm
from ohr.spec.model import KnowledgeBase, Spec
from ohr.store import open_store

IN_FLIGHT = 32
REPLY = json.dumps(
    {
        "choices": [{"message": {"content": "# Rent\n\n" + "The rent is due in May. " * 80}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500},
        "model": "fixed",
    }
).encode()


class Quick(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(REPLY)))
        self.end_headers()
        self.wfile.write(REPLY)


def serve(pipe: Connection) -> None:
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer(("127.0.0.1", 0), Quick)
    pipe.send(server.server_address[1])
    server.serve_forever()


@contextmanager
def served() -> Iterator[str]:
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    yield f"http://127.0.0.1:{ours.recv()}/v1"
    process.kill()


class Pages(Benchmark):
    """Small pictures, so that drawing them takes no time."""

    kind: str = "pages"
    size: int

    def documents(self) -> Sequence[Document]:
        return [Document(f"law/{number}", "law", "en", 10) for number in range(self.size // 10)]

    def pages(self, document: Document) -> Sequence[Page]:
        return [Page(document.name, index, "The rent is due in May.") for index in range(document.pages)]

    def page_image(self, document: Document, index: int) -> Image:
        return picture(int(document.name.split("/")[1]) * 10 + index)

    def questions(self) -> Sequence[Question]:
        passage = "The rent is due in May."
        return [Question("q", "When is the rent due?", ("May",), "law/0", (0,), (passage,), "text", "law")]

    def fingerprint(self, document: Document, *, images: bool) -> str:
        return f"{document.name} {images}"


def picture(number: int) -> Image:
    return np.full((160, 120, 3), number % 200, np.uint8)


async def bare(url: str, count: int) -> None:
    limit = asyncio.Semaphore(IN_FLIGHT)
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as http:

        async def ask(number: int) -> str:
            async with limit:
                part = {"type": "image_url", "image_url": {"url": await asyncio.to_thread(as_url, picture(number))}}
                messages = [{"role": "user", "content": [part, {"type": "text", "text": "Read this page."}]}]
                reply = await http.post(f"{url}/chat/completions", json={"model": "fixed", "messages": messages})
                return str(reply.json()["choices"][0]["message"]["content"])

        await asyncio.gather(*(ask(number) for number in range(count)))


def stage(url: str, count: int) -> float:
    """Run the stage in this process, with its store; returns the seconds of the steps."""
    engine = Vlm(base_url=url, model="fixed", concurrency=IN_FLIGHT)
    base = KnowledgeBase("read", "read", (), engine, ())
    spec = Spec("speed", 0, Pages(size=count), (base,), (), (), (), ())
    inputs = read_inputs(spec)
    with tempfile.TemporaryDirectory() as folder:
        graph = compile_graph(Keys(spec, inputs))
        pages = [name for part in graph.parts for names in getattr(part, "pages", {}).values() for name in names]
        session = Session(inputs, open_store(Path(folder)), Inline())
        with session.started(spec):
            scheduler = session.scheduler(spec)
            began = perf_counter()
            scheduler.add(graph, pages)
            scheduler.settle(pages)
            took = perf_counter() - began
        assert not session.ledger.failures, session.ledger.failures[0]
        return took


def main(runs: int, count: int) -> None:
    with served() as url:
        stage(url, 50), asyncio.run(bare(url, 50))
        pairs = []
        for _ in range(runs):
            began = perf_counter()
            asyncio.run(bare(url, count))
            theirs = perf_counter() - began
            pairs.append((stage(url, count), theirs))
        print(f"{count} pages, seconds (ohr, bare): {[(round(a, 2), round(b, 2)) for a, b in pairs]}")
        print(f"{median(1000 * (a - b) / count for a, b in pairs):.2f} ms a page over the bare loop (limit 2)")
        memory = psutil.Process().memory_info().rss
        stage(url, 1000)
        after = psutil.Process().memory_info().rss
        stage(url, 1000)
        last = psutil.Process().memory_info().rss
        print(f"memory: {memory >> 20} MB, after 1,000 pages {after >> 20} MB, after 1,000 more {last >> 20} MB")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [5, 500][len(given) :]))
