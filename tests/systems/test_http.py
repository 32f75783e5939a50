"""Systems behind HTTP, against a real server: what is asked, what is read, and each way in which it goes wrong."""

import json
import logging
import re
import sys
import time
from email.utils import formatdate
from threading import Thread
from types import SimpleNamespace
from urllib.parse import parse_qs

import pytest
from pydantic import ValidationError

from ohr.contracts import Context, SystemReply
from ohr.errors import DataError, MissingKey, PermanentError, SpecError
from ohr.spec.read import read_spec
from ohr.spec.servers import sent
from ohr.systems.http import Http

from .rag_server import rag_server

KEY = "sk-live-4f9Zq7/81Xw+pLm2"
REPLY = {
    "answer": "1250 francs",
    "sources": [{"text": "The rent is 1250 francs.", "file": "lease.pdf", "page": 3, "score": 0.9}],
    "usage": {"in": 120, "out": 7},
    "build": "2.1",
}
FIELDS = {
    "answer": "answer",
    "contexts": "sources",
    "context": {"document": "file", "page": "page", "score": "score"},
    "tokens_in": "usage.in",
    "tokens_out": "usage.out",
    "version": "build",
    "error": "error",
}
HANDLE = {"name": "blur-1", "handle": "kb7"}


@pytest.fixture
def server():
    with rag_server() as rag:
        rag.routes["/ask"] = lambda _: REPLY
        rag.routes["/files"] = lambda _: {"id": "kb7"}
        yield rag


def system(server, **keys):
    given = {
        "url": f"{server.url}/ask",
        "body": {"question": "{question}", "filter": {"kb": "{handle}"}, "k": "{top_k}"},
        "ingest": {"url": f"{server.url}/files", "field": "file", "handle": "id", "data": {"kb": "{name}"}},
        "backoff": 0.01,
        **FIELDS,
        **keys,
    }
    return Http.model_validate({name: value for name, value in given.items() if value != "left out"})


def fails(rag, *parts, handle=HANDLE, error=DataError):
    with pytest.raises(error) as caught:
        rag.ask("How much is the rent?", handle)
    text = str(caught.value)
    assert "Traceback" not in text
    for part in parts:
        assert part in text, text
    return text


def documents(tmp_path, names=("a.pdf", "b.pdf", "c.pdf")):
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(b"%PDF " + name.encode())
    return folder


def test_a_question_is_asked_and_its_reply_read(server):
    reply = system(server, top_k=4).ask('What is "{handle}"? \\ \n', HANDLE)
    assert reply == SystemReply(
        "1250 francs", (Context("The rent is 1250 francs.", "lease.pdf", 3, 0.9),), 120, 7, version="2.1"
    )
    assert server.bodies("/ask") == [{"question": 'What is "{handle}"? \\ \n', "filter": {"kb": "kb7"}, "k": 4}]


