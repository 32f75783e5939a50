"""Limits per minute of a server in a run: its processes share them, and its time limits do not run meanwhile."""

import subprocess
import sys
from dataclasses import dataclass, field
from time import time

import pytest

from ..conftest import completion
from .conftest import answering

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


@dataclass
class Server:
    """A chat server; `came` has when each request came."""

    url: str = ""
    came: list[float] = field(default_factory=list)

    def reply(self, body):
        self.came.append(time())
        return 200, completion("about " + body["messages"][-1]["content"][-20:])


@pytest.fixture
def server():
    state = Server()
    with answering(state.reply) as state.url:
        yield state


def spec(server, size, limit):
    return SPEC.format(url=server.url, size=size, limit=limit)


def test_two_worker_processes_share_a_limit(home, server):
    finished = home.run(spec(server, 20, 3000), workers=2)
    assert finished.ledger.failures == []
    came = sorted(server.came)
    assert len(came) > 128  # more than two calls have: two workers ask
    assert came[-1] - came[0] > (len(came) - 51) * 62 / 3000 - 0.3  # those of a second may go at once


@pytest.mark.acceptance
def test_a_prompt_that_waits_for_the_limit_is_within_its_time(home, server):
    command = [sys.executable, "-c", WATCHED, server.url]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "3 replies\n")
    assert max(server.came) - min(server.came) > 7
