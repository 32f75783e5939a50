"""`ohr serve`: a finished run answers over HTTP as it has answered its own questions, and refuses what is wrong."""

import functools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import httpx
import pytest

from ohr.cli import serve as command_module
from ohr.errors import StageError
from ohr.results.run import Run
from ohr.serving import http as serving_http
from ohr.serving.pipeline import Pipeline

from ..conftest import serving
from .conftest import SPEC, command

CONDITION = "formatting-0.6"
WORDS = "rent notice year clause vessel lease agreement licence permit"
SEVERAL = """\
name: several
replicates: 2
benchmark: {kind: mini, domains: [law, academic], languages: [en], max_pages: 1}
index_scope: domain
knowledge_bases:
  - name: semantic
    text_noise: {kind: channel, rate: 0.8}
chunker: {kind: tokens, size: [128, 256]}
retrievers:
  - {kind: bm25, top_k: 3}
  - {kind: bm25_okapi, top_k: 2}
  - {kind: oracle, top_k: 2}
generators:
  - {kind: extractive}
  - {name: again, kind: extractive}
evaluate: [retrieval, overall]
"""
CHOICE = ("--chunker", "tokens-128", "--retriever", "bm25", "--generator", "again")


@contextmanager
def served(*words, **headers):
    """Serve as `ohr serve` does, in a thread; gives a client."""
    servers, address = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving_http, "serve_until_interrupted", servers.append)
        patch.setattr(command_module, "say", lambda text: address.append(text.removesuffix("/retrieval")))
        done = command("serve", *words, "--port", 0)
    assert done.exit_code == 0, done.output
    with serving(servers[0]), httpx.Client(base_url=address[0], headers=headers, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def client(finished):
    """A client of the run of `small.yaml`; tests leave its headers as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(finished[0])
        with served("small", "--condition", CONDITION) as opened:
            yield opened


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A run with several of everything; returns its folder."""
    home = tmp_path_factory.mktemp("several")
    (home / "several.yaml").write_text(SEVERAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        words = ("--no-figures", "--no-report", "--executor", "inline")
        assert command("run", "several.yaml", *words).exit_code == 0
    return home


def retrieve(client, query="What is the rent?", name=CONDITION, **setting):
    body = {"knowledge_id": name, "query": query, "retrieval_setting": {"top_k": 2, "score_threshold": 0, **setting}}
    return client.post("/retrieval", json=body)


def chat(client, question="What is the rent?", name=CONDITION, **body):
    asked = {"model": name, "messages": [{"role": "user", "content": question}], **body}
    return client.post("/v1/chat/completions", json=asked)


def stored(folder, **equal):
    """The questions of a run with their hits and answers, under one pipeline."""
    (manifest,) = folder.glob("runs/*/*/manifest.json")
    run = Run.finished(manifest.parent)
    generator = equal.pop("generator")
    hits = defaultdict(list)
    for row in run.rows("hits", **equal):
        hits[row["question_id"]].append((row["text"], row["score"], row["document"], row["page"] + 1))
    answers = {
        r["question_id"]: r["answer"] for r in run.rows("answers", stage="overall", generator=generator, **equal)
    }
    texts = {row["question_id"]: row for row in run.rows("questions")}
    return [(texts[name]["text"], texts[name]["domain"], hits[name], answers[name]) for name in answers]


def records(reply):
    assert reply.status_code == 200, reply.text
    return [
        (r["content"], r["score"], r["metadata"]["document"], r["metadata"]["page"]) for r in reply.json()["records"]
    ]


@pytest.mark.parametrize("condition", ["ground_truth", CONDITION])
def test_the_runs_own_questions_have_its_hits_and_answers(there, condition):
    asked = stored(there, kb=condition, generator="extractive")
    assert len(asked) == 10
    with served("small", "--condition", condition) as client:
        for question, _, hits, answer in asked:
            assert records(retrieve(client, question, condition)) == hits
            assert chat(client, question, condition).json()["choices"][0]["message"]["content"] == answer


@pytest.mark.parametrize(("condition", "draw"), [("semantic", "semantic#0"), ("semantic#1", "semantic#1")])
def test_each_domain_has_an_index_of_its_own_and_each_draw_its_texts(several, monkeypatch, condition, draw):
    monkeypatch.chdir(several)
    asked = stored(several, kb=draw, chunker="tokens-128", retriever="bm25", generator="again")
    with served("several", "--condition", condition, *CHOICE) as client:
        names = [model["id"] for model in client.get("/v1/models").json()["data"]]
        assert sorted(names) == [f"{condition}/academic", f"{condition}/law"]
        for question, domain, hits, answer in asked:
            assert records(retrieve(client, question, f"{condition}/{domain}", top_k=3)) == hits
            assert chat(client, question, f"{condition}/{domain}").json()["choices"][0]["message"]["content"] == answer


def test_a_retriever_that_knows_the_truth_has_it_for_the_runs_questions_only(several, monkeypatch):
    monkeypatch.chdir(several)
    words = (*CHOICE[:2], "--retriever", "oracle", *CHOICE[4:])
    asked = stored(several, kb="semantic#0", chunker="tokens-128", retriever="oracle", generator="again")
    with served("several", "--condition", "semantic", *words) as client:
        for question, domain, hits, _ in asked[:5]:
            assert records(retrieve(client, question, f"semantic/{domain}")) == hits
        assert records(retrieve(client, "What is the rent?", "semantic/law")) == []


def test_a_score_threshold_leaves_out_hits_below_it(client):
    high, low = records(retrieve(client, WORDS))
    assert high[1] > low[1]
    assert records(retrieve(client, WORDS, score_threshold=high[1])) == [high]
    assert records(retrieve(client, WORDS, score_threshold=high[1] + 1)) == []


def test_more_hits_than_there_are_passages_are_all_of_them(client):
    assert len(records(retrieve(client, WORDS, top_k=10_000))) == 4
    least = client.post("/retrieval", json={"knowledge_id": CONDITION, "query": WORDS})
    assert len(records(least)) == 2  # as many as in the run


def test_a_streamed_answer_is_the_same_answer(client):
    whole = chat(client).json()
    assert whole["object"] == "chat.completion"
    assert whole["usage"]["total_tokens"] == whole["usage"]["prompt_tokens"] + whole["usage"]["completion_tokens"] > 0
    reply = chat(client, stream=True, stream_options={"include_usage": True})
    assert reply.headers["content-type"] == "text/event-stream"
    lines = reply.text.split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    assert "content-length" not in reply.headers
    first, *pieces, last, usage = (json.loads(line.removeprefix("data: ")) for line in lines[:-2])
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    deltas = [piece["choices"][0]["delta"]["content"] for piece in pieces]
    assert len(deltas) > 1
    assert "".join(deltas) == whole["choices"][0]["message"]["content"]
    assert (last["choices"][0]["delta"], last["choices"][0]["finish_reason"]) == ({}, "stop")
    assert (usage["choices"], usage["usage"]) == ([], whole["usage"])
    assert {piece["id"] for piece in (*pieces, last, usage)} == {first["id"]}


def test_the_head_of_a_stream_does_not_wait_for_the_answer(client, monkeypatch):
    may_answer = Event()

    def slow(pipeline, name, text):
        assert may_answer.wait(20)
        raise StageError("generator", "slow", "has no words")

    monkeypatch.setattr(Pipeline, "answer", slow)
    body = {"model": CONDITION, "messages": [{"role": "user", "content": "rent"}], "stream": True}
    with client.stream("POST", "/v1/chat/completions", json=body) as reply:
        assert reply.status_code == 200
        lines = reply.iter_lines()
        assert '"role": "assistant"' in next(lines)
        may_answer.set()
        _, error, _, done, _ = lines
    assert json.loads(error.removeprefix("data: "))["error"]["type"] == "server_error"
    assert "has no words" in error
    assert done == "data: [DONE]"


def test_a_stream_that_cannot_begin_has_a_status(client):
    assert chat(client, name="gpt-4o", stream=True).status_code == 404
    assert chat(client, " ", stream=True).status_code == 400
    assert chat(client, stream=True, n=2).status_code == 400


def test_an_answer_stops_before_the_words_that_a_client_names(client):
    whole = chat(client).json()["choices"][0]["message"]["content"]
    middle = whole[20:24]
    for stop in (middle, [middle], ["not there", whole[-3:], middle], ["", middle]):
        (choice,) = chat(client, stop=stop).json()["choices"]
        assert choice["message"]["content"] == whole[: whole.index(middle)]
        assert choice["finish_reason"] == "stop"
    for stop in (None, [], "", "not there"):
        assert chat(client, stop=stop).json()["choices"][0]["message"]["content"] == whole
    assert middle not in "".join(
        json.loads(line[6:])["choices"][0]["delta"].get("content", "")
        for line in chat(client, stop=middle, stream=True).text.split("\n\n")[:-2]
    )


def test_settings_that_chat_clients_send_unasked_pass_and_are_said_to_change_nothing(client):
    plain = chat(client)
    assert "x-ohr-unused" not in plain.headers
    sampling = {"temperature": 0.7, "top_p": 1, "max_tokens": 5, "presence_penalty": 0, "frequency_penalty": 0.5}
    asked = {**sampling, "seed": 1, "user": "ada"}
    for more in ({}, {"stream": True}):
        reply = chat(client, **asked, **more)
        assert reply.status_code == 200
        assert reply.headers["x-ohr-unused"] == ", ".join(asked)
    assert chat(client, **asked).json()["choices"] == plain.json()["choices"]


@pytest.mark.parametrize(
    "body",
    [
        {"n": 1}, {"tools": []}, {"tools": None}, {"tool_choice": "none"}, {"tool_choice": "auto"}, {"functions": []},
        {"response_format": {"type": "text"}}, {"logprobs": False}, {"top_logprobs": 0}, {"logit_bias": {}},
        {"modalities": ["text"]}, {"audio": None}, {"store": False}, {"temperature": None}, {"stream_options": None},
        {"stream": None}, {"anything": None},
    ],
)  # fmt: skip
def test_values_that_mean_nothing_special_pass(client, body):
    reply = chat(client, **body)
    assert (reply.status_code, "x-ohr-unused" in reply.headers) == (200, False)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"n": 2}, "n must be 1, or left out: the run's generator answers once"),
        ({"n": 0}, "n must be 1"),
        ({"n": True}, "n must be 1"),
        ({"tools": [{"type": "function"}]}, "tools must be [], or left out: the run's generator calls no tools"),
        ({"tool_choice": "required"}, 'tool_choice must be "none" or "auto", or left out'),
        ({"functions": [{}]}, "functions must be []"),
        ({"function_call": {"name": "f"}}, "function_call must be"),
        ({"response_format": {"type": "json_object"}}, 'response_format must be {"type": "text"}, or left out'),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format must be"),
        ({"logprobs": True}, "logprobs must be false, or left out: generators report no probabilities"),
        ({"top_logprobs": 3}, "top_logprobs must be 0"),
        ({"logit_bias": {"50256": -100}}, "logit_bias must be {}"),
        ({"modalities": ["text", "audio"]}, 'modalities must be ["text"], or left out: answers are text'),
        ({"audio": {"voice": "alloy"}}, "audio is not served: leave it out"),
        ({"store": True}, "store must be false, or left out: no question or answer is kept"),
        ({"tools": functools.reduce(lambda inner, _: [inner], range(900), [])}, "tools must be []"),
        ({"guided_json": {}}, "guided_json is not served: leave it out"),
        ({"stop": 5}, "stop.str: must be a valid string"),
        ({"stream_options": {"include_usage": "yes"}}, "stream_options.include_usage: must be a valid boolean"),
        ({"stream_options": {"continuous": True}}, "stream_options.continuous: "),
    ],
)
def test_what_would_be_another_kind_of_answer_is_refused_with_the_reason(client, body, said):
    for more in ({}, {"stream": True}):
        reply = chat(client, **{**body, **more})
        assert reply.status_code == 400
        assert said in reply.json()["error"]["message"]


