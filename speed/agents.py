"""Agents through the engine against a bare asynchronous loop, on one scripted server; the memory of the engine.

    python speed/agents.py [--questions 500] [--calls 5] [--latency 0.02] [--repeat 3]

Both sides keep 64 questions in flight, each with a conversation that grows by two messages for every call. The engine
makes keys, keeps every reply and every trajectory, and runs the agent's coroutines.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

IN_FLIGHT = 64
LIMIT = 2.0  # ms for each call, over the bare loop
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
    model: {{kind: openai, base_url: "{url}", model: m, concurrency: {in_flight}}}
evaluate: [overall]
"""


def serve(ready: Any, latency: float) -> None:
    """Answer every request after `latency` seconds, on connections that stay open."""
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
                await reader.readexactly(size)
                await asyncio.sleep(latency)
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=256)
        ready.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


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


def ours(url: str, questions: int, calls: int) -> tuple[float, list[float]]:
    """Return the seconds that the agents took, and the MB of this process at each quarter of them."""
    from ohr.engine.executors.inline import Inline
    from ohr.runner.run import run
    from ohr.spec.read import read_spec

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "plugins.py").write_text(PLUGINS.replace("PASSAGE", PASSAGE))
        spec = home / "spec.yaml"
        spec.write_text(SPEC.format(questions=questions, calls=calls, in_flight=IN_FLIGHT, url=url))
        read = read_spec(spec, trust_plugins=True)
        sizes, done = list[float](), threading.Event()
        sampler = threading.Thread(target=_sample, args=(sizes, done))
        sampler.start()
        finished = run(read, store=home / "store", runs=home / "runs", executor=Inline())
        done.set()
        sampler.join()
        assert finished.ledger.calls["agent calls"] == questions * calls, finished.ledger.failures[:1]
        quarters = [sizes[len(sizes) * part // 4 - 1] for part in (1, 2, 3, 4)]
        return finished.ledger.seconds["running agents"], quarters


def _sample(sizes: list[float], done: threading.Event) -> None:
    process = psutil.Process()
    while not done.wait(0.05):
        sizes.append(process.memory_info().rss / 1024**2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ready: Any = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(ready, given.latency), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ready.get()}/v1"
    made = given.questions * given.calls
    theirs, mine, memory = list[float](), list[float](), list[float]()
    bare(url, IN_FLIGHT, 1)  # the libraries are loaded
    for _ in range(given.repeat):
        theirs.append(bare(url, given.questions, given.calls))
        seconds, memory = ours(url, given.questions, given.calls)
        mine.append(seconds)
    a, b = statistics.median(theirs), statistics.median(mine)
    over = (b - a) / made * 1e3
    print(f"{made:,} calls, {IN_FLIGHT} questions in flight, latency {given.latency * 1e3:g} ms")
    print(
        f"bare loop {a:.2f} s, engine {b:.2f} s: {b / a:.2f} times, {over:.2f} ms more for each call (limit {LIMIT:g})"
    )
    print(f"memory at each quarter of the run: {', '.join(f'{size:.0f}' for size in memory)} MB")
    server.terminate()


if __name__ == "__main__":
    main()
