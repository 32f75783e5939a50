"""The rule of tries, of items of a run and of requests to servers; docs/dev/tries.md explains it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import count
from math import inf, isfinite
from time import monotonic, sleep, time
from typing import Annotated, Any

from ohr import extras
from ohr.contracts import Permanent, execution
from ohr.models.given_up import ask_again, give_up, given_up
from ohr.models.reach import cause, drops, has_met, lose, lost, met, word_for

Retries = Annotated[int, execution("Further tries of a failing request.", ge=0)]
"""The field of a plugin that asks a server, with how often it asks again."""
Backoff = Annotated[float, execution("Seconds before the first further try; doubled each time.", ge=0)]
"""The field of a plugin that asks a server, with how long it waits between tries."""

BUSY = 429
"""Status code of a server that was asked too often."""
_PASSING = frozenset({408, 409, 425, BUSY})
"""Status codes that are worth another try, beside those of a server in trouble: 500 and above."""
_UNREAD = frozenset({BUSY, 502, 503, 504})
"""Status codes of a server that has not looked at the request."""
_NOT_DONE = frozenset({BUSY, 503})
"""Status codes of requests that were not carried out."""
_REFUSED = frozenset({401, 402, 403})
"""Status codes of a key that is refused, whatever it is asked."""
_ABOUT_THE_PROMPT = frozenset({400, 413, 422})
"""Status codes of requests that cannot be answered: too long, too large, not well formed."""
_TOO_LONG = re.compile(
    r"context[_ ](length|window)|(context|sequence|prompt|input|model) length|maximum number of tokens"
    r"|exceeds? (the |its |your )?(\w+ ){0,3}(context|limit of \d+ tokens)|reduce the length|too many input tokens"
    r"|(prompt|request|message|sequence|text|inputs?`?) (is |are |was )?(too (long|large|big)|must have less than)",
    re.IGNORECASE,
)
"""How servers say that a prompt does not fit: vLLM, SGLang, llama.cpp, Ollama, TGI, LM Studio, and hosted ones."""
_DROPS = 2
"""Further tries of a server that takes connections and drops them, and has never answered."""
_REFUSALS = 3
"""Refusals in a row after which a key is not tried for a while: one alone may be a server's hiccup."""
MOST_LOST = 3
"""How often a stored value may be lost in one run before the store counts as broken."""
MOST_LOST_PROCESSES = 2
"""Processes that a run may lose while a system ingests the same documents."""
_LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is asked again after this time."""
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SPAN = re.compile(r"(?:(\d+(?:\.\d+)?)(d|h|ms|m|s))+?")
_DATES = 1e8
"""Numbers from here on are no span of seconds: gateways write the time, since 1970, at which they count again."""
_refusals: dict[tuple[str, str, str], tuple[int, str]] = {}
"""By address, model and key, how often in a row this process was refused, and why it was first."""


@dataclass(eq=False)
class Failure(Exception):
    """A request without an answer.

    Args:
        problem: for people.
        series: what failures of the same cause have in common; empty where the prompt itself may be the cause.
        wait: seconds before another try; None if another try would fail the same way.
        refused: the key is refused, whatever it is asked.
        status: of the server's reply; 0 where there was none.
        permanent: another try would fail the same way, in this run and whatever tries it.
        unreached: why there was no connection; "" where there was one.
        most: further tries that are worth it, at most.
    """

    problem: str
    series: str = ""
    wait: float | None = None
    refused: bool = field(default=False, kw_only=True)
    status: int = field(default=0, kw_only=True)
    permanent: bool = field(default=False, kw_only=True)
    unreached: str = field(default="", kw_only=True)
    most: float = field(default=inf, kw_only=True)

    def __str__(self) -> str:
        return self.problem

    @property
    def reason(self) -> str:
        """The problem as an item's error."""
        return Permanent(self.problem) if self.permanent else self.problem


@dataclass(frozen=True, slots=True)
class Policy:
    """How often an item or a request is tried.

    Args:
        retries: tries after the first.
        backoff: seconds before the second try of a request, doubled before each further one.
    """

    retries: int
    backoff: float = 0.0

    def attempts(self, why: str, *, once: bool = False) -> int:
        """Return how many attempts an item has used up that failed: all where another would fail the same way.

        Args:
            once: it is tried once, whatever it failed with.
        """
        return self.retries + 1 if once or isinstance(why, Permanent) else 1

    def is_over(self, attempts: int) -> bool:
        """Report whether an item has failed for good after some attempts."""
        return attempts > self.retries

    def pause(self, turn: int, failure: Failure, left: float) -> float | None:
        """Return the seconds to wait before the next try of a request; None where there is none.

        Args:
            turn: further tries that there were.
            left: seconds of all tries.
        """
        if failure.wait is None or turn >= min(self.retries, failure.most):
            return None
        pause = max(failure.wait, self.backoff * 2**turn)
        return pause if pause < left else None


