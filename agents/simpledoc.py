"""SimpleDoc: choose pages by their summaries, read them, answer or search again."""

import re
from collections.abc import Generator as Coroutine
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import seeds
from ohr.contracts import Ask, Completion, Desk, Outcome, PageId, Picture, Search, Steps, Turn
from ohr.contracts.agent import Reads, Step
from ohr.files.prompts import filled
from ohr.parts import GeneratorPart, ImageRetrieverPart, VisionPart
from ohr.text.thoughts import without_thoughts

from .prompted import Asking, PromptedAgent, Templates
from .reply_parsing import tagged

_SEED = 123
"""Of the draw of pages for a selector that failed, as in SimpleDoc's code."""
_LONGEST_NUMBER = 9
"""Digits of a page number; Python refuses to read more than 4,300."""
_ANSWER = re.compile("answer:", re.IGNORECASE)


class Prompts(Templates):
    """The prompts; `select` also has `{summaries}`, and `reason` has `{memory}`, `{pages}` and `{texts}`."""

    summary: str
    page_text: Annotated[str, Field(pattern=r"\{text\}")]
    select: Asking
    reason: Asking
    form: Annotated[str, Field(pattern=r"\{instruction\}")]


class SimpleDoc(PromptedAgent, kind="simpledoc"):
    """Selects pages by summaries, reads text and images, and searches again with a new query (arXiv:2506.14035).

    Each round shortlists pages by their images, lets a text model choose some of them by their summaries, and shows
    those to a vision model, which answers, gives up, or asks a new query. Each page is summarised once, when it is
    first on a shortlist. Pages are numbered from 1 in the order of the desk: with one document in scope these are its
    page numbers, with several the pages of all of them are counted through.

    It follows the paper's first published code, with these repairs: a page that is selected twice is read once; an
    unclosed tag keeps its last character; a selector that fails again and again is replaced by the best of the
    shortlist; after the last round there is no answer, where the code takes the last query for it.
    """

    version: ClassVar[int] = 2
    reads: ClassVar[frozenset[Reads]] = frozenset({"text", "image"})
    templates: ClassVar[type[Templates]] = Prompts
    prompt: Annotated[Path | str, Field(description="Name or file of its prompts.")] = "simpledoc"
    image: Annotated[ImageRetrieverPart, Field(description="Shortlists pages for a query.")]
    shortlist: Annotated[int, Field(gt=0, description="Pages whose summaries the selector reads.")] = 30
    max_pages: Annotated[int, Field(gt=0, description="Pages that the reader sees in a round.")] = 10
    rounds: Annotated[int, Field(gt=0, description="Searches for one question.")] = 3
    selector: Annotated[GeneratorPart, Field(description="Chooses pages by their summaries.")]
    reader: Annotated[VisionPart, Field(description="Summarises pages, and answers from them.")]
    memory: Annotated[
        Literal["paper", "code"],
        Field(
            description="The reader gets the question, and the notes of all rounds (paper); the last query and notes."
        ),
    ] = "paper"
    summaries_see_text: Annotated[
        bool, Field(description="Summaries are made of a page's image and text, as in the paper; else of its image.")
    ] = False
    tries: Annotated[int, Field(gt=0, description="Calls of the selector in a round, each with half of the pages.")] = 3

    @property
    def max_calls(self) -> int:
        """The calls of all rounds: the selector's tries and one of the reader."""
        return self.rounds * (self.tries + 1)

    def run(self, question: str, desk: Desk) -> Steps:
        """Search, select and read, until there is an answer or no round left."""
        pages = tuple(desk.pages())
        summaries: dict[int, str] = {}
        query, memory, reply = question, list[str](), ""
        for turn in range(self.rounds):
            shortlist = _numbers((yield Search("image", query, self.shortlist)), pages)
            if not shortlist:
                return Outcome("", "no_evidence")
            yield from self._summarise(shortlist, summaries, pages, desk)
            selection = yield from self._select(query, turn, shortlist, summaries, len(pages))
            paper = self.memory == "paper"
            memory = [*memory, selection.summary] if paper else [selection.summary, *memory[-1:]]
            chosen = [(number, pages[number - 1]) for number in selection.pages]
            turns = self._reading(question if paper else query, memory, chosen, desk)
            reply = (yield Ask("reader", turns, read=tuple(page for _, page in chosen))).text
            result = verdict(reply)
            if isinstance(result, Outcome):
                return result
            query, memory = result.query, [*memory, result.notes]
        return Outcome("", "budget", reply)

    def _summarise(
        self, shortlist: Sequence[int], summaries: dict[int, str], pages: Sequence[PageId], desk: Desk
    ) -> Coroutine[tuple[Step, ...], Any, None]:
        missing = sorted(set(shortlist) - summaries.keys())
        if missing:
            asks = tuple(Ask("reader", self._summary(pages[number - 1], desk), shared=True) for number in missing)
            made = yield asks
            summaries |= {number: summary(done.text) for number, done in zip(missing, made, strict=True)}

    def _summary(self, page: PageId, desk: Desk) -> tuple[Turn, ...]:
        """Ask for the summary of a page; nothing in it depends on the question, so that all questions share it."""
        texts = self.texts()
        words = [texts["summary"]]
        if self.summaries_see_text:
            words.append(filled(texts["page_text"], text=desk.text(page)))
        return (Turn("user", ("\n\n".join(words), Picture((page,)))),)

    def _select(
        self, query: str, turn: int, shortlist: Sequence[int], summaries: Mapping[int, str], count: int
    ) -> Coroutine[Step, Completion, "Selection"]:
        """Let the selector choose pages; again with half of them after a reply that was cut, or empty."""
        shown = sorted(number for number in shortlist if summaries[number])
        for attempt in range(self.tries):
            listed = "\n\n".join(f"Page {number}: {summaries[number]}" for number in shown)
            text = filled(self.texts()["select"], question=query, summaries=listed)
            completion = yield Ask("selector", (Turn("user", (text,)),), attempt=attempt)
            if without_thoughts(completion.text).strip() and completion.finish != "length":
                return selected(completion.text, count, self.max_pages)
            shown = _half(shown, query, turn, attempt)
        return Selection("", tuple(shortlist[: self.max_pages]))

    def _reading(
        self, question: str, memory: Sequence[str], chosen: Sequence[tuple[int, PageId]], desk: Desk
    ) -> tuple[Turn, ...]:
        """Show the reader the selected pages: texts as they were selected, then the images in ascending order."""
        texts = [(number, desk.text(page)) for number, page in chosen]
        blocks = [f"--- Page {number} Text ---\n{text}" for number, text in texts if text.strip()]
        words = filled(
            self.texts()["reason"],
            question=question,
            memory="\n\n".join(filter(None, memory)),
            pages=", ".join(str(number) for number, _ in chosen),
            texts="\n\n".join(blocks),
        )
        if desk.instruction:
            words += "\n\n" + filled(self.texts()["form"], instruction=desk.instruction)
        return (Turn("user", (words, *(Picture((page,)) for _, page in sorted(chosen)))),)


