"""Answers from the passages of one search."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts import Agent, AnyRetriever, Ask, Desk, Generator, Outcome, Reads, Search, Steps, Turn
from ohr.parts import GeneratorPart, TextRetrieverPart
from ohr.text.thoughts import without_thoughts


class Example(Agent, kind="example"):
    """Searches for the question, lets a model read the passages found, and returns its reply."""

    reads: ClassVar[frozenset[Reads]] = frozenset({"text"})
    passages: Annotated[
        TextRetrieverPart, Field(default={"kind": "bm25"}, validate_default=True, description="Finds passages.")
    ]
    reader: Annotated[
        GeneratorPart, Field(default={"kind": "extractive"}, validate_default=True, description="Reads and answers.")
    ]
    top_k: Annotated[int, Field(gt=0, description="Passages that are read.")] = 3

    @property
    def max_calls(self) -> int:
        """The model is asked once."""
        return 1

    def models(self) -> Mapping[str, Generator]:
        """Return the reader."""
        return {"reader": self.reader}

    def retrievers(self) -> Mapping[str, AnyRetriever]:
        """Return the retriever."""
        return {"passages": self.passages}

    def run(self, question: str, desk: Desk) -> Steps:
        """Yield each step; its result is the value of the `yield`."""
        hits = yield Search("passages", question, self.top_k)
        if not hits:
            return Outcome("", "no_evidence")
        parts = (desk.instruction, *(hit.passage for hit in hits), question)
        read = tuple(dict.fromkeys(hit.page for hit in hits))
        reply = (yield Ask("reader", (Turn("user", tuple(filter(None, parts))),), read=read)).text
        answer = without_thoughts(reply).strip()
        return Outcome(answer, "answered" if answer else "unparsed", reply)
