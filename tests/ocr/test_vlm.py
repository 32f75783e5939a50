"""Vision-language models behind a server: a real client, and a server that reads the pictures."""

import json
import threading
from base64 import b64decode
from io import BytesIO
from time import sleep

import cv2
import numpy as np
import pytest
from PIL import Image

from ohr.errors import OhrError, PluginError
from ohr.models.resident import holding
from ohr.ocr.servers import preset
from ohr.ocr.servers.vlm import Vlm

from ..conftest import typeset
from .reading_server import reading_server

LINE = "Rent of 1250 francs is due in May"
PAGE = typeset(LINE)
FRONT = "---\nprimary_language: en\nis_rotation_valid: {}\nrotation_correction: {}\nis_table: False\n---\n"


@pytest.fixture
def server():
    with reading_server() as running:
        yield running


def engine(server, **fields):
    return Vlm(**{"base_url": f"{server.url}/v1", "model": "any", "backoff": 0.01, **fields})


def one(server, image=PAGE, **fields):
    model = engine(server, **fields)
    (read,) = model.recognise([image])
    return read, model.written(read)


def test_image_noise_travels_through_the_server(server):
    read, text = one(server)
    assert (text, read.reader, read.tokens_in, read.tokens_out, read.finish) == (LINE, "reader-1", 11, 7, "stop")
    assert read.seconds > 0
    blurred = cv2.GaussianBlur(PAGE, (0, 0), 9)
    assert one(server, blurred)[1] != LINE


def test_pages_are_in_flight_together_and_come_in_order(server):
    server.together = threading.Barrier(32, timeout=60)
    server.reply = lambda _, body: str(len(json.dumps(body)))
    images = [np.full((8, 8 + 8 * n, 3), 255, np.uint8) for n in range(32)]
    server.faults = [lambda handler, body: handler.chat(body["messages"][0]["content"][0]["image_url"]["url"])] * 32
    model = engine(server, concurrency=32)
    found = [model.written(read) for read in model.recognise(images)]
    server.together = None
    server.faults = [lambda handler, body: handler.chat(body["messages"][0]["content"][0]["image_url"]["url"])]
    assert len(set(found)) == 32 and model.written(next(model.recognise(images[5:6]))) == found[5]


def test_what_is_sent_is_as_the_preset_says(server):
    big = np.full((2000, 1000, 3), 255, np.uint8)
    server.faults = [lambda handler, _: handler.chat("Rent")] * 9
    one(server, big, preset="olmocr", extra_body={"seed": 1})
    body = server.asked[0]
    text, image = body["messages"][0]["content"]
    assert text["type"] == "text" and "primary_language" in text["text"]
    assert body["max_tokens"] == 8000 and body["temperature"] == 0.1 and body["seed"] == 1
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    one(server, big, preset="deepseek_ocr")
    body = server.asked[-1]
    assert body["messages"][0]["content"][0]["type"] == "image_url"
    assert body["skip_special_tokens"] is False and body["messages"][0]["content"][1]["text"].startswith(
        "<|grounding|>"
    )


@pytest.mark.parametrize(
    ("name", "system", "words", "tokens", "sides"),
    [
        ("hunyuan_ocr", [""], "提取文档图片中正文的所有信息用markdown格式表示", 16384, (2000, 1000)),
        ("dolphin", [], "Read text in the image.", 4096, (1600, 800)),
    ],
)
def test_published_requests_are_sent_as_their_authors_do(server, name, system, words, tokens, sides):
    server.faults = [lambda handler, _: handler.chat("| Rent |")]
    _, text = one(server, np.full((2000, 1000, 3), 255, np.uint8), preset=name)
    (body,) = server.asked
    assert [message["content"] for message in body["messages"][:-1]] == system
    image, asked = body["messages"][-1]["content"]
    assert asked["text"].startswith(words) and (body["max_tokens"], body["temperature"]) == (tokens, 0)
    assert Image.open(BytesIO(b64decode(image["image_url"]["url"].partition(",")[2]))).size == sides[::-1]
    assert text == "| Rent |"


def test_olmocr_asks_again_without_front_matter_and_turns_the_page(server):
    turned = np.ascontiguousarray(np.rot90(PAGE))
    fronts = iter(["", FRONT.format(False, 90), FRONT.format(True, 0)])
    server.reply = lambda text, _: next(fronts) + text
    read, text = one(server, turned, preset="olmocr")
    assert text == LINE and len(server.asked) == 3
    assert [body["temperature"] for body in server.asked] == [0.1, 0.1, 0.2]
    assert (read.tokens_in, read.tokens_out) == (33, 21)