def test_the_last_message_of_the_user_is_the_question(client):
    turns = [("system", "Be brief."), ("user", "Who?"), ("assistant", "Nobody."), ("user", "What is the rent?")]
    messages = [{"role": role, "content": text} for role, text in turns]
    parts = [{"role": "user", "content": [{"type": "text", "text": "What is the rent?"}]}]
    replies = [chat(client, messages=given).json()["choices"] for given in (messages, parts)]
    assert replies[0] == replies[1] == chat(client).json()["choices"]


def test_questions_that_come_at_once_have_their_own_answers(there, client):
    asked = stored(there, kb=CONDITION, generator="extractive") * 4
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda one: chat(client, one[0]).json()["choices"][0]["message"]["content"], asked))
    assert replies == [answer for *_, answer in asked]


@pytest.mark.parametrize(
    ("body", "status", "code", "said"),
    [
        (b"{", 400, 400, "the request is not JSON"),
        (b"\xff", 400, 400, "the request is not JSON"),
        (b"[" * 100_000, 400, 400, "too deeply nested"),
        (b"[]", 400, 400, "the request: must be a JSON object"),
        ({"knowledge_id": 1}, 400, 400, "knowledge_id: must be a valid string"),
        ({"query": " "}, 400, 400, "query: must not be empty"),
        ({"query": None}, 400, 400, "query: must be a valid string"),
        ({"retrieval_setting": {"top_k": 0}}, 400, 400, "retrieval_setting.top_k: must be greater than 0"),
        ({"retrieval_setting": {"top_k": True}}, 400, 400, "retrieval_setting.top_k: must be a valid integer"),
        ({"retrieval_setting": {"score_threshold": "x"}}, 400, 400, "score_threshold: must be a valid number"),
        ({"retrieval_setting": {"score_threshold": float("nan")}}, 400, 400, "must be a finite number"),
        ({"knowledge_id": "formatting-0.7"}, 404, 2001, "Did you mean 'formatting-0.6'?"),
        ({"metadata_condition": {"conditions": [{"name": "page"}]}}, 400, 400, "metadata_condition is not served"),
        ({"metadata_condition": {"a": 1}}, 400, 400, "metadata_condition is not served"),
        ({"top_k": 3}, 400, 400, "top_k: is not known: leave it out"),
        (b" " * 3_000_000, 413, 413, "the request has more than 1,048,576 bytes"),
    ],
)
def test_a_wrong_request_is_refused_in_the_words_of_the_knowledge_api(client, body, status, code, said):
    if isinstance(body, dict):
        body = json.dumps({"knowledge_id": CONDITION, "query": "rent", **body}).encode()
    reply = client.post("/retrieval", content=body, headers={"Content-Type": "application/json"})
    assert (reply.status_code, reply.json()["error_code"]) == (status, code)
    assert said in reply.json()["error_msg"]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"messages": []}, 400, "messages: must not be empty"),
        ({"messages": "rent"}, 400, "messages: must be a valid list"),
        ({"messages": [{"role": "system", "content": "rent"}]}, 400, "there is none"),
        ({"messages": [{"role": "user", "content": " "}]}, 400, "there is none"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "only text is read"),
        ({"stream": "yes"}, 400, "stream: must be a valid boolean"),
        ({"model": "gpt-4o"}, 404, "no model 'gpt-4o'. Choose one of: formatting-0.6."),
    ],
)
def test_a_wrong_request_is_refused_in_the_words_of_the_chat_api(client, body, status, said):
    reply = chat(client, **body)
    assert reply.status_code == status
    error = reply.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", None)
    assert said in error["message"]