def test_a_question_in_the_address_is_escaped(server):
    rag = system(server, method="GET", body=None, params={"q": "{question}", "kb": "{handle}"})
    rag.ask("a&kb=other#?", HANDLE)
    assert parse_qs(server.asked[0][1].partition("?")[2]) == {"q": ["a&kb=other#?"], "kb": ["kb7"]}
    server.routes["/kb/..%2Fx/ask"] = lambda _: REPLY
    rag = system(server, url=server.url + "/kb/{handle}/ask")
    assert rag.ask("rent?", {**HANDLE, "handle": "../x"}).answer == "1250 francs"


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ((200, {}, "<html><body>Please log in</body></html>"), ["is HTML", "Please log in"]),
        ((200, {}, "almost {json"), ["not JSON", "almost {json"]),
        ((200, {}, ""), ["not JSON", "(empty)"]),
        ([], ["`answer` (answer) finds nothing", "[]"]),
        ({"error": "index is gone"}, ["reports an error: index is gone"]),
        ({**REPLY, "error": {"code": 7}}, ["reports an error", '"code": 7']),
        ({**REPLY, "answer": None}, ["`answer` (answer) finds nothing", "sources"]),
        ({**REPLY, "answer": ["x"]}, ["`answer` (answer) finds a list, not text"]),
        ({**REPLY, "answer": 12}, ["`answer` (answer) finds a number, not text"]),
        ({**REPLY, "sources": None}, ["`contexts` (sources) finds nothing"]),
        ({**REPLY, "sources": {"a": 1}}, ["`contexts` (sources) finds a mapping, not a list"]),
        ({**REPLY, "sources": []}, ["`contexts` (sources) is an empty list", "may_be_empty"]),
        ({**REPLY, "sources": [{"file": "a.pdf"}]}, ["`context.text` (text) of context 1 finds no text", "a.pdf"]),
        ({**REPLY, "sources": [{"text": "x"}, {"text": " "}]}, ["of context 2 finds no text"]),
        ({**REPLY, "sources": [{"text": 5}]}, ["`context.text` (text) of context 1 finds 5, not text"]),
        ({**REPLY, "sources": ["plain"]}, ["of context 1 finds no text", "plain"]),
        ({**REPLY, "sources": [{"text": "x", "page": "three"}]}, ["`context.page`", '"three", not the number']),
        ({**REPLY, "sources": [{"text": "x", "page": True}]}, ["`context.page`", "true, not the number"]),
        ({**REPLY, "sources": [{"text": "x", "score": "high"}]}, ["`context.score`", "not a number"]),
        ({**REPLY, "sources": [{"text": "x", "file": 3}]}, ["`context.document`", "3, not text"]),
        ({**REPLY, "usage": {"in": "many"}}, ["`tokens_in` (usage.in)", '"many", not a count']),
        ({**REPLY, "usage": {"out": -1}}, ["`tokens_out`", "-1, not a count"]),
        ((404, {}, "nothing here"), ["answered 404", "nothing here"]),
        ((302, {"Location": "http://elsewhere"}, ""), ["answered 302"]),
        ((200, {}, "x" * (17 << 20)), ["larger than 16 MB"]),
    ],
)
def test_a_reply_that_is_no_answer_fails_with_a_sentence(server, reply, parts):
    server.routes["/ask"] = lambda _: reply
    assert len(fails(system(server), *parts)) < 700


def test_an_expression_that_does_not_fit_names_its_field(server):
    fails(system(server, answer="length(answer.missing)"), "`answer` (length(answer.missing)) does not fit the reply")


def test_contexts_may_be_texts_places_or_nothing(server):
    server.routes["/ask"] = lambda _: {**REPLY, "sources": ["one", "two"]}
    assert [each.text for each in system(server, context={"text": "@"}).ask("?", HANDLE).contexts] == ["one", "two"]
    server.routes["/ask"] = lambda _: {**REPLY, "sources": [{"file": "a.pdf", "page": "4"}]}
    places = {"text": None, "document": "file", "page": "page"}
    assert system(server, context=places).ask("?", HANDLE).contexts == (Context("", "a.pdf", 4),)
    server.routes["/ask"] = lambda _: {**REPLY, "sources": [{"file": "a.pdf"}]}
    fails(system(server, context=places), "context 1 has neither text nor a document with a page")
    server.routes["/ask"] = lambda _: {**REPLY, "sources": []}
    assert system(server, may_be_empty=True).ask("?", HANDLE).contexts == ()
    assert system(server, contexts=None).ask("?", HANDLE).contexts is None


def test_a_service_that_is_down_is_named(server):
    rag = system(server, url="http://127.0.0.1:9/ask", retries=1)
    fails(rag, "cannot reach http://127.0.0.1:9: ", "refused")


