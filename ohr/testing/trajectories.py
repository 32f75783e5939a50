"""Conformance of agents: each step of their runs, on replies as no agent expects them."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from threading import get_ident
from typing import Any, get_args

from ohr.contracts import Agent, Ask, End, Found, Generator, Outcome, PageId, Picture, Reads, Search, Turn
from ohr.errors import DataError
from ohr.files.pictures import Size
from ohr.testing.agents import PlainDesk, Played, Reply, found, play
from ohr.testing.replies import EXPECTED, ODD
from ohr.testing.stage import TEXTS, check_stage, require

QUESTION = "When did the lease of the ferry berth begin, in which year?"
"""The question that an agent is tried with."""
_INSTRUCTION = "Answer with one word, in capital letters."
_TEXTS: Mapping[PageId, str] = {
    ("law/lease", 0): TEXTS[3],
    ("law/lease", 1): TEXTS[7],
    ("law/lease", 2): "",
    ("report", 0): TEXTS[4] * 40,
}
_SIZES: Mapping[PageId, Size] = {
    ("law/lease", 0): (1600, 1200),
    ("law/lease", 1): (300, 200),
    ("report", 0): (99, 2999),
}

_REFUSED = ("open", "socket.connect", "subprocess.Popen")
_opened: dict[int, list[str]] = {}
"""Threads that must do no input or output, with what they did."""


def check_agent(agent: Agent) -> None:
    """Check an agent: it is run on scripted replies and hits, odd ones among them; none of its parts is used.

    Its models and retrievers are checked as parts of it, so they must be usable here: pass small or scripted ones, such
    as `Scripted`, where the usual ones are servers.
    """
    check_stage(agent)
    _check_promises(agent)
    asked = [ask for script in _scripts() for ask in _check_runs(agent, script)]
    formed = any(_INSTRUCTION in turn.text for ask in asked for turn in ask.turns)
    require(agent, formed or not asked, "no prompt has the desk's instruction about the form of an answer")


def _scripts() -> Iterator[tuple[Reply, ...]]:
    """Yield series of replies, each of which is repeated: every reply alone, and odd ones after expected ones."""
    yield from ((reply,) for reply in (*EXPECTED, *ODD))
    yield from ((expected, odd) for expected in EXPECTED for odd in ODD)
    yield from ((*EXPECTED[place:], *ODD, *EXPECTED[:place]) for place in range(len(EXPECTED)))


def _check_promises(agent: Agent) -> None:
    reads, known = agent.reads, get_args(Reads)
    require(agent, bool(reads) and set(reads) <= {*known}, f"`reads` must be some of {', '.join(known)}, not {reads!r}")
    most = agent.max_calls
    require(agent, type(most) is int and most >= 1, f"`max_calls` must be a number of at least 1, not {most!r}")
    for role, model in agent.models().items():
        require(agent, isinstance(model, Generator), f"the model {role!r} must be a generator")
    for role, retriever in agent.retrievers().items():
        part = "image" if retriever.reads_images else "text"
        require(agent, part in reads, f"`reads` must have {part!r}, since its retriever {role!r} looks at that")


def _check_runs(agent: Agent, script: Sequence[Reply]) -> Iterator[Ask]:
    """Check runs on some replies and several hits; yields the calls that are the question's own."""
    for hits in (_some, _none, _once):
        run = _run(agent, script, hits)
        with _no_input_or_output(agent):
            again = _run(agent, script, hits)
        require(agent, (run.steps, run.outcome) == (again.steps, again.outcome), "equal replies must give equal steps")
        own = [ask for ask in run.asks if not ask.shared]
        most = agent.max_calls
        require(agent, len(own) <= most, f"made {len(own)} calls; `max_calls` is {most}")
        _check_outcome(agent, run.outcome)
        yield from own


def _run(agent: Agent, script: Sequence[Reply], hits: Callable[[int], Sequence[PageId]]) -> Played:
    desk = _Desk(_TEXTS, _SIZES, _INSTRUCTION, agent)
    calls, searches = count(), count()

    def reply(ask: Ask) -> Reply:
        _check_ask(agent, ask, desk)
        return script[next(calls) % len(script)]

    def pages(search: Search) -> Sequence[Found]:
        _check_search(agent, search)
        looks = agent.retrievers()[search.retriever].reads_images
        given = hits(next(searches))
        # several passages of a page are found one by one
        return found(*given)[: search.k] if looks else found(*given[:1], *given, texts=_TEXTS)[: search.k]

    try:
        return play(agent, QUESTION, desk, reply, pages)
    except AssertionError:
        raise
    except Exception as error:
        reason = f"raised {type(error).__name__}: {error} on replies that begin with {script[0]!r:.60}"
        raise AssertionError(f"agent {agent.kind}: {reason}") from error