def test_other_addresses_verbs_types_and_names_are_refused(client):
    assert "there is nothing here, only /retrieval, /v1/chat" in client.get("/v2").json()["error"]["message"]
    assert client.get("/retrieval").json()["error_code"] == 405
    for verb in ("PUT", "OPTIONS"):
        refused = client.request(verb, "/v1/models")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert client.options("/v1/chat/completions").headers["allow"] == "POST"
    plain = {"content": b"{}", "headers": {"Content-Type": "text/plain"}}  # what a foreign page may send
    assert client.post("/v1/chat/completions", **plain).status_code == 415
    assert client.get("/v1/models", headers={"Host": "evil.example"}).status_code == 403
    chunked = client.post("/retrieval", content=iter([b"{}"]), headers={"Content-Type": "application/json"})
    assert chunked.status_code == 411


def test_health_names_the_run_and_what_it_serves(client):
    about = {"status": "ok", "run": "small", "knowledge_ids": [CONDITION], "models": [CONDITION]}
    assert client.get("/").json() == client.get("/health").json() == about
    assert client.head("/health").status_code == 200


def test_a_model_is_found_by_its_name_in_any_spelling(several, monkeypatch):
    monkeypatch.chdir(several)
    with served("several", "--condition", "semantic#1", *CHOICE) as client:
        (law,) = [model for model in client.get("/v1/models").json()["data"] if model["id"] == "semantic#1/law"]
        for spelled in ("semantic%231/law", "semantic%231%2Flaw", "%73emantic%231/law/", "semantic%231/law?a=b"):
            found = client.get(f"/v1/models/{spelled}").json()
            assert {**found, "created": 0} == {**law, "created": 0}
        with socket.create_connection((client.base_url.host, client.base_url.port), timeout=20) as raw:
            raw.sendall(b"GET /v1/models/semantic#1/law HTTP/1.1\r\nHost: localhost\r\n\r\n")  # as it should not be
            assert raw.makefile().readline() == "HTTP/1.0 200 OK\n"
        unknown = client.get("/v1/models/semantic%231%2Flaws")
        assert unknown.status_code == 404
        error = unknown.json()["error"]
        assert (error["type"], error["code"]) == ("invalid_request_error", "model_not_found")
        assert "no model 'semantic#1/laws'. Choose one of: " in error["message"]
        assert "Did you mean 'semantic#1/law'?" in error["message"]


