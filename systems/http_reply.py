"""Answers and contexts in a service's reply, JSON or a stream, by JMESPath; whatever else it sends is one sentence."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import isfinite
from typing import Annotated, Any

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ohr.contracts import Context
from ohr.errors import DataError, PermanentError


@cache
def _compiled(path: str) -> Any:
    try:
        return jmespath.compile(path)
    except (JMESPathError, ValueError, UnicodeError) as error:
        raise ValueError(f"is no JMESPath expression: {' '.join(str(error).split())[:200]}") from None


def _checked(path: str) -> str:
    _compiled(path)
    return path


JsonPath = Annotated[str, AfterValidator(_checked)]
"""A JMESPath expression."""


class ContextPaths(BaseModel):
    """The parts of a context."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    text: Annotated[JsonPath | None, Field(description="null where a context is a document and a page only.")] = "text"
    document: Annotated[JsonPath | None, Field(description="Name of the document or its file.")] = None
    page: Annotated[JsonPath | None, Field(description="Number of the page.")] = None
    score: Annotated[JsonPath | None, Field(description="A larger one is better.")] = None


class Events(list[Any]):
    """The events of a streamed reply."""


def excerpt(text: str) -> str:
    """Return the beginning of a text, in one line."""
    return " ".join(text.split())[:200] or "(empty)"


def parsed(text: str) -> Any:
    """Parse JSON; raises DataError, with the beginning of what came instead."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        kind = "HTML" if text.lstrip()[:1] == "<" else "not JSON"
        raise DataError(f"the reply is {kind}: {excerpt(text)}") from None


def searched(field: str, path: str, value: Any) -> Any:
    """Return what an expression finds, in a stream the last that is not empty.

    Raises:
        DataError: its functions do not fit what is there.
    """
    if isinstance(value, Events):
        found = [each for event in value if (each := searched(field, path, event)) is not None]
        return next((each for each in reversed(found) if each not in ("", [], {})), found[-1] if found else None)
    try:
        return _compiled(path).search(value)
    except JMESPathError as error:
        reason = " ".join(str(error).split())[:200]
        raise PermanentError(f"`{field}` ({path}) does not fit the reply ({reason}): {shown(value)}") from None


def shown(value: Any) -> str:
    """Return the beginning of a value as JSON, of a stream that of its last event."""
    if isinstance(value, Events):
        return f"the last of {len(value)} events: {shown(value[-1])}" if value else "a stream without an event"
    return excerpt(json.dumps(value, ensure_ascii=False))


def refuse_error(path: str | None, reply: Any) -> None:
    """Raise DataError where a reply, or an event of a stream, reports an error."""
    for part in reply if isinstance(reply, Events) else [reply]:
        if path and (error := searched("error", path, part)):
            raise DataError(f"the service reports an error: {error if isinstance(error, str) else shown(error)}"[:300])


def text_of(field: str, path: str, value: Any) -> str:
    """Return a text, of a stream the texts of all its events.

    Raises:
        DataError: there is something else, or nothing.
    """
    parts = value if isinstance(value, Events) else [value]
    texts = [text for part in parts if (text := searched(field, path, part)) is not None]
    if not texts:
        raise PermanentError(f"`{field}` ({path}) finds nothing in {shown(value)}")
    if odd := [text for text in texts if not isinstance(text, str)]:
        raise PermanentError(f"`{field}` ({path}) finds {_kind(odd[0])}, not text, in {shown(value)}")
    return "".join(texts)


def count_of(field: str, path: str | None, value: Any) -> int:
    """Return a count; 0 where there is none, and DataError where it is something else."""
    number = searched(field, path, value) if path else None
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
        raise PermanentError(f"`{field}` ({path}) finds {shown(number)}, not a count, in {shown(value)}")
    return number or 0


def seconds_of(field: str, path: str | None, value: Any, unit: str) -> float | None:
    """Return a time in seconds; None where there is none, and DataError where it is something else.

    Args:
        unit: of the time in the reply: s, ms or ns.
    """
    number = searched(field, path, value) if path else None
    if number is None:
        return None
    if (time := _number(number)) is None or time < 0:
        raise PermanentError(f"`{field}` ({path}) finds {shown(number)}, not a time, in {shown(value)}")
    return time / {"s": 1, "ms": 1e3, "ns": 1e9}[unit]


def contexts_of(path: str, parts: ContextPaths, reply: Any, *, may_be_empty: bool) -> tuple[Context, ...]:
    """Return the contexts of a reply, best first; raises DataError where they are no contexts."""
    listed = searched("contexts", path, reply)
    if not isinstance(listed, list):
        is_there = "finds nothing in" if listed is None else f"finds {_kind(listed)}, not a list, in"
        raise PermanentError(f"`contexts` ({path}) {is_there} {shown(reply)}")
    if not listed and not may_be_empty:
        raise DataError(
            f"`contexts` ({path}) is an empty list: were the documents ingested? Where the system may find nothing, "
            "set `may_be_empty: true`"
        )
    return tuple(_context(parts, number, each) for number, each in enumerate(listed, 1))


def _context(parts: ContextPaths, number: int, value: Any) -> Context:
    def part(name: str, path: str | None, read: Callable[[Any], Any], kind: str) -> Any:
        given = searched(f"context.{name}", path, value) if path else None
        if given is None:
            return None
        if (value_read := read(given)) is None:
            where = f"`context.{name}` ({path}) of context {number}"
            raise PermanentError(f"{where} finds {shown(given)}, not {kind}, in {shown(value)}")
        return value_read

    text = part("text", parts.text, _text, "text")
    document = part("document", parts.document, _text, "text") or ""
    if parts.text and not (text or "").strip():
        raise PermanentError(f"`context.text` ({parts.text}) of context {number} finds no text in {shown(value)}")
    page = part("page", parts.page, _page, "the number of a page")
    if not parts.text and not (document and page is not None):
        raise PermanentError(f"context {number} has neither text nor a document with a page: {shown(value)}")
    return Context(text or "", document, page, part("score", parts.score, _number, "a number"))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _page(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if fits else None


def _kind(value: Any) -> str:
    names: Mapping[type, str] = {dict: "a mapping", list: "a list", str: "text", bool: "true or false"}
    return names.get(type(value), "a number")


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
