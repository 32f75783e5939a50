"""Limits per minute of a server in a run: its processes share them, and its time limits do not run meanwhile."""

import http.server
import json
import subprocess
import sys
from time import time

import pytest

from ..conftest import completion, serving

SPEC = """\
benchmark: {{kind: tiny, size: {size}}}
knowledge_bases: [{{name: clean}}]
chunker: {{kind: page}}
retrievers: [{{kind: bm25}}]
evaluate: [overall]
generators: [{{kind: openai, base_url: "{url}", model: m, concurrency: 4, backoff: 0.0, requests_per_minute: {limit}}}]
"""


WATCHED = """
import sys
import anyio.from_thread
import httpx
from ohr.contracts import Prompt
from ohr.generators.openai import OpenAI
from ohr.work.time_limit import Watch

model = OpenAI(base_url=sys.argv[1], model="m", requests_per_minute=12)
with Watch(3.5):
    print(sum(reply.error is None for reply in model.answer([Prompt("", (), "", str(n)) for n in range(3)])), "replies")
"""
"""Replies that come 5 seconds after each other, within a limit of 3.5."""


@pytest.fixture(autouse=True)
def _own_accounts(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def server():
    """A chat server; its `came` has when each request came."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):  # the library's name
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            found.came.append(time())
            text = completion("about " + body["messages"][-1]["content"][-20:]).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments):
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.daemon_threads, found.came = True, []
    with serving(found):
        yield found


def spec(server, size, limit):
    return SPEC.format(url=f"http://127.0.0.1:{server.server_port}/v1", size=size, limit=limit)


def test_two_worker_processes_share_a_limit(home, server):
    finished = home.run(spec(server, 20, 3000), workers=2)
    assert finished.ledger.failures == []
    came = sorted(server.came)
    assert len(came) > 128  # more than two calls have: two workers ask
    assert came[-1] - came[0] > (len(came) - 51) * 62 / 3000 - 0.3  # those of a second may go at once


@pytest.mark.acceptance
def test_a_prompt_that_waits_for_the_limit_is_within_its_time(home, server):
    command = [sys.executable, "-c", WATCHED, f"http://127.0.0.1:{server.server_port}/v1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "3 replies\n")
    assert max(server.came) - min(server.came) > 7
