"""Document services, each in its own convention; the server reads what it gets."""

import base64
from time import perf_counter

import cv2
import numpy as np
import pytest

from ohr.contracts import Document, DocumentView
from ohr.errors import PluginError
from ohr.files import pdf
from ohr.ocr.servers.service import Service

from ..conftest import typeset
from .reading_server import read, reading_server

LINE = "Rent of 1250 francs is due in May"
PAGE = typeset(LINE)
PLACE = "/documentintelligence/documentModels/prebuilt-layout/analyzeResults/1"


def azure(handler, body):
    text = read(base64.b64decode(body["base64Source"]))
    result = {"content": text, "pages": [{"pageNumber": 1, "spans": [{"offset": 0, "length": len(text)}]}]}
    handler.server.results = iter([{"status": "running"}, {"status": "succeeded", "analyzeResult": result}])
    handler.json({}, 202, **{"Operation-Location": handler.server.url + PLACE, "Retry-After": "0"})


def mistral(handler, body):
    document = body["document"]
    url = document[document["type"]]
    text = read(base64.b64decode(url.partition(",")[2]))
    handler.json({"pages": [{"index": 0, "markdown": text}], "model": body["model"]})


def docling(handler, body):
    text = read(base64.b64decode(body["sources"][0]["base64_string"]))
    item = {"label": "text", "text": text, "prov": [{"page_no": 1}]}
    document = {"body": {"children": [{"$ref": "#/texts/0"}]}, "texts": [item], "pages": {"1": {}}}
    handler.json({"document": {"json_content": document}, "status": "success"})


def paddlex(handler, body):
    assert body["fileType"] in (0, 1)
    text = read(base64.b64decode(body["file"]))
    blocks = [{"block_label": "text", "block_content": text}]
    handler.json({"result": {"layoutParsingResults": [{"prunedResult": {"parsing_res_list": blocks}}]}})


@pytest.fixture
def server():
    with reading_server() as running:
        running.routes = {
            "analyzeResults": lambda handler, _: handler.json(next(handler.server.results)),
            "prebuilt-layout:analyze": azure,
            "/v1/ocr$": mistral,
            "/v1/convert/source$": docling,
            "/layout-parsing$": paddlex,
        }
        yield running


def engine(server, service, **fields):
    return Service(**{"service": service, "base_url": server.url, "backoff": 0.01, "concurrency": 1, **fields})


@pytest.mark.parametrize("service", ["azure", "mistral", "docling_serve", "paddlex"])
def test_each_service_reads_the_picture(server, service):
    model = engine(server, service)
    sharp, blurred = model.recognise([PAGE, cv2.GaussianBlur(PAGE, (0, 0), 9)])
    assert model.written(sharp) == LINE and sharp.seconds > 0
    assert model.written(blurred) != LINE


def test_the_noisy_pages_or_the_original_are_sent_as_a_pdf(server, tmp_path):
    document = Document("law/lease", "law", "en", 1)
    other = tmp_path / "lease.pdf"
    pdf.write(other, [typeset("Another text in the file")], 72)
    rendered = engine(server, "paddlex", input="pdf", dpi=72)
    (read_,) = rendered.recognise_document(DocumentView(document, [PAGE], other))
    assert rendered.written(read_) == LINE
    original = engine(server, "paddlex", input="pdf", source="original")
    assert original.reads_original and not rendered.reads_original
    (read_,) = original.recognise_document(DocumentView(document, [PAGE], other))
    assert original.written(read_) == "Another text in the file"
    pdf.write(other, [typeset("First page of a longer file"), PAGE], 72)
    (read_,) = original.recognise_document(DocumentView(document, [PAGE], other))
    assert original.written(read_) == "First page of a longer file"
    (lost,) = original.recognise_document(DocumentView(document, [PAGE]))
    assert lost.error == "the benchmark has no PDF of this document"


def test_a_busy_service_is_asked_again_after_the_time_it_wants(server):
    replies = iter([lambda h, _: h.json({}, 429, **{"Retry-After": "0.3"}), lambda h, _: h.text("", 503), mistral])
    server.routes = {"/v1/ocr$": lambda handler, body: next(replies)(handler, body)}
    began = perf_counter()
    model = engine(server, "mistral")
    (found,) = model.recognise([PAGE])
    assert model.written(found) == LINE and perf_counter() - began >= 0.3


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda h, _: h.text("<html>proxy</html>"), "the reply is not JSON: <html>proxy</html>"),
        (lambda h, _: h.json({"error": "bad key"}, 401), "the service answered 401: "),
        (lambda h, _: h.json({"text": "?"}), "its result is not Mistral's: it has no `pages`"),
        (lambda h, _: h.json({"pages": [{"index": 4, "markdown": "a"}]}), "the service returned page 5 of 1"),
        (lambda h, _: h.json({}, 503), "the service answered 503"),
    ],
)
def test_faults_fail_the_page_with_a_reason(server, answer, error):
    server.routes = {"/v1/ocr$": answer}
    (found,) = engine(server, "mistral", retries=1).recognise([PAGE])
    assert found.error.startswith(error)


def test_a_result_that_fails_or_is_elsewhere(server):
    def analyze(status, place, timeout=60):
        server.routes = {
            "analyzeResults": lambda handler, _: handler.json({"status": status}),
            "analyze": lambda handler, _: handler.json({}, 202, **({"Operation-Location": place} if place else {})),
        }
        (found,) = engine(server, "azure", timeout=timeout).recognise([PAGE])
        return found.error

    assert analyze("failed", server.url + PLACE).startswith("the service failed")
    assert analyze("running", server.url + PLACE, timeout=1.5) == "no result within 1.5 s a page"
    assert analyze("succeeded", "https://attacker.example/x") == "the service did not say where the result will be"


def test_the_key_is_sent_and_never_reported(server, monkeypatch):
    monkeypatch.setenv("OHR_TEST_KEY", "secret-key-12345")
    seen = []

    def answer(handler, _):
        seen.append(handler.headers["Authorization"])
        handler.json({"error": "secret-key-12345 is not valid"}, 403)

    server.routes = {"/v1/ocr$": answer}
    (found,) = engine(server, "mistral", api_key_env="OHR_TEST_KEY").recognise([PAGE])
    assert seen == ["Bearer secret-key-12345"] and "***" in found.error and "secret" not in found.error
    monkeypatch.delenv("OHR_TEST_KEY")
    with pytest.raises(PluginError, match="environment variable OHR_TEST_KEY is not set"):
        engine(server, "mistral", api_key_env="OHR_TEST_KEY").check()


def test_a_page_without_an_image_fails_alone(server):
    class Broken:
        def __len__(self):
            return 2

        def __getitem__(self, place):
            if place == 0:
                raise OSError("no such file")
            return PAGE

    first, second = engine(server, "mistral").recognise(Broken())
    assert first.error == "no page image: OSError: no such file" and second.error is None
    assert np.array_equal(Broken()[1], PAGE)