def _some(search: int) -> Sequence[PageId]:
    return tuple(_TEXTS)[:3] if search % 2 else tuple(_TEXTS)[::-1]


def _none(search: int) -> Sequence[PageId]:  # noqa: ARG001 # every search
    return ()


def _once(search: int) -> Sequence[PageId]:
    return () if search else tuple(_TEXTS)[:1]


@dataclass(frozen=True)
class _Desk(PlainDesk):
    """A desk that shows an agent no more than it says that it reads."""

    agent: Agent | None = None

    def text(self, page: PageId) -> str:
        assert self.agent is not None
        require(self.agent, "text" in self.agent.reads, "reads a page's text, and `reads` has no 'text'")
        return super().text(page)

    def size(self, picture: Picture) -> Size:
        assert self.agent is not None
        require(self.agent, "image" in self.agent.reads, "looks at a picture, and `reads` has no 'image'")
        strange = [page for page in picture.pages if page not in self.texts]
        require(self.agent, not strange, f"shows {strange}, which is not on the desk")
        return super().size(picture)


def _check_ask(agent: Agent, ask: Ask, desk: _Desk) -> None:
    model = agent.models().get(ask.model)
    if model is None:
        raise AssertionError(f"agent {agent.kind}: asks {ask.model!r}, which is none of its models")
    require(agent, type(ask.attempt) is int and ask.attempt >= 0, f"`attempt` is {ask.attempt!r}, not a count")
    strange = [page for page in ask.read if page not in desk.texts]
    require(agent, not strange, f"says that it has read {strange}, which is not on the desk")
    whole = isinstance(ask.turns, tuple) and all(isinstance(turn, Turn) for turn in ask.turns)
    require(agent, whole and len(ask.turns) > 0, "a conversation must be a tuple of turns, at least one")
    require(agent, ask.turns[-1].role == "user", f"the last turn must be the user's, not the {ask.turns[-1].role}'s")
    for turn in ask.turns:
        _check_turn(agent, turn, model, desk)
        require(agent, not (ask.shared and QUESTION in turn.text), "a call with the question in it cannot be shared")


def _check_turn(agent: Agent, turn: Turn, model: Generator, desk: _Desk) -> None:
    for part in turn.parts:
        require(agent, isinstance(part, str | Picture), f"a turn has {part!r:.80}, neither text nor picture")
    empty = turn.role != "assistant" and not turn.pictures and not turn.text.strip()
    require(agent, not empty, f"a message of the {turn.role} is empty")
    for picture in turn.pictures:
        try:
            desk.size(picture)
        except DataError as error:
            raise AssertionError(f"agent {agent.kind}: shows a picture that cannot be made: {error}") from error
        require(agent, model.reads_images, f"shows a picture to {model.kind}, which reads text only")


def _check_search(agent: Agent, search: Search) -> None:
    known = search.retriever in agent.retrievers()
    require(agent, known, f"searches with {search.retriever!r}, which is none of its retrievers")
    require(agent, type(search.k) is int and search.k > 0, f"searches for {search.k!r} hits, not for at least 1")
    require(agent, isinstance(search.query, str), f"searches for {search.query!r:.80}, which is no text")


def _check_outcome(agent: Agent, outcome: Outcome) -> None:
    ends = get_args(End)
    require(agent, outcome.end in ends, f"ended as {outcome.end!r}, which is none of {', '.join(ends)}")
    texts = isinstance(outcome.answer, str) and isinstance(outcome.reply, str)
    require(agent, texts, "answer and reply must be texts")
    require(agent, outcome.end == "answered" or not outcome.answer, f"ended as {outcome.end!r}, and has an answer")


@contextmanager
def _no_input_or_output(agent: Agent) -> Iterator[None]:
    """Refuse files, connections and processes in this thread, and report them, also where the agent hides that."""
    _watch_events()
    did: list[str] = []
    _opened[get_ident()] = did
    try:
        yield
    finally:
        del _opened[get_ident()]
        require(agent, not did, f"does input or output itself: {', '.join(did)}")


@cache
def _watch_events() -> None:
    sys.addaudithook(_refuse)  # once, since it cannot be removed


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _REFUSED and _opened and get_ident() in _opened:
        _opened[get_ident()].append(f"{event} {arguments[0]!r:.80}")
        raise AssertionError(f"no {event} is allowed here")
