"""M3DocRAG's reading half: its prompt, the pages before it, and what becomes of the reply."""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest

from ohr.benchmarks.mini import Mini
from ohr.contracts import Passage, Question
from ohr.files.lazy import Made
from ohr.generators.openai import OpenAIVision
from ohr.metrics.answers import f1
from ohr.spec.read import read_spec
from ohr.steps.answers.prompt_templates import answer_of, make_prompt, read_prompt

from ..conftest import completion
from .conftest import picture

WORDS = "question: How many berths?\nOutput the answer alone."
ASKED = Question("q", "How many berths?", ("42",), "law/lease", (0,), ("42 berths.",), "text", "law")


@pytest.fixture
def read(strict_server):
    """Ask about pages, best first; returns the completion, the answer, and the pages that were made."""

    def given(*pages, reply):
        made = []

        def maker(number):
            def make():
                made.append(number)
                return np.full((40, 30, 3), number, dtype=np.uint8)

            return make

        prompt = make_prompt(Mini(), ASKED, [Passage("OCR text") for _ in pages], prompt="m3docrag", images=True)
        prompt = replace(prompt, images=Made([maker(number) for number in pages]))
        strict_server.replies[WORDS] = [(200, {}, completion(reply))]
        stage = OpenAIVision(base_url=strict_server.url, model="m", max_tokens=128)
        (one,) = stage.answer([prompt])
        return one, answer_of(one.text, Mini().scoring), made

    return given


def test_the_prompt_is_two_lines_without_a_system_message():
    prompt = read_prompt("m3docrag")
    assert (prompt.system, prompt.opening) == ("", "")
    assert prompt.user == "question: {question}\nOutput the answer alone."


def test_the_best_page_comes_first_and_the_text_last(read, strict_server):
    done, answer, made = read(3, 1, reply=" 42\n")
    (body,) = strict_server.bodies
    (message,) = body["messages"]
    *images, text = message["content"]
    assert (message["role"], text) == ("user", {"type": "text", "text": WORDS})
    assert [picture(part).getpixel((0, 0))[0] for part in images] == made == [3, 1]
    assert (done.error, answer) == (None, "42")
    assert f1(answer, "42") == 1
    assert (body["max_tokens"], body["temperature"]) == (128, 0.0)


def test_two_pages_are_all_that_a_corpus_of_two_shows(read, strict_server):
    read(1, 0, reply="42")
    (body,) = strict_server.bodies
    assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "image_url", "text"]


def test_an_empty_reply_is_an_empty_answer_that_scores_0_and_no_failure(read, strict_server):
    done, answer, _ = read(0, reply="")
    assert (done.error, done.finish, answer) == (None, "stop", "")
    assert f1(answer, "42") == 0
    assert not isnan(f1(answer, "42"))
    assert len(strict_server.bodies) == 1


def test_the_shipped_spec_says_so(request):
    spec = read_spec(request.config.rootpath / "pipelines" / "m3docrag.yaml")
    (retriever,), (generator,) = spec.retrievers, spec.generators
    finds, reads = retriever.stage, generator.stage
    assert (finds.kind, finds.model, finds.top_k) == ("colpali", "vidore/colpali-v1.2-hf", 4)
    assert (reads.kind, reads.prompt, reads.max_tokens) == ("openai_vision", "m3docrag", 128)
    assert (reads.max_pixels, reads.temperature) == (1224 * 1584, 0.0)
