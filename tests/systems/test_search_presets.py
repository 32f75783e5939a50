"""Presets for search services, each against a twin of the service, and documents in the bodies of requests."""

import json

import pytest
from pydantic import ValidationError

from ohr import testing
from ohr.contracts import Context
from ohr.errors import DataError
from ohr.systems import ingesting
from ohr.systems.http import Http
from ohr.testing.stage import TEXTS
from tests.engine.conftest import Home, rows, values

from .rag_server import rag_server
from .search_twins import TWINS, twin_server


@pytest.fixture(autouse=True)
def azure_key(monkeypatch):
    monkeypatch.setenv("AZURE_SEARCH_API_KEY", "azure-key")


@pytest.fixture(params=TWINS)
def twin(request):
    with twin_server(request.param) as (twin, root):
        yield twin, Http.model_validate({"preset": request.param, "base_url": f"{root}/", "backoff": 0.01})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "documents").mkdir()
    return tmp_path / "documents"


def pages(folder, *texts):
    for number, text in enumerate(texts, 1):
        (folder / f"lease-p{number:04d}.md").write_text(text, encoding="utf-8")
    return folder


def test_a_preset_keeps_every_promise_of_a_system(twin):
    testing.check_system(twin[1])


def test_a_preset_finds_the_page_by_its_words(twin, folder):
    _, system = twin
    name = "Psf_Blur.0-4-1a2b3c4d"  # as conditions are called
    handle = system.ingest(pages(folder, "The rent is due in May.", "The ferry has a berth."), name)
    other = system.ingest(pages(folder, "No rent is due.", "Nothing."), "clean-1a2b3c4e")
    context, *_ = system.ask('What "berth" has the ferry? {text}', json.loads(json.dumps(handle))).contexts
    assert context == Context("The ferry has a berth.", "lease-p0002.md", None, context.score)
    assert system.ask("zeppelin", handle).contexts == ()
    assert [each.text for each in system.ask("rent", other).contexts] == ["No rent is due."]
    assert not system.answers


def test_a_document_that_is_refused_fails_the_ingest(twin, folder):
    service, system = twin
    service.faults = ["too much"]
    with pytest.raises(DataError) as caught:
        system.ingest(pages(folder, "The rent.", "too much"), "clean-1a2b3c4d")
    words = str(caught.value)
    assert "file 2 of 2 (lease-p0002.md): " in words or "files 1 to 2 of 2: " in words
    reasons = ("failed to parse", "The index is full.", "invalid text property", "disk is full")
    assert any(reason in words for reason in reasons)


def test_odd_texts_arrive_as_they_are(twin, folder):
    service, system = twin
    system.ingest(pages(folder, *TEXTS, '{"text": "{file}"}\n\\u0041\u2028"'), "odd-1a2b3c4d")
    read = [path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())]
    assert [page["text"] for kept in service.indexes.values() for page in kept] == read


STUDY = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: Dosed.1, text_noise: {kind: formatting, rate: 0.5}}
systems:
  - {kind: http, preset: opensearch, base_url: ROOT}
evaluate: [retrieval]
"""


def test_a_study_of_a_search_service_finds_the_right_pages(tmp_path):
    with twin_server("opensearch") as (twin, root):
        finished = Home(tmp_path).run(STUDY.replace("ROOT", root))
    assert len(twin.indexes) == 2 and not finished.ledger.failures
    found = values(finished, kb="clean", stage="retrieval", metric="hit@5")
    assert found and set(found.values()) == {1.0}
    assert {row["document"] for row in rows(finished, "hits")} and "" not in {
        r["document"] for r in rows(finished, "hits")
    }


def step(server, **keys):
    fields = {"url": f"{server.url}/ask", "body": {"q": "{question}"}, "answer": "answer", "documents": "text"}
    return Http.model_validate({**fields, "ingest": {"url": f"{server.url}/add/{{plain}}", **keys}, "retries": 0})


@pytest.fixture
def server():
    with rag_server() as rag:
        rag.routes["/add/clean1a2b"] = lambda _: {}
        yield rag


def test_lines_of_many_files_share_a_request(server, folder, monkeypatch):
    monkeypatch.setattr(ingesting, "_LARGEST", 160)
    pages(folder, *(f"page {number} " + "x" * 30 for number in range(5)), "y" * 500)
    step(server, lines=[{"id": "{number}"}, {"text": "{text}"}]).ingest(folder, "Clean-1a2b")
    sent = [body.decode() for body in server.bodies("/add/clean1a2b")]
    assert [text.count("\n") for text in sent] == [4, 4, 2, 2]
    ids = [json.loads(line)["id"] for text in sent for line in text.splitlines()[::2]]
    assert ids == [1, 2, 3, 4, 5, 6]
    assert {headers["Content-Type"] for _, _, headers, _ in server.asked} == {"application/x-ndjson"}


def test_a_body_is_sent_for_each_file(server, folder):
    pages(folder, "one", "two")
    step(server, body={"at": "{number}", "of": "{files}", "name": "{file}", "t": "<{text}>"}).ingest(
        folder, "clean-1a2b"
    )
    assert server.bodies("/add/clean1a2b") == [
        {"at": 1, "of": 2, "name": "lease-p0001.md", "t": "<one>"},
        {"at": 2, "of": 2, "name": "lease-p0002.md", "t": "<two>"},
    ]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"body": {"t": "{text}"}, "documents": "pdf"},
            "{text} in `ingest` is the text of a file: it needs `documents: text`",
        ),
        ({"body": {"t": "{txt}"}}, "{txt} is no place of this request: there are file, files, handle, name, number"),
        ({"body": {}, "lines": [{}]}, "a step has either `field`, for an upload, or `body` or `lines`"),
        ({"lines": []}, "at least 1 item"),
        ({"lines": [{"api_key": "sk-1"}]}, "api_key looks like a secret"),
    ],
)
def test_a_step_that_cannot_work_is_refused(server, keys, message):
    given = {"documents": keys.pop("documents", "text")}
    fields = {"url": f"{server.url}/ask", "body": {"q": "{question}"}, "answer": "answer", **given}
    with pytest.raises(ValidationError) as caught:
        Http.model_validate({**fields, "ingest": {"url": f"{server.url}/add", **keys}})
    assert message in str(caught.value)
