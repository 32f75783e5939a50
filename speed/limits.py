"""Limits per minute: a server that enforces them counts what goes over, and how much of them is used.

    python speed/limits.py [--requests 600] [--tokens 60000] [--seconds 150] [--processes 2]

Each process asks as a worker of a run does. The server refuses a request for which the last 60 seconds have no room, by
the time at which it comes, with its real tokens. Without limits the CPU of a request is measured.
"""

import argparse
import http.server
import json
import multiprocessing
import os
import tempfile
import threading
import time
from collections import deque
from random import Random
from typing import Any

from ohr.contracts import Prompt
from ohr.generators.openai import OpenAI

LONGEST = 200
WORDS = ("harbour", "built", "windows", "ledger", "marble", "canal", "orchard", "signal")


class Judge(http.server.ThreadingHTTPServer):
    """Counts requests and tokens of the last minute."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, limits: tuple[int | None, int | None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.limits, self.lock = limits, threading.Lock()
        self.log, self.minute = list[tuple[float, int]](), deque[tuple[float, int]]()
        self.over = 0

    def admits(self, tokens: int) -> bool:
        """Count a request; report whether the last minute had room for it."""
        with self.lock:
            now = time.monotonic()
            while self.minute and self.minute[0][0] <= now - 60:
                self.minute.popleft()
            used = len(self.minute) + 1, sum(each for _, each in self.minute) + tokens
            if any(limit and spent > limit for limit, spent in zip(self.limits, used, strict=True)):
                self.over += 1
                return False
            self.minute.append((now, tokens))
            self.log.append((now, tokens))
            return True


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with some words."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer a request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt, rng = len(body["messages"][-1]["content"].split()) + 5, Random(len(self.server.log))  # type: ignore[attr-defined]
        reply = rng.randint(5, 60)
        admitted = self.server.admits(prompt + reply)  # type: ignore[attr-defined]
        usage = {"prompt_tokens": prompt, "completion_tokens": reply}
        made = {"choices": [{"message": {"content": "word " * reply}, "finish_reason": "stop"}], "usage": usage}
        text = json.dumps(made if admitted else {"error": "too many"}).encode()
        self.send_response(200 if admitted else 429)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def ask(url: str, limits: dict[str, int], end: float) -> None:
    """Ask until the time is over."""
    model = OpenAI(base_url=url, model="m", max_tokens=LONGEST, **limits)
    rng = Random(os.getpid())
    while time.time() < end:
        texts = [" ".join(rng.choices(WORDS, k=rng.randint(20, 200))) for _ in range(64)]
        for _ in model.answer([Prompt("", (), "", text) for text in texts]):
            if time.time() > end:
                return


def used(limits: dict[str, int], seconds: float, processes: int) -> None:
    """Ask under limits, and print how much of them was used and how often they were exceeded."""
    judge = Judge((limits.get("requests_per_minute"), limits.get("tokens_per_minute")))
    threading.Thread(target=judge.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{judge.server_port}/v1"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=ask, args=(url, limits, time.time() + seconds)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    minutes = (judge.log[-1][0] - judge.log[0][0]) / 60
    for (name, limit), amount in zip(limits.items(), (len(judge.log), sum(t for _, t in judge.log)), strict=False):
        spent = amount if name.startswith("req") else sum(tokens for _, tokens in judge.log)
        print(f"{name} {limit:,}: {spent / minutes / limit:.1%} of it over {60 * minutes:.0f} s; {judge.over} refused")


def cpu(count: int) -> None:
    """Print the CPU of a request without limits, of this process alone."""
    judge = Judge((None, None))
    context = multiprocessing.get_context("fork")
    server = context.Process(target=judge.serve_forever, daemon=True)
    server.start()
    model = OpenAI(base_url=f"http://127.0.0.1:{judge.server_port}/v1", model="m")
    prompts = [Prompt("", (), "", f"number {number}") for number in range(count)]
    list(model.answer(prompts[:100]))
    for _ in range(5):
        began = time.process_time()
        list(model.answer(prompts))
        print(f"without limits: {(time.process_time() - began) / count * 1e3:.3f} ms of CPU for a request")
    server.terminate()


def main() -> None:
    """Measure requests, then tokens, then the CPU of a request without limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--tokens", type=int, default=60_000)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cpu-only", action="store_true")
    given = parser.parse_args()
    if not given.cpu_only:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = folder
            used({"requests_per_minute": given.requests}, given.seconds, given.processes)
            used({"tokens_per_minute": given.tokens}, given.seconds, given.processes)
    cpu(1000)


if __name__ == "__main__":
    main()
