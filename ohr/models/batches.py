"""Batches from file to reply. What is under way is noted before and after each step: no kill makes one sent twice."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Event
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import Completion, Notes, Prompt
from ohr.keys import key
from ohr.messages.wording import counted
from ohr.models.batch_server import BatchServer, Replies, is_id, request_line
from ohr.models.chat_client import excerpt
from ohr.models.tries import Failure

_DAY = 86400.0
"""Seconds."""


class Batch(BaseModel):
    """The fields of `batch`, where it is more than `true`.

    The limits of a file are those of OpenAI: https://platform.openai.com/docs/api-reference/batch/create
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    poll_seconds: Annotated[float, Field(gt=0, le=_DAY, description="Seconds between two looks at the server.")] = 30.0
    window: Annotated[str, Field(min_length=1, description="The time in which the server is to answer.")] = "24h"
    largest_requests: Annotated[int, Field(gt=0, description="Most prompts of a file.")] = 50_000
    largest_bytes: Annotated[int, Field(gt=0, description="Most bytes of a file.")] = 200_000_000


_ENDED = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})


def has_ended(state: Mapping[str, Any]) -> bool:
    """Report whether a batch has ended.

    Raises:
        Failure: it is not the state of a batch.
    """
    status = state.get("status")
    if not isinstance(status, str):
        raise Failure("not the state of a batch: its `status` is no text")
    return status in _ENDED


def requests(state: Mapping[str, Any], *kinds: str) -> int:
    """Return how many requests of a batch were `completed` or `failed`; 0 where the server does not say."""
    counts = state.get("request_counts")
    done = [counts.get(kind) for kind in kinds] if isinstance(counts, dict) else []
    return sum(count for count in done if isinstance(count, int) and count > 0)


def ending(state: Mapping[str, Any]) -> str:
    """Return why a batch that has ended has no reply to a prompt."""
    status = str(state.get("status"))
    if status == "completed":
        return "has no line for this prompt in its files"
    errors = state.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    known = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    reasons = [str(each.get("message") or each.get("code")) for each in known]
    more = f" (and {counted(len(reasons) - 1, 'further error')})" if len(reasons) > 1 else ""
    return f"{'was ' if status.startswith('cancel') else ''}{status}" + (
        f": {excerpt(reasons[0])}{more}" if reasons else ""
    )


@dataclass
class Noted:
    """A batch as it is noted.

    Args:
        name: its key in the notes, and its name at the server.
        openings: by the names of its prompts, what their replies begin with.
        file: the server's name of its file, once it was uploaded.
        asked: the server was asked to start it, or is about to be.
        id: the server's name of it.
    """

    name: str
    openings: dict[str, str]
    file: str = ""
    asked: bool = False
    id: str = ""


@dataclass(frozen=True)
class BatchNotes:
    """Notes of a model's batches, and by the name of each prompt the batch that it is in."""

    notes: Notes
    model: str

    def add(self, noted: Noted) -> None:
        """Note a new batch."""
        self.notes.pin(self._pin(noted), [noted.name, *map(_place, noted.openings)])
        self.notes.put_many({noted.name: asdict(noted), **{_place(name): noted.name for name in noted.openings}})

    def change(self, noted: Noted) -> None:
        """Note how far a batch is."""
        self.notes.put_many({noted.name: asdict(noted)})

    def forget(self, noted: Noted) -> None:
        """Remove the notes of a batch."""
        self.notes.discard([noted.name, *map(_place, noted.openings)])
        self.notes.unpin(self._pin(noted))

    def under_way(self, prompts: Iterable[str]) -> list[Noted]:
        """Return the batches that have some of the prompts."""
        places = self.notes.get_many([_place(name) for name in prompts])
        records = self.notes.get_many({name for name in places.values() if isinstance(name, str)})
        noted = [Noted(**each) for each in records.values() if {*each} == {*Noted.__dataclass_fields__}]
        for each in noted:
            each.id = each.id if is_id(each.id) else ""
        return noted

    def _pin(self, noted: Noted) -> str:
        return f"{_pins_of(self.model)}{noted.name[:8]}"


def count_under_way(pins: Collection[str], models: Iterable[str]) -> Mapping[str, int]:
    """Count the batches under way of each of the models that has some, by the names of a store's pins."""
    counts = {model: sum(name.startswith(_pins_of(model)) for name in pins) for model in models}
    return {model: count for model, count in counts.items() if count}


def _pins_of(model: str) -> str:
    return f"batch of {model}, "


