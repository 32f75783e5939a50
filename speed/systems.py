"""A system behind HTTP through the engine, beside a bare loop on the same server; its memory; a run that is killed.

    python speed/systems.py [--questions 2000] [--many 20000] [--repeat 3]

The server answers at once. The cost of a question is the CPU of a run, without that of the same run from the store,
less that of a bare loop with as many requests in flight, which keeps nothing. A run is killed in the middle and
resumed: the server counts what it is asked and given.
"""

import argparse
import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty
from typing import Any

import httpx
import psutil

IN_FLIGHT = 32
LIMIT_MS = 2.0
FLAT = 1.15
PASSAGE = "The harbour of Oldmere was built in 1911 by the guild of carpenters. " * 12
PLUGIN = """\
from typing import Literal

import numpy as np

from ohr.contracts import Benchmark, Document, Page, Question

class Many(Benchmark):
    kind: Literal["many"] = "many"
    size: int = 100

    def documents(self):
        return [Document("d", "law", "en", 1)]

    def pages(self, document):
        return [Page("d", 0, PASSAGE)]

    def page_image(self, document, index):
        return np.full((20, 20, 3), 255, np.uint8)

    def questions(self):
        asked = (f"When was {number} built?" for number in range(self.size))
        evidence = ("The harbour of Oldmere was built in 1911",)
        return [Question(f"q{n}", text, ("1911",), "d", (0,), evidence, "text", "law") for n, text in enumerate(asked)]

    def fingerprint(self, document, *, images):
        return f"many {images}"
"""
SPEC = """\
name: many
plugins: [many.py]
benchmark: {{kind: many, size: {size}}}
knowledge_bases: [{{name: clean}}]
systems:
  - kind: http
    documents: text
    in_flight: {in_flight}
    ingest: {{url: "{url}/documents/{{name}}", field: file}}
    url: "{url}/ask"
    body: {{question: "{{question}}"}}
    answer: answer
    contexts: contexts
    context: {{text: text, document: document}}
evaluate: [overall]
"""
REPLY = json.dumps({"answer": "1911", "contexts": [{"text": PASSAGE, "document": "d.md"}]}).encode()


def serve(ready: Any, asked: Any, wait: float) -> None:
    """Answer every question at once, or after a wait; note each."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle(self) -> None:
            with suppress(ConnectionError, ValueError):  # of a run that was killed
                super().handle()

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            ask = self.path == "/ask"
            asked.put(json.loads(body)["question"] if ask else self.path)
            time.sleep(wait if ask else 0)
            reply = REPLY if ask else b"{}"
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

    server = Server(("127.0.0.1", 0), Handler)
    ready.put(f"http://127.0.0.1:{server.server_port}")
    server.serve_forever()


def started(wait: float = 0.0) -> tuple[Any, str, Any]:
    """Start the server in a process; returns it, its address, and what it is asked."""
    ready: Any = multiprocessing.Queue()
    asked: Any = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(ready, asked, wait), daemon=True)
    server.start()
    return server, ready.get(), asked


def drained(asked: Any) -> Counter[str]:
    """Count what the server was asked until nothing has come for a second."""
    counts = Counter[str]()
    with suppress(Empty):
        while True:
            counts[asked.get(timeout=1.0)] += 1
    return counts


def bare(url: str, questions: int) -> float:
    """Return the CPU seconds of a loop that keeps nothing."""
    with httpx.Client(timeout=None, limits=httpx.Limits(max_connections=IN_FLIGHT)) as client:

        def ask(number: int) -> str:
            body = {"question": f"When was {number} built?"}
            reply: str = client.post(f"{url}/ask", json=body).json()["answer"]
            return reply

        began = time.process_time()
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            list(pool.map(ask, range(questions)))
        return time.process_time() - began


def home(folder: Path, url: str, size: int) -> Path:
    (folder / "many.py").write_text(PLUGIN.replace("PASSAGE", repr(PASSAGE)))
    spec = folder / "spec.yaml"
    spec.write_text(SPEC.format(size=size, url=url, in_flight=IN_FLIGHT))
    return spec


def ours(url: str, questions: int) -> tuple[float, list[float]]:
    """Return the CPU seconds of asking, and the MB of the process at each quarter."""
    from ohr.engine.executors.inline import Inline
    from ohr.engine.progress import Quiet
    from ohr.runner.run import run
    from ohr.spec.read import read_spec

    with tempfile.TemporaryDirectory() as folder:
        spec = read_spec(home(Path(folder), url, questions), trust_plugins=True)
        sizes, ended = list[float](), threading.Event()

        class UntilAsked(Quiet):
            """Ends the sampling when the last question is answered: what comes then are tables."""

            def update(self, phase: str, done: int, total: int, detail: str = "") -> None:
                if phase == "asking systems" and done == total:
                    ended.set()

        sampler = threading.Thread(target=_sample, args=(sizes, ended))
        seconds = []
        sampler.start()
        for runs in ("first", "second"):  # the second finds everything in the store
            began = time.process_time()
            run(spec, store=Path(folder) / "store", runs=Path(folder) / runs, executor=Inline(), progress=UntilAsked())
            seconds.append(time.process_time() - began)
        sampler.join()
        quarter = max(len(sizes) // 4, 1)
        quarters = [max(sizes[place : place + quarter]) for place in range(0, 4 * quarter, quarter)]
        return seconds[0] - seconds[1], quarters


def _sample(sizes: list[float], done: threading.Event) -> None:
    process = psutil.Process()
    while not done.wait(0.2):
        sizes.append(process.memory_info().rss / 2**20)


def killed(questions: int) -> tuple[Counter[str], Counter[str]]:
    """Kill a run in the middle, and resume it; returns what the server was asked before and after."""
    server, url, asked = started(0.02)
    with tempfile.TemporaryDirectory() as folder:
        spec = home(Path(folder), url, questions)
        command = [str(Path(sys.executable).with_name("ohr")), "run", str(spec), "--trust-plugins", "--no-report"]
        command += ["--store", f"{folder}/store", "--runs", f"{folder}/runs"]
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while asked.qsize() < questions // 2:
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        before = drained(asked)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = drained(asked)
    server.terminate()
    return before, after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--many", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    server, url, _ = started()
    loops = [bare(url, given.questions) for _ in range(given.repeat)]
    runs = [ours(url, given.questions)[0] for _ in range(given.repeat)]
    loop, engine = (1000 * statistics.median(each) / given.questions for each in (loops, runs))
    print(f"CPU of a question, {IN_FLIGHT} in flight: bare loop {loop:.2f} ms, engine {engine:.2f} ms")
    print(f"{engine - loop:.2f} ms more (limit {LIMIT_MS:g})")
    _, sizes = ours(url, given.many)
    listed = ", ".join(f"{size:.0f}" for size in sizes)
    print(f"memory at each quarter of {given.many:,} questions: {listed} MB")
    print(f"the last over the second: {sizes[3] / sizes[1]:.2f} (limit {FLAT:g})")
    server.terminate()
    before, after = killed(given.questions)
    asked = {name for name in before if not name.startswith("/")}
    again = sum(count for name, count in after.items() if name in asked)
    ingests = sum(count for counts in (before, after) for name, count in counts.items() if name.startswith("/"))
    print(f"killed after {len(asked):,} of {given.questions:,} questions: {ingests} ingest, {again} asked again")
    print(f"(at most the {IN_FLIGHT} in flight)")


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    from speed.bytecode import require_bytecode

    require_bytecode()
    main()
