"""Services that only stream: what their events become, and each way in which a stream is no answer."""

import json
import socket
import threading
from contextlib import contextmanager

import pytest

from ohr.contracts import Context, SystemReply
from ohr.errors import DataError
from ohr.keys import identity, key
from ohr.systems.http import Http

from .rag_server import rag_server

SSE, LINES = {"Content-Type": "text/event-stream; charset=utf-8"}, {"Content-Type": "application/x-ndjson"}
HANDLE = {"name": "blur-1", "handle": "kb7"}
OPENAI = {
    "body": {"messages": [{"role": "user", "content": "{question}"}], "stream": True},
    "answer": "choices[0].delta.content",
    "contexts": "sources",
    "context": {"document": "file"},
    "tokens_in": "usage.prompt_tokens",
    "tokens_out": "usage.completion_tokens",
    "version": "system_fingerprint",
    "error": "error",
    "stream": "choices[0].finish_reason",
}
DIFY = {
    "body": {"query": "{question}", "response_mode": "streaming", "inputs": {}, "user": "ohr"},
    "answer": "event=='message' && answer || null",
    "contexts": "metadata.retriever_resources",
    "context": {"text": "content", "document": "document_name", "score": "score"},
    "tokens_in": "metadata.usage.prompt_tokens",
    "stream": "event=='message_end'",
}
OLLAMA = {
    "body": {"prompt": "{question}"},
    "answer": "response || message.content",
    "tokens_in": "prompt_eval_count",
    "tokens_out": "eval_count",
    "stream": "done",
}


@pytest.fixture
def server():
    with rag_server() as rag:
        yield rag


def asked(server, fields, text, headers=SSE, status=200, **more):
    server.routes["/ask"] = lambda _: (status, headers, text)
    return system(server, fields, **more).ask("How much?", HANDLE)


def system(server, fields, **more):
    given = {"url": f"{server.url}/ask", "ingest": {"url": server.url, "field": "file"}, "backoff": 0.01, "retries": 0}
    return Http.model_validate({**given, **fields, **more})


def sent(*events, end="data: [DONE]\n\n"):
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + end


def piece(text, **more):
    return {"choices": [{"delta": {"content": text}, "finish_reason": None}], "system_fingerprint": "fp_1", **more}


LAST = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 2}}


def test_the_chunks_of_a_chat_are_one_answer(server):
    sources = {"choices": [], "sources": [{"text": "The rent is 1250 francs.", "file": "lease.md"}]}
    text = sent(sources, piece("1250\u2028"), piece(" francs"), LAST, USAGE)
    assert asked(server, OPENAI, ": keep-alive\n\n" + text) == SystemReply(
        "1250\u2028 francs", (Context("The rent is 1250 francs.", "lease.md"),), 120, 2, version="fp_1"
    )
    assert server.bodies("/ask")[0]["stream"] is True


def test_a_mark_or_the_expression_ends_a_stream(server):
    alone = {**OPENAI, "contexts": None}
    assert asked(server, alone, sent(piece("a"), LAST, end="")).answer == "a"
    assert asked(server, alone, sent(piece("a"))).answer == "a"
    assert asked(server, alone, sent(piece("a"), end="data: [DONE]")).answer == "a"
    # as a comparison, which is false in the events after the end
    ended = {**alone, "stream": "choices[0].finish_reason=='stop'"}
    assert asked(server, ended, sent(piece("a"), LAST, USAGE, end="")).answer == "a"


def test_events_of_dify_are_joined_and_the_last_brings_the_contexts(server):
    resource = {"content": "The rent is 1250 francs.", "document_name": "lease-p0001.md", "score": 0.9}
    text = "event: ping\n\n" + sent(
        {"event": "message", "answer": "1250"},
        {"event": "node_started", "data": {"answer": 7}},
        {"event": "message", "answer": " francs"},
        {"event": "message_end", "metadata": {"usage": {"prompt_tokens": 9}, "retriever_resources": [resource]}},
        end="",
    )
    reply = asked(server, DIFY, text)
    assert (reply.answer, reply.tokens_in) == ("1250 francs", 9)
    assert reply.contexts == (Context("The rent is 1250 francs.", "lease-p0001.md", None, 0.9),)


