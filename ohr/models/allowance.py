"""An account of what is sent to a model in a minute: one for all that ask it with one key on this machine."""

import fcntl
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Self
from uuid import uuid4

from ohr.errors import PluginError
from ohr.keys import key
from ohr.models.meter import Meter
from ohr.models.tries import left, retry_after
from ohr.store.folders import user_cache

_log = logging.getLogger(__name__)
_REPLY = 1000.0
"""Tokens of a reply before the first one is known, where the request does not limit them."""
_SAFE = 1.2
"""Part of the mean reply that is counted before a reply is there: replies differ, and the rest is returned."""
_NEW = 0.1
"""Weight of the newest reply in the means."""
_KEPT = 2.0
"""Seconds for which a large request keeps its turn; it looks several times in them."""
_LARGE = 0.5
"""Part of the limit from which on a request must not be overtaken: small ones would leave it no room, on and on."""
_ABSURD = 10_000_000
"""Tokens of a prompt and its reply that no model takes, where no limit says what is possible."""
_warned: set[Path] = set()
"""Accounts of which this process has warned that a prompt is larger than their limit."""


@dataclass
class _Account:
    """The state that is shared.

    Args:
        reply: mean tokens of replies; 0 before the first.
        ratio: mean of a prompt's tokens as the server counts them, by those that were counted here.
        turn: which large request is next, and until when that holds.
    """

    requests: Meter = field(default_factory=Meter)
    tokens: Meter = field(default_factory=Meter)
    reply: float = 0.0
    ratio: float = 1.0
    turn: tuple[str, float] = ("", 0.0)

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Read an account; one that is damaged is empty again."""
        try:
            state = json.loads(content)
            name, until = state["turn"]
            meters = Meter.read(state["requests"]), Meter.read(state["tokens"])
            return cls(*meters, float(state["reply"]), float(state["ratio"]), (str(name), float(until)))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            return cls()

    def written(self) -> bytes:
        """Return the account as bytes."""
        meters = {"requests": self.requests.written(), "tokens": self.tokens.written()}
        return json.dumps({**meters, "reply": self.reply, "ratio": self.ratio, "turn": self.turn}).encode()


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was counted: when, its prompt as it was counted here, and all tokens that were counted for it."""

    at: float
    prompt: float
    tokens: float


@dataclass
class Allowance:
    """The limits of one model at a server, for all processes of this machine.

    Args:
        path: of the shared account, whose lock a process holds for a fraction of a millisecond.
        requests: per minute; None for no limit.
        tokens: per minute, of prompts and replies; None for no limit.
        clock: seconds, the same in all processes.
    """

    path: Path
    requests: float | None
    tokens: float | None
    clock: Callable[[], float] = time

    def wait(self, prompt: int, longest: int | None, turn: str) -> Sent | float:
        """Count a request that may be sent now, or return the seconds after which to ask again.

        Args:
            prompt: tokens, as they are counted here.
            longest: tokens that the reply may have.
            turn: names the request, while it waits.
        """
        with self._open() as account:
            now = self.clock()
            reply = _SAFE * account.reply or longest or _REPLY
            tokens = prompt * account.ratio + min(reply, longest or reply)
            costs = [(account.requests, 1.0, self.requests), (account.tokens, tokens, self.tokens)]
            waits = [meter.wait(now, cost, limit) for meter, cost, limit in costs if limit]
            name, until = account.turn
            if name != turn and now < until <= now + _KEPT:
                return max(*waits, until - now)
            if max(waits) > 0:
                if self.tokens and tokens > _LARGE * self.tokens:
                    account.turn = turn, now + _KEPT
                return max(waits)
            account.turn = account.turn if name != turn else ("", 0.0)
            for meter, cost, limit in costs:
                if limit:
                    meter.take(now, cost, limit)
        if self.tokens and tokens > self.tokens:
            self._say_large(round(tokens))
        return Sent(now, prompt, tokens)

    def settle(self, sent: Sent, counted: tuple[int, int], headers: Mapping[str, str], *, busy: bool = False) -> None:
        """Count a request as it was, once its reply is there, and note what the server says is left.

        Args:
            counted: tokens of the prompt and of the reply, as the server says; 0 where it does not.
            busy: it refused the request, as there were too many.
        """
        with self._open() as account:
            now, (prompt, reply) = self.clock(), counted
            if self.requests:
                account.requests.settle(sent.at, 1.0, 1.0, self.requests)
            if self.tokens:
                real = min(prompt + reply, max(self.tokens, sent.tokens)) if prompt > 0 else sent.tokens
                account.tokens.settle(sent.at, sent.tokens, real, self.tokens)
            if prompt > 0 and prompt + reply <= (self.tokens or _ABSURD):
                account.reply += (_NEW if account.reply else 1.0) * (reply - account.reply)
                account.ratio += _NEW * (prompt / max(sent.prompt, 1.0) - account.ratio)
            for meter, what in ((account.requests, "requests"), (account.tokens, "tokens")):
                if (said := left(headers, what)) is not None:
                    meter.limit(now, *said)
            if busy and (wait := retry_after(headers)):
                for meter in (account.requests, account.tokens):
                    meter.limit(now, 0.0, wait)

    def _say_large(self, tokens: int) -> None:
        if self.path not in _warned:
            _warned.add(self.path)
            says = "a prompt of %d tokens, with its reply, is more than tokens_per_minute (%g): it is sent alone"
            _log.warning(f"{says} in a minute", tokens, self.tokens)

    @contextmanager
    def _open(self) -> Iterator[_Account]:
        """Hold the account; what the block changes is written."""
        with self.path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            account = _Account.read(file.read())
            yield account
            file.truncate(0)  # it appends, so that this is also where it writes
            file.write(account.written())


def allowance(url: str, model: str, secret: str, limits: tuple[float | None, float | None]) -> Allowance | None:
    """Return the account of a model at a server; None where it has no limits.

    Args:
        secret: the key, or "": who has another one has another account.
        limits: requests and tokens per minute.

    Raises:
        PluginError: there is no place for it.
    """
    if limits == (None, None):
        return None
    folder = user_cache() / "limits"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        problem = f"limits per minute are counted in {folder}, which cannot be made: {error.strerror}"
        raise PluginError(problem) from None
    return Allowance(folder / f"{key('limits', url.rstrip('/'), model, secret)}.json", *limits)


def new_turn() -> str:
    """Name a request."""
    return uuid4().hex
