"""An account of what is sent to a model in a minute: one for all that ask it with one key on this machine."""

import fcntl
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any, ClassVar
from uuid import uuid4

from pydantic import ConfigDict, TypeAdapter

from ohr.errors import PluginError
from ohr.keys import key
from ohr.models.tries import left, retry_after
from ohr.store.folders import user_cache
from ohr.text.tokens import count_tokens

MINUTE = 60.0
"""Seconds."""
_LATE = 1.0
"""Seconds for which a request counts longer than a minute: as far may two requests move together on their way."""
_BURST = 1.0
"""Seconds of the limit that may be sent at once: what waits wakes up late, on a crowded machine by half a second, and
would lose that time each time."""
_LONGEST = MINUTE + 2 * _LATE
"""Seconds that a request counts at most, by the slices of a second in which it was sent."""


@dataclass
class Meter:
    """One limit per minute, of requests or of tokens, and what was spent of it.

    A request may be sent where the last minute has room for it, the pace allows it, and the server has not said that
    less is left. The pace spreads a minute's requests over the minute: some servers count in shorter spans.

    Args:
        spent: by second, what was sent in it.
        next: when the pace allows the next request.
        left: what the server said is left, without what was under way then and what was sent since.
        until: when that is outdated.
        open: by second, what was sent in it and has no reply yet.
    """

    spent: dict[int, float] = field(default_factory=dict)
    open: dict[int, float] = field(default_factory=dict)
    next: float = 0.0
    left: float = 0.0
    until: float = 0.0

    def wait(self, now: float, cost: float, limit: float) -> float:
        """Return the seconds until a request may be sent, 0 for now; larger than the limit, it waits for a free minute.

        Args:
            now: seconds since any time, the same in all calls.
            cost: 1 request, or its tokens.
            limit: per minute.
        """
        self.spent, self.open = _recent(self.spent, now), _recent(self.open, now)
        room = limit - min(cost, limit) + 1e-9 * limit
        self.next = min(self.next, now + _LONGEST)
        times = [now, self.next]
        if self.left < cost:
            times.append(min(self.until, now + MINUTE))
        total = sum(self.spent.values())
        for second in sorted(self.spent):
            if total <= room:
                break
            total -= self.spent[second]
            times.append(second + 1 + MINUTE + _LATE)
        return max(times) - now

    def take(self, now: float, cost: float, limit: float) -> None:
        """Count a request that is sent now."""
        for amounts in (self.spent, self.open):
            amounts[int(now)] = amounts.get(int(now), 0.0) + cost
        self.next = max(self.next, now - _BURST) + min(cost, limit) * _LONGEST / limit
        self.left -= cost

    def settle(self, sent: float, cost: float, real: float, limit: float) -> None:
        """Count a request as it was, once its reply is there.

        Args:
            sent: when it was.
            cost: as it was counted then.
            real: what it cost.
        """
        if int(sent) in self.open:
            self.open[int(sent)] -= cost
        if int(sent) in self.spent:
            self.spent[int(sent)] += real - cost
            self.next += (real - cost) * _LONGEST / limit

    def limit(self, now: float, left: float, reset: float) -> None:
        """Note what the server says is left, which others may have spent, and when that is outdated, in seconds."""
        self.left, self.until = left - sum(self.open.values()), now + min(reset, MINUTE)


def _recent(amounts: dict[int, float], now: float) -> dict[int, float]:
    return {second: amount for second, amount in amounts.items() if now - _LONGEST < second <= now and amount > 1e-6}


_PICTURE = 1000
"""Tokens of a picture: a page of some 1,000 x 1,000 pixels has 765 to 1,300 in the published rules of hosted models.
The mean of what the server counts corrects it."""
_MESSAGE = 4
"""Tokens that a chat format adds to a message."""


def size_of(body: Mapping[str, Any], *, counted: bool) -> tuple[int, int | None]:
    """Return the tokens of a request's messages, and the most that its reply may have; None where it does not say.

    Args:
        counted: count them, which takes a millisecond for 10,000 characters; else they are 0.
    """
    longest = body.get("max_completion_tokens") or body.get("max_tokens")
    size = sum(_MESSAGE + sum(map(_tokens, _parts(message))) for message in body["messages"]) if counted else 0
    return size, longest if isinstance(longest, int) else None


def _parts(message: Mapping[str, Any]) -> Iterator[Any]:
    content = message.get("content")
    yield from content if isinstance(content, list) else (content,)


def _tokens(part: Any) -> int:
    text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
    return _PICTURE if text is None else count_tokens(str(text))


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

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(allow_inf_nan=False)

    requests: Meter = field(default_factory=Meter)
    tokens: Meter = field(default_factory=Meter)
    reply: float = 0.0
    ratio: float = 1.0
    turn: tuple[str, float] = ("", 0.0)


_ACCOUNT = TypeAdapter(_Account)


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
            try:
                account = _ACCOUNT.validate_json(file.read())
            except ValueError:  # it is new or damaged
                account = _Account()
            yield account
            file.truncate(0)  # it appends, so that this is also where it writes
            file.write(_ACCOUNT.dump_json(account))


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
