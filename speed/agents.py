"""Agents through the engine, beside the ideal of questions that run free of each other, on one scripted server.

    python speed/agents.py [--questions 64] [--calls 8] [--latency 0.5] [--sigma 0.6] [--repeat 3]

The server's latencies are lognormal, drawn by question and call. The ideal is computed: as many calls under way as the
generator's `concurrency` allows, and no other cost. The CPU of a call is that of a run, without that of the same run
from the store, and without that of a bare asynchronous loop, which keeps nothing.
"""

import argparse
import asyncio
import heapq
import json
import multiprocessing
import os
import re
import statistics
import tempfile
import threading
import time
from collections import deque
from pathlib import Path
from random import Random
from typing import Any

import psutil

IN_FLIGHT = 64
CONCURRENCIES = (8, 32, 64)
RATIO = 0.9
"""Least throughput, as a part of the ideal's."""
LIMIT = 1.0
"""Most ms of CPU for each call, over the bare loop."""
PASSAGE = "The harbour was built by Ada Venn. " * 40
PLUGINS = '''
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Agent, Ask, Benchmark, Document, Outcome, Page, Question, Turn
from ohr.parts import GeneratorPart


class Many(Benchmark):
    """Questions about one page."""

    kind: Literal["many"] = "many"
    questions_: Annotated[int, Field(description="How many.")] = 500

    def documents(self):
        return [Document("law/a", "law", "en", 1)]

    def pages(self, document):
        return [Page("law/a", 0, "A page.")]

    def page_image(self, document, index):
        raise NotImplementedError

    def questions(self):
        return [
            Question(f"q{n}", f"Question {n}?", ("x",), "law/a", (0,), ("A page.",), "text", "law")
            for n in range(self.questions_)
        ]

    def fingerprint(self, document, *, images):
        return "many"


class Talker(Agent):
    """Asks a model several times, in one conversation."""

    kind: Literal["talker"] = "talker"
    reads: ClassVar[frozenset] = frozenset({"text"})
    model: Annotated[GeneratorPart, Field(description="Who is asked.")]
    calls: Annotated[int, Field(description="How often.")] = 5

    @property
    def max_calls(self):
        return self.calls

    def models(self):
        return {"model": self.model}

    def retrievers(self):
        return {}

    def run(self, question, desk):
        turns = (Turn("user", ("PASSAGE", question)),)
        for _ in range(self.calls):
            reply = yield Ask("model", turns)
            turns = (*turns, Turn("assistant", (reply.text,)), Turn("user", ("Continue.",)))
        return Outcome(reply.text)
'''
SPEC = """\
name: agents
plugins: [./plugins.py]
replicates: 1
benchmark: {{kind: many, questions_: {questions}}}
knowledge_bases: [{{name: clean}}]
agents:
  - kind: talker
    calls: {calls}
    in_flight: {in_flight}
    model: {{kind: openai, base_url: "{url}", model: m, concurrency: {concurrency}}}
evaluate: [overall]
"""


def latency_of(question: int, call: int, median: float, sigma: float) -> float:
    """Return the seconds that the reply to a question's n-th call takes."""
    return median * Random(1000 * question + call).lognormvariate(0.0, sigma)


def ideal(questions: int, calls: int, concurrency: int, median: float, sigma: float) -> float:
    """Return the seconds in which all questions could end: each asks again as soon as its reply is there."""
    now, waiting, under_way = 0.0, deque((question, 1) for question in range(questions)), list[Any]()
    while waiting or under_way:
        while waiting and len(under_way) < concurrency:
            question, call = waiting.popleft()
            heapq.heappush(under_way, (now + latency_of(question, call, median, sigma), question, call))
        now, question, call = heapq.heappop(under_way)
        if call < calls:
            waiting.append((question, call + 1))
    return now


def serve(ready: Any, median: float, sigma: float = 0.0) -> None:
    """Answer every request after its latency, on connections that stay open."""
    text = json.dumps(
        {
            "choices": [{"message": {"content": "A reply of some words."}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 5},
        }
    )
    answer = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(text)}\r\n\r\n{text}".encode()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                body = await reader.readexactly(size)
                asked = re.search(rb"Question (\d+)", body)
                assert asked is not None
                await asyncio.sleep(latency_of(int(asked[1]), body.count(b'"user"'), median, sigma))
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=256)
        ready.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def started(median: float, sigma: float = 0.0) -> tuple[Any, str]:
    """Start the server in a process; returns it and the API's root."""
    ready: Any = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(ready, median, sigma), daemon=True)
    server.start()
    return server, f"http://127.0.0.1:{ready.get()}/v1"


