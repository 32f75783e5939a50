"""How the documents of a condition reach a service: uploads, further requests, or a command."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from mimetypes import guess_type
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from ohr.child import call
from ohr.errors import DataError
from ohr.models.tries import Failure
from ohr.registry import choices

from .http_reply import JsonPath, excerpt, parsed, refuse_error, searched, shown
from .templates import checked_url, filled, filled_url, places, plain, refuse_secret_urls, refuse_secrets

FILE_PLACES = frozenset({"text", "file", "number"})
"""Places that a request has for each file: its text, its name, and its number from 1 on."""
_LARGEST = 4 << 20
"""Bytes of lines in a request; the smallest limit of the services with a preset is some 10 MB."""


class Sent(NamedTuple):
    """A request: what a message says of its files, its URL, and its arguments for httpx."""

    place: str
    url: str
    request: Mapping[str, Any]


def bodies(
    url: str, body: Mapping[str, Any] | None, paths: Sequence[Path], values: Mapping[str, Any]
) -> Iterator[Sent]:
    """Yield a request for each file."""
    for number, path in enumerate(paths, 1):
        own = {**values, "text": _text(path), "file": path.name, "number": number}
        request = {} if body is None else {"json": filled(body, own)}
        yield Sent(f"file {number} of {len(paths)} ({path.name}): ", filled_url(url, own), request)


def batches(
    url: str, lines: Sequence[Mapping[str, Any]], paths: Sequence[Path], values: Mapping[str, Any]
) -> Iterator[Sent]:
    """Yield requests of lines of JSON, with as many files as fit into one."""
    first, content = 1, b""
    for number, path in enumerate([*paths, None], 1):
        own = {} if path is None else {**values, "text": _text(path), "file": path.name, "number": number}
        more = b"".join(json.dumps(filled(line, own)).encode() + b"\n" for line in lines) if own else b""
        if content and (path is None or len(content) + len(more) > _LARGEST):
            files = f"file {first}" if first == number - 1 else f"files {first} to {number - 1}"
            yield Sent(f"{files} of {len(paths)}: ", filled_url(url, values), {"content": content})
            first, content = number, b""
        content += more


def _text(path: Path) -> str:
    """Return a file's text, "" of one that is none: a spec that asks for texts is handed none but texts."""
    return path.read_text("utf-8") if path.suffix in (".md", ".txt") else ""


Method = Literal["GET", "POST", "PUT", "PATCH"]
_NO_WAY = (
    "is required: the folder of a condition is removed after it was handed over, so that a service cannot look into it "
    "later. Upload its files, as in {url: http://localhost:8000/files, field: file}, or run a command that brings them "
    'to where the service looks, as in {command: [cp, -r, "{folder}", "/srv/documents/{name}"]}'
)
_POLL = 0.2
"""Seconds between the first looks of a wait; each later one is half as far again from the one before."""


