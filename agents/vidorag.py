"""ViDoRAG: a seeker picks pages, an inspector answers from them or asks for more, a synthesizer checks the draft."""

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Generator as Coroutine
from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field

from ohr.contracts import (
    AnyRetriever,
    Ask,
    Completion,
    Desk,
    Found,
    Outcome,
    PageId,
    PageRetriever,
    Picture,
    Search,
    Steps,
    Turn,
)
from ohr.contracts.agent import Reads, Step
from ohr.files.prompts import filled
from ohr.parts import RetrieverPart, VisionPart

from .prompted import Asking, PromptedAgent, Templates
from .reply_parsing import json_object

Result = TypeVar("Result")

_LINE = 40
"""Width in pixels of a grid's lines, as in ViDoRAG's code."""
_SHAPES = {1: (1, 1), 2: (2, 1), 3: (1, 3), 4: (2, 2), 5: (2, 3), 6: (3, 2), 7: (2, 4), 8: (2, 4), 9: (3, 3)}
_SHAPES |= {10: (3, 4), 11: (3, 4), 12: (4, 3), **dict.fromkeys(range(13, 17), (4, 4))}
_SHAPES |= dict.fromkeys(range(17, 21), (5, 4))
"""Rows and columns of a grid by its number of pages, as in ViDoRAG's code, which has no more than 20."""


class Prompts(Templates):
    """The prompts of the agents; `{numbering}` is the sentence `grid` or `images`, about the pages of the call."""

    seeker: Asking
    inspector: Asking
    synthesizer: Asking
    grid: str
    images: str
    form: Annotated[str, Field(pattern=r"\{instruction\}")]


class ViDoRAG(PromptedAgent, kind="vidorag"):
    """Lets three agents read page images of one search in turns (ViDoRAG, arXiv:2502.18017).

    The seeker picks pages from those that were found; the inspector answers from the picked pages, or says what is
    missing and which pages it keeps; the synthesizer (the paper's answer agent) makes the answer of a draft that needs
    some of the pages only, or of the kept pages when the seeker picks no more. Candidates are ordered by documents as
    first found, in a document by page; of more than `top_k` pages the best are kept.

    It follows the published code, with these repairs: the numbering of pages is that of the grid; references are
    counted once each, and negative ones refused; a number as answer is its text; without candidates left, the kept
    pages are answered from, as in the paper; the synthesizer too has a limited number of tries.
    """

    version: ClassVar[int] = 2
    templates: ClassVar[type[Templates]] = Prompts
    prompt: Annotated[Path | str, Field(description="Name or file of its prompts.")] = "vidorag"
    retriever: Annotated[RetrieverPart, Field(description="Finds the candidates, such as gmm over two retrievers.")]
    vision: Annotated[VisionPart, Field(description="Reads page images; give it enough max_pixels for a grid.")]
    pages_as: Annotated[
        Literal["grid", "images"], Field(description="All pages of a call in one picture, or one picture each.")
    ] = "grid"
    tries: Annotated[int, Field(gt=0, description="Calls until a reply can be read.")] = 3
    rounds: Annotated[int, Field(gt=0, description="Turns of seeker and inspector.")] = 20
    top_k: Annotated[int, Field(gt=0, description="Candidates at most.")] = 10

    @property
    def reads(self) -> frozenset[Reads]:  # type: ignore[override] # depends on the retriever
        """Page images, and the text where the retriever reads it."""
        shown: frozenset[Reads] = frozenset({"image"})
        return shown | _read_by(self.retriever)

    @property
    def max_calls(self) -> int:
        """The calls of all turns and of the synthesizer; each turn takes a candidate at least."""
        return self.tries * (2 * min(self.rounds, self.top_k) + 1)

    def run(self, question: str, desk: Desk) -> Steps:
        """Search once; pick and inspect pages until there is an answer, or nothing to pick."""
        left = candidates((yield Search("retriever", question, self.top_k)), self.top_k)
        kept: list[PageId] = []
        asked, reply = question, ""
        for _ in range(self.rounds):
            picked: tuple[int, ...] | None = ()
            if left:
                picked, reply = yield from self._tried("seeker", asked, left, "", choice_of)
            if picked is None:
                return Outcome("", "unparsed", reply)
            if not picked:
                return (yield from self._answer(question, kept, desk)) if kept else Outcome("", "no_evidence", reply)
            kept += [left[number] for number in picked]
            left = [page for page in left if page not in kept]
            verdict, reply = yield from self._tried("inspector", question, kept, desk.instruction, verdict_of)
            if verdict is None:
                return Outcome("", "unparsed", reply)
            if verdict.answer and len(verdict.pages) == len(kept):
                return Outcome(verdict.answer, reply=reply)
            kept = [kept[number] for number in verdict.pages]
            if verdict.answer:
                return (yield from self._answer(question, kept, desk, verdict.answer))
            asked = f"{question}\n\n## Additional Information\n{verdict.information}"
        return Outcome("", "budget", reply)

    def _answer(
        self, question: str, pages: Sequence[PageId], desk: Desk, draft: str = ""
    ) -> Coroutine[Step, Completion, Outcome]:
        asked = f"{question}\n\n## Related Information\n{draft}" if draft else question
        answer, reply = yield from self._tried("synthesizer", asked, pages, desk.instruction, answer_of)
        return Outcome("", "unparsed", reply) if answer is None else Outcome(answer, reply=reply)

    def _tried(
        self,
        role: str,
        question: str,
        pages: Sequence[PageId],
        instruction: str,
        read: Callable[[Mapping[str, Any], int], Result | None],
    ) -> Coroutine[Step, Completion, tuple[Result | None, str]]:
        """Ask until the reply can be read; return what was read, None after the last try, and the reply."""
        words = filled(self.texts()[role], question=question, numbering=self._numbering(len(pages)))
        if instruction:
            words += "\n\n" + filled(self.texts()["form"], instruction=instruction)
        turns, reply = (Turn("user", (*self._pictures(pages), words)),), ""
        for attempt in range(self.tries):
            reply = (yield Ask("vision", turns, attempt=attempt)).text
            found = json_object(reply)
            result = None if found is None else read(found, len(pages))
            if result is not None:
                return result, reply
        return None, reply

    def _pictures(self, pages: Sequence[PageId]) -> list[Picture]:
        if self.pages_as == "images":
            return [Picture((page,)) for page in pages]
        return [Picture(tuple(pages)).grid(*shape(len(pages)), line=_LINE)]

    def _numbering(self, count: int) -> str:
        """Name the number of each page, in one sentence."""
        if self.pages_as == "images":
            return filled(self.texts()["images"], count=str(count), numbers=_listed(range(count)))
        rows, columns = shape(count)
        cells = [_listed(range(first, min(first + columns, count))) for first in range(0, count, columns)]
        listed = "; ".join(f"row {row}: {numbers}" for row, numbers in enumerate(cells, 1))
        sizes = {"rows": str(rows), "columns": str(columns)}
        return filled(self.texts()["grid"], count=str(count), numbers=listed, **sizes)


