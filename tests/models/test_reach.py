"""Servers that are looked for before the work begins."""

import json
import socket
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic

import pytest

from ohr.contracts import Server
from ohr.generators.openai import OpenAI
from ohr.models import given_up, reach
from ohr.ocr.servers.service import Service
from ohr.systems.http import Http

from ..conftest import serving

NOBODY = "http://127.0.0.1:9/v1"


@contextmanager
def server_that_says(status, text):
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):  # the library's name
            seen.append((self.path, self.headers.get("Authorization")))
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/v1", seen


def test_all_servers_are_looked_for_at_once(monkeypatch):
    monkeypatch.setattr(reach, "_LOOK", 1.0)
    with server_that_says(200, "") as (url, seen):
        servers = [Server(NOBODY, start="serve"), Server(url), Server("http://no.such.host.invalid"), Server(NOBODY)]
        servers += [Server(f"http://192.0.2.{number}") for number in range(1, 20)]  # an address that nobody has
        began = monotonic()
        missing = reach.without_connection(servers)
    assert monotonic() - began < 3
    assert missing[0] == "cannot reach http://127.0.0.1:9: Connection refused; start it, for example with `serve`"
    assert missing[1].startswith("cannot reach http://no.such.host.invalid: ")
    assert len(missing) == 21 and not seen  # it was connected to, and asked nothing


def test_a_port_without_a_program_behind_it_and_one_without_tls_are_missed(monkeypatch):
    monkeypatch.setattr(reach, "_LOOK", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as closing, socket.create_server(("127.0.0.1", 0)) as silent:

        def close():
            with suppress(OSError):
                while True:
                    closing.accept()[0].close()

        Thread(target=close, daemon=True).start()
        places = [f"127.0.0.1:{each.getsockname()[1]}" for each in (closing, silent)]
        servers = [Server(f"http://{places[0]}"), Server(f"https://{places[1]}"), Server(f"http://{places[1]}")]
        first, second = reach.without_connection(servers)
        closing.shutdown(socket.SHUT_RDWR)
    assert first.startswith(f"cannot reach http://{places[0]}: it takes connections and closes them")
    assert second == f"cannot reach https://{places[1]}: no connection within 1 s"


@pytest.mark.parametrize("scheme", ["http_proxy", "all_proxy"])
def test_what_is_behind_a_proxy_is_not_looked_for(monkeypatch, scheme):
    monkeypatch.setenv(scheme, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert reach.without_connection([Server("http://no.such.host.invalid")]) == []
    assert len(reach.without_connection([Server(NOBODY)])) == 1


def test_a_command_is_named_only_for_a_server_on_this_machine():
    assert "start it" not in reach.unreachable("https://api.example.com/v1", "refused", "vllm serve m")
    assert reach.unreachable("http://user:pw@localhost:8000/v1", "refused", "vllm serve m") == (
        "cannot reach http://localhost:8000: refused; start it, for example with `vllm serve m`"
    )
    assert "`ollama serve`" in reach.unreachable("http://[::1]:11434/v1", "refused", "vllm serve m")
    assert "`" not in reach.unreachable("http://localhost:port/v1", "refused")


def test_a_lost_server_is_left_alone_for_a_minute_and_until_it_answers(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(given_up, "monotonic", lambda: now[0])
    why = reach.lose(NOBODY, "refused")
    assert reach.lost("http://127.0.0.1:9/other") == why and not reach.lost("http://127.0.0.1:10")
    now[0] += 61
    assert not reach.lost(NOBODY)
    reach.lose(NOBODY, "refused")
    reach.met(NOBODY)
    assert not reach.lost(NOBODY) and reach.has_met(NOBODY)


@pytest.mark.parametrize(
    ("status", "text", "fault"),
    [
        (200, json.dumps({"data": [{"id": "m"}, {"id": "n"}]}), ""),
        (200, json.dumps({"data": [{"id": "n"}]}), "lists no model 'm', only n"),
        (200, "<html>", ""),
        (404, "not found", ""),
        (401, "who?", "answered 401: it needs a key, or refuses the one that was sent"),
        (503, "loading", "answered 503"),
    ],
)
def test_a_server_is_asked_for_nothing_but_its_models(monkeypatch, status, text, fault):
    monkeypatch.setenv("SOME_API_KEY", "sk-1")
    with server_that_says(status, text) as (url, seen):
        servers = OpenAI(base_url=url, model="m", api_key_env="SOME_API_KEY").servers()
        assert reach.faults_of_servers(servers) == ([f"{reach.origin(url)} {fault}"] if fault else [])
    assert seen == [("/v1/models", "Bearer sk-1")]


def test_a_server_that_is_not_there_is_a_fault():
    (fault,) = reach.faults_of_servers(Service(service="paddlex", base_url="http://127.0.0.1:9").servers())
    assert fault.startswith("cannot reach http://127.0.0.1:9: ") and "`paddlex --serve" in fault


def test_a_service_that_a_command_starts_is_not_looked_for():
    fields = {"url": "http://127.0.0.1:9/ask?q={question}", "answer": "a"}
    upload = {"url": "http://127.0.0.1:9/files", "field": "file"}
    assert Http(**fields, ingest=upload).servers() == (Server("http://127.0.0.1:9"),)
    assert Http(**fields, ingest=[{"command": ["serve"]}, upload]).servers() == ()
