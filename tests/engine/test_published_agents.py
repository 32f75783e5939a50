"""The agents that ship with ohr, from end to end: real pages, real pictures, and a server that replies by rule."""

import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from threading import Lock
from typing import Any
from zlib import crc32

import pytest
from PIL import Image

from ohr.results.run import Run

from .conftest import answering, rows, values

SPEC = """\
benchmark: {{kind: tiny, size: 2}}
index_scope: document
knowledge_bases:
  - {{name: clean}}
  - {{name: smudged, image_noise: {{kind: smudge, severity: 0.4}}, ocr: {{kind: pixels}}}}
chunker: {{kind: page}}
agents:
  - {{kind: mdocagent, text: {{kind: bm25}}, image: {{kind: eye}}, vision: {sees}, language: {reads}}}
  - {{kind: simpledoc, image: {{kind: eye}}, selector: {reads}, reader: {sees}}}
  - {{kind: vidorag, retriever: {{kind: hybrid, retrievers: [{{kind: eye}}, {{kind: bm25}}]}}, vision: {sees}}}
  - {{kind: vrag, image: {{kind: eye}}, vision: {sees}}}
  - {{kind: react, retriever: {{kind: bm25}}, model: {reads}}}
"""
REPLIES = {
    "<bbox>": ("<search>harbour</search>", "<bbox>[0, 0, 60, 20]</bbox>", "<think>so</think><answer>1900</answer>"),
    "<read>": ("<search>harbour</search>", "<read>1</read>", "<answer>1900</answer>"),
    "<selected_pages>": ("<document_summary>D</document_summary><selected_pages>1, 2</selected_pages>",),
    "<query_update>": ("<answer>1900</answer>",),
    "<summary>": ("<summary>A page.</summary>",),
    '"information"': ('{"reason": "r", "answer": "1900", "reference": [0]}',),
    '"summary"': ('{"reason": "r", "summary": "s", "choice": [0]}',),
    '"Answer"': ('{"Answer": "1900"}',),
    '"image"': ('{"text": "kt", "image": "ki"}',),
}
"""A mark of a prompt, and the replies to it, by the number of replies before it in the conversation."""


@dataclass
class Server:
    """Notes the pictures of each request; what has no mark gets words."""

    url: str = ""
    unknown: list[str] = field(default_factory=list)
    pictures: list[tuple[int, int]] = field(default_factory=list)
    garbage: tuple[str, ...] = ()
    lock: Lock = field(default_factory=Lock)

    def reply(self, body: dict[str, Any]) -> str:
        texts = []
        for message in body["messages"]:
            parts = message["content"]
            parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
            texts += [part["text"] for part in parts if part["type"] == "text"]
            for part in parts:
                if part["type"] == "image_url":
                    data = b64decode(part["image_url"]["url"].removeprefix("data:image/png;base64,"))
                    self.pictures.append(Image.open(BytesIO(data)).size)
        if self.garbage:
            return self.garbage[crc32("".join(texts).encode()) % len(self.garbage)]
        said = sum(message["role"] == "assistant" for message in body["messages"])
        for mark, replies in REPLIES.items():
            if any(mark in text for text in texts):
                return replies[min(said, len(replies) - 1)]
        return "It was built in 1900."


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    def reply(body: dict[str, Any]) -> tuple[int, str]:
        with state.lock:
            message = {"content": state.reply(body)}
        return 200, json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})

    with answering(reply) as state.url:
        yield state


def spec(server: Server) -> str:
    reads, sees = (f'{{kind: {kind}, base_url: "{server.url}", model: m}}' for kind in ("openai", "openai_vision"))
    return SPEC.format(reads=reads, sees=sees)


CALLS = {"mdocagent": 5, "simpledoc": 2, "vidorag": 2, "vrag": 3, "react": 3}


def test_every_agent_answers(home, server):
    done = home.run(spec(server))
    assert not done.ledger.failures
    for name, calls in CALLS.items():
        answers = rows(done, "answers", generator=name)
        assert {(row["end"], row["answer"], row["calls"]) for row in answers} == {("answered", "1900", calls)}
        assert values(done, stage="overall", generator=name, metric="em", kb="clean")["q0"] == 1
        assert values(done, stage="retrieval", retriever=name, metric="recall@shown", kb="clean")
    summaries = rows(done, "steps", agent="simpledoc", shared=True)
    assert summaries and done.ledger.calls["shared agent calls"] == 8  # 4 pages, clean and smudged
    assert all(width * height >= 28 * 28 for width, height in server.pictures)


GARBAGE = (
    "", "{" * 5000, "<search>", '{"choice": "a"}', "   ", "\x00\ufffd", "没有答案。",
    "<answer>1</answer><search>x</search>",
)  # fmt: skip


@pytest.mark.parametrize(
    "garbage", [GARBAGE, *(pytest.param((reply,), marks=pytest.mark.acceptance) for reply in GARBAGE)]
)
def test_garbage_is_a_counted_outcome_and_no_question_is_lost(home, server, garbage):
    server.garbage = garbage
    done = home.run(spec(server))
    assert not done.ledger.failures
    answers = rows(done, "answers")
    assert len(answers) == 2 * 4 * len(CALLS)
    agents = Run(done.folder).manifest["agents"]
    assert all(sum(about["ends"].values()) == 8 for about in agents.values())
    assert all(row["answer"] == "" for row in answers if row["end"] != "answered")


def test_a_reader_of_text_cannot_be_shown_pages(home, server):
    with pytest.raises(Exception, match=r"vision: .*must read page images, and openai reads text only"):
        home.run(spec(server).replace("openai_vision", "openai"))


def test_a_retriever_of_images_fails_clearly_where_there_are_none(home, server):
    text = spec(server).replace("{kind: tiny, size: 2}", "{kind: imageless}")
    text = "\n".join(line for line in text.splitlines() if "smudged" not in line) + "\n"
    (home.folder / "imageless.py").write_text(IMAGELESS.format(plugins=home.folder))
    path = home.write(text)
    path.write_text(path.read_text().replace("plugins: [", f"plugins: [{home.folder / 'imageless.py'}, "))
    done = home.run_file(path)
    assert any("no image of" in failure.reason for failure in done.ledger.failures)
    ends = {row["generator"]: row["end"] for row in rows(done, "answers", question_id="q0")}
    assert ends["react"] == "answered" and ends.keys() == set(CALLS)  # no question is lost


IMAGELESS = '''
import importlib.util, sys
from typing import Literal
from ohr.contracts import Benchmark, Document, Page, Question
from ohr.errors import DataError
from ohr.keys import key


class Imageless(Benchmark):
    """A benchmark without page images."""

    kind: Literal["imageless"] = "imageless"

    def documents(self):
        return [Document("law/0", "law", "en", 2)]

    def pages(self, document):
        return [Page("law/0", n, f"The harbour was built in {{1900 + n}}.") for n in range(2)]

    def page_image(self, document, index):
        raise DataError(f"no image of {{document.name}} page {{index}}")

    def questions(self):
        return [Question("q0", "When was the harbour built?", ("1900",), "law/0", (0,), ("1900",), "text", "law")]

    def fingerprint(self, document, *, images):
        return key("imageless")
'''
