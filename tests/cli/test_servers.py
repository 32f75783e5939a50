"""`ohr serve`, `ohr view` and `ohr data review` have one base: what each does with hostile, slow and many clients."""

import logging
import re
import socket
import threading
from contextlib import ExitStack
from http.client import HTTPConnection
from time import monotonic

import pytest

from ohr.cli.view import _progress
from ohr.report.html.review_site import TOKEN, serve_review
from ohr.report.html.site import Site, make_server
from ohr.serving import http as serving_http

from ..conftest import serving
from ..report.html.reviewing import PAGES, SET
from .conftest import command

NAMES = ("serve", "view", "review")
TWO_MEBIBYTES = 2 << 20


@pytest.fixture(scope="module")
def servers(finished, tmp_path_factory):
    """The three servers, each on a port of its own."""
    home, opened = tmp_path_factory.mktemp("servers"), []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(finished[0])
        patch.setattr(serving_http, "serve_until_interrupted", opened.append)
        done = command("serve", "small", "--condition", "formatting-0.6", "--port", 0)
    assert done.exit_code == 0, done.output
    opened.append(make_server(Site(finished[0] / "runs", _progress), 0))
    opened.append(serve_review(SET, PAGES, home / "review.jsonl", reviewer="ada"))
    with ExitStack() as stack:
        for server in opened:
            stack.enter_context(serving(server))
        yield dict(zip(NAMES, opened, strict=True))


@pytest.fixture(params=NAMES)
def server(request, servers, monkeypatch):
    """One of them; its limits may be changed."""
    chosen = servers[request.param]
    monkeypatch.setattr(chosen.RequestHandlerClass, "linger", 0.2)
    return chosen


def connected(server):
    return socket.create_connection(("127.0.0.1", server.server_port), timeout=20)


def answer_to(server, request):
    """The status of the answer to some bytes, and the whole of it."""
    with connected(server) as client:
        client.sendall(request)
        return answer_at(client)


def answer_at(client):
    text = b"".join(iter(lambda: client.recv(1 << 16), b"")).decode()
    found = re.match(r"HTTP/1\.0 (\d{3}) ", text)
    return (int(found[1]) if found else None), text


HOST = b"Host: localhost\r\n\r\n"


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET http://[bad/ HTTP/1.1\r\n" + HOST, 400),
        (b"GET http://[bad/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://localhost/ HTTP/1.1\r\n\r\n", 200),
        (b"GET HTTP://LOCALHOST:80/?a=b HTTP/1.1\r\nHost: evil.example\r\n\r\n", 200),  # the address is what counts
        (b"GET http://evil.example/ HTTP/1.1\r\n" + HOST, 403),
        (b"GET http://localhost@evil.example/ HTTP/1.1\r\n" + HOST, 403),
        (b"GET http://evil.example\\@localhost/ HTTP/1.1\r\n" + HOST, 403),
        (b"GET http:/// HTTP/1.1\r\n" + HOST, 400),
        (b"GET file:///etc/passwd HTTP/1.1\r\n" + HOST, 400),
        (b"GET javascript:alert(1) HTTP/1.1\r\n" + HOST, 400),
        (b"GET * HTTP/1.1\r\n" + HOST, 400),
        (b"GET elsewhere HTTP/1.1\r\n" + HOST, 400),
        (b"GET //evil.com HTTP/1.1\r\n" + HOST, 404),
        (b"GET //[bad/ HTTP/1.1\r\n" + HOST, 404),
        (b"GET /\\evil.com HTTP/1.1\r\n" + HOST, 404),
        (b"GET /%00%ff%2e%2e%2f HTTP/1.1\r\n" + HOST, 404),
        (b"GET /?%ff=%00&;=&& HTTP/1.1\r\n" + HOST, 200),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + HOST, 414),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * 70_000 + b"\r\n" + HOST, 431),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + HOST, 431),
        (b"GET / HTTP/1.1 HTTP/1.1\r\n" + HOST, 400),
        (b"GET / HTTP/2.0\r\n" + HOST, 505),
        (b"GET / HTTP/x\r\n" + HOST, 400),
        (b"GET /\r\n" + HOST, 200),
        (b"GET\r\n" + HOST, 400),
        (b"\r\n" + HOST, 400),
        (b"\xa0\x85\r\n" + HOST, 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n" + HOST, 400),  # TLS
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 403),
        (b"GET / HTTP/1.1\r\n\r\n", 403),
        (b"DELETE / HTTP/1.1\r\n" + HOST, 405),
        (b"OPTIONS / HTTP/1.1\r\n" + HOST, 405),
        (b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST, 400),
    ],
)
def test_any_line_has_an_answer_and_none_a_traceback(server, capfd, request_bytes, status):
    found, text = answer_to(server, request_bytes)
    assert found == status, text
    assert "Traceback" not in text + "".join(capfd.readouterr())


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST:80", "127.0.0.1:8571", "[::1]", "[::1]:65535"])
def test_names_of_this_machine_are_answered(server, name):
    assert answer_to(server, f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())[0] == 200


