"""MinerU2.x's own client against a server that answers its two steps by reading the pictures."""

import cv2
import numpy as np
import pytest

from ohr.errors import PluginError
from ohr.ocr.servers.mineru_vlm import MineruVlm

from ..conftest import typeset
from .reading_server import reading_server

pytest.importorskip("mineru_vl_utils")
LINE = "Rent of 1250 francs is due in May"
BOXES = "<|box_start|>{}<|box_end|><|ref_start|>{}<|ref_end|><|rotate_up|>"


def reply(text, body):
    """Answer layout detection with one block of text, a header and a table; the blocks by what is in the picture."""
    asked = next(part["text"] for part in body["messages"][-1]["content"] if part["type"] == "text")
    if "Layout Detection" in asked:
        places = (("000 000 999 330", "header"), ("000 330 999 660", "text"), ("000 670 999 999", "table"))
        return "\n".join(BOXES.format(*place) for place in places)
    return "<fcel>May<fcel>1250<nl>" if "Table Recognition" in asked else text


@pytest.fixture
def server():
    with reading_server() as running:
        running.reply = reply
        yield running


def test_image_noise_travels_through_mineru_s_client(server):
    engine = MineruVlm(base_url=server.url)
    engine.check()
    page = np.vstack([typeset(LINE)] * 3)
    sharp, blurred = engine.recognise([page, cv2.GaussianBlur(page, (0, 0), 9)])
    kinds = {block.kind: block.text for block in sharp.blocks}
    assert kinds["text"] == LINE and "header" in kinds
    assert kinds["table"].replace(" ", "").startswith("<table>") and "1250" in kinds["table"]
    assert sharp.seconds > 0
    assert LINE not in engine.written(blurred)


def test_mineru25_pro_is_asked_as_its_model_card_says(server):
    server.model = model = "opendatalab/MinerU2.5-Pro-2605-1.2B"
    (read,) = MineruVlm(base_url=server.url, model=model).recognise([np.vstack([typeset(LINE)] * 3)])
    assert read.error is None and {body["model"] for body in server.asked} == {model}
    texts = [
        part["text"] for body in server.asked for part in body["messages"][-1]["content"] if part["type"] == "text"
    ]
    assert sorted(texts) == ["\nLayout Detection:", *["\nTable Recognition:"], *["\nText Recognition:"] * 2]


def test_a_server_that_is_not_there_fails_each_page(server):
    engine = MineruVlm(base_url="http://127.0.0.1:9")
    found = list(engine.recognise([typeset(LINE)] * 2))
    assert len(found) == 2 and all(read.error.startswith("cannot reach http://127.0.0.1:9: ") for read in found)


def test_a_missing_key_is_found_before_any_work(server):
    with pytest.raises(PluginError, match="ocr mineru_vlm: environment variable NO_KEY is not set"):
        MineruVlm(base_url=server.url, api_key_env="NO_KEY").check()
