"""Calls of agents: a call goes out as soon as a question wants it, each different one once, and is kept as it comes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Self

from ohr.contracts import Ask, Completion, Conversation, Generator
from ohr.errors import StoreError
from ohr.files.lazy import Made
from ohr.isolated import GIVE_UP
from ohr.keys import key
from ohr.models.given_up import give_up, given_up
from ohr.steps.agents.scope_pages import ScopeDesk
from ohr.text.thoughts import without_thoughts
from ohr.work.plugin_checks import checked_completion
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Report

_POLL = 0.25
"""Seconds between two looks at what another process is asking."""
_CLAIMS = 64
"""Claims of finished calls that are released together: a transaction for each costs as much as the call."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a question waits for.

    Args:
        place: of the call among the steps that the question waits for.
    """

    ask: Ask
    desk: ScopeDesk
    question: str
    waiting: Any = None
    place: int = 0

    def key(self, made_by: Sequence[Any]) -> str:
        """Key of the reply.

        Args:
            made_by: identity of the model, then what else decides its replies.
        """
        turns = [
            [turn.role, [part if isinstance(part, str) else self.desk.picture_key(part) for part in turn.parts]]
            for turn in self.ask.turns
        ]
        return key("call", *made_by, turns, self.ask.attempt)

    def conversation(self) -> Conversation:
        """Return the conversation, whose pictures are made when they are looked at."""
        pictures = [picture for turn in self.ask.turns for picture in turn.pictures]
        images = Made([partial(self.desk.picture, picture) for picture in pictures])  # when they are looked at
        return Conversation(self.ask.turns, images, self.question, self.ask.attempt)


@dataclass(frozen=True, slots=True)
class Reply:
    """The end of a call.

    Args:
        completion: it may be an error.
        key: of the completion in the store.
        cached: it was in the store, or another question had asked for it.
    """

    call: Call
    completion: Completion
    key: str
    cached: bool


@dataclass
class Calls:
    """Asks the models of an agent, from `__enter__` to `__exit__`.

    Args:
        made_by: for each role, identity of the model, then what else decides its replies.
    """

    models: Mapping[str, Generator]
    made_by: Mapping[str, Sequence[Any]]
    context: Context
    report: Report
    _open: ExitStack = field(default_factory=ExitStack)
    _starts: dict[str, Callable[[Conversation], Future[Completion]] | None] = field(default_factory=dict)
    """Roles that were asked, with what asks one conversation; None where the model is asked in batches."""
    _waiting: dict[str, list[Call]] = field(default_factory=dict)
    """Calls by the key of the reply for which they wait."""
    _batches: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By role, keys of replies for which a model is asked in batches."""
    _elsewhere: list[str] = field(default_factory=list)
    """Keys of replies for which another process asks."""
    _looked: float = 0.0
    _arrived: "SimpleQueue[tuple[str, Future[Completion]]]" = field(default_factory=SimpleQueue)
    _claimed: set[str] = field(default_factory=set)
    _over: list[str] = field(default_factory=list)
    """Keys that were claimed and need it no more."""
    _failed: Counter[str] = field(default_factory=Counter)
    """Calls of each role that failed in a row for one reason."""
    _reason: dict[str, str | None] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        if self._claimed:
            self.context.store.release(self._claimed)

    def begin(self, calls: Iterable[Call]) -> list[Reply]:
        """Begin calls; returns the replies that are there. Equal calls wait for one reply."""
        new = []
        for call in calls:
            name = call.key(self.made_by[call.ask.model])
            if name not in self._waiting:
                new.append(name)
            self._waiting.setdefault(name, []).append(call)
        return self._look(new) if new else []

    def wait(self) -> list[Reply]:
        """Wait for replies to what has begun; returns none where another process is still asking."""
        if self._elsewhere and monotonic() - self._looked >= _POLL:
            names, self._elsewhere = self._elsewhere, []
            if replies := self._look(names):
                return replies
        if self._batches and self._arrived.empty():
            return list(self._ask_batch(max(self._batches, key=lambda role: len(self._batches[role]))))
        arrived = []
        try:
            arrived.append(self._arrived.get(timeout=_POLL if self._elsewhere else None))
            while not self._arrived.empty():
                arrived.append(self._arrived.get())
        except Empty:
            self.context.watch.restart()  # another process works, within a limit of its own
        return self._kept({name: _result(future) for name, future in arrived})

    def _look(self, names: Sequence[str]) -> list[Reply]:
        """Read the replies that are in the store, and ask for the others, unless another process does."""
        store, self._looked = self.context.store, monotonic()
        mine = store.claim(names)
        self._claimed |= mine
        there = read_sound(store, names, "answer")  # after the claim, before which it may have come
        replies = [reply for name, found in there.items() for reply in self._replies(name, Completion(**found), True)]
        for name in names:
            if name not in there and name in mine:
                replies += self._start(name)
            elif name not in there:
                self._elsewhere.append(name)
        return replies

    def _start(self, name: str) -> Iterator[Reply]:
        """Ask for one reply, now or in the next batch; yields the failure where the model was given up."""
        call = self._waiting[name][0]
        role = call.ask.model
        if why := self._given_up(role):
            yield from self._replies(name, _failure(why))
            return
        if role not in self._starts:
            self._starts[role] = self._open.enter_context(self.models[role].conversing())
        if (start := self._starts[role]) is None:
            self._batches[role].append(name)
        else:
            start(call.conversation()).add_done_callback(partial(self._note, name))

    def _note(self, name: str, future: Future[Completion]) -> None:
        self._arrived.put((name, future))

    def _ask_batch(self, role: str) -> Iterator[Reply]:
        """Ask a model in a batch; a call on which it raises fails alone, the others are asked again."""
        model = self.models[role]
        # batches of similar length need little padding
        left = sorted(self._batches.pop(role), key=lambda name: (self._length(name), name))
        while left:
            asked, result = iter(left), _failure("the generator stopped early")
            try:
                for completion in model.chat([self._waiting[name][0].conversation() for name in left]):
                    left = left[1:]
                    yield from self._kept({next(asked): checked_completion(completion)})
                    if not left:
                        return
            except StoreError:
                raise  # nothing that is asked now could be kept
            except (Exception, SystemExit) as error:  # a generator may raise anything: its call fails
                result = _failure(f"{type(error).__name__}: {error}")
            yield from self._kept({left[0]: result})
            left = left[1:]
            if left and (why := self._given_up(role)):
                for name in left:
                    yield from self._replies(name, _failure(why))
                return

    def _length(self, name: str) -> int:
        return sum(len(turn.text) for turn in self._waiting[name][0].ask.turns)

    def _kept(self, completions: Mapping[str, Completion]) -> list[Reply]:
        """Count and store completions, and return them as replies."""
        whole = {name: completion for name, completion in completions.items() if completion.error is None}
        if whole:
            self.context.store.put_many(whole)
        self.context.watch.restart()
        for name, completion in completions.items():
            self._count(self._waiting[name][0].ask, completion)
        return [reply for name, completion in completions.items() for reply in self._replies(name, completion)]

    def _count(self, ask: Ask, completion: Completion) -> None:
        """Count a call; a model is given up after too many failures in a row for one reason."""
        calls, tokens, role = self.report.calls, self.report.tokens, ask.model
        calls["shared agent calls" if ask.shared else "agent calls"] += 1
        tokens["in"] += completion.tokens_in
        tokens["out"] += completion.tokens_out
        calls["empty agent replies"] += completion.error is None and not without_thoughts(completion.text).strip()
        last, self._reason[role] = self._reason.get(role), completion.error
        same = completion.error == last
        self._failed[role] = 0 if completion.error is None else self._failed[role] + 1 if same else 1
        if self._failed[role] == GIVE_UP:
            give_up(
                key("model", *self.made_by[role]), f"not asked: {GIVE_UP} calls in a row failed: {completion.error}"
            )

    def _given_up(self, role: str) -> str:
        """Return why a model is not asked: it has failed too often in a row, and not a minute has passed.

        This holds for all steps of this process: a server that is gone would cost each question all its tries.
        """
        if not (why := given_up(key("model", *self.made_by[role]))):
            self._failed[role] %= GIVE_UP  # after the rest it gets as many tries again
        return why

    def _replies(self, name: str, completion: Completion, cached: bool = False) -> Iterator[Reply]:
        """Yield a reply to each call that waits for it; the next call for it would make it again."""
        self._over += [name] * (name in self._claimed)
        if len(self._over) >= _CLAIMS or completion.error is not None:
            self.context.store.release(self._over)
            self._claimed -= set(self._over)
            self._over = []
        for place, call in enumerate(self._waiting.pop(name)):
            yield Reply(call, completion, name, cached or place > 0)


def _result(future: Future[Completion]) -> Completion:
    try:
        return checked_completion(future.result())
    except StoreError:
        raise  # nothing that is asked now could be kept
    except (Exception, SystemExit) as error:  # a generator may raise anything: its call fails
        return _failure(f"{type(error).__name__}: {error}")


def _failure(reason: str) -> Completion:
    return Completion("", finish="error", error=reason)
