"""An episode: one question in the hands of an agent, from its first step to its outcome."""

from collections.abc import Generator as Coroutine
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, get_args

from ohr.contracts import (
    Agent,
    Ask,
    Completion,
    End,
    Found,
    Outcome,
    PageId,
    Picture,
    Question,
    Search,
    Stage,
    Steps,
    Turn,
)
from ohr.errors import DataError, PluginError
from ohr.files.pictures import described
from ohr.steps.agents.scope_pages import ScopeDesk
from ohr.work.plugin_checks import storable
from ohr.work.time_limit import Watch

MOST_STEPS = 1000
"""Steps of one question: an agent with more does not end. The longest published one takes some 120."""
_LONGEST_STEP = 30.0
"""Seconds between two requests of an agent, which only parses a reply: with more, it does not end."""
_ROLES = ("system", "user", "assistant")
_SHOWN = 4000
"""Characters of a prompt that are kept with a step, for people."""


@dataclass(frozen=True, slots=True)
class Done:
    """A step with its result.

    Args:
        result: a `Completion`, or hits.
        key: of the result in the store.
        cached: it was in the store, or another question of the run had asked for it.
    """

    step: Ask | Search
    result: Completion | tuple[Found, ...]
    key: str
    cached: bool = False


@dataclass
class Episode:
    """The state of one question; `wanted` are the steps that it waits for, `results` those that are there, by place.

    Args:
        place: its place among the questions of the step.
    """

    agent: Agent
    question: Question
    desk: ScopeDesk
    place: int
    wanted: tuple[Ask | Search, ...] = ()
    outcome: Outcome | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    shown: dict[PageId, None] = field(default_factory=dict)
    calls: int = 0
    taken: int = 0
    results: dict[int, Done | str] = field(default_factory=dict)
    _run: Steps | None = None
    _at_once: bool = False

    def receive(self, place: int, result: Done | str) -> bool:
        """Take the result of a wanted step, or why it failed; returns whether all are there."""
        self.results[place] = result
        return len(self.results) == len(self.wanted)

    def advance(self, done: Sequence[Done], watch: Watch) -> None:
        """Pass on the results of the wanted steps, in order, and take the next steps or the outcome.

        Raises:
            Exception: anything; the agent is at fault.
        """
        for one in done:
            self._record(one)
        results = tuple(one.result for one in done)
        with watch.interrupting(_LONGEST_STEP):
            try:
                if self._run is None:
                    begun: Any = self.agent.run(self.question.text, self.desk)
                    if not isinstance(begun, Coroutine):
                        raise PluginError(f"`run` has no `yield`: it returned {type(begun).__name__}")
                    self._run = begun
                    given = next(self._run)
                else:
                    given = self._run.send(results if self._at_once else results[0])
            except StopIteration as ended:
                self.outcome = checked_outcome(ended.value)
                return
        self._at_once = isinstance(given, tuple)
        self.wanted = tuple(self._checked(step) for step in (given if isinstance(given, tuple) else (given,)))
        if not self.wanted:
            raise PluginError("yielded no step")
        self._count()
        if self.outcome is not None:
            self.close(watch)

    def _count(self) -> None:
        """Count the wanted steps; an agent without a call left ends."""
        self.taken += len(self.wanted)
        self.calls += sum(isinstance(step, Ask) and not step.shared for step in self.wanted)
        if self.calls > self.agent.max_calls:
            self.outcome = Outcome("", "budget")
        elif self.taken > MOST_STEPS:
            raise PluginError(f"did not end within {MOST_STEPS:,} steps")

    def close(self, watch: Watch) -> None:
        """End the coroutine, whatever it does in its last moments."""
        if self._run is not None:
            with suppress(Exception, SystemExit, GeneratorExit), watch.interrupting(_LONGEST_STEP):
                self._run.close()

    def _checked(self, step: Any) -> Ask | Search:
        """Check a step; a role that is not there or a picture of an unknown page is a fault of the plugin."""
        known: Mapping[str, Stage]
        if isinstance(step, Search):
            known, role = self.agent.retrievers(), step.retriever
            if not isinstance(step.k, Integral) or step.k < 1 or not isinstance(step.query, str):
                raise PluginError(f"yielded a search of {step.k!r:.80} hits for {step.query!r:.80}")
            step = replace(step, k=int(step.k))  # a number of numpy is not JSON
        elif isinstance(step, Ask):
            known, role = self.agent.models(), step.model
            self._check_turns(step)
            self._check_read(step)
            step = replace(step, attempt=int(step.attempt), shared=bool(step.shared))
        else:
            raise PluginError(f"yielded {step!r:.80}, which is neither Ask nor Search")
        if role not in known:
            raise PluginError(f"yielded a step for {role!r}; it has {', '.join(sorted(known))}")
        checked: Ask | Search = step
        return checked

    def _check_turns(self, step: Ask) -> None:
        turns = step.turns
        if not (isinstance(turns, tuple) and turns and all(isinstance(turn, Turn) for turn in turns)):
            raise PluginError("yielded a call without turns")
        for turn in turns:
            if turn.role not in _ROLES or not isinstance(turn.parts, tuple):
                raise PluginError(f"yielded a turn of {turn.role!r:.80} whose parts are {type(turn.parts).__name__}")
        if turns[-1].role != "user":
            raise PluginError(f"yielded a call whose last turn is the {turns[-1].role}'s")
        for part in (part for turn in turns for part in turn.parts):
            if not isinstance(part, str | Picture):
                raise PluginError(f"yielded a turn with {part!r:.80}, which is neither text nor a picture")
        for picture in (picture for turn in turns for picture in turn.pictures):
            try:
                self.desk.size(picture)
            except (DataError, KeyError, TypeError, ValueError) as error:
                raise PluginError(f"yielded {error}") from error

    def _check_read(self, step: Ask) -> None:
        known = self.desk.places
        for page in step.read if isinstance(step.read, tuple) else (step.read,):
            if page not in known:
                raise PluginError(f"yielded a call that reads {page!r:.80}, which is not a page on the desk")

    def _record(self, done: Done) -> None:
        """Note a finished step for the table of steps, and the pages that were looked at."""
        step, row = done.step, _row(done, len(self.rows) + 1)
        if isinstance(step, Ask) and not step.shared:
            pages = [page for turn in step.turns for picture in turn.pictures for page in picture.pages]
            self.shown |= dict.fromkeys((*step.read, *pages))
        self.rows.append(row)


