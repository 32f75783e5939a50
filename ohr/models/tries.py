"""Requests that are sent again after refusals and lost connections, with the pause that a server asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from ohr import extras
from ohr.models.chat_client import REFUSED, noted, refused
from ohr.models.completions import Failure, is_permanent
from ohr.models.rate_headers import retry_after
from ohr.models.reach import DROPS, cause, drops, has_met, lose, lost, met, word_for

_NOT_DONE = frozenset({429, 503})
"""Status codes of requests that were not carried out."""


@dataclass(frozen=True, slots=True)
class Tries:
    """How a server's requests are tried.

    Args:
        place: the server's address, for messages.
        asked: address, model and key: a key that was refused several times in a row is not tried for a while.
        retries: further tries of a failing request.
        backoff: seconds before the first further try; doubled each time.
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
        httpx = extras.load("httpx", "openai")
        if known := refused(*self.asked) or lost(self.place):
            raise Failure(known, refused=True)
        for turn in range(self.retries + 1):
            status, unreached, permanent = 0, "", False
            try:
                reply = send()
                met(self.place)
                status = reply.status_code
                if status < 300:
                    noted(*self.asked, "")
                    return reply
                problem = f"the service answered {status}: {self.masked(reply.text)}"
                if status in REFUSED:
                    raise Failure(noted(*self.asked, problem, refusal=True), refused=True, status=status)
                permanent = is_permanent(status, reply.text)
                again = not permanent and (repeatable or status in _NOT_DONE)
                wait = retry_after(reply.headers) if again else None
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                unreached = self.masked(cause(error))
                wait = 0.0 if has_met(self.place) else None
            except httpx.RequestError as error:
                reason = self.masked(str(error)) or word_for(error)
                problem = f"cannot reach {self.place}: {reason}"
                wait = 0.0 if repeatable else None
                if turn >= DROPS and drops(error) and not has_met(self.place):
                    wait, unreached = None, reason
            pause = max(wait or 0.0, self.backoff * 2**turn)
            if wait is None or turn == self.retries or monotonic() + pause >= end:
                break
            sleep(pause)
        if unreached:
            problem = lose(self.place, unreached, self.start)
        raise Failure(problem, status=status, permanent=permanent)