@pytest.mark.parametrize(
    "name",
    ["localhost:evil.com", "localhost:", "localhost:8x", "localhost:123456", "localhost:٣", "evil.com:localhost", "::1",
     "[localhost]", "[::1]evil", "[::1]:", "localhost.evil.com", "127.0.0.1.evil.com",
     "localhost@evil.com", "localhost\xa0", "127x0.0.1", ""],
)  # fmt: skip
def test_other_names_are_refused(server, name):
    status, text = answer_to(server, b"GET / HTTP/1.1\r\nHost: " + name.encode() + b"\r\n\r\n")
    assert status == 403, text
    assert "this address is for this machine only" in text


def test_a_verb_that_is_not_served_is_refused_with_those_that_are(server):
    status, text = answer_to(server, b"OPTIONS / HTTP/1.1\r\n" + HOST)
    assert status == 405
    assert "\r\nAllow: GET, HEAD\r\n" in text
    status, text = answer_to(server, b"HEAD / HTTP/1.1\r\n" + HOST)
    assert (status, text.partition("\r\n\r\n")[2]) == (200, "")


def test_strangers_are_refused_before_their_body_is_read(server):
    head = f"POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: {TWO_MEBIBYTES}\r\n\r\n".encode()
    with connected(server) as client:
        client.sendall(head)  # and no body
        assert client.recv(12) == b"HTTP/1.0 403"
    with connected(server) as client:
        client.sendall(head + bytes(TWO_MEBIBYTES))  # who sends it all the same sees the answer
        assert answer_at(client)[0] == 403


def test_a_body_that_is_too_long_is_refused_before_it_is_sent(servers):
    token = servers["review"].RequestHandlerClass.review.token
    for name, address, header in (
        ("serve", "/retrieval", "Content-Type: application/json"),
        ("review", "/decision", f"{TOKEN}: {token}"),
    ):
        head = f"POST {address} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n"
        for length, status in (
            (f"Content-Length: {TWO_MEBIBYTES}\r\n", 413),
            ("Content-Length: -1\r\n", 411),
            ("", 411),
        ):
            with connected(servers[name]) as client:
                client.sendall(f"{head}{length}\r\n".encode())
                assert client.recv(12) == f"HTTP/1.0 {status}".encode()


def test_a_request_has_a_minute_to_come(server):
    assert server.RequestHandlerClass.timeout == 60


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHo", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Len"])
def test_half_open_clients_are_gone_after_the_time_limit(server, monkeypatch, sent):
    monkeypatch.setattr(server.RequestHandlerClass, "timeout", 0.3)
    began = monotonic()
    clients = [connected(server) for _ in range(20)]
    for client in clients:
        client.sendall(sent)
    assert {client.recv(1) for client in clients} == {b""}
    assert 0.2 < monotonic() - began < 10
    for client in clients:
        client.close()


def test_a_byte_now_and_then_does_not_extend_the_time_limit(server, monkeypatch):
    monkeypatch.setattr(server.RequestHandlerClass, "timeout", 0.5)
    began = monotonic()
    with connected(server) as client:
        client.settimeout(0.1)
        for byte in b"GET /" + b"a" * 200:
            try:
                client.sendall(bytes([byte]))
                if client.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
    assert 0.4 < monotonic() - began < 5


def test_a_body_that_does_not_come_is_not_waited_for(servers, monkeypatch):
    handler = servers["serve"].RequestHandlerClass
    monkeypatch.setattr(handler, "timeout", 0.3)
    head = (
        b"POST /retrieval HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    )
    assert answer_to(servers["serve"], head) == (None, "")


def test_a_fault_of_the_server_is_answered_in_a_sentence_without_secrets(server, monkeypatch, capfd):
    def broken(_):
        raise TimeoutError("https://ada:hunter22@store.example did not answer")  # not the client's connection

    monkeypatch.setattr(server.RequestHandlerClass, "routes", broken)
    status, text = answer_to(server, b"GET / HTTP/1.1\r\n" + HOST)
    assert status == 500
    assert "TimeoutError: https://" in text
    assert "store.example did not answer" in text
    assert "hunter22" not in text
    assert "Traceback" not in text + "".join(capfd.readouterr())


def test_a_client_that_resets_its_connection_leaves_no_traceback(server, capfd, caplog):
    with caplog.at_level(logging.INFO):
        for sent in (b"", b"GET / HT", b"GET / HTTP/1.1\r\n" + HOST):
            client = connected(server)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(sent)
            client.close()
        assert answer_to(server, b"GET / HTTP/1.1\r\n" + HOST)[0] == 200
    assert ("".join(capfd.readouterr()), caplog.text) == ("", "")


def test_connections_that_are_too_many_are_refused_with_a_status(server, monkeypatch):
    monkeypatch.setattr(server, "most", 0)
    assert answer_to(server, b"")[0] == 503
    monkeypatch.undo()
    assert answer_to(server, b"GET / HTTP/1.1\r\n" + HOST)[0] == 200


def test_many_connections_at_once_are_all_answered(server):
    statuses = []

    def ask():
        asked = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
        asked.request("GET", "/", headers={"Host": "localhost"})
        statuses.append(asked.getresponse().status)
        asked.close()

    threads = [threading.Thread(target=ask) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 200
