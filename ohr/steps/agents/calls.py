"""Calls of agents: those of many questions at once, each different one made once and kept as it comes."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

from ohr.contracts import Ask, Completion, Conversation, Generator
from ohr.errors import PluginError, StoreError
from ohr.keys import key
from ohr.steps.agents.scope_pages import DeskPictures, ScopeDesk
from ohr.text.thoughts import without_thoughts
from ohr.work.plugin_checks import checked_completion
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Report

_REST = 60.0
"""Seconds for which a model that was given up is not asked: longer than the tries of one call by default."""
_POLL = 0.25
"""Seconds between two looks at what another process is asking."""
_GIVE_UP = 20
"""Exceptions in one round after which its other calls fail, and failures in a row for one reason after which a model is
given up: the model, not a conversation, is at fault."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a question waits for."""

    ask: Ask
    desk: ScopeDesk
    question: str

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
        images = DeskPictures(pictures, self.desk) if pictures else ()
        return Conversation(self.ask.turns, images, self.question, self.ask.attempt)


@dataclass
class Calls:
    """Asks the models of an agent.

    Args:
        made_by: for each role, identity of the model, then what else decides its replies.
    """

    models: Mapping[str, Generator]
    made_by: Mapping[str, Sequence[Any]]
    context: Context
    report: Report
    _failed: Counter[str] = field(default_factory=Counter)
    """Calls of each role that failed in a row for one reason."""
    _reason: dict[str, str | None] = field(default_factory=dict)

    def make(self, calls: Sequence[Call]) -> list[tuple[Completion, str, bool]]:
        """Make calls; returns the completion of each, which may be an error, its key, and whether it was there."""
        names = [call.key(self.made_by[call.ask.model]) for call in calls]
        done = {name: Completion(**kept) for name, kept in read_sound(self.context.store, set(names), "answer").items()}
        there, first = set(done), dict[str, Call]()
        for name, call in zip(names, calls, strict=True):
            if name not in there:
                first.setdefault(name, call)
        by_role: dict[str, list[str]] = defaultdict(list)
        for name, call in first.items():
            by_role[call.ask.model].append(name)
        for role, wanted in by_role.items():
            # local models answer in batches, which need little padding where lengths are similar
            order = sorted(wanted, key=lambda name: (sum(len(turn.text) for turn in first[name].ask.turns), name))
            done |= self._once(role, order, first, there)
        made: Counter[str] = Counter()
        found = []
        for name in names:
            made[name] += 1
            found.append((done[name], name, name in there or made[name] > 1))
        return found

    def _once(
        self, role: str, names: Sequence[str], calls: Mapping[str, Call], there: set[str]
    ) -> dict[str, Completion]:
        """Ask one model, except what another process is asking it: that is waited for, and noted in `there`."""
        store, done, left = self.context.store, dict[str, Completion](), list(names)
        while left:
            mine = store.claim(left)
            try:
                kept = read_sound(store, left, "answer")
                there |= kept.keys()
                done |= {name: Completion(**found) for name, found in kept.items()}
                done |= self._ask(role, [name for name in left if name in mine and name not in kept], calls)
            finally:
                store.release(mine)
            left = [name for name in left if name not in done]
            if left:
                self.context.watch.restart()
                sleep(_POLL)
        return done

    def _ask(self, role: str, names: Sequence[str], calls: Mapping[str, Call]) -> dict[str, Completion]:
        """Ask one model; a call on which it raises fails alone, the others are asked again."""
        if why := self._given_up(role):
            return {name: Completion("", finish="error", error=why) for name in names}
        model = self.models[role]
        done: dict[str, Completion] = {}
        left, raised = list(names), 0
        while left:
            asked, reason = left, "the generator stopped early"
            try:
                for place, completion in model.chat_as_done([calls[name].conversation() for name in asked]):
                    if not 0 <= place < len(asked) or asked[place] in done:
                        raise PluginError(f"replied to conversation {place} of {len(asked)}, or twice to one")
                    name = asked[place]
                    done[name] = self._keep(name, calls[name], checked_completion(completion))
                    self._count(role, done[name])
                    if all(name in done for name in asked):
                        break
            except StoreError:
                raise  # nothing that is asked now could be kept
            except (Exception, SystemExit) as error:  # a generator may raise anything: its call fails
                reason = f"{type(error).__name__}: {error}"
            left = [name for name in asked if name not in done]
            if left:
                raised += 1
                failed = left if raised >= _GIVE_UP else left[:1]
                done |= {name: Completion("", finish="error", error=reason) for name in failed}
                left = left[len(failed) :]
        return done

    def _given_up(self, role: str) -> str:
        """Return why a model is not asked: it has failed too often in a row, and not a minute has passed.

        This holds for all steps of this process: a server that is gone would cost each question all its tries.
        """
        at, why = self.context.given_up.get(key("model", *self.made_by[role]), (-_REST, ""))
        if monotonic() - at < _REST:
            return f"not asked: {_GIVE_UP} calls in a row failed: {why}"
        self._failed[role] %= _GIVE_UP  # after the rest it gets as many tries again
        return ""

    def _count(self, role: str, completion: Completion) -> None:
        """Count the failures in a row of a model for one reason, and give it up after too many."""
        last, self._reason[role] = self._reason.get(role), completion.error
        self._failed[role] = (
            0 if completion.error is None else self._failed[role] + 1 if completion.error == last else 1
        )
        if self._failed[role] == _GIVE_UP:
            self.context.given_up[key("model", *self.made_by[role])] = monotonic(), str(completion.error)

    def _keep(self, name: str, call: Call, completion: Completion) -> Completion:
        report = self.report
        report.calls["shared agent calls" if call.ask.shared else "agent calls"] += 1
        report.tokens["in"] += completion.tokens_in
        report.tokens["out"] += completion.tokens_out
        report.calls["empty agent replies"] += (
            completion.error is None and not without_thoughts(completion.text).strip()
        )
        if completion.error is None:
            self.context.store.put(name, completion)
        self.context.watch.restart()
        return completion