def test_lines_of_ollama_are_joined(server):
    lines = [{"response": "1250", "done": False}, {"response": " francs", "done": False}]
    last = {"response": "", "done": True, "prompt_eval_count": 26, "eval_count": 2}
    text = "\n".join(map(json.dumps, [*lines, last]))
    assert asked(server, OLLAMA, text, LINES) == SystemReply("1250 francs", None, 26, 2)
    chat = [{"message": {"role": "assistant", "content": part}, "done": part == "!"} for part in "a!"]
    assert asked(server, OLLAMA, "\n".join(map(json.dumps, chat)) + "\r\n", LINES).answer == "a!"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_named_events_texts_and_data_of_several_lines_are_read(server, line_end):
    text = (
        "\ufeffevent: sources\ndata: [\ndata: {\"text\": \"a page\"}\ndata: ]\n\n:a comment\nid: 7\nretry: 10\n"
        "data: The rent\n\ndata:  is [1] \n\ndata: 1250\n\ndata\ndata:\n\ndata: \"francs\\n\"\n\nevent: end\n\n"
    )  # fmt: skip
    fields = {"body": {"q": "{question}"}, "answer": "type(@)=='string' && @ || null", "stream": "event=='end'"}
    reply = asked(server, fields, text.replace("\n", line_end), contexts="event=='sources' && data || null")
    assert reply.answer == "The rent is [1] 1250\nfrancs\n"
    assert [each.text for each in reply.contexts] == ["a page"]


@pytest.mark.parametrize(
    ("fields", "text", "parts"),
    [
        (
            OPENAI,
            sent(piece("12"), end=""),
            ["the stream was interrupted", "true in none of its 1 events", '"content": "12"'],
        ),
        (OPENAI, "data: " + json.dumps(piece("12"))[:40], ["an event of the stream is cut, or no JSON", "choices"]),
        (OPENAI, "", ["the stream was interrupted", "it has no event: (empty)"]),
        (OPENAI, "<html>502</html>", ["it has no event: <html>502"]),
        (OPENAI, sent(piece("12"), {"error": {"message": "overloaded"}}), ["reports an error", "overloaded"]),
        (OPENAI, sent(piece("12"), end="event: error\ndata: lost\n\n"), ["reports an error", '"data": "lost"']),
        (OPENAI, sent(LAST, USAGE), ["`answer` (choices[0].delta.content) finds nothing in the last of 2 events"]),
        (OPENAI, sent(piece(7)), ["finds a number, not text"]),
        (OPENAI, sent(piece("a")), ["`contexts` (sources) finds nothing in the last of 1 events"]),
        (DIFY, sent({"event": "message", "answer": "12"}, {"event": "error", "code": "quota"}), ["error", "quota"]),
        (OLLAMA, '{"response": "12", "done": false}\n{"error": "out of memory"}', ["was interrupted", "out of memory"]),
        (OLLAMA, '{"response": "12", "done": false}\n{"respo', ["an event of the stream is cut, or no JSON"]),
    ],
)
def test_a_stream_that_is_no_whole_answer_fails_with_a_sentence(server, fields, text, parts):
    with pytest.raises(DataError) as caught:
        asked(server, fields, text, LINES if fields is OLLAMA else SSE)
    assert all(part in str(caught.value) for part in parts), caught.value
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("fields", "headers", "text", "parts"),
    [
        (OPENAI, {}, '{"answer": "12"}', ["is application/json, not a stream", "leave out `stream`", '"answer": "12"']),
        (OPENAI, {}, '{"error": "no such model"}', ["the service reports an error: no such model"]),
        (OPENAI, {"Content-Type": "text/html"}, "<html>Log in</html>", ["the reply is HTML: <html>Log in"]),
        ({**OPENAI, "stream": None}, SSE, sent(piece("12")), ["is a stream (text/event-stream): set `stream`"]),
        ({**OLLAMA, "stream": None}, LINES, "{}\n{}", ["is a stream (application/x-ndjson): set `stream`"]),
    ],
)
def test_a_reply_of_another_kind_is_named(server, fields, headers, text, parts):
    with pytest.raises(DataError) as caught:
        asked(server, fields, text, headers)
    assert all(part in str(caught.value) for part in parts), caught.value