@pytest.mark.parametrize("after", ["1", formatdate(time.time() + 2, usegmt=True)], ids=["seconds", "date"])
def test_a_service_that_is_busy_is_asked_after_the_time_that_it_names(server, after):
    if not after.isdigit():
        after = formatdate(time.time() + 2, usegmt=True)
    server.faults = [(429, {"Retry-After": after}, "slow down"), (503, {}, "starting")]
    began = time.monotonic()
    assert system(server).ask("?", HANDLE).answer == "1250 francs"
    assert 0.8 < time.monotonic() - began < 4
    assert len(server.asked) == 3


def test_a_service_that_stays_busy_or_hangs_fails(server):
    server.faults = [(429, {}, "slow down")] * 3
    fails(system(server, retries=2), "answered 429: slow down")
    assert len(server.asked) == 3
    server.faults = [5.0]
    began = time.monotonic()
    fails(system(server, timeout=0.3), "no whole reply within 0.3 s", "/ask")
    assert time.monotonic() - began < 2


def test_files_are_uploaded_one_by_one_or_together(server, tmp_path):
    folder = documents(tmp_path)
    assert system(server).ingest(folder, "blur-1") == {"name": "blur-1", "handle": "kb7"}
    uploads = server.bodies("/files")
    assert len(uploads) == 3
    assert b'name="kb"\r\n\r\nblur-1' in uploads[0]
    assert b'filename="a.pdf"' in uploads[0] and b"application/pdf" in uploads[0] and b"%PDF a.pdf" in uploads[0]
    server.asked.clear()
    server.faults = [(503, {}, "starting")]  # the files are sent whole again
    ingest = {"url": f"{server.url}/files", "field": "file", "per": "all"}
    assert system(server, ingest=ingest).ingest(folder, "blur-1")["handle"] == "blur-1"
    first, second = server.bodies("/files")
    assert all(second.count(b"%PDF " + name) == 1 for name in (b"a.pdf", b"b.pdf", b"c.pdf"))
    assert len(first) == len(second)


def test_an_ingest_that_fails_half_way_names_the_file(server, tmp_path):
    server.faults = [(200, {}, '{"id": "kb7"}'), (500, {}, "parser crashed")]
    with pytest.raises(DataError, match=r"ingest failed: file 2 of 3 \(b.pdf\): .*answered 500: parser crashed"):
        system(server).ingest(documents(tmp_path), "blur-1")
    assert len(server.bodies("/files")) == 2  # a file that may have arrived is not sent twice


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"error": "disk is full"}, "file 1 of 3 .*reports an error: disk is full"),
        ({"ok": True}, r"`handle` \(id\) finds nothing"),
        ((200, {}, "<html>log in</html>"), "HTML: <html>log in"),
    ],
)
def test_an_upload_that_is_not_accepted_fails(server, tmp_path, reply, message):
    server.routes["/files"] = lambda _: reply
    with pytest.raises(DataError, match=message):
        system(server).ingest(documents(tmp_path), "blur-1")


def test_a_command_may_bring_the_documents(server, tmp_path):
    code = "import os, sys; print(sorted(os.listdir(sys.argv[1]))); print(os.environ['OHR_NAME'] + '-id')"
    rag = system(server, ingest={"command": [sys.executable, "-c", code, "{folder}"]})
    assert rag.ingest(documents(tmp_path), "blur-1") == {"name": "blur-1", "handle": "blur-1-id"}
    code = "import sys; print('no space left', file=sys.stderr); sys.exit(3)"
    rag = system(server, ingest={"command": [sys.executable, "-c", code]})
    with pytest.raises(DataError, match="ended with status 3: no space left"):
        rag.ingest(tmp_path, "blur-1")
    rag = system(server, ingest={"command": ["./no-such-program"]})
    with pytest.raises(DataError, match="no-such-program cannot be started: No such file"):
        rag.ingest(tmp_path, "blur-1")