def test_a_cut_reply_and_a_loop_are_kept_and_told_apart(server):
    server.faults = ["length"]
    read, text = one(server)
    assert (read.finish, text) == ("length", LINE)
    server.faults = [lambda handler, _: handler.chat("The rent is due. " + "and again " * 400, "length")]
    read, text = one(server)
    assert read.finish == "repeat" and text.startswith("The rent is due. and again")


def test_nanonets_tags_are_kinds_of_blocks(server):
    server.reply = lambda text, _: (
        f"{text}\n<img>a harbour</img>\n<page_number>7</page_number><watermark>Draft</watermark>"
    )
    read, _ = one(server, preset="nanonets")
    assert [(block.kind, block.text) for block in read.blocks] == [
        ("text", LINE), ("description", "a harbour"), ("page_number", "7"), ("text", "Draft"),
    ]  # fmt: skip


def test_dots_blocks_are_read_from_whole_and_broken_json():
    listed = [{"bbox": [1, 2, 3, 4], "category": "Section-header", "text": "## Rent"}, {"category": "Picture"},
              {"category": "Table", "text": "<table></table>"}, {"category": "Page-footer", "text": "7"},
              {"category": "Formula", "text": "a=b"}]  # fmt: skip
    kinds = [("heading", "Rent"), ("image", "![]()"), ("table", "<table></table>"), ("footer", "7"),
             ("formula", "$$a=b$$")]  # fmt: skip
    assert [(block.kind, block.text) for block in preset.dots(json.dumps(listed)).blocks] == kinds
    broken = preset.dots(json.dumps(listed)[:-15])
    assert [(block.kind, block.text) for block in broken.blocks] == kinds[:-1] and broken.problem
    assert preset.dots("no JSON at all").blocks[0].text == "no JSON at all"


def test_grounding_tokens_are_removed():
    title, image = ("<|ref|>" + kind + "<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>" for kind in ("title", "image"))
    reply = f"{title}\n# Rent\n{image}<｜end▁of▁sentence｜>"
    assert preset.deepseek(reply).blocks[0].text == "# Rent\n![]()"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (lambda handler, _: handler.text("<html>503</html>"), "not a chat completion: <html>503</html>"),
        (lambda handler, _: handler.json({"error": "too many"}, 400), "server answered 400"),
        (lambda handler, _: handler.chat(None, "content_filter"), "the model refused to answer"),
        (lambda handler, _: sleep(1.0), "no whole reply within 0.3 s"),
    ],
)
def test_faults_that_stay_fail_the_page_with_a_reason(server, fault, error):
    server.faults = [fault] * 3
    read, _ = one(server, retries=1, timeout=0.3 if "0.3 s" in error else 30)
    assert read.error.startswith(error)


def test_an_empty_reply_is_an_empty_page(server):
    server.faults = [lambda handler, _: handler.chat("")]
    read, text = one(server)
    assert (text, read.error) == ("", None)


def test_a_model_that_changes_in_mid_run_fails_the_page(server):
    with holding():
        assert one(server)[1] == LINE
        server.model = "reader-2"
        assert one(server)[0].error == "the server's model changed from 'reader-1' to 'reader-2'"
    with holding():
        assert one(server)[0].reader == "reader-2"


def test_mistakes_are_found_before_any_work(server, tmp_path, monkeypatch):
    with pytest.raises(OhrError, match=r"no preset of vlm 'olmcr'. .*Did you mean 'olmocr'"):
        engine(server, preset="olmcr").check()
    with pytest.raises(PluginError, match=r"ocr vlm: environment variable NO_KEY is not set"):
        engine(server, api_key_env="NO_KEY").check()
    own = tmp_path / "mine.yaml"
    own.write_text("text: Read this.\nreply: nanonets\n")
    engine(server, preset=own).check()
    other = tmp_path / "other.yaml"
    other.write_text("text: Read this.\nrepli: nanonets\n")
    with pytest.raises(OhrError, match="Did you mean 'reply'"):
        engine(server, preset=other).check()


def test_the_identity_has_the_preset_and_not_the_address(server):
    first = engine(server).identity()
    assert "base_url" not in first and first["model"] == "any"
    assert engine(server, preset="nanonets").identity() != first
    assert engine(server, max_tokens=5).identity() != first
    assert engine(server, extra_body={"seed": 2}).identity() != first
    assert Vlm(base_url="http://elsewhere:1/v1", model="any").identity() == first
