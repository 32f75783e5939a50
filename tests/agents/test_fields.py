"""Fields and prompts of all agents: what cannot be is refused with its reason."""

import pytest
from pydantic import ValidationError

from ohr.agents.mdocagent import MDocAgent
from ohr.agents.react import ReAct
from ohr.agents.simpledoc import SimpleDoc
from ohr.agents.vidorag import ViDoRAG
from ohr.agents.vrag import VRAG
from ohr.errors import SpecError

SERVER = {"base_url": "http://localhost:1/v1", "model": "m"}
SEES, READS = {"kind": "openai_vision", **SERVER}, {"kind": "openai", **SERVER}
LOOKS, TEXT, EXTRACTIVE = {"kind": "colqwen", "model": "x"}, {"kind": "bm25"}, {"kind": "extractive"}
PARTS = {
    MDocAgent: {"text": TEXT, "image": LOOKS, "vision": SEES, "language": EXTRACTIVE},
    ReAct: {"retriever": TEXT, "model": READS},
    SimpleDoc: {"image": LOOKS, "selector": EXTRACTIVE, "reader": SEES},
    ViDoRAG: {"retriever": LOOKS, "vision": SEES},
    VRAG: {"image": LOOKS, "vision": SEES},
}
NO_IMAGES = "must read page images, and extractive reads text only"
NO_LOOK = "must look at page images, and bm25 reads text"
NO_TEXT = "must read text, and colqwen looks at page images"


@pytest.mark.parametrize(
    ("kind", "field", "value", "words"),
    [
        (MDocAgent, "vision", EXTRACTIVE, NO_IMAGES),
        (MDocAgent, "image", TEXT, NO_LOOK),
        (MDocAgent, "text", LOOKS, NO_TEXT),
        (MDocAgent, "without", "critical", "Input should be 'text_agent', 'image_agent' or 'general'"),
        (MDocAgent, "top_k", 0, "Input should be greater than 0"),
        (ReAct, "retriever", LOOKS, NO_TEXT),
        (ReAct, "model", {"kind": "extractiv"}, "extractive"),
        (ReAct, "model", EXTRACTIVE, "must continue conversations, and extractive answers one message"),
        (ReAct, "actions", 0, "Input should be greater than 0"),
        (ReAct, "page_characters", True, "must not be true or false"),
        (SimpleDoc, "image", TEXT, NO_LOOK),
        (SimpleDoc, "reader", EXTRACTIVE, NO_IMAGES),
        (VRAG, "image", TEXT, NO_LOOK),
        (VRAG, "vision", EXTRACTIVE, NO_IMAGES),
        *((VRAG, "pixels", pixels, "the first not greater than the second") for pixels in ((0, 9), (10, 5), (-5, 9))),
    ],
)
def test_a_wrong_field_is_refused_with_its_reason(kind, field, value, words):
    with pytest.raises(ValidationError, match=words):
        kind.model_validate({**PARTS[kind], field: value})


@pytest.mark.parametrize(
    ("kind", "prompt", "words"),
    [
        (MDocAgent, "general", "general: lacks a placeholder"),
        (ReAct, "question", "question: lacks a placeholder"),
        (SimpleDoc, "select", "select: lacks a placeholder"),
        (ViDoRAG, "seeker", "seeker: lacks a placeholder"),
        (VRAG, "first", "first: lacks a placeholder"),
    ],
)
def test_a_file_of_prompts_that_lacks_one_or_the_question_in_it_is_refused(tmp_path, kind, prompt, words):
    texts = {**kind.model_validate(PARTS[kind]).texts(), prompt: "Go."}
    own = tmp_path / "mine.yaml"
    agent = kind.model_validate({**PARTS[kind], "prompt": own})
    own.write_text("".join(f"{name}: {text!r}\n" for name, text in texts.items()))
    with pytest.raises(SpecError, match=words):
        agent.check()
    own.write_text("".join(f"{name}: {text!r}\n" for name, text in texts.items() if name != prompt))
    with pytest.raises(SpecError, match=f"mine.yaml: {prompt}: is required"):
        agent.check()


def test_one_hit_of_each_search_is_mdocagent_s_default_as_in_the_code():
    assert MDocAgent.model_validate(PARTS[MDocAgent]).top_k == 1