def test_a_stream_that_is_refused_says_why(server):
    with pytest.raises(DataError, match="answered 400: no such model"):
        asked(server, OPENAI, "no such model", {"Content-Type": "text/plain"}, status=400)


def test_a_stream_has_the_limits_of_a_reply(server):
    with pytest.raises(DataError, match="larger than 16 MB"):
        asked(server, OPENAI, sent(piece("x" * (17 << 20)), LAST))
    with pytest.raises(DataError, match=r"no whole reply within 0.2 s"):
        server.faults = [1.0]
        asked(server, OPENAI, sent(piece("x"), LAST), timeout=0.2)


@contextmanager
def raw(answer):
    """Serve one connection by a function that gets it; yields a system that asks there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/ask"
        given = {"url": url, "ingest": {"url": url, "field": "file"}, "retries": 0, "timeout": 0.3, **OPENAI}
        yield Http.model_validate(given)


HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def test_a_stream_that_trickles_for_ever_ends_at_the_limit():
    end = threading.Event()

    def trickle(connection):
        connection.sendall(f"{HEAD}\r\n".encode())
        while not end.wait(0.02):
            connection.sendall(b": still here\n\n")

    with raw(trickle) as rag, pytest.raises(DataError, match=r"no whole reply within 0.3 s"):
        rag.ask("?", HANDLE)
    end.set()


@pytest.mark.parametrize("length", ["Content-Length: 999", "Transfer-Encoding: chunked"])
def test_a_connection_that_is_cut_is_no_short_answer(length):
    text = sent(piece("12"), LAST, end="")
    body = text if "999" in length else f"{len(text):x}\r\n{text}\r\n"
    reply = f"{HEAD}{length}\r\n\r\n{body}".encode()
    cut = pytest.raises(DataError, match=r"without sending complete message body|reset by peer")
    with raw(lambda connection: connection.sendall(reply)) as rag, cut:
        rag.ask("?", HANDLE)


def test_a_secret_in_pieces_is_hidden(server, monkeypatch):
    secret = "sk-live-4f9Zq7/81Xw+pLm2"
    monkeypatch.setenv("RAG_API_KEY", secret)
    text = sent(piece("the key is "), *(piece(secret[at : at + 3]) for at in range(0, len(secret), 3)), LAST)
    fields = {**OPENAI, "contexts": None, "headers": {"Authorization": "Bearer ${RAG_API_KEY}"}}
    assert asked(server, fields, text).answer == "the key is ***"


def test_replies_that_were_stored_before_streams_keep_their_keys():
    given = {
        "url": "http://localhost:8700/ask/{handle}",
        "body": {"question": "{question}", "kb": "{handle}"},
        "answer": "answer",
        "contexts": "sources",
        "tokens_in": "usage.in",
        "ingest": [
            {"url": "http://localhost:8700/kb", "body": {"name": "{name}"}, "handle": "id"},
            {"url": "http://localhost:8700/kb/{handle}", "field": "file", "data": {"kb": "{name}"}},
        ],
    }
    plain, streamed = Http.model_validate(given), Http.model_validate({**given, "stream": "done"})
    keys = [key("system", identity(plain)), key("ingested", identity(plain, plain.asking))]
    assert [each[:16] for each in keys] == ["168c145f35a433e1", "cf7fedf16348f9e8"]
    assert key("system", identity(streamed)) != keys[0]
    assert key("ingested", identity(streamed, streamed.asking)) == keys[1]
