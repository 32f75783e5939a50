"""Replies that a service streams: server-sent events and lines of JSON, each parsed to a list of events."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ohr.errors import DataError, PermanentError

from .http_reply import Events, excerpt, parsed, refuse_error, searched, shown

_SSE = "text/event-stream"
_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})
_DONE = "[DONE]"
"""The data of the last event of OpenAI's format and of those that follow it."""
_LINE_END = re.compile(r"\r\n|\n|\r")
"""Ends of lines in server-sent events; `splitlines` would cut texts at further characters."""


def read_reply(text: str, media_type: str, end: str | None, error: str | None) -> Any:
    """Read a reply as JSON; or, with `end`, as a stream.

    Args:
        media_type: of the reply, "" where it states none.
        end: what is true in an event that ends the stream.
        error: what reports an error, in a reply or in an event.

    Raises:
        DataError: it reports an error, is something else than what was expected, or a stream that was interrupted.
    """
    streams = media_type == _SSE or media_type in _LINES
    if end is None and streams:
        raise PermanentError(
            f"the reply is a stream ({media_type}): set `stream`, or ask for one reply in `body`, as in stream: false"
        )
    value = _events(text, media_type, end) if end is not None and streams else parsed(text)
    refuse_error(error, value)
    if end is not None and not streams:
        given = media_type or "of no stated type"
        raise PermanentError(
            f"the reply is {given}, not a stream ({_SSE} or application/x-ndjson): leave out `stream`, or ask for a "
            f"stream in `body`: {excerpt(text)}"
        )
    return value


def _events(text: str, media_type: str, end: str) -> Events:
    if media_type == _SSE:
        found = list(_sent_events(text))
    else:
        found = [_data(line, is_json=True) for line in text.split("\n") if line.strip()]
    end_at = found.index(_DONE) if _DONE in found else len(found)
    events = Events(found[:end_at])
    for event in events:
        if isinstance(event, Mapping) and event.get("event") == "error":
            raise DataError(f"the service reports an error: {shown(event)}")
    if _DONE not in found and not any(searched("stream", end, event) for event in events):
        last = f"its last event is {shown(events[-1])}" if events else f"it has no event: {excerpt(text)}"
        raise DataError(
            f"the stream was interrupted: `stream` ({end}) is true in none of its {len(events)} events; {last}"
        )
    return events


def _sent_events(text: str) -> Iterator[Any]:
    """Yield the data of server-sent events, by https://html.spec.whatwg.org/multipage/server-sent-events.html.

    The name of an event is its `event`. One that ends with the stream counts: where it was cut, it is no JSON.
    """
    name, lines = "", list[str]()
    for line in [*_LINE_END.split(text), ""]:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if name or lines:
                yield _named(name, _data("\n".join(lines), is_json=False))
            name, lines = "", []
        elif field == "data":
            lines.append(value)
        elif field == "event":
            name = value


def _named(name: str, data: Any) -> Any:
    if not name:
        return data
    return {"event": name, **data} if isinstance(data, Mapping) and name != "error" else {"data": data, "event": name}


def _data(text: str, *, is_json: bool) -> Any:
    """Return an event's data: JSON where it is an object, a list of objects or a text, else the text as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if is_json or text.startswith("{"):
            raise DataError(f"an event of the stream is cut, or no JSON: {excerpt(text)}") from None
        return text
    objects = isinstance(value, list) and all(isinstance(part, Mapping) for part in value)
    return value if isinstance(value, Mapping | str) or objects else text