class Step(BaseModel):
    """One step of an ingest: an upload of the files (`field`), another request (`body`, `lines`), or a command.

    A body with `{text}`, `{file}` or `{number}` is sent for each file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    url: Annotated[str | None, Field(description="Where the request is sent.")] = None
    method: Annotated[Method, Field(description="How.")] = "POST"
    field: Annotated[str | None, Field(description="Field of the files in an upload (multipart/form-data).")] = None
    per: Annotated[Literal["file", "all"], Field(description="An upload for each file, or one for all.")] = "file"
    data: Annotated[dict[str, str], Field(description="Further fields of an upload.")] = {}
    body: Annotated[dict[str, Any] | None, Field(description="A request that is sent as JSON.")] = None
    lines: Annotated[
        tuple[dict[str, Any], ...] | None,
        Field(min_length=1, description="Lines of JSON for each file, of many files in a request (NDJSON)."),
    ] = None
    command: Annotated[tuple[str, ...] | None, Field(min_length=1, description="Words; `{folder}` has the files.")] = (
        None
    )
    handle: Annotated[JsonPath | None, Field(description="What the reply calls the knowledge base.")] = None
    keep: Annotated[dict[str, JsonPath], Field(description="Values of the reply that later requests need.")] = {}

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and (odd := sorted(set(map(str, given)) - set(cls.model_fields))):
            raise ValueError(f"unknown key {odd[0]!r}. {choices(odd[0], tuple(cls.model_fields))}")
        return given

    @model_validator(mode="after")
    def _is_one(self, info: ValidationInfo) -> Self:
        if (self.url is None) == (self.command is None):
            raise ValueError("a step needs either `url` or `command`")
        if self.url is not None:
            checked_url(self.url)
            refuse_secret_urls(self.url)
            if sum(part is not None for part in (self.field, self.body, self.lines)) > 1:
                raise ValueError("a step has either `field`, for an upload, or `body` or `lines`, for another request")
        elif self.field or self.body or self.lines or self.data or self.handle or self.keep:
            raise ValueError("a command has no further keys: the last line that it prints is the handle")
        refuse_secrets([self.body, dict(self.data), *(self.lines or ())])
        registry = (info.context or {}).get("registry")
        if self.command and registry is not None and not registry.trusted:
            raise ValueError("`command` runs a program on this machine; allow it with --trust-plugins")
        return self

    @property
    def template(self) -> list[Any]:
        """Its texts with places."""
        return [self.url, self.body, dict(self.data), list(self.command or ()), list(self.lines or ())]

    @property
    def own_places(self) -> set[str]:
        """The places that only this step has."""
        return {"folder"} if self.command else {"file"} if self.field else {*FILE_PLACES}

    @model_serializer(mode="wrap")
    def _as_before(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what older ingests in the store do not have, where it is not used: their keys stay the same."""
        return {name: value for name, value in dump(self).items() if value is not None or name != "lines"}

    @property
    def kept(self) -> Mapping[str, str]:
        """The values that later requests may use, by name."""
        return {**self.keep, **({"handle": self.handle} if self.handle else {})}


def _listed(given: Any) -> Any:
    if given is None or given == "none" or given == []:
        raise ValueError(_NO_WAY)
    return given if isinstance(given, list | tuple) else [given]


Steps = Annotated[tuple[Step, ...], BeforeValidator(_listed, json_schema_input_type=Step | tuple[Step, ...])]