def test_a_command_needs_trust(server):
    keys = {"url": "http://here/ask", "body": {"q": "{question}"}, "answer": "a", "ingest": {"command": ["true"]}}
    context = {"registry": SimpleNamespace(trusted=False)}
    with pytest.raises(ValidationError, match="--trust-plugins"):
        Http.model_validate(keys, context=context)


def test_a_variable_of_another_name_is_sent_where_it_is_allowed(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        "benchmark: {kind: mini}\nknowledge_bases: [{name: clean}]\nevaluate: [retrieval, overall]\nsystems:\n"
        "  - {kind: http, url: 'http://here/ask', body: {q: '{question}'}, answer: a, ingest: {url: 'http://here'},\n"
        "     headers: {Cookie: '${SESSION}'}}\n"
    )
    with pytest.raises(SpecError, match=r"headers: would send the environment variable .*SESSION.*--allow-env SESSION"):
        read_spec(path)
    assert list(sent(read_spec(path, allow_env=["SESSION"]))) == ["system http sends SESSION to here"]


def test_questions_wait_until_the_documents_can_be_searched(server, tmp_path):
    states = iter([{"state": "parsing"}, {"state": "parsing"}, {"state": "ready"}])
    server.routes["/state/kb7"] = lambda _: next(states)
    wait = {"url": server.url + "/state/{handle}", "until": "state == 'ready'"}
    system(server, wait=wait).ingest(documents(tmp_path), "blur-1")
    assert next(states, None) is None
    server.routes["/state/kb7"] = lambda _: {"state": "parsing"}
    with pytest.raises(DataError, match=r"not true after 0.3 seconds: the service said .*parsing"):
        system(server, wait={**wait, "most": 0.3}).ingest(tmp_path / "documents", "blur-1")
    server.routes["/state/kb7"] = lambda _: {"error": "out of memory"}
    with pytest.raises(DataError, match=r"waiting after the ingest failed: .*out of memory"):
        system(server, wait=wait).ingest(tmp_path / "documents", "blur-1")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"ingest": "none"}, "cannot look into it later. Upload its files"),
        ({"ingest": "left out"}, "cannot look into it later. Upload its files"),
        ({"ingest": {"field": "file"}}, "either `url` or `command`"),
        ({"ingest": {"url": "http://x/", "field": "f", "body": {}}}, "either `field`, for an upload, or `body`"),
        ({"headers": {"Authorization": f"Bearer {KEY}"}}, "put it into an environment variable"),
        ({"body": {"question": "{question}", "api_key": KEY}}, "api_key looks like a secret"),
        ({"url": "http://me:secret@here/ask"}, "holds a user name or a key"),
        ({"url": f"http://here/ask?api_key={KEY}"}, "holds a user name or a key"),
        ({"url": "localhost/ask"}, "must be an address such as http"),
        ({"answer": "choices[0"}, "is no JMESPath expression"),
        (
            {"body": {"question": "{quesiton}"}},
            "{quesiton} is no place of this request: there are handle, name",
        ),
        (
            {"ingest": {"url": "http://x/{nam}"}},
            "{nam} is no place of this request: there are file, files, handle, name",
        ),
        ({"ingest": {"url": "http://x/", "fild": "f"}}, "unknown key 'fild'. Choose one of: url, method, field"),
        ({"wait": {"url": "http://x/{id}", "until": "a"}}, "{id} is no place"),
        ({"url": ""}, "must be an address"),
        ({"url": "left out"}, "needs `url`, where a question is sent, or a `preset`"),
        ({"body": {"question": "?"}}, "every question would be the same"),
        ({"answer": None, "contexts": None}, "needs `answer` or `contexts`"),
        (
            {"preset": "diffy", "base_url": "http://here"},
            "there is no 'diffy', only azure_ai_search, dify_retrieval, elasticsearch, ",
        ),
        ({"preset": "ragflow"}, "needs `base_url`"),
    ],
)
def test_a_spec_that_cannot_work_is_refused(server, keys, message):
    with pytest.raises(ValidationError) as caught:
        system(server, **keys)
    details = [detail["msg"] for detail in caught.value.errors(include_input=False, include_url=False)]
    assert any(message in detail for detail in details), details
    assert not any(KEY in detail for detail in details)


