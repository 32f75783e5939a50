"""Conformance of agents: each step of their runs in memory, on replies as agents expect them and as none does."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from threading import get_ident
from typing import Any, get_args

from ohr.contracts import Agent, Ask, Completion, End, Found, Generator, Outcome, PageId, Picture, Reads, Search, Turn
from ohr.errors import DataError
from ohr.files.pictures import Size, picture_size
from ohr.testing.stage import TEXTS, check_stage, require

EXPECTED = (
    "<think>I look.</think><search>ferry berth</search>",
    "<read>1</read>",
    "<bbox>[10, 10, 200, 100]</bbox>",
    '{"reason": "It has it.", "summary": "A lease.", "choice": [0]}',
    '{"reason": "More.", "information": "the year", "choice": [0]}',
    '{"reason": "It says so.", "answer": "1964", "reference": [0]}',
    '{"text": "a clue", "image": "another clue", "Answer": "1964"}',
    "<document_summary>A lease.</document_summary><selected_pages>1, 2</selected_pages>",
    "<query_update>year of the lease</query_update><notes>none yet</notes>",
    "<summary>A page.</summary>",
    "<answer>1964</answer>",
    "<not_answerable>It is not there.</not_answerable>",
)
"""Replies that the published systems expect."""

_ODD: tuple[str | Completion, ...] = (
    "",
    " \n\t ",
    "lorem 7 ipsum % {} [] <> }{ ][",
    "合同从1964年开始。<答案>1964</答案>",
    "<think>so <search>ferry <bbox>[1, 2 <answer>19",
    "</search></answer></bbox><search></search><answer></answer><read></read><bbox></bbox>",
    "<ANSWER>x</ANSWER><search>a</answer><query_update></query_update><selected_pages></selected_pages>",
    "<search>a</search><read>1</read><bbox>[0, 0, 9, 9]</bbox><answer>b</answer><query_update>c</query_update>",
    "<bbox>[-1e9, NaN, 1e999, true]</bbox>",
    "<bbox>[9, 9, 1, 1]</bbox><read>-1</read><selected_pages>0, 99999, 7</selected_pages>",
    f"<bbox>[0, 0, 1, {'9' * 5000}]</bbox><read>{'9' * 5000}</read><selected_pages>{'9' * 5000}</selected_pages>",
    '{"reason": 1, "summary": [], "choice": "0", "answer": {"a": 1}, "reference": null, "text": ["a"], "Answer": 5}',
    '{"reason": "a", "summary": "b", "choice": [-1, 99999, 1.5, null, true, "0", [], 1e400], "reference": [9, -9]}',
    '{"reason": "a", "answer": "b", "reference": [], "information": null, "choice": {}}',
    "{'text': 'single', \"choice\": [0,], NaN: 1",
    f'```json\n{{"choice": [{"0, " * 500}0]}}\n```',
    "[" * 5000,
    '{"a": ' * 3000,
    Completion('<answer>It began in {"answer": "19', finish="length"),
    "x " * 5000,
    "<search>" * 1250,
    "\ud800 \x00 e\u0301 \u202e <search>\x00</search>",
)
"""Replies that no system expects: empty, broken, of wrong types, out of range, cut, long."""


Reply = str | Completion
"""The reply of a scripted model; a text is a reply that ended by itself."""

MOST_STEPS = 1000
"""Steps after which an agent counts as one that never ends."""


@dataclass(frozen=True)
class PlainDesk:
    """Pages in memory.

    Args:
        texts: text of each page, in order.
        sizes: width and height of each page in pixels; 1000 x 1400 where it is not named.
        instruction: about the form of an answer.
    """

    texts: Mapping[PageId, str]
    sizes: Mapping[PageId, Size] = field(default_factory=dict)
    instruction: str = ""

    def pages(self) -> Sequence[PageId]:
        """List the pages."""
        return tuple(self.texts)

    def text(self, page: PageId) -> str:
        """Return a page's text."""
        return self.texts[page]

    def size(self, picture: Picture) -> Size:
        """Return the size of a picture."""
        return picture_size(picture, lambda page: self.sizes.get(page, (1000, 1400)))


@dataclass
class Played:
    """The record of an agent: its steps in order, those that were done at once one after the other, and its outcome."""

    steps: list[Ask | Search]
    outcome: Outcome

    @property
    def asks(self) -> list[Ask]:
        """Its calls."""
        return [step for step in self.steps if isinstance(step, Ask)]

    @property
    def searches(self) -> list[Search]:
        """Its searches."""
        return [step for step in self.steps if isinstance(step, Search)]

    @property
    def shown(self) -> list[PageId]:
        """The pages that its models saw as pictures, in the order of the first look."""
        turns = (turn for ask in self.asks if not ask.shared for turn in ask.turns)
        return list(dict.fromkeys(page for turn in turns for picture in turn.pictures for page in picture.pages))


def found(*pages: PageId, texts: Mapping[PageId, str] | None = None) -> tuple[Found, ...]:
    """Return pages as the hits of a search, best first."""
    return tuple(Found(page, (texts or {}).get(page, ""), -float(rank), (page,)) for rank, page in enumerate(pages))


def play(
    agent: Agent,
    question: str,
    desk: PlainDesk,
    replies: Sequence[Reply] | Callable[[Ask], Reply],
    hits: Callable[[Search], Sequence[Found]],
) -> Played:
    """Run an agent on scripted models and searches.

    Args:
        replies: of the models, in the order of the calls; or what makes one.
        hits: makes the result of a search.

    Raises:
        AssertionError: the script has too few replies, or the agent takes more than 1,000 steps, or yields what is no
            step, or returns what is no outcome.
    """
    waiting: Iterator[Reply] = iter(()) if callable(replies) else iter(replies)
    steps: list[Ask | Search] = []

    def done(step: Ask | Search) -> Any:
        require(agent, isinstance(step, Ask | Search), f"yielded {step!r:.80}, which is neither Ask nor Search")
        steps.append(step)
        require(agent, len(steps) <= MOST_STEPS, f"took more than {MOST_STEPS:,} steps")
        if isinstance(step, Search):
            return tuple(hits(step))
        given = replies(step) if callable(replies) else next(waiting, None)
        if given is None:
            raise AssertionError(f"agent {agent.kind}: call {len(steps)} has no scripted reply")
        return Completion(given) if isinstance(given, str) else given

    run, result = agent.run(question, desk), None
    while True:
        try:
            wanted = run.send(result)
        except StopIteration as ended:
            require(agent, isinstance(ended.value, Outcome), f"returned {ended.value!r:.80}, which is no Outcome")
            return Played(steps, ended.value)
        require(agent, wanted != (), "yielded an empty tuple")
        result = tuple(map(done, wanted)) if isinstance(wanted, tuple) else done(wanted)


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
    yield from ((reply,) for reply in (*EXPECTED, *_ODD))
    yield from ((expected, odd) for expected in EXPECTED for odd in _ODD)
    yield from ((*EXPECTED[place:], *_ODD, *EXPECTED[:place]) for place in range(len(EXPECTED)))


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
