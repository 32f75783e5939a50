"""Batches from file to reply. What is under way is noted before and after each step: no kill makes one sent twice."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

from ohr.contracts import Completion, Prompt
from ohr.keys import key
from ohr.messages.wording import counted
from ohr.models.batch.lines import Replies, request_line
from ohr.models.batch.notes import BatchNotes, Noted
from ohr.models.batch.server import BatchServer
from ohr.models.batch.settings import Batch
from ohr.models.batch.state import ending, has_ended, requests
from ohr.models.tries import Failure

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