class Wait(BaseModel):
    """A URL that is looked at until an expression is true."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    url: Annotated[str, Field(description="Where to look."), AfterValidator(checked_url)]
    until: Annotated[JsonPath, Field(description="True when the documents can be searched.")]
    most: Annotated[float, Field(gt=0, description="Seconds after which the condition fails.")] = 600.0

    @model_validator(mode="after")
    def _has_no_secret(self) -> Self:
        refuse_secret_urls(self.url)
        return self


Send = Callable[..., Any]
"""Sends a request: method, URL, seconds that it may take, whether it may be sent twice, and arguments of httpx."""


@dataclass(frozen=True, slots=True)
class Ingest:
    """Brings the documents of one condition to a service.

    Args:
        send: returns the reply's text.
        masked: removes secrets from a text.
        error: what reports an error in replies.
    """

    send: Send
    masked: Callable[[str], str]
    error: str | None
    seconds: float

    def ingest(self, steps: Sequence[Step], wait: Wait | None, folder: Path, name: str) -> dict[str, Any]:
        """Take all steps, and wait; returns the values that questions need.

        Raises:
            DataError: a step failed.
        """
        values: dict[str, Any] = {"name": name, "handle": name}
        paths = sorted(path for path in folder.iterdir() if path.is_file())
        derived = {"plain": plain(name), "files": len(paths)}
        for number, step in enumerate(steps, 1):
            known = derived | values
            try:
                values |= self._command(step.command, folder, known) if step.command else self._sent(step, paths, known)
            except (DataError, Failure) as error:
                where = f"step {number} of {len(steps)} of the ingest" if len(steps) > 1 else "the ingest"
                raise DataError(f"{where} failed: {error}") from None
        if wait and paths:
            self._wait(wait, derived | values)
        return values

    def _command(self, words: Sequence[str], folder: Path, values: Mapping[str, Any]) -> dict[str, Any]:
        asked = [str(filled(word, {**values, "folder": str(folder)})) for word in words]
        environment = {"OHR_FOLDER": str(folder), "OHR_NAME": values["name"]}
        try:
            ended = call(asked, self.seconds, environment, folder)
        except OSError as error:
            raise DataError(f"{asked[0]} cannot be started: {error.strerror}") from None
        if fault := ended.fault(self.seconds):
            raise DataError(f"{Path(asked[0]).name} {self.masked(fault)}")
        lines = [line.strip() for line in ended.output.decode("utf-8", "replace").splitlines() if line.strip()]
        return {"handle": self.masked(lines[-1])} if lines else {}

    def _sent(self, step: Step, paths: Sequence[Path], values: Mapping[str, Any]) -> dict[str, Any]:
        replies = []
        for place, request in self._requests(step, paths, values):
            try:
                replies.append(self._reply(request(), needed=bool(step.kept)))
            except (DataError, Failure) as error:
                raise DataError(f"{place}{error}") from None
        return {name: _joined(name, path, replies) for name, path in step.kept.items()}

    def _requests(
        self, step: Step, paths: Sequence[Path], values: Mapping[str, Any]
    ) -> Iterator[tuple[str, Callable[[], str]]]:
        """Yield a step's requests, each with what a message says of it."""
        url = str(step.url)
        if step.lines or (FILE_PLACES & {*places(step.template)} and step.field is None):
            made = batches(url, step.lines, paths, values) if step.lines else bodies(url, step.body, paths, values)
            for place, whole, request in made:
                yield place, partial(self.send, step.method, whole, self.seconds, repeatable=False, **request)
            return
        send = partial(self.send, step.method, filled_url(url, values), self.seconds)
        if step.field is None:
            yield "", partial(send, repeatable=False, json=filled(step.body, values))
            return
        groups = [paths] if step.per == "all" else [[path] for path in paths]
        for number, group in enumerate(groups, 1):
            place = f"file {number} of {len(groups)} ({group[0].name}): " if step.per == "file" else ""
            data = {name: str(filled(text, {**values, "file": group[0].name})) for name, text in step.data.items()}
            yield place, partial(_upload, send, step.field, group, data)

    def _reply(self, text: str, *, needed: bool) -> Any:
        try:
            reply = parsed(text)
        except DataError:
            if needed or text.lstrip().startswith("<"):  # a page for people, such as one to log in
                raise
            return None
        refuse_error(self.error, reply)
        return reply

    def _wait(self, wait: Wait, values: Mapping[str, Any]) -> None:
        """Look until the documents can be searched.

        Raises:
            DataError: they cannot after the longest time.
        """
        end, pause, url = monotonic() + wait.most, _POLL, filled_url(wait.url, values)
        while True:
            try:
                reply = parsed(self.send("GET", url, max(end - monotonic(), 1.0)))
                refuse_error(self.error, reply)
            except (DataError, Failure) as error:
                raise DataError(f"waiting after the ingest failed: {error}") from None
            if searched("wait.until", wait.until, reply) is True:
                return
            if monotonic() + pause > end:
                state = f"`wait.until` ({wait.until}) was not true after {wait.most:g} seconds"
                raise DataError(f"{state}: the service said {excerpt(self.masked(shown(reply)))}")
            sleep(pause)
            pause = min(1.5 * pause, 5.0)


def _upload(send: Send, field: str, paths: Sequence[Path], data: Mapping[str, str]) -> str:
    """Upload files; they are opened for each try."""

    def parts(stack: ExitStack) -> list[tuple[str, tuple[str, Any, str]]]:
        kinds = [guess_type(path.name)[0] or "application/octet-stream" for path in paths]
        opened = [stack.enter_context(path.open("rb")) for path in paths]
        return [(field, (path.name, file, kind)) for path, file, kind in zip(paths, opened, kinds, strict=True)]

    text: str = send(repeatable=False, data=dict(data), parts=parts)
    return text


def _joined(name: str, path: str, replies: Sequence[Any]) -> Any:
    """Return what an expression finds in replies: the lists of all in one, or the value, or all that differ.

    Raises:
        DataError: it finds nothing in one of them.
    """
    values = [searched(name, path, reply) for reply in replies]
    for value, reply in zip(values, replies, strict=True):
        if value is None or value == "":
            raise DataError(f"`{name}` ({path}) finds nothing in {shown(reply)}")
    if all(isinstance(value, list) for value in values):
        return [each for value in values for each in value]
    return values[0] if all(value == values[0] for value in values) else values
