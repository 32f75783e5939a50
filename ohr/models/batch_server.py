"""The files and batches of a server with OpenAI's API, and the lines of these files: requests in, replies out."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from ohr import extras
from ohr.contracts import Completion
from ohr.messages.secrets import without_key
from ohr.messages.wording import counted
from ohr.models.chat_client import LARGEST, completion_of, excerpt
from ohr.models.chat_server import ChatServer, key_of
from ohr.models.reach import CONNECT
from ohr.models.tries import Failure, Tries

ENDPOINT = "/v1/chat/completions"
"""Where each request of a file goes, as OpenAI names it; servers under other roots take the same."""


def request_line(name: str, body: Mapping[str, Any]) -> bytes:
    """Return the line of a request, in ASCII."""
    return json.dumps({"custom_id": name, "method": "POST", "url": ENDPOINT, "body": body}).encode() + b"\n"


@dataclass
class Replies:
    """Reads the replies in the files of a batch; each prompt's first one counts.

    Args:
        openings: by the names of all prompts of the batch, what their replies begin with, which is left out.
        masked: removes the key from a text, because it goes into the results.
    """

    openings: Mapping[str, str]
    masked: Callable[[str], str]
    known: set[str] = field(default_factory=set)
    belonging: int = 0
    """Lines about prompts of the batch."""
    faults: Counter[str] = field(default_factory=Counter)

    def read(self, path: Path) -> Iterator[tuple[str, Completion]]:
        """Yield the replies of a file by the name of their prompt; lines that are none are counted."""
        with path.open("rb") as file:
            while line := file.readline(LARGEST):
                if not line.endswith(b"\n") and len(line) == LARGEST:
                    self.faults["of more than 4 MB"] += 1
                    while (rest := file.readline(LARGEST)) and not rest.endswith(b"\n"):
                        pass
                elif line.strip() and (reply := self._reply(line)):
                    yield reply

    def _reply(self, line: bytes) -> tuple[str, Completion] | None:
        try:
            given = json.loads(self.masked(line.decode("utf-8-sig")))
            name = given["custom_id"]
        except (ValueError, KeyError, TypeError, RecursionError):
            self.faults["without a reply in JSON"] += 1
            return None
        if not isinstance(name, str) or name not in self.openings:
            self.faults["about no prompt of the batch"] += 1
            return None
        self.belonging += 1
        if name in self.known:
            self.faults["about a prompt for the second time"] += 1
            return None
        self.known.add(name)
        return name, _completion(given, self.openings[name])

    def said(self) -> str:
        """Describe the lines that were no replies; "" where all were."""
        return ", ".join(f"{counted(count, 'line')} {fault}" for fault, count in self.faults.items())


def _completion(given: Mapping[str, Any], opening: str) -> Completion:
    """Return the completion of a line, or one with an error."""
    response, error = given.get("response"), given.get("error")
    status = response.get("status_code") if isinstance(response, dict) else None
    body = response.get("body") if isinstance(response, dict) else None
    try:
        if error or status != 200:
            inner = body.get("error") if isinstance(body, dict) else None
            why = error or inner or body or "no reply"
            said = why.get("message") or why.get("code") if isinstance(why, dict) else why
            place = f"server answered {status}: " if status is not None else ""
            raise Failure(f"{place}{excerpt(str(said or why))}")
        return completion_of(json.dumps(body), 0.0, opening)
    except Failure as failure:
        return Completion("", finish="error", error=str(failure))


_PAGE = 100
"""Batches of one page of the server's list, at most."""
_PAGES = 100
"""Pages that are looked through: a batch that was just made is on the first."""
_MARK = "ohr"
"""The metadata in which a batch has its name."""
_ID = re.compile(r"[!-~]{1,1000}")
"""Server's name of a file or a batch: it becomes a part of addresses."""