OURS = "https://chat.example"
WANTED = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,x-stainless-os,bad\tname",
}


def test_pages_of_named_origins_may_ask_and_no_others(there):
    words = ("--cors-origin", OURS, "--cors-origin", "http://localhost:3000")
    with served("small", "--condition", CONDITION, *words) as client:
        for origin in (OURS, "http://localhost:3000"):
            asked = client.options("/v1/chat/completions", headers={"Origin": origin, **WANTED})
            assert (asked.status_code, asked.content) == (204, b"")
            assert asked.headers["access-control-allow-origin"] == origin
            assert asked.headers["access-control-allow-methods"] == "POST, OPTIONS"
            assert asked.headers["access-control-allow-headers"] == "Authorization, Content-Type, x-stainless-os"
            client.headers["Origin"] = origin
            for reply in (chat(client), chat(client, stream=True), chat(client, n=2), client.get("/health")):
                assert reply.headers["access-control-allow-origin"] == origin
                assert reply.headers["vary"] == "Origin"
        for origin in ("https://evil.example", "https://chat.example.evil.example", "http://chat.example", "null"):
            refused = client.options("/v1/chat/completions", headers={"Origin": origin, **WANTED})
            assert refused.status_code == 403
            client.headers["Origin"] = origin
            for reply in (refused, chat(client), client.get("/health")):
                assert "access-control-allow-origin" not in reply.headers
                assert reply.headers["vary"] == "Origin"
        client.headers["Origin"] = OURS
        assert client.post("/retrieval", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
        for verb in ("OPTIONS", "GET"):
            assert client.request(verb, "/health", headers={"Host": "evil.example"}).status_code == 403


def test_pages_of_all_origins_may_ask_with_the_token_alone(there, monkeypatch):
    monkeypatch.setenv("OHR_TOKEN", "correct horse")
    words = ("small", "--condition", CONDITION, "--token", "OHR_TOKEN", "--cors-origin", "*")
    with served(*words, Origin=OURS) as client:
        assert client.options("/v1/models", headers=WANTED).headers["access-control-allow-origin"] == "*"
        refused = client.get("/v1/models")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert refused.headers["access-control-allow-origin"] == "*"
        assert client.get("/v1/models", headers={"Authorization": "Bearer correct horse"}).status_code == 200


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("*", "lets every page in a browser read the documents"),
        ("null", "an origin is a scheme, a host and maybe a port"),
        ("chat.example", "an origin is a scheme"),
        ("https://chat.example/", "an origin is a scheme"),
        ("https://*.example", "an origin is a scheme"),
    ],
)
def test_what_is_no_origin_is_refused(ohr_here, origin, said):
    refused = ohr_here("serve", "small", "--condition", CONDITION, "--cors-origin", origin)
    assert refused.exit_code == 2
    assert said in " ".join(refused.stderr.replace("│", " ").split())


