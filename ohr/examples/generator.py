"""Answers with a sentence of the retrieved text."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from ohr.contracts import Completion, Generator, Prompt
from ohr.text.sentences import sentence_spans
from ohr.text.words import words


class Example(Generator, kind="example"):
    """Answers with the sentence that shares most words with the question."""

    longest: Annotated[int, Field(gt=0, description="Characters of a reply.")] = 200

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt, in order; yield each as soon as it is made, so that it is kept."""
        for prompt in prompts:
            text = max(_sentences(prompt.passages), key=lambda sentence: _shared(sentence, prompt.question), default="")
            yield Completion(text[: self.longest], tokens_in=len(prompt.user.split()), tokens_out=len(text.split()))


def _sentences(passages: Sequence[str]) -> list[str]:
    return [passage[start:end] for passage in passages for start, end in sentence_spans(passage)]


def _shared(sentence: str, question: str) -> int:
    return len({*words(sentence)} & {*words(question)})