def _row(done: Done, number: int) -> dict[str, Any]:
    step, result = done.step, done.result
    row: dict[str, Any] = {"number": number, "key": done.key, "cached": done.cached}
    if isinstance(step, Search):
        assert isinstance(result, tuple)
        pages = list(dict.fromkeys(page for found in result for page in found.pages))
        return row | {
            "kind": "search",
            "role": step.retriever,
            "query": storable(step.query[:_SHOWN]),
            "pages": pages,
            "shared": False,
        }
    assert isinstance(result, Completion)
    pictures = [picture for turn in step.turns for picture in turn.pictures]
    pages = list(dict.fromkeys((*step.read, *(page for picture in pictures for page in picture.pages))))
    return row | {
        "kind": "ask",
        "role": step.model,
        "query": storable(_cut(_words(step.turns[-1]))),
        "pages": pages,
        "turns": len(step.turns),
        "images": len(pictures),
        "attempt": step.attempt,
        "shared": step.shared,
        "tokens_in": result.tokens_in,
        "tokens_out": result.tokens_out,
        "seconds": result.seconds,
        "finish": result.finish,
        "reply": result.text,
    }


def _cut(text: str) -> str:
    """Cut a long text in its middle: the question may be at either end."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} ... {text[-_SHOWN // 2 :]}"


def _words(turn: Turn) -> str:
    """Return a turn in words: its texts, and a description of each picture."""
    return "\n\n".join(part if isinstance(part, str) else described(part) for part in turn.parts)


def checked_outcome(outcome: Any) -> Outcome:
    """Check an outcome, so that it can always be stored and scored.

    Raises:
        PluginError: it is none.
    """
    if not isinstance(outcome, Outcome):
        raise PluginError(f"returned {outcome!r:.80}, which is no Outcome")
    if outcome.end not in get_args(End):
        raise PluginError(f"ended as {outcome.end!r:.80}")
    if not (isinstance(outcome.answer, str) and isinstance(outcome.reply, str)):
        raise PluginError(f"returned an answer that is {type(outcome.answer).__name__}, not text")
    if outcome.end != "answered" and outcome.answer:
        raise PluginError(f"returned an answer, and ended as {outcome.end}")
    return Outcome(storable(outcome.answer), outcome.end, storable(outcome.reply))


def trajectory(episode: Episode) -> Mapping[str, Any]:
    """Return a finished episode as it is kept."""
    assert episode.outcome is not None
    outcome = episode.outcome
    return {
        "answer": outcome.answer,
        "end": outcome.end,
        "reply": outcome.reply,
        "steps": episode.rows,
        "shown": list(episode.shown),
    }
