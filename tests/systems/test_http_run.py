"""A whole study of a service behind HTTP: what is asked how often, what fails, and that no key is in any file."""

import subprocess
import sys
from base64 import b64encode

import pytest
from pyarrow import parquet

from tests.cli.conftest import command

from .rag_server import rag_server

KEY = "sk-live-4f9Zq7/81Xw+pLm2"
STUDY = """\
name: service
limit: 3
benchmark: {kind: mini, languages: [en], max_pages: 1, dpi: 60}
knowledge_bases:
  - name: ground_truth
  - name: formatting
    text_noise: {kind: formatting, rate: 0.3}
systems:
  - kind: http
    name: ours
    documents: text
    url: URL/ask
    headers: {Authorization: "Bearer ${RAG_API_KEY}"}
    body: {question: "{question}", kb: "{handle}"}
    answer: answer
    contexts: sources
    context: {document: file, page: page}
    version: build
    error: error
    retries: 0
    ingest: {url: "URL/{name}/files", field: file, handle: id}
evaluate: [overall]
retries: 0
"""


@pytest.fixture
def server():
    with rag_server() as rag:
        rag.builds = iter(["1.0"] * 4 + ["1.1"] * 400)
        rag.routes["/ask"] = lambda body: {
            "answer": f"as {body['kb']} says, {KEY}",
            "sources": [{"text": f"the key {KEY}", "file": KEY, "page": 1}],
            "build": next(rag.builds),
        }
        yield rag


@pytest.fixture
def study(tmp_path, server, monkeypatch):
    """The folder of a study of the server, whose key is in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_API_KEY", KEY)
    (tmp_path / "study.yaml").write_text(STUDY.replace("URL", server.url))
    return tmp_path


def run_here():
    """Run the study in this process."""
    return command("run", "study.yaml", "--executor", "inline", "--no-figures")


def uploads(server, fails=""):
    """Accept the uploads of every condition, but the second file of one."""

    def route(path):
        number = sum(place == path for _, place, _, _ in server.asked)
        return (507, {}, f"{KEY}: disk full") if fails and fails in path and number == 2 else {"id": path.split("/")[1]}

    class Routes(dict):
        def get(self, path, default=None):
            return (lambda _: route(path)) if path.endswith("/files") else super().get(path, default)

    server.routes = Routes(server.routes)


def test_a_service_is_measured_and_no_key_is_written(study, server, monkeypatch):
    uploads(server, fails="formatting")
    with monkeypatch.context() as patch:
        patch.delenv("RAG_API_KEY")
        assert command("check", "study.yaml").output.count("RAG_API_KEY is not set; a run needs it") == 1
    words = [sys.executable, "-m", "ohr", "run", "study.yaml", "--workers", "2", "--no-figures"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    text = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1
    assert "the documents were not ingested: the ingest failed: file 2 of 3" in text
    assert "answered 507: ***: disk full" in text
    questions = len(server.bodies("/ask"))
    assert questions > 5
    assert {body["kb"].rpartition("-")[0] for body in server.bodies("/ask")} == {"ground_truth"}
    secrets = [KEY, KEY[::-1], b64encode(KEY.encode()).decode().rstrip("=")[:-1]]
    written = [path for path in study.rglob("*") if path.is_file()]
    assert len(written) > 20
    for content in (text.encode(), *(path.read_bytes() for path in written)):
        assert not any(secret.encode() in content for secret in secrets)
    tables = list(study.rglob("*.parquet"))  # which are compressed
    rows = {path.name: str(parquet.read_table(path).to_pylist()) for path in tables}
    assert "says, ***" in rows["answers.parquet"] and not any(KEY in row for row in rows.values())

    uploads(server)  # now its disk has room: only what failed is done again
    asked = len(server.asked)
    assert run_here().exit_code == 0
    again = server.asked[asked:]
    assert {path.split("-")[0] for _, path, _, _ in again if path.endswith("/files")} == {"/formatting"}
    assert len([1 for _, path, _, _ in again if path == "/ask"]) == questions
    assert {sent["Authorization"] for _, _, sent, _ in server.asked} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ((200, {}, '{"error": "no such index"}'), "the service reports an error: no such index"),
        pytest.param(
            (200, {}, "<html>502</html>"), "the reply is HTML: <html>502</html>", marks=pytest.mark.acceptance
        ),
    ],
)
def test_a_question_that_fails_is_asked_again_alone(study, server, fault, reason):
    uploads(server)
    whole = server.routes["/ask"]
    faults = iter([fault])
    server.routes["/ask"] = lambda body: next(faults, None) or whole(body)
    text = " ".join(run_here().output.split())
    assert reason in text and "failed items: 1" in text
    asked, files = len(server.bodies("/ask")), len(server.asked)
    assert run_here().exit_code == 0
    assert len(server.bodies("/ask")) == asked + 1
    assert len(server.asked) == files + 1  # nothing is ingested twice