def test_a_token_is_asked_of_every_request_and_never_shown(there, monkeypatch, capfd):
    secret = "correct hörse battery staple"
    monkeypatch.setenv("OHR_TOKEN", secret)
    words = ("small", "--condition", CONDITION, "--host", "0.0.0.0", "--token", "OHR_TOKEN")
    with served(*words) as client:
        for header, code in (("", 1001), ("Basic x", 1001), ("Bearer", 1001), ("Bearer wrong", 1002)):
            client.headers = {"Authorization": header}
            reply = retrieve(client)
            assert (reply.status_code, reply.json()["error_code"]) == (401, code)
            assert secret not in reply.text
            refused = client.get("/v1/models")
            assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")
        client.headers = {"Authorization": f"Bearer {secret}".encode()}
        assert len(records(retrieve(client))) == 2
        client.headers["Host"] = "ohr.example"
        assert client.get("/v1/models").status_code == 200
    assert secret not in "".join(capfd.readouterr())


def test_a_server_for_others_needs_a_token(ohr_here, monkeypatch):
    words = ("serve", "small", "--condition", CONDITION)
    open_to_all = ohr_here(*words, "--host", "0.0.0.0")
    assert (open_to_all.exit_code, "add --token VARIABLE" in open_to_all.stderr) == (2, True)
    typed = ohr_here(*words, "--token", "s3cr3t-itself")  # a user may take the option for the token
    assert typed.exit_code == 2
    assert "none of that name is set" in typed.stderr
    assert "s3cr3t-itself" not in typed.stderr
    monkeypatch.setenv("EMPTY", " ")
    assert ohr_here(*words, "--token", "EMPTY").exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--condition", "formating-0.6"), "Did you mean 'formatting-0.6'?"),
        ((), "Choose one of: ground_truth, formatting-0.1, formatting-0.6."),
        (("--condition", CONDITION, "--retriever", "bm52"), "the run has no retriever 'bm52' for this condition"),
        (("--condition", CONDITION, "--host", "192.0.2.1", "--token", "HOME"), "is no address of this machine"),
    ],
)
def test_what_the_run_does_not_have_is_refused_with_a_list(ohr_here, words, said):
    refused = ohr_here("serve", "small", *words)
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_a_choice_that_is_not_made_is_refused_with_the_list(several, monkeypatch):
    monkeypatch.chdir(several)
    for left_out, said in (
        (0, "2 chunkers: name one with --chunker. Choose one of: tokens-128, tokens-256."),
        (2, "3 retrievers: name one with --retriever. Choose one of: bm25, bm25_okapi, oracle."),
        (4, "2 generators: name one with --generator. Choose one of: extractive, again."),
    ):
        refused = command("serve", "several", "--condition", "semantic", *CHOICE[:left_out], *CHOICE[left_out + 2 :])
        assert refused.exit_code == 2
        assert f"the run has {said}" in refused.stderr