@dataclass(frozen=True, slots=True)
class Tries:
    """Sends the requests to a server again, one after the other, as long as that may help.

    Args:
        place: the server's address, for messages.
        asked: address, model and key: a key that was refused several times in a row is not tried for a while.
        retries: as of `Policy`, and `backoff`.
        masked: makes a text short, and removes the key from it.
        start: a command that starts such a server, for messages.
    """

    place: str
    asked: tuple[str, str, str]
    retries: int
    backoff: float
    masked: Callable[[str], str]
    start: str = ""

    def sent(self, send: Callable[[], Any], end: float, *, repeatable: bool = True) -> Any:
        """Send a request until it is accepted, the tries are used up, or the time is.

        Args:
            send: returns a reply with `status_code`, `headers` and `text`.
            end: by `monotonic`.
            repeatable: the request may be sent again although it may have been carried out.

        Raises:
            Failure: it was not accepted.
        """
        httpx, policy = extras.load("httpx", "openai"), Policy(self.retries, self.backoff)
        if known := refused(*self.asked) or lost(self.place):
            raise Failure(known, refused=True)
        for turn in count():
            try:
                reply = send()
            except httpx.RequestError as error:
                failure = of_connection(error, self.place, self.masked, repeatable=repeatable)
            else:
                met(self.place)
                if reply.status_code < 300:
                    noted(*self.asked, "")
                    return reply
                problem = f"the service answered {reply.status_code}: {self.masked(reply.text)}"
                failure = of_reply(problem, reply.status_code, reply.text, reply.headers, repeatable=repeatable)
            if (pause := policy.pause(turn, failure, end - monotonic())) is None:
                break
            sleep(pause)
        if failure.refused:
            raise Failure(noted(*self.asked, str(failure), refusal=True), refused=True, status=failure.status)
        raise Failure(lose(self.place, failure.unreached, self.start)) if failure.unreached else failure


def of_reply(problem: str, status: int, text: str, headers: Mapping[str, str], *, repeatable: bool = True) -> Failure:
    """Return the failure of a request that was answered, though not with success.

    Args:
        problem: what it is, for people.
        text: of the reply.
        repeatable: as of `Tries.sent`.
    """
    is_refused = status in _REFUSED or (status == BUSY and "insufficient_quota" in text)
    permanent = not is_refused and (not passes(status) or (status not in _UNREAD and is_too_long(text)))
    again = not (is_refused or permanent) and (repeatable or status in _NOT_DONE)
    wait = retry_after(headers) if again else None
    is_well = status in _ABOUT_THE_PROMPT or (status == BUSY and wait)  # it may have a limit
    series = "" if is_well else f"server answered {status}"
    return Failure(problem, series, wait, refused=is_refused, status=status, permanent=permanent)


def of_connection(error: Exception, place: str, masked: Callable[[str], str], *, repeatable: bool = True) -> Failure:
    """Return the failure of a request without a reply, by an error of httpx.

    Args:
        place: the server's address.
        masked: as of `Tries`, and `repeatable` as of `Tries.sent`.
    """
    httpx = extras.load("httpx", "openai")
    never, unreached = not has_met(place), ""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        reason = unreached = masked(cause(error)) or word_for(error)
        wait, most = None if never else 0.0, inf
    else:
        reason = masked(str(error)) or word_for(error)
        wait, most = 0.0 if repeatable else None, inf
        if repeatable and never and drops(error):
            unreached, most = reason, _DROPS
    series = f"cannot reach {place}"
    return Failure(f"{series}: {reason}", series, wait, unreached=unreached, most=most)


def passes(status: int) -> bool:
    """Report whether a request with this status code is worth another try."""
    return status in _PASSING or status >= 500


def is_too_long(text: str) -> bool:
    """Report whether a server says that a prompt does not fit into its model's context."""
    return bool(_TOO_LONG.search(text))


def refused(url: str, model: str, key: str) -> str:
    """Return why a key is not tried: it was refused several times in a row a while ago; "" where it is tried."""
    return given_up((url, model, key))


def noted(url: str, model: str, key: str, reason: str, *, refusal: bool = False) -> str:
    """Note the end of a request, and return its reason: of refusals in a row the first one's, as they are one fault."""
    asked = (url, model, key)
    before, first = _refusals.pop(asked, (0, ""))
    if not refusal:
        ask_again(asked)
        return reason
    _refusals[asked] = before + 1, first or reason
    if before + 1 >= _REFUSALS:
        give_up(asked, first or reason)
    return first or reason


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server wants a client to wait, which it may name as a date; 0 where it does not say."""
    said = headers.get("retry-after", "0")
    try:
        wait = float(headers["retry-after-ms"]) / 1000 if "retry-after-ms" in headers else float(said)
    except ValueError:
        try:
            wait = parsedate_to_datetime(said).timestamp() - time()
        except (ValueError, OverflowError):
            return 0.0
    return min(wait, _LONGEST_WAIT) if wait > 0 else 0.0  # also for nan


def left(headers: Mapping[str, str], what: str) -> tuple[float, float] | None:
    """Return how many `requests` or `tokens` a server says are left, and in how many seconds it begins to count again.

    OpenAI writes the time as `1s`, `6m0s` or `20ms`, Azure as a number of seconds; what is neither, or negative, as
    Azure sends for deployments that it does not count, is None.

    https://platform.openai.com/docs/guides/rate-limits, https://console.groq.com/docs/rate-limits
    """
    remaining = _number(headers.get(f"x-ratelimit-remaining-{what}", ""))
    reset = seconds(headers.get(f"x-ratelimit-reset-{what}", ""))
    if remaining is None or reset is None:
        return None
    return remaining, reset if reset < _DATES else max(reset - time(), 0.0)


def seconds(text: str) -> float | None:
    """Read a span of time: a number of seconds, or numbers with their units; None where it is neither."""
    plain = text.strip().lower()
    if _SPAN.fullmatch(plain):
        return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(plain))
    return _number(plain)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None