def test_a_key_comes_from_the_environment_and_goes_nowhere_else(server, tmp_path, monkeypatch, caplog):
    headers = {"Authorization": "Bearer ${RAG_API_KEY}"}
    rag = system(server, headers=headers)
    monkeypatch.delenv("RAG_API_KEY", raising=False)
    with pytest.raises(MissingKey, match="environment variable RAG_API_KEY is not set"):
        rag.check()
    monkeypatch.setenv("RAG_API_KEY", KEY)
    rag.check()
    caplog.set_level(logging.DEBUG, "ohr")
    handle = rag.ingest(documents(tmp_path), "blur-1")
    echoed = {**REPLY, "answer": f"your key is {KEY}", "build": KEY, "sources": [{"text": f"key {KEY}", "file": KEY}]}
    server.routes["/ask"] = lambda _: echoed
    reply = rag.ask("?", handle)
    server.routes["/ask"] = lambda _: (500, {}, f"no such key: {KEY} " + json.dumps(KEY[::-1]))
    texts = [fails(system(server, headers=headers, retries=0), "answered 500")]
    server.routes["/ask"] = lambda _: (200, {}, json.dumps({"error": "refused " + KEY.replace("/", "\\/")}))
    texts.append(fails(rag, "reports an error"))
    texts += [str(reply), repr(rag), json.dumps(rag.identity(), default=str), rag.model_dump_json(), caplog.text]
    assert not any(KEY in text or KEY[::-1] in text for text in texts), texts
    assert {sent["Authorization"] for _, _, sent, _ in server.asked} == {f"Bearer {KEY}"}
    assert "headers" not in rag.identity()


def test_a_key_that_is_refused_is_not_tried_for_ever(server, monkeypatch):
    monkeypatch.setenv("RAG_API_KEY", KEY)
    server.routes["/ask"] = lambda _: (401, {}, "who are you?")
    rag = system(server, headers={"Authorization": "Bearer ${RAG_API_KEY}"})
    for _ in range(6):
        fails(rag, "answered 401: who are you?")
    assert len(server.asked) == 3


def test_dify_s_format(server, tmp_path):
    server.routes["/retrieval"] = lambda body: {
        "records": [{"content": f"about {body['query']}", "score": 0.98, "title": "lease.pdf", "metadata": {}}]
    }
    server.routes["/files"] = lambda _: {"knowledge_id": "AAA-BBB"}
    ingest = {"url": f"{server.url}/files", "field": "file", "handle": "knowledge_id"}
    rag = Http.model_validate({"preset": "dify_retrieval", "base_url": server.url, "ingest": ingest, "top_k": 3})
    reply = rag.ask("rent", rag.ingest(documents(tmp_path), "blur-1"))
    assert reply == SystemReply("", (Context("about rent", "lease.pdf", None, 0.98),))
    setting = {"top_k": 3, "score_threshold": 0.0}
    assert server.bodies("/retrieval") == [{"knowledge_id": "AAA-BBB", "query": "rent", "retrieval_setting": setting}]
    assert not rag.answers
    server.routes["/retrieval"] = lambda _: {"error_code": 2001, "error_msg": "The knowledge does not exist"}
    fails(rag, "reports an error: The knowledge does not exist")