def test_a_port_that_is_taken_is_named(ohr_here):
    with socket.create_server(("127.0.0.1", 0)) as other:
        refused = ohr_here("serve", "small", "--condition", CONDITION, "--port", other.getsockname()[1])
    assert refused.exit_code == 2
    assert "is taken: choose another with --port, or 0 for a free one" in refused.stderr


def test_a_run_without_a_generator_serves_its_hits_only(ohr, home):
    spec = SPEC.replace("generators:\n  - {kind: extractive}\n", "evaluate: [retrieval]\n")
    (home / "small.yaml").write_text(spec)
    assert ohr("run", "small.yaml", "--no-figures", "--no-report", "--executor", "inline").exit_code == 0
    with served("small", "--condition", CONDITION) as client:
        assert len(records(retrieve(client))) == 2
        assert client.get("/health").json()["models"] == []
        for refused in (chat(client), client.get("/v1/models"), client.get(f"/v1/models/{CONDITION}")):
            assert refused.status_code == 404
            assert refused.json()["error"]["message"] == "the run has no generator: only POST /retrieval is served"


def test_a_run_without_a_retriever_has_nothing_to_serve(ohr, home):
    spec = SPEC.replace("retrievers:\n  - {kind: bm25, top_k: 2}\n", "evaluate: [generation]\n")
    (home / "small.yaml").write_text(spec)
    assert ohr("run", "small.yaml", "--no-figures", "--no-report", "--executor", "inline").exit_code == 0
    refused = ohr("serve", "small", "--condition", CONDITION)
    assert (refused.exit_code, "nothing to serve" in refused.stderr) == (2, True)


