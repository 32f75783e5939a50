"""Limits of servers as the headers of a reply state them, as far as they can be understood."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from time import time

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SPAN = re.compile(r"(?:(\d+(?:\.\d+)?)(d|h|ms|m|s))+?")
_DATES = 1e8
"""Numbers from here on are no span of seconds: gateways write the time, since 1970, at which they count again."""
_LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is asked again after this time."""


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