def test_openai_s_format(server):
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    choices = [{"message": {"role": "assistant", "content": "in May"}, "finish_reason": "stop"}]
    reply = {"choices": choices, "usage": usage, "system_fingerprint": "fp_1", "citations": ["Rent is due in May."]}
    server.routes["/v1/chat/completions"] = lambda _: reply
    keys = {"preset": "openai_chat", "base_url": f"{server.url}/v1", "ingest": {"url": f"{server.url}/files"}}
    assert Http.model_validate(keys).ask("When?", HANDLE) == SystemReply("in May", None, 9, 3, version="fp_1")
    sent = server.bodies("/v1/chat/completions")[0]
    assert sent == {"model": "kb7", "messages": [{"role": "user", "content": "When?"}], "temperature": 0}
    rag = Http.model_validate({**keys, "contexts": "citations", "context": {"text": "@"}})
    assert rag.ask("When?", HANDLE).contexts == (Context("Rent is due in May."),)


def test_ragflow_s_format(server, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGFLOW_API_KEY", KEY)
    numbers = iter(range(9))
    left = iter([[{"run": "RUNNING"}], []])
    chunk = {
        "content": "Rent is due",
        "document_keyword": "lease.pdf",
        "similarity": 0.9,
        "positions": [[2, 1, 5, 1, 5]],
    }
    server.routes |= {
        "/api/v1/datasets": lambda body: {"code": 0, "data": {"id": "d1", "name": body["name"]}},
        "/api/v1/datasets/d1/chunks": lambda _: {"code": 0},
        "/api/v1/retrieval": lambda _: {"code": 0, "data": {"chunks": [chunk, {**chunk, "positions": [""]}]}},
    }
    server.routes["/api/v1/datasets/d1/documents"] = lambda body: (
        {"code": 0, "data": [{"id": f"f{next(numbers)}"}]} if body else {"code": 0, "data": {"docs": next(left)}}
    )
    rag = Http.model_validate({"preset": "ragflow", "base_url": server.url + "/", "backoff": 0})
    handle = rag.ingest(documents(tmp_path), "blur-1")
    assert handle == {"name": "blur-1", "handle": "d1", "documents": ["f0", "f1", "f2"]}
    assert server.bodies("/api/v1/datasets/d1/chunks") == [{"document_ids": ["f0", "f1", "f2"]}]
    assert rag.ask("When?", handle).contexts == (
        Context("Rent is due", "lease.pdf", 2, 0.9),
        Context("Rent is due", "lease.pdf", None, 0.9),
    )
    assert server.bodies("/api/v1/retrieval")[0]["dataset_ids"] == ["d1"]
    server.routes["/api/v1/retrieval"] = lambda _: {"code": 102, "message": "`dataset_ids` is required."}
    fails(rag, "reports an error: `dataset_ids` is required.", handle=handle)


def test_many_threads_share_one_client(server):
    rag, answers = system(server), []
    threads = [Thread(target=lambda: answers.append(rag.ask("?", HANDLE).answer)) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["1250 francs"] * 64


def test_results_depend_on_the_request_and_not_on_its_pace(server):
    identity = system(server).identity()
    assert identity == system(server, timeout=9, retries=0, headers={"X-Key": "${A_API_KEY}"}, in_flight=2).identity()
    assert identity != system(server, body={"q": "{question}"}).identity()
    assert re.search(r"/ask", json.dumps(identity))


def test_the_version_of_each_reply_is_kept(server):
    builds = iter(["2.1", 3, None])
    server.routes["/ask"] = lambda _: {**REPLY, "build": next(builds)}
    assert [system(server).ask("?", HANDLE).version for _ in range(3)] == ["2.1", "3", ""]


@pytest.mark.parametrize(
    "reply",
    [
        (400, {}, "no such field"),
        (200, {}, '{"choices": null}'),
        (500, {}, "the prompt is too long"),
        (200, {"Content-Type": "text/event-stream"}, "data: {}\n\n"),
    ],
    ids=["status", "shape", "length", "a stream that was not asked for"],
)
def test_what_no_further_try_changes_is_asked_for_once(server, reply):
    server.faults = [reply] * 9
    with pytest.raises(PermanentError):
        system(server, retries=3).ask("?", HANDLE)
    assert len(server.asked) == 1