@pytest.mark.acceptance
def test_a_generator_that_sees_pages_is_asked_as_in_the_run_and_its_fault_is_named(ohr, home, chat_server, monkeypatch):
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("TEST_API_KEY", key)
    server = f"base_url: {chat_server.url}, model: any, api_key_env: TEST_API_KEY, retries: 0"
    spec = SPEC.replace("kind: extractive", f"kind: openai_vision, {server}") + "evaluate: [overall]\n"
    (home / "small.yaml").write_text(spec)
    assert ohr("run", "small.yaml", "--no-figures", "--no-report", "--executor", "inline").exit_code == 0
    asked_in_run = [body["messages"] for body in chat_server.requests]
    chat_server.requests.clear()
    ((question, *_, answer), *_) = stored(home, kb=CONDITION, generator="openai_vision")
    with served("small", "--condition", CONDITION) as client:
        assert chat(client, question).json()["choices"][0]["message"]["content"] == answer
        assert chat_server.requests[0]["messages"] in asked_in_run
        assert "data:image/png" in json.dumps(chat_server.requests[0])
        chat_server.replies.append((400, {}, f"the key {key} may not ask this"))
        failed = chat(client, question)
    assert (failed.status_code, failed.json()["error"]["type"]) == (500, "server_error")
    assert "may not ask this" in failed.text
    assert key not in failed.text


def test_an_index_that_is_gone_comes_back_as_the_message_says(finished, tmp_path, monkeypatch):
    shutil.copytree(finished[0], tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    shutil.rmtree(".ohr")
    refused = command("serve", "small", "--condition", CONDITION)
    assert refused.exit_code == 2
    assert "has no whole index of bm25 on formatting-0.6, corpus" in refused.stderr
    words = re.search(r"`ohr (run SPEC --fresh retrieval)`", refused.stderr)[1].replace("SPEC", "small.yaml").split()
    assert command(*words, "--no-figures", "--no-report", "--executor", "inline").exit_code == 0
    with served("small", "--condition", CONDITION) as client:
        assert len(records(retrieve(client))) == 2


ENDINGS = [
    (signal.SIGINT, 0, ""),
    (signal.SIGTERM, 143, "interrupted; run the same command again to resume\n"),
]


@pytest.mark.parametrize(("sent", "status", "said"), ENDINGS)
def test_a_signal_ends_the_command_cleanly(there, sent, status, said):
    words = [sys.executable, "-m", "ohr", "serve", "small", "--condition", CONDITION, "--port", "0"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as process:
        retrieval, chat_address = (process.stdout.readline().strip() for _ in range(2))
        assert httpx.get(chat_address.replace("/chat/completions", "/models")).json()["data"][0]["id"] == CONDITION
        process.send_signal(sent)
        _, err = process.communicate(timeout=30)
    assert process.returncode == status
    assert retrieval == chat_address.replace("/v1/chat/completions", "/retrieval")
    assert err == f"knowledge_id or model: {CONDITION}. Press Ctrl-C to end.\n{said}"
