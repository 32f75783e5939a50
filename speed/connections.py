"""Connections to the three servers: clients that stop in the middle of a request, and many clients at once.

    python -m speed.connections [--held 400] [--flood 1000]

The servers are those of `ohr serve`, `ohr view` and `ohr data review`, on two documents of mini, in this process. It
prints when the first of the held connections was closed by the server, when the last one, and how many of a flood were
answered. All connections of a flood are begun before any of them is served.
"""

import argparse
import os
import resource
import select
import socket
import tempfile
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

from ohr.benchmarks.mini import Mini
from ohr.engine.executors.inline import Inline
from ohr.models.resident import holding
from ohr.questions.imports import of_question
from ohr.report.html.review_site import PageSource, serve_review
from ohr.report.html.site import Site, make_server
from ohr.runner.run import run
from ohr.serving.api import Api
from ohr.serving.http import Server, open_server
from ohr.serving.pipeline import Pipeline
from ohr.spec.read import read_spec
from ohr.store import open_store

SPEC = """\
name: connections
limit: 2
benchmark: {kind: mini, languages: [en]}
knowledge_bases: [{name: clean}]
retrievers: [{kind: bm25}]
generators: [{kind: extractive}]
"""
LONGEST = 120
"""Seconds after which a connection counts as kept, or as not answered."""
HALF = b"GET / HTTP/1.1\r\nHo"
WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def opened(home: Path) -> dict[str, Server]:
    """Run a small study, and open the servers."""
    (home / "spec.yaml").write_text(SPEC)
    spec = read_spec(home / "spec.yaml")
    run(spec, store=home / "store", runs=home / "runs", executor=Inline())
    handler = type("RunApi", (Api,), {"pipeline": Pipeline(spec, open_store(home / "store")), "token": None})
    mini = Mini(languages=("en",))
    documents = {document.name: document for document in mini.documents()}
    pages = PageSource(
        lambda name, page: mini.pages(documents[name])[page].text,
        lambda name, page: mini.page_image(documents[name], page),
    )
    candidates = [of_question(question) for question in mini.questions()[:10]]
    return {
        "serve": open_server(handler, 0),
        "view": make_server(Site(home / "runs", lambda _: []), 0),
        "review": serve_review(candidates, pages, home / "decisions.jsonl", reviewer="nobody"),
    }


def hold(server: Server, count: int) -> str:
    """Send half a request on each of some connections, and say when the server closed them."""
    began, poll, held = monotonic(), select.poll(), {}
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", server.server_port))
        client.sendall(HALF)
        held[client.fileno()] = client
        poll.register(client, select.POLLIN)
    ends: list[float] = []
    while held and (left := began + LONGEST - monotonic()) > 0:
        for number, _ in poll.poll(1000 * left):
            ends.append(monotonic() - began)
            poll.unregister(number)
            held.pop(number).close()
    times = f", the first after {ends[0]:.1f} s, the last after {ends[-1]:.1f} s" if ends else ""
    for client in held.values():
        client.close()
    return f"{len(ends):,} of {count:,} half-open connections are gone{times}; {len(held):,} are kept"


def flood(server: Server, count: int) -> str:
    """Begin connections all at once, and count the answers by their status."""
    began, clients = monotonic(), [socket.socket() for _ in range(count)]
    for client in clients:
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", server.server_port))
    outcomes = Counter(map(_asked, clients))
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(outcomes.items()))
    return f"{count:,} connections at once: {kinds}, in {monotonic() - began:.1f} s"


def _asked(client: socket.socket) -> str:
    poll = select.poll()
    poll.register(client, select.POLLOUT)
    poll.poll(1000 * LONGEST)
    with client:
        if number := client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            return f"not connected ({os.strerror(number)})"
        client.settimeout(LONGEST)
        try:
            client.sendall(WHOLE)
            text = b"".join(iter(lambda: client.recv(1 << 16), b""))
        except OSError as error:
            return f"cut off ({error.strerror or 'too slow'})"
        return f"answered {text[9:12].decode()}" if text else "closed without an answer"


def main() -> None:
    """Print both for each server."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--held", type=int, default=400)
    parser.add_argument("--flood", type=int, default=1000)
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as home, holding(), ExitStack() as stack:
        servers = opened(Path(home))
        for server in servers.values():
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, server in servers.items():
            print(f"{name}: {flood(server, 200)}\n{name}: {flood(server, chosen.flood)}", flush=True)
        said: dict[str, str] = {}
        holders = [
            threading.Thread(target=lambda name=name: said.update({name: hold(servers[name], chosen.held)}))
            for name in servers
        ]
        for holder in holders:
            holder.start()
        for holder in holders:
            holder.join()
        for name in servers:
            print(f"{name}: {said[name]}")


if __name__ == "__main__":
    main()