def bare(url: str, questions: int, calls: int) -> float:
    """Return the seconds of a loop that keeps nothing."""
    import httpx

    async def main() -> None:
        limit = asyncio.Semaphore(IN_FLIGHT)
        # with all idle connections kept, httpx looks at each of them at every request, and takes four times as long
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=8)
        async with httpx.AsyncClient(timeout=None, limits=limits) as client:

            async def one(number: int) -> None:
                async with limit:
                    messages = [{"role": "user", "content": f"{PASSAGE}\n\nQuestion {number}?"}]
                    for _ in range(calls):
                        body = {"model": "m", "messages": messages, "max_tokens": 1280, "temperature": 0.0}
                        response = await client.post(f"{url}/chat/completions", json=body)
                        reply = response.json()["choices"][0]["message"]["content"]
                        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": "Continue."}]

            await asyncio.gather(*(one(number) for number in range(questions)))

    began = time.perf_counter()
    asyncio.run(main())
    return time.perf_counter() - began


def ours(url: str, questions: int, calls: int, concurrency: int = IN_FLIGHT) -> tuple[float, float, list[float]]:
    """Return the seconds that the agents took, their CPU seconds, and the MB of this process at each quarter."""
    from ohr.engine.executors.inline import Inline
    from ohr.runner.run import run
    from ohr.spec.read import read_spec

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "plugins.py").write_text(PLUGINS.replace("PASSAGE", PASSAGE))
        spec = home / "spec.yaml"
        spec.write_text(
            SPEC.format(questions=questions, calls=calls, in_flight=IN_FLIGHT, concurrency=concurrency, url=url)
        )
        read = read_spec(spec, trust_plugins=True)
        sizes, done = list[float](), threading.Event()
        sampler = threading.Thread(target=_sample, args=(sizes, done))
        sampler.start()
        began = time.process_time()
        finished = run(read, store=home / "store", runs=home / "runs", executor=Inline())
        spent = time.process_time() - began
        done.set()
        sampler.join()
        assert finished.ledger.calls["agent calls"] == questions * calls, finished.ledger.failures[:1]
        began = time.process_time()
        run(read, store=home / "store", runs=home / "again", executor=Inline())
        spent -= time.process_time() - began
        quarters = [sizes[len(sizes) * part // 4 - 1] for part in (1, 2, 3, 4)]
        return finished.ledger.seconds["running agents"], spent, quarters


def _sample(sizes: list[float], done: threading.Event) -> None:
    process = psutil.Process()
    while not done.wait(0.05):
        sizes.append(process.memory_info().rss / 1024**2)


def show_throughput(url: str, given: argparse.Namespace) -> None:
    """Print the throughput at each concurrency, as a part of the ideal's."""
    print(
        f"{given.questions} questions of {given.calls} calls, {IN_FLIGHT} in flight; "
        f"latency {given.latency:g} s, sigma {given.sigma:g}"
    )
    for concurrency in CONCURRENCIES:
        best = ideal(given.questions, given.calls, concurrency, given.latency, given.sigma)
        times = [ours(url, given.questions, given.calls, concurrency)[0] for _ in range(given.repeat)]
        ratio = best / statistics.median(times)
        print(f"concurrency {concurrency:2}: ideal {best:.2f} s, engine {statistics.median(times):.2f} s: {ratio:.3f}")


def show_cost(url: str, questions: int, calls: int, repeat: int) -> None:
    """Print the CPU of a call over the bare loop, and the memory."""
    theirs, mine, memory = list[float](), list[float](), list[float]()
    bare(url, IN_FLIGHT, 1)  # the libraries are loaded
    for _ in range(repeat):
        began = time.process_time()
        bare(url, questions, calls)
        theirs.append((time.process_time() - began) / (questions * calls) * 1e3)
        _, spent, memory = ours(url, questions, calls)
        mine.append(spent / (questions * calls) * 1e3)
    over = statistics.median(b - a for a, b in zip(theirs, mine, strict=True))
    print(
        f"CPU of a call: bare loop {statistics.median(theirs):.2f} ms, engine {statistics.median(mine):.2f} ms: "
        f"{over:.2f} ms more (limit {LIMIT:g})"
    )
    print(f"memory at each quarter of the run: {', '.join(f'{size:.0f}' for size in memory)} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=64)
    parser.add_argument("--calls", type=int, default=8)
    parser.add_argument("--latency", type=float, default=0.5, help="median, in seconds")
    parser.add_argument("--sigma", type=float, default=0.6)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    server, url = started(0.02)
    show_cost(url, 250, 5, given.repeat)
    server.terminate()
    server, url = started(given.latency, given.sigma)
    show_throughput(url, given)
    server.terminate()


if __name__ == "__main__":
    main()
