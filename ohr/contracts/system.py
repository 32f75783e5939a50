"""Systems: a whole RAG that a team already has. It ingests documents and answers questions."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr.contracts.agent import Reads
from ohr.contracts.stage import Resources, Stage, execution

Handed = Literal["pdf", "images", "text"]
"""How documents are handed over: page images in a PDF, page images as PNG files, or text."""


SPLIT = ("seconds_retrieval", "seconds_generation")
"""Parts of the seconds of a reply, which only some systems state."""


@dataclass(frozen=True, slots=True)
class Context:
    """A passage that a system has read for an answer.

    Args:
        text: "" where the system gives a place only.
        document: name of the document, or of its file as it was handed over; "" where the system does not say.
        page: as the system counts pages; None where it does not say.
        score: a larger one is better; None where the system gives none.
    """

    text: str = ""
    document: str = ""
    page: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SystemReply:
    """The reply of a system to a question.

    Args:
        contexts: best first; None where the system gives none, so that its answers alone are scored.
        tokens_in: prompt tokens, 0 where the system does not say; `tokens_out` those of the reply.
        seconds: None where the system does not say: then they are measured.
        version: of the service, where it says; a run that meets several warns of it.
        seconds_retrieval: of these, those of the search, where the system says; `seconds_generation` those of the
            model.
    """

    answer: str
    contexts: Sequence[Context] | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float | None = None
    version: str = ""
    seconds_retrieval: float | None = None
    seconds_generation: float | None = None


class System(Stage):
    """A RAG that parses, indexes, retrieves and answers by itself."""

    family = "system"
    lasting: ClassVar[bool] = True
    """Its documents outlive this process, under the handle that `ingest` returned; otherwise every process that
    asks ingests for itself."""

    asking: ClassVar[tuple[str, ...]] = ("top_k", "first_page")
    """Fields that decide replies and their reading, and not what is ingested: with others, it is ingested once."""

    documents: Annotated[
        Handed,
        Field(description="How documents are handed over: page images in a PDF, as PNG files, or text after OCR."),
    ] = "pdf"
    jpeg_quality: Annotated[
        int | None, Field(ge=1, le=100, description="Page images in PDFs as JPEG of this quality; lossless by default.")
    ] = None
    text_files: Annotated[
        Literal["document", "page"], Field(description="Text: one file for each document, or for each page.")
    ] = "document"
    text_format: Annotated[Literal["md", "txt"], Field(description="Ending of the files of text.")] = "md"
    first_page: Annotated[Literal[0, 1], Field(description="Number of the first page in the contexts' `page`.")] = 1
    top_k: Annotated[int, Field(gt=0, description="Contexts that are scored, best first.")] = 5
    in_flight: Annotated[int, execution("Questions that are asked at once.", gt=0)] = 8

    @property
    def reads(self) -> frozenset[Reads]:
        """The part of a knowledge base that it looks at: noise reaches it there and nowhere else."""
        return frozenset({"text"} if self.documents == "text" else {"image"})

    @abstractmethod
    def ingest(self, folder: Path, name: str) -> Any:
        """Take the documents of one condition; returns what `ask` needs to find them: JSON where `lasting`.

        Args:
            folder: its documents, and nothing else; it is removed afterwards.
            name: of the condition, unlike all others: letters, digits, `-`, `_` and `.`.

        Raises:
            Exception: anything; the questions of the condition fail with its message.
        """

    @abstractmethod
    def ask(self, question: str, handle: Any) -> SystemReply:
        """Answer a question from the documents of one condition; called in several threads at once.

        Args:
            handle: what `ingest` returned, perhaps in an earlier run.

        Raises:
            Exception: anything; the question fails with its message, and is tried again.
        """

    @property
    def answers(self) -> bool:
        """Report whether it gives answers, and not contexts alone: then it is evaluated in the stage retrieval only."""
        return True

    @property
    def answers_from_given(self) -> bool:
        """Report whether it has the third verb, `answer`, by which its loss can be split."""
        return isinstance(self, GivenContexts)

    def resources(self) -> Resources:
        """Return resources of one process, which holds the system."""
        return Resources(alone=True)


class GivenContexts(System):
    """A system that also answers from given contexts, so that its loss can be split into index and reading."""

    @abstractmethod
    def answer(self, question: str, contexts: Sequence[str], handle: Any) -> SystemReply:
        """Answer a question from these texts, best first, without a search."""