@contextmanager
def open_server(owner: str, server: ChatServer) -> Iterator["BatchServer"]:
    """Open a client of a server.

    Args:
        owner: the beginning of messages.
    """
    httpx = extras.load("httpx", "openai")
    secret, url = key_of(owner, server.base_url, server.api_key_env), server.base_url.rstrip("/")
    masked = partial(without_key, key=secret)
    asked = (server.base_url, server.model, secret)
    tries = Tries(url, asked, server.retries, server.backoff, lambda text: excerpt(masked(text)))
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    limit = httpx.Timeout(server.timeout, connect=CONNECT)
    with httpx.Client(headers=headers, timeout=limit, verify=url.startswith("https")) as http:
        yield BatchServer(http, url, tries, server.timeout, masked)


class _Downloaded(NamedTuple):
    status_code: int
    headers: Mapping[str, str]
    text: str


@dataclass
class BatchServer:
    """Sends and fetches files, and starts batches; every verb raises a Failure where the server does not do it.

    Args:
        http: an httpx.Client with the key.
        url: the API's root.
        seconds: longest time of one try.
        masked: removes the key from a text.
    """

    http: Any
    url: str
    tries: Tries
    seconds: float
    masked: Callable[[str], str]

    def upload(self, path: Path, name: str) -> str:
        """Upload a file of requests; returns the server's name of it."""

        def send() -> Any:
            with path.open("rb") as file:
                parts = {"file": (f"{name}.jsonl", file, "application/jsonl")}
                return self.http.post(f"{self.url}/files", data={"purpose": "batch"}, files=parts)

        return self._id(self._json(send))

    def create(self, file: str, name: str, window: str) -> str:
        """Start a batch; returns the server's name of it.

        Where the connection fails, nobody knows whether the server has it: it is sent once.
        """
        body = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": window, "metadata": {_MARK: name}}
        return self._id(self._json(lambda: self.http.post(f"{self.url}/batches", json=body), repeatable=False))

    def created(self, name: str) -> str:
        """Look for a batch in the server's list, by its metadata; "" where it is not there."""
        for batch in self._listed():
            metadata = batch.get("metadata")
            if isinstance(metadata, dict) and metadata.get(_MARK) == name:
                return self._id(batch)
        return ""

    def look(self, batch: str) -> Mapping[str, Any]:
        """Return the state of a batch."""
        return self._json(lambda: self.http.get(f"{self.url}/batches/{batch}"))

    def fetch(self, file: object, path: Path) -> None:
        """Write the content of a file, as far as the server sends it."""
        if not is_id(file):
            raise Failure("what names its file is no name")

        def send() -> _Downloaded:
            with self.http.stream("GET", f"{self.url}/files/{file}/content") as reply, path.open("wb") as out:
                if reply.status_code != 200:
                    return _Downloaded(reply.status_code, reply.headers, reply.read().decode("utf-8", "replace"))
                for part in reply.iter_bytes():
                    out.write(part)
                return _Downloaded(200, reply.headers, "")

        self._sent(send)

    def _listed(self) -> Iterator[Mapping[str, Any]]:
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            params = {"limit": str(_PAGE), **after}
            page = self._json(lambda params=params: self.http.get(f"{self.url}/batches", params=params))  # type: ignore[misc]
            batches = page.get("data")
            found = [batch for batch in batches if isinstance(batch, dict)] if isinstance(batches, list) else []
            yield from found
            if not (found and page.get("has_more")):
                return
            after = {"after": str(found[-1].get("id"))}

    def _json(self, send: Callable[[], Any], *, repeatable: bool = True) -> Mapping[str, Any]:
        reply = self._sent(send, repeatable=repeatable)
        try:
            value = reply.json()
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Failure(f"not what a batch API answers: {self.tries.masked(reply.text)}")
        return value

    def _sent(self, send: Callable[[], Any], *, repeatable: bool = True) -> Any:
        end = monotonic() + self.seconds * (self.tries.retries + 1)
        return self.tries.sent(send, end, repeatable=repeatable)

    def _id(self, value: Mapping[str, Any]) -> str:
        name = value.get("id")
        if not is_id(name):
            raise Failure(f"not what a batch API answers: there is no `id` in {self.tries.masked(str(value))}")
        return str(name)


def is_id(name: object) -> bool:
    """Report whether a value can be a server's name of a file or a batch."""
    return isinstance(name, str) and bool(_ID.fullmatch(name)) and not set(name) & set("?#%\\")
