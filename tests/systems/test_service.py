"""The example service: what it keeps, what it refuses, and that it scores as the same pipeline inside ohr does."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from socket import socket
from subprocess import run
from threading import Thread
from time import monotonic, sleep

import httpx
import numpy as np
import pypdfium2
import pytest
from PIL import Image, ImageDraw, ImageFont

from ohr.examples.service import Service
from ohr.results.tables.read_table import read_rows
from ohr.steps.systems.given_documents import write_pdf
from tests.cli.conftest import command

SPEC = files("ohr.pipelines").joinpath("your-rag.yaml").read_text("utf-8")
INSIDE = """
chunker: {kind: tokens, size: 256}
retrievers: [{kind: bm25, top_k: 3}]
generators: [{kind: extractive}]
"""


@contextmanager
def serving(folder: Path, **options: float) -> Iterator[str]:
    """Run a service; yields its address."""
    with Service(folder, **options) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def url(tmp_path) -> Iterator[str]:
    with serving(tmp_path / "collections") as address:
        yield address


def upload(url: str, content: bytes, name: str = "lease.md", collection: str = "law") -> httpx.Response:
    return httpx.post(f"{url}/collections/{collection}/documents", files={"file": (name, content)}, timeout=60)


def asked(url: str, question: str, collection: str = "law") -> httpx.Response:
    return httpx.post(f"{url}/collections/{collection}/ask", json={"question": question}, timeout=60)


@pytest.mark.acceptance
def test_the_service_scores_as_the_same_pipeline_inside_ohr(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("both.yaml").write_text(SPEC.replace("http://127.0.0.1:8700", url) + INSIDE + "limit: 8\n")
    done = command("run", "both.yaml", "--executor", "inline", "--no-figures", "--no-report")
    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "runs" / "your-rag").glob("*-*")
    scores: dict[str, dict[tuple[str, ...], float]] = {"your-rag": {}, "bm25": {}}
    for row in read_rows(folder / "scores.parquet"):
        if row["stage"] in ("retrieval", "overall"):
            who = "your-rag" if "your-rag" in (row["retriever"], row["generator"]) else "bm25"
            scores[who][row["stage"], row["question_id"], row["kb"], row["condition"], row["metric"]] = row["value"]
    assert scores["your-rag"] == pytest.approx(scores["bm25"], abs=0, nan_ok=True)
    assert len(scores["bm25"]) > 1000

    def mean(condition: str, stage: str, metric: str) -> float:
        values = [
            value
            for (where, _, _, which, name), value in scores["your-rag"].items()
            if (where, which, name) == (stage, condition, metric)
        ]
        return sum(values) / len(values)

    for stage, metric in (("retrieval", "lcs"), ("overall", "f1")):
        for noise, levels in (("formatting", (0.3, 0.6)), ("misread", (0.25, 0.75))):
            curve = [mean(name, stage, metric) for name in ("clean", *(f"{noise}-{level}" for level in levels))]
            assert curve[-1] < curve[0]
            assert stage == "overall" or curve == sorted(curve, reverse=True)


def test_a_system_that_retrieves_only_is_scored_by_its_contexts_alone(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = SPEC.replace("http://127.0.0.1:8700", url).replace("    answer: answer  ", "    #")
    Path("only.yaml").write_text(spec.replace("[retrieval, overall]", "[retrieval]\nlimit: 1"))
    done = command("run", "only.yaml", "--executor", "inline", "--no-figures", "--no-report")
    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "runs" / "your-rag").glob("*-*")
    scores = read_rows(folder / "scores.parquet")
    assert "overall" not in {row["stage"] for row in scores}
    assert max(row["value"] for row in scores if row["stage"] == "retrieval" and row["metric"] == "lcs") > 0
    Path("none.yaml").write_text(SPEC.replace("[retrieval, overall]", "[page]"))
    refused = command("check", "none.yaml")
    assert "systems are evaluated in the stage retrieval or overall: `evaluate` must have it" in refused.output


def test_a_service_that_was_stopped_finds_its_collections_again(tmp_path):
    with serving(tmp_path) as url:
        assert upload(url, b"The lease began in 1964.\n").json() == {"collection": "law", "files": ["lease.md"]}
        before = asked(url, "When did the lease begin?").json()
    with serving(tmp_path) as url:
        assert asked(url, "When did the lease begin?").json() == before
    context = {"text": "The lease began in 1964.\n", "document": "lease.md", "page": 1}
    assert before["answer"] == "1964"
    assert [{**each, "score": 0} for each in before["contexts"]] == [{**context, "score": 0}]


def test_a_document_that_is_uploaded_again_takes_the_place_of_the_first(url):
    upload(url, b"The lease began in 1964.")
    assert asked(url, "When did the lease begin?").json()["answer"] == "1964"
    upload(url, b"The lease began in 1970.")
    reply = asked(url, "When did the lease begin?").json()
    assert (reply["answer"], len(reply["contexts"])) == ("1970", 1)


def test_page_images_in_a_pdf_are_read(url, tmp_path):
    pytest.importorskip("tesserocr")
    image = Image.new("RGB", (1240, 400), "white")
    ImageDraw.Draw(image).text((60, 150), "The lease began in 1964.", fill="black", font=ImageFont.load_default(48))
    write_pdf(tmp_path / "lease.pdf", [np.asarray(image)] * 2, 150, None)
    assert len(pypdfium2.PdfDocument(tmp_path / "lease.pdf")) == 2
    upload(url, (tmp_path / "lease.pdf").read_bytes(), "lease.pdf")
    reply = asked(url, "When did the lease begin?").json()
    assert reply["answer"] == "1964"
    assert [context["page"] for context in reply["contexts"]] == [1, 2]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/collections/none/ask", {"question": "When?"}, 404),
        ("/collections/none/ask", {}, 404),
        ("/collections/none/ask", [], 400),
        ("/collections/none/documents", {}, 400),
        ("/collections/../ask", {"question": "When?"}, 404),
        ("/elsewhere", {}, 404),
    ],
)
def test_a_request_that_it_cannot_answer_is_refused_with_a_reason(url, path, body, status):
    reply = httpx.post(url + path, json=body)
    assert reply.status_code == status
    assert reply.json()["error"]


def test_a_name_that_leads_out_of_the_folder_is_refused(url, tmp_path):
    assert upload(url, b"x", "../../escaped.md").status_code == 400
    assert list(tmp_path.rglob("escaped*")) == []


def test_it_starts_in_the_background_unless_it_answers_and_ends_when_nobody_comes(tmp_path):
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "ohr.examples.service", "--start", "--port", str(port), "--idle", "3"]
    for _ in range(2):
        assert run(words, cwd=tmp_path, check=True, capture_output=True, text=True).stdout == ""
    url = f"http://127.0.0.1:{port}"
    assert httpx.get(f"{url}/health").json() == {"status": "ok", "version": "1"}
    upload(url, b"The lease began in 1964.")
    assert json.loads((tmp_path / "collections/law/lease.md.json").read_text()) == ["The lease began in 1964."]
    end = monotonic() + 20
    while monotonic() < end and answers(port):
        sleep(0.2)
    assert not answers(port)


def answers(port: int) -> bool:
    """Report whether somebody listens, without a request."""
    with socket() as looking:
        return looking.connect_ex(("127.0.0.1", port)) == 0
