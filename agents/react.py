"""ReAct over text: a model searches, reads pages and answers, one action in each reply."""

import re
from collections.abc import Generator as Coroutine
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr.contracts import Ask, Completion, Desk, Found, Outcome, PageId, Search, Turn
from ohr.contracts.agent import Reads, Steps
from ohr.files.prompts import filled
from ohr.parts import TalkingPart, TextRetrieverPart

from .prompted import Asking, PromptedAgent, Templates
from .reply_parsing import first_tagged

EXCERPT = 300
"""Characters of a passage in a list of hits: some 75 tokens, enough to choose a page by."""
ACTIONS = ("search", "read", "answer")

Result = tuple[str, tuple[PageId, ...]]
"""The words that answer an action, and the pages whose text is in them."""


class Prompts(Templates):
    """The prompts; `{page}` names a page by its number in the lists, its document, and its place in there.

    `listed` and `page` may have `{question}` again: a small model forgets it.
    """

    system: str
    question: Asking
    listed: Annotated[str, Field(pattern=r"\{hits\}")]
    continued: str
    nothing: str
    page: Annotated[str, Field(pattern=r"\{text\}")]
    blank: str
    no_action: str
    no_words: str
    no_page: str
    forms: str
    last: str


class ReAct(PromptedAgent, kind="react"):
    """Searches and reads page texts until it answers, after ReAct (Yao et al., ICLR 2023, arXiv:2210.03629).

    The prompts and actions are ohr's own. Each reply has one action in tags: `<search>words</search>` lists passages
    with the number of their page, `<read>number</read>` shows the text of such a page, `<answer>…</answer>` ends.
    The first tag after the model's thoughts counts, and anything after it is ignored. A reply without an action,
    a search without words and an unknown page count as an action, and the model is reminded of the three.
    Turns of user and assistant alternate, as the chat templates of many models demand.

    It ends as `budget` where the call after the last action has no answer, and as `unparsed` where an answer is empty.
    """

    version: ClassVar[int] = 2
    reads: ClassVar[frozenset[Reads]] = frozenset({"text"})
    templates: ClassVar[type[Templates]] = Prompts

    retriever: Annotated[TextRetrieverPart, Field(description="Finds passages.")]
    model: Annotated[TalkingPart, Field(description="Chooses the actions and answers.")]
    prompt: Annotated[Path | str, Field(description="Name or file of its prompts; by default its own.")] = "react"
    top_k: Annotated[int, Field(gt=0, description="Passages that a search lists.")] = 3
    actions: Annotated[int, Field(gt=0, description="Searches and reads, after which it must answer.")] = 6
    search_first: Annotated[
        bool, Field(description="The question itself is searched for before the model is asked: an example to it.")
    ] = False
    page_characters: Annotated[int, Field(gt=0, description="A page that is read is cut after as many.")] = 4000

    @property
    def max_calls(self) -> int:
        """One for each action, and one to answer."""
        return self.actions + 1

    def run(self, question: str, desk: Desk) -> Steps:
        """Follow the model's actions until it answers."""
        texts = self.texts()
        asked = "\n\n".join(filter(None, (filled(texts["question"], question=question), desk.instruction)))
        said: tuple[Turn, ...] = (Turn("system", (texts["system"],)), Turn("user", (asked,)))
        tools = _Tools(self, question, desk)
        read: tuple[PageId, ...] = ()
        reply = ""
        if self.search_first:
            result, read = yield from tools.use("search", question)
            said = (*said, Turn("assistant", (f"<search>{question}</search>",)), Turn("user", (result,)))
        for left in reversed(range(self.max_calls)):
            completion: Completion = yield Ask("model", said, read=read)
            reply = completion.text
            action, given = first_tagged(reply, ACTIONS) or ("", "")
            if action == "answer":
                return Outcome(given.strip(), "answered" if given.strip() else "unparsed", reply)
            if left:
                result, read = yield from tools.use(action, given)
                result = result if left > 1 else f"{result}\n\n{texts['last']}"
                said = (*said, Turn("assistant", (reply,)), Turn("user", (result,)))
        return Outcome("", "budget", reply)


@dataclass
class _Tools:
    """The actions of one question; `listed` are the pages that searches listed, in the order of their numbers."""

    agent: ReAct
    question: str
    desk: Desk
    listed: list[PageId] = field(default_factory=list)

    def use(self, action: str, given: str) -> Coroutine[Search, Any, Result]:
        """Do an action, or name the reason why it cannot be done."""
        words = " ".join(given.split())
        if action == "search" and words:
            hits = yield Search("retriever", words, self.agent.top_k)
            return self._hits(hits)
        if action == "read":
            return self._page(words)
        return self._wrong("no_words" if action else "no_action")

    def _hits(self, hits: Sequence[Found]) -> Result:
        """List the passages found by their pages; a page that is listed already has its number again.

        Of a passage that goes over a page break, the next page is listed too, so that its end can be read.
        """
        texts = self.agent.texts()
        if not hits:
            return texts["nothing"], ()
        lines = []
        for hit in hits:
            passage = " ".join(hit.passage.split())[:EXCERPT]
            lines.append(f"{self._name(hit.page)}: {passage}")
            lines += [f"{self._name(page)}: {texts['continued']}" for page in hit.pages[1:2]]
        listed = filled(texts["listed"], hits="\n".join(lines), question=self.question)
        return listed, tuple(dict.fromkeys(hit.page for hit in hits))

    def _name(self, page: PageId) -> str:
        """Return a page's number, document and place; a page that is new has the next number."""
        if page not in self.listed:
            self.listed.append(page)
        return f"[{self.listed.index(page) + 1}] {page[0]}, page {page[1] + 1}"

    def _page(self, words: str) -> Result:
        """Return the text of the page whose number is in some words, such as `2`, `[2]` or `page 2`."""
        number = int(match[0]) if (match := re.search(r"\d{1,9}", words)) else 0
        if not 1 <= number <= len(self.listed):
            return self._wrong("no_page")
        page = self.listed[number - 1]
        text = self.desk.text(page).strip()[: self.agent.page_characters]
        if not text:
            return filled(self.agent.texts()["blank"], page=self._name(page)), ()
        shown = filled(self.agent.texts()["page"], page=self._name(page), text=text, question=self.question)
        return shown, (page,)

    def _wrong(self, fault: str) -> Result:
        return f"{self.agent.texts()[fault]}\n{self.agent.texts()['forms']}", ()