@dataclass(frozen=True, slots=True)
class Selection:
    """A selector's reply: what it writes about the document, and page numbers, best first."""

    summary: str
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """A reader's wish to search again."""

    query: str
    notes: str


def summary(reply: str) -> str:
    """Return the summary of a page in a reply; the whole reply where it has no tag."""
    inner = tagged(reply, "summary")
    return (without_thoughts(reply) if inner is None else inner).strip()


def selected(reply: str, count: int, most: int) -> Selection:
    """Read a selector's reply; of the numbers, those from 1 to `count`, each once, and the first `most` of them."""
    runs = re.findall(r"\d+", _inside(reply, "selected_pages"))
    numbers = dict.fromkeys(int(run) for run in runs if len(run) <= _LONGEST_NUMBER)
    pages = [number for number in numbers if 1 <= number <= count]
    return Selection(_inside(reply, "document_summary"), tuple(pages[:most]))


def verdict(reply: str) -> Outcome | Update:
    """Read a reader's reply: the first tag that is not empty, else the words after `answer:`, else all of it."""
    if answer := _inside(reply, "answer"):
        return Outcome(answer, reply=reply)
    if _inside(reply, "not_answerable"):
        return Outcome("", "not_answerable", reply)
    if query := _inside(reply, "query_update"):
        return Update(query, _inside(reply, "notes"))
    said = without_thoughts(reply)
    marked = _ANSWER.search(said)
    answer = said[marked.end() if marked else 0 :].strip()
    return Outcome(answer, "answered" if answer else "unparsed", reply)


def _inside(reply: str, tag: str) -> str:
    return (tagged(reply, tag) or "").strip()


def _numbers(found: Any, pages: Sequence[PageId]) -> list[int]:
    """Return the numbers of the found pages, best first."""
    numbers = {page: number for number, page in enumerate(pages, 1)}
    return list(dict.fromkeys(numbers[hit.page] for hit in found if hit.page in numbers))


def _half(shown: Sequence[int], query: str, turn: int, attempt: int) -> list[int]:
    """Draw half of the pages, one at least, in their order."""
    if len(shown) < 2:
        return list(shown)
    words = query.encode("utf-8", "replace").decode()  # a reply may end in half a character
    draw = seeds.generator(_SEED, "simpledoc", "selector", words, turn, attempt)
    return sorted(int(page) for page in draw.choice(shown, len(shown) // 2, replace=False))
