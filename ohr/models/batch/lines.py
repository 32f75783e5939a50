"""The lines of batch files: requests in, replies out."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ohr.contracts import Completion
from ohr.messages.wording import counted
from ohr.models.completions import LARGEST, completion_of, excerpt
from ohr.models.tries import Failure

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
