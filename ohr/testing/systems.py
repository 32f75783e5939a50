"""Conformance of systems."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ohr.contracts import Document, Page, System, SystemReply
from ohr.contracts.system import GivenContexts
from ohr.steps.systems.given_documents import hand_over
from ohr.testing.passages import page_image
from ohr.testing.stage import TEXTS, check_stage, require, suite
from ohr.work.plugin_checks import BrokenContract, checked_reply

_FACTS = (
    "The lease of the ferry berth began in 1964.",
    "Rent for the mooring is due each May.",
    "The harbour master keeps the register of boats.",
)
_QUESTIONS = ("When did the lease of the ferry berth begin?", "When is rent for the mooring due?", *TEXTS)
"""Two that documents answer, and odd ones."""
_AT_ONCE = 8


@suite
def check_system(system: System, *, finds: bool = True) -> None:
    """Check a system: it takes documents as the engine hands them over, and is asked in several threads at once.

    A system behind a server needs the server; whatever it ingests there is called `ohr-check-...`.

    Args:
        system: the system.
        finds: False where no answer or context can be expected to hold the fact that was asked for.
    """
    check_stage(system)
    require(system, system.reads <= {"text", "image"}, f"reads must be of text and image, not {system.reads}")
    handle = _ingest(system, [_FACTS[:2], _FACTS[2:]], "ohr-check-facts")
    _check_replies(system, handle, finds=finds)
    odd = _ingest(system, [TEXTS], "ohr-check-odd")
    _check_reply(system, _ask(system, _QUESTIONS[0], odd), "from odd texts")
    with suppress(Exception):  # a condition without a document may be refused
        empty = _ask(system, _QUESTIONS[0], _ingest(system, [], "ohr-check-empty"))
        _check_reply(system, empty, "without a document")
    after = _ask(system, _QUESTIONS[0], handle)
    require(
        system, not finds or _holds(after, "1964"), "conditions that are ingested later must not change earlier ones"
    )
    if isinstance(system, GivenContexts) and getattr(system, "answers_from_given", True):
        for texts in (_FACTS, (), TEXTS):
            _check_reply(system, system.answer(_QUESTIONS[0], texts, handle), "from given contexts")


def _ingest(system: System, documents: Sequence[Sequence[str]], name: str) -> Any:
    """Hand documents over as the engine does, and return the handle as a later process finds it."""
    pages = {
        f"law/file {number}": [Page(f"law/file {number}", index, text) for index, text in enumerate(texts)]
        for number, texts in enumerate(documents)
    }
    listed = [Document(document, "law", "en", len(texts)) for document, texts in pages.items()]
    with TemporaryDirectory(prefix="ohr-") as folder:
        hand_over(Path(folder), system, listed, pages, lambda page: page_image(pages[page[0]][page[1]].text))
        before = sorted(path.name for path in Path(folder).iterdir())
        handle = system.ingest(Path(folder), name)
        left = sorted(path.name for path in Path(folder).iterdir())
        require(system, left == before, "`ingest` must not change the folder of the documents")
    if not system.lasting:
        return handle
    try:
        return json.loads(json.dumps(handle))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"`ingest` must return JSON, since the class is `lasting`: {error}") from error


def _check_replies(system: System, handle: Any, *, finds: bool) -> None:
    asked = _QUESTIONS * 3
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        replies = list(threads.map(lambda question: _ask(system, question, handle), asked))
    for question, reply in zip(asked, replies, strict=True):
        _check_reply(system, reply, f"to {question[:40]!r}")
    for place, fact in enumerate(("1964", "May")):
        given = replies[place :: len(_QUESTIONS)]
        same = all(_holds(reply, fact) for reply in given)
        require(system, same or not finds, f"{_QUESTIONS[place]!r} must lead to {fact!r}, each time and in each thread")


def _ask(system: System, question: str, handle: Any) -> Any:
    return system.ask(question, handle)


def _holds(reply: Any, fact: str) -> bool:
    if not isinstance(reply, SystemReply):
        return False
    return fact in reply.answer or any(fact in context.text for context in reply.contexts or ())


def _check_reply(system: System, reply: Any, which: str) -> None:
    try:
        read = checked_reply(reply)
    except BrokenContract as error:
        require(system, False, f"reply {which}: {error}")
        return
    scores = [context.score for context in read.contexts or () if context.score is not None]
    require(system, scores == sorted(scores, reverse=True), f"reply {which}: contexts must come best first")