@dataclass(frozen=True, slots=True)
class Verdict:
    """An inspector's reply: an answer and the pages it is on, or what is missing and the pages to keep."""

    answer: str
    information: str
    pages: tuple[int, ...]


def candidates(found: Sequence[Found], most: int) -> list[PageId]:
    """Return the pages of the hits, the `most` best: documents as first found, the pages of each in order."""
    pages = list(dict.fromkeys(page for hit in found for page in hit.pages or (hit.page,)))[:most]
    documents = list(dict.fromkeys(document for document, _ in pages))
    return sorted(pages, key=lambda page: (documents.index(page[0]), page[1]))


def shape(count: int) -> tuple[int, int]:
    """Return the rows and columns of a grid; more than 20 pages make it as square as they can."""
    columns = ceil(sqrt(count))
    return _SHAPES.get(count) or (ceil(count / columns), columns)


def choice_of(reply: Mapping[str, Any], count: int) -> tuple[int, ...] | None:
    """Read a seeker's reply; None where it is not as asked for."""
    if reply.get("reason") is None or reply.get("summary") is None:
        return None
    return _numbers(reply.get("choice"), count)


def verdict_of(reply: Mapping[str, Any], count: int) -> Verdict | None:
    """Read an inspector's reply, of which an answer counts more than information; None where it is not as asked for."""
    answer, information = _text(reply.get("answer")), reply.get("information")
    if reply.get("reason") is None:
        return None
    if answer and reply.get("reference") is not None:
        pages = _numbers(reply["reference"], count)
        return Verdict(answer, "", pages) if pages else None
    pages = _numbers(reply.get("choice"), count)
    return Verdict("", information, pages) if isinstance(information, str) and pages is not None else None


def answer_of(reply: Mapping[str, Any], count: int) -> str | None:  # noqa: ARG001 # as the others, which read numbers
    """Read a synthesizer's reply; None where it is not as asked for."""
    return None if reply.get("reason") is None else _text(reply.get("answer")) or None


def _numbers(given: object, count: int) -> tuple[int, ...] | None:
    """Return the different page numbers of a list; None unless all are whole numbers from 0 to less than `count`."""
    if not isinstance(given, list) or not all(type(number) is int and 0 <= number < count for number in given):
        return None  # `true` is no number, though Python takes it for 1
    return tuple(dict.fromkeys(given))


def _text(given: object) -> str:
    """Return a text, or a number as text; empty for anything else."""
    if isinstance(given, str):
        return given.strip()
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
        return ""
    return json.dumps(given)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _read_by(retriever: AnyRetriever) -> frozenset[Reads]:
    """Return what a retriever reads: a fusion what its parts read, any other one text unless it finds page images."""
    if isinstance(retriever, PageRetriever):
        return frozenset({"image"})
    values = [getattr(retriever, name) for name in type(retriever).model_fields]
    parts = [part for value in values if isinstance(value, tuple) for part in value if isinstance(part, AnyRetriever)]
    if parts:
        return frozenset().union(*map(_read_by, parts))
    return frozenset({"text", "image"} if retriever.reads_images else {"text"})
