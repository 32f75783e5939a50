"""Prompts from files, and answers from replies."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import Benchmark, Passage, Prompt, Question, ScoringProtocol
from ohr.files.changes import kept_until_changed
from ohr.files.prompts import filled, read_prompt_file
from ohr.text.thoughts import without_thoughts

_TAGGED = re.compile(r"</?response>(.*?)</?response>", re.DOTALL)
_FAULTS = {
    "model_type": "must be a mapping with `user`, and perhaps `system` and `opening`",
    "string_pattern_mismatch": "must have the placeholder {question}; the other is {retrieved_documents}",
}


class PromptTemplate(BaseModel):
    """The content of a prompt file; `user` holds the placeholders `{question}` and `{retrieved_documents}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: Annotated[str, Field(description="The system's message.")] = ""
    user: Annotated[str, Field(pattern=r"\{question\}", description="The user's message.")]
    opening: Annotated[str, Field(description="Words with which the reply has to begin.")] = ""


@kept_until_changed(32)
def read_prompt(prompt: str | Path) -> PromptTemplate:
    """Read one of ohr's own prompts by its name, or a prompt file by its path.

    `ohrbench` is the paper's (Table S12); `ohrbench_code` is the one in the benchmark's code, which differs from it.

    Raises:
        SpecError: the prompt does not exist, or its file holds something else.
    """
    return read_prompt_file(prompt, PromptTemplate, "ohr.generators.prompts", "prompt", _FAULTS)


def make_prompt(
    benchmark: Benchmark,
    question: Question,
    passages: Sequence[Passage],
    *,
    prompt: str | Path | None = None,
    images: bool = False,
) -> Prompt:
    """Fill in a prompt, by default the protocol's, with the values that the benchmark gives its placeholders.

    Args:
        images: the generator sees page images.
    """
    protocol = benchmark.scoring
    template = read_prompt(prompt or (protocol.image_prompt if images else protocol.prompt))
    passages = cut_passages(protocol, passages)
    values = benchmark.prompt_values(question, passages, images=images)
    read = tuple(passage.text for passage in passages)
    user = filled(template.user, **values)
    return Prompt(question.text, read, template.system, user, (), template.opening, question.id)


def cut_passages(protocol: ScoringProtocol, passages: Sequence[Passage]) -> Sequence[Passage]:
    """Return passages as far as the protocol lets a generator read them."""
    if (end := protocol.passage_end) is None:
        return passages
    return [replace(passage, text=passage.text.split(end)[0]) for passage in passages]


def answer_of(reply: str, protocol: ScoringProtocol) -> str:
    """Return what the protocol takes as the answer of a reply, without the model's thoughts."""
    return without_thoughts(reply) if protocol.reply == "whole" else parse_answer(reply)


def parse_answer(reply: str) -> str:
    """Return the text in the last <response> tags of a reply, or the whole reply if it has none, without thoughts.

    The benchmark's code does the same; small models often omit the tags.
    """
    reply = without_thoughts(reply)
    answer = reply.split("<response>")[-1].split("</response>")[0].strip()
    if answer:
        return answer
    tagged = _TAGGED.search(reply)
    return tagged[1].strip() if tagged else ""
