"""Agents: systems that retrieve, read and ask again; replies decide what is searched and read next.

An agent is a coroutine: it yields what it wants done and gets the result. It does no I/O and holds no state, so that
the engine can batch, keep, count, repeat and resume every call.
"""

from abc import abstractmethod
from collections.abc import Generator as Coroutine
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import Field

from ohr.contracts.generation import Generator, PageId, Picture, Turn
from ohr.contracts.retrieval import AnyRetriever
from ohr.contracts.stage import Resources, Stage, execution

Reads = Literal["text", "image"]
"""Part of a knowledge base that an agent or its retrievers look at: the text of a knowledge base, its page images."""

End = Literal["answered", "not_answerable", "no_evidence", "unparsed", "budget"]
"""How an agent ended: with an answer; it says that there is none; it found nothing to read; a reply could not be
parsed; it has no call left. All but the first have an empty answer, which scores 0, and are no failures."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a model to continue a conversation; the result is a `Completion` without an error.

    Args:
        model: one of the agent's `models`.
        turns: the conversation.
        read: the pages whose text is in the last turns, beside those of pictures: what an agent has looked at is scored
            as retrieval.
        attempt: number of the try: an equal call with another number is another call.
        shared: the conversation does not depend on the question, such as the summary of a page; counted apart, and not
            in `max_calls`.
    """

    model: str
    turns: tuple[Turn, ...]
    read: tuple[PageId, ...] = ()
    attempt: int = 0
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """Search for a query; the result is a tuple of `Found`, best first.

    Args:
        retriever: one of the agent's `retrievers`.
        k: the most hits.
    """

    retriever: str
    query: str
    k: int


@dataclass(frozen=True, slots=True)
class Found:
    """A hit of a `Search`.

    Args:
        page: the first page of the passage.
        passage: its text; empty where the retriever looks at page images.
        score: a larger one is better.
        pages: all pages of the passage.
    """

    page: PageId
    passage: str
    score: float
    pages: tuple[PageId, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of an agent's run.

    Args:
        answer: as it is scored; empty unless `end` is `answered`.
        reply: the words that it was taken from.
    """

    answer: str
    end: End = "answered"
    reply: str = ""


Step = Ask | Search
"""A step that an agent yields: a question to a model, or a search."""

Steps = Coroutine[Step | tuple[Step, ...], Any, Outcome]
"""The coroutine that `Agent.run` returns. The steps of a tuple are done at once; their results come as a tuple."""


class Desk(Protocol):
    """The pages that an agent may look at for a question. The truth is not among them."""

    @property
    def instruction(self) -> str:
        """The benchmark's words about the form of an answer, for the prompt that makes it; empty for `native`."""
        ...

    def pages(self) -> Sequence[PageId]:
        """List the pages that may be searched, document by document."""
        ...

    def text(self, page: PageId) -> str:
        """Return a page's text in the knowledge base; a KeyError for a page that is not there."""
        ...

    def size(self, picture: Picture) -> tuple[int, int]:
        """Return the width and height of a picture in pixels."""
        ...


class Agent(Stage):
    """Answers questions in several steps of its own choice."""

    family = "agent"
    reads: ClassVar[frozenset[Reads]] = frozenset()
    """The parts of a knowledge base that it looks at, its retrievers included: noise reaches it there and nowhere else.
    Where that depends on its fields, a property."""

    answer_form: Annotated[
        Literal["native", "protocol"],
        Field(description="As the system answers; or with the benchmark's instruction in the prompt that answers."),
    ] = "native"
    in_flight: Annotated[int, execution("Questions that are worked on at once.", gt=0)] = 64

    @property
    @abstractmethod
    def max_calls(self) -> int:
        """The most calls for one question, shared ones not counted; the engine ends it after that as `budget`."""

    @abstractmethod
    def models(self) -> Mapping[str, Generator]:
        """Return the models that it asks, by role."""

    @abstractmethod
    def retrievers(self) -> Mapping[str, AnyRetriever]:
        """Return the retrievers that it searches with, by role; their own `top_k` does not matter."""

    @abstractmethod
    def run(self, question: str, desk: Desk) -> Steps:
        """Answer a question: yield steps, and return the outcome. It must end whatever the replies are."""

    def check(self) -> None:
        """Check the models and retrievers."""
        for part in (*self.models().values(), *self.retrievers().values()):
            part.check()

    def resources(self) -> Resources:
        """Return the resources of all parts together, in one process: so equal calls of two questions are made once."""
        parts = (*self.models().values(), *self.retrievers().values())
        together = Resources.together(*(part.resources() for part in parts))
        return Resources(together.cpus, together.gpus, alone=True)

    def identity(self) -> Mapping[str, object]:
        """Leave the models and retrievers out: their identities are in the keys by themselves.

        Any other stage in a field, such as a metric, is identified by its own fields.
        """
        parts = [*self.models().values(), *self.retrievers().values()]
        found = dict(super().identity())
        for name in type(self).model_fields:
            value = getattr(self, name)
            held = value if isinstance(value, tuple) else (value,)
            if held and all(isinstance(each, Stage) for each in held):
                if all(each in parts for each in held):
                    found.pop(name, None)
                elif name in found:
                    found[name] = [[type(each).family, type(each).version, each.identity()] for each in held]
        return found