def _place(prompt: str) -> str:
    return key("in batch", prompt)


_log = logging.getLogger(__name__)
_UNCERTAIN = frozenset({0, 408, 409, 425, 429})
"""Status codes, 0 for none, after which a batch may be there or can be asked for again; and those from 500 on."""
_MISSES = 20
"""Looks in a row that fail, after which a run does not wait any longer; the next one looks again."""
_REFUSALS = 3
"""The same where the key is refused; once may be a server's hiccup."""
_GONE = 10
"""Looks in a row at which the server does not know a batch, after which it counts as lost, and is sent again by the
next run: a gateway that is restarted answers 404 for minutes, and a batch that is sent twice is paid twice."""
_TOGETHER = 500
"""Replies that are handed on, and stored, together."""
Replied = dict[str, Completion]
"""Completions by the keys of their prompts."""
Say = Callable[[int, int, int], None]
"""Reports how many batches are at the server, how many of their replies are there, and how many there will be."""


@dataclass
class _Waiting:
    noted: Noted
    misses: int = 0
    unknown: int = 0
    """Looks in a row at which the server did not know it."""
    there: int = 0


@dataclass
class Batches:
    """Sends prompts to one server in batches, and waits for the replies.

    Args:
        again: batches of earlier runs are not continued.
    """

    server: BatchServer
    notes: BatchNotes
    settings: Batch
    say: Say
    again: bool = False
    _waiting: list[_Waiting] = field(default_factory=list)
    _ended: int = 0
    """Prompts of batches that have ended."""

    def replies(self, prompts: Mapping[str, Prompt], body: Callable[[Prompt], Mapping[str, Any]]) -> Iterator[Replied]:
        """Yield completions by the names of prompts, also of others that are in a batch with them.

        What is yielded must be stored before the next is asked for; it may come twice.
        """
        known = self._noted(prompts)
        left = prompts.keys() - {name for noted in known for name in noted.openings}
        # a batch whose note was there a moment ago may be done now, by another thread or run
        there = {name: Completion(**value) for name, value in self.notes.notes.get_many(left).items()}
        yield there
        for noted in known:
            yield from self._attempt(noted, self._continue)
        with TemporaryDirectory(prefix="ohr-") as folder:
            requests = {name: prompt for name, prompt in prompts.items() if name in left and name not in there}
            for part in self._files(requests, body, Path(folder)):
                if isinstance(part, dict):
                    yield part
                    continue
                path, names = part
                openings = {name: prompts[name].opening for name in names}
                noted = Noted(key("batch", sorted(names), token_hex(8)), openings)
                self.notes.add(noted)
                yield from self._attempt(noted, lambda noted, path=path: self._send(noted, path))  # type: ignore[misc]
        yield from self._wait()

    def _noted(self, prompts: Iterable[str]) -> list[Noted]:
        """Return the batches under way that have some of the prompts, and may be continued."""
        noted = self.notes.under_way(prompts)
        sent = [each for each in noted if each.file and not self.again]
        for each in noted:
            if each not in sent:  # killed before its file was there, or made before what is asked has changed
                self.notes.forget(each)
        if left := sum(each.asked for each in noted if each not in sent):
            verb = "is" if left == 1 else "are"
            _log.warning(
                "%s of an earlier run %s not waited for, as answers are made again",
                counted(left, "batch", "batches"),
                verb,
            )
        return sent

    def _files(
        self, prompts: Mapping[str, Prompt], body: Callable[[Prompt], Mapping[str, Any]], folder: Path
    ) -> Iterator[tuple[Path, list[str]] | Replied]:
        """Write the requests into one file after the other, each as large as it may be, or yield why one cannot be."""
        names, size, path, most = list[str](), 0, folder / "requests.jsonl", self.settings
        file = path.open("wb")
        for name, prompt in prompts.items():
            try:
                line = request_line(name, body(prompt))
            except Exception as error:  # a benchmark or a noise may raise anything while it makes a page image
                yield {name: _failed(f"no page image: {type(error).__name__}: {error}")}
                continue
            if len(line) > most.largest_bytes:
                yield {name: _failed(f"its request is larger than batch.largest_bytes ({most.largest_bytes:,})")}
                continue
            if size + len(line) > most.largest_bytes or len(names) == most.largest_requests:
                file.close()
                yield path, names
                names, size, file = [], 0, path.open("wb")
            file.write(line)
            names.append(name)
            size += len(line)
        file.close()
        if names:
            yield path, names

    def _attempt(self, noted: Noted, step: Callable[[Noted], None]) -> Iterator[Replied]:
        """Bring a batch to the server, or yield why its prompts have no replies."""
        try:
            step(noted)
        except Failure as failure:
            reason = f"the batch was not sent: {failure}"
            if not noted.asked:
                self.notes.forget(noted)
            else:
                reason = f"nobody knows whether the batch was sent: {failure}; the next run looks for it"
            yield dict.fromkeys(noted.openings, _failed(reason))
        else:
            self._waiting.append(_Waiting(noted))
            self._report()

    def _send(self, noted: Noted, path: Path) -> None:
        noted.file = self.server.upload(path, noted.name)
        self.notes.change(noted)
        self._create(noted)

    def _continue(self, noted: Noted) -> None:
        """Continue with a batch of a run that was ended: start it, unless the server has it."""
        if noted.asked and not noted.id:
            noted.id = self.server.created(noted.name)
            self.notes.change(noted)
        if not noted.id:
            self._create(noted)

    def _create(self, noted: Noted) -> None:
        noted.asked = True
        self.notes.change(noted)
        try:
            noted.id = self.server.create(noted.file, noted.name, self.settings.window)
        except Failure as failure:
            if _is_certain(failure):
                noted.asked = False
                raise
            noted.id = self.server.created(noted.name)
            if not noted.id:
                raise
        self.notes.change(noted)

    def _wait(self) -> Iterator[Replied]:
        """Look at the batches until all have ended, and yield their replies."""
        while self._waiting:
            for waiting in tuple(self._waiting):
                try:
                    state = self.server.look(waiting.noted.id)
                    waiting.there = min(requests(state, "completed", "failed"), len(waiting.noted.openings))
                    if not has_ended(state):
                        waiting.misses = waiting.unknown = 0
                        continue
                    yield from self._fetched(waiting.noted, state)
                except Failure as failure:
                    waiting.misses += 1
                    waiting.unknown = waiting.unknown + 1 if failure.status == 404 else 0
                    gone = waiting.unknown == _GONE
                    if not gone and waiting.misses < (_REFUSALS if failure.refused else _MISSES):
                        _log.info("batch %s: %s", waiting.noted.id, failure)
                        continue
                    if gone:
                        self.notes.forget(waiting.noted)
                    further = "" if gone else "; it continues there, and the next run looks again"
                    reason = _failed(f"batch {waiting.noted.id}: {failure}{further}")
                    yield dict.fromkeys(waiting.noted.openings, reason)
                self._waiting.remove(waiting)
                self._ended += len(waiting.noted.openings)
            self._report()
            if self._waiting:
                Event().wait(self.settings.poll_seconds)

    def _fetched(self, noted: Noted, state: Mapping[str, Any]) -> Iterator[Replied]:
        """Yield the replies in the files of a batch that has ended, and why the other prompts have none.

        Raises:
            Failure: a file could not be fetched, or is not the batch's, whatever its status code was.
        """
        replies, junk, empty = Replies(noted.openings, self.server.masked), False, False
        with TemporaryDirectory(prefix="ohr-") as folder:
            for name in ("output_file_id", "error_file_id"):
                known, odd, path = replies.belonging, replies.faults.total(), Path(folder) / name
                if file := state.get(name):
                    self.server.fetch(file, path)
                    lines = replies.read(path)
                    while group := dict(islice(lines, _TOGETHER)):
                        yield group
                if replies.belonging == known and (file or name == "output_file_id"):
                    junk, empty = junk or replies.faults.total() > odd, True
        promised = max(requests(state, "completed", "failed"), state["status"] == "completed")
        if junk or (empty and replies.belonging < promised):
            raise Failure("its files lack replies")
        if said := replies.said():
            _log.warning("batch %s: passed over %s", noted.id, said)
        reason = _failed(f"batch {noted.id} {ending(state)}")
        yield dict.fromkeys(noted.openings.keys() - replies.known, reason)
        self.notes.forget(noted)

    def _report(self) -> None:
        there = self._ended + sum(each.there for each in self._waiting)
        total = self._ended + sum(len(each.noted.openings) for each in self._waiting)
        self.say(len(self._waiting), there, total)


def _is_certain(failure: Failure) -> bool:
    """Report whether a server that was to start a batch has certainly not done it, and would not if asked again."""
    return not (failure.status in _UNCERTAIN or failure.status >= 500 or failure.refused)


def _failed(reason: str) -> Completion:
    return Completion("", finish="error", error=reason)
