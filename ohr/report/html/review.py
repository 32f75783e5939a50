"""Human review of candidates as a page on a local port: one candidate at a time, with its pages; see `serve_review`."""

import hmac
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any

from ohr.errors import DataError
from ohr.files.json_input import whole_number
from ohr.messages.wording import quoted
from ohr.questions.candidate import Candidate
from ohr.questions.human_review import (
    UNDO,
    Decision,
    add_decision,
    candidate_digest,
    current_decisions,
    decision_of,
    read_decisions,
    remaining_decisions,
)
from ohr.report.html.images import webp
from ohr.report.html.pack import as_json
from ohr.report.html.page import render_review
from ohr.report.html.review_pages import PageSource, shown_page
from ohr.serving import http
from ohr.serving.http import Parameters, Refusal, json_of

TOKEN = "X-Ohr-Token"
"""The header that the page sends with a decision; pages of other addresses do not know its value."""

_CHOICES = ("verdict", "reason", "question", "answer")
_WIDTH = 1440
"""Pixels of a page image: twice the half of the page that it has, so that small print can be read when enlarged."""


class Review:
    """The candidates that one reviewer decides about.

    Args:
        candidates: in the order in which they are shown; without any there is nothing to review.
        pages: texts and images of their pages.
        path: the file of decisions, `.jsonl`; it may not be there yet.
        reviewer: the name that is written with each decision.
        removed: why a rule removed a candidate, by its id.

    Raises:
        DataError: there are no candidates or no name, or the file cannot be read or has lines that are no decisions.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        pages: PageSource,
        path: Path,
        reviewer: str,
        removed: Mapping[str, str] | None = None,
    ) -> None:
        if not candidates:
            raise DataError("there are no candidates to review")
        if not reviewer.strip():
            raise DataError("a review needs the name of the reviewer, which is written with each decision")
        self._candidates, self._pages, self._path, self._reviewer = candidates, pages, path, reviewer.strip()
        self._removed = removed or {}
        self._lock = Lock()  # of the file
        self._image_lock = Lock()  # makers of page images need not bear two threads; no verdict waits for them
        self.token = secrets.token_urlsafe(24)
        saved = read_decisions(path) if path.exists() else []
        own = remaining_decisions(decision for decision in saved if decision.reviewer == self._reviewer)
        digests = {candidate.id: candidate_digest(candidate) for candidate in candidates}
        self._given = [decision for decision in own if digests.get(decision.candidate) == decision.digest]
        self._stale = {decision.candidate for decision in current_decisions(own, candidates).stale}

    def page(self, values: Parameters) -> tuple[str, bytes]:  # noqa: ARG002 # as of the other addresses
        """Return the page."""
        text = render_review(self.token, self._reviewer, str(self._path))
        return "text/html; charset=utf-8", text.encode("utf-8", "replace")

    def verdicts(self, values: Parameters) -> tuple[str, bytes]:  # noqa: ARG002
        """Return the reviewer's verdict about each candidate, in their order; "" where there is none."""
        decisions = self._decisions
        given = (decisions.get(candidate.id) for candidate in self._candidates)
        return _json([decision.verdict if decision else "" for decision in given])

    def candidate(self, values: Parameters) -> tuple[str, bytes]:
        """Return a candidate with the texts of its pages, and the reviewer's own decision; never those of others."""
        candidate = self._candidate(values.get("place", ""))
        decision = self._decisions.get(candidate.id)
        return _json(
            {
                "id": candidate.id,
                "question": candidate.question,
                "answers": candidate.answers,
                "about": [candidate.source.replace("_", " "), candidate.task, candidate.answer_form],
                "document": candidate.document,
                "pages": [shown_page(self._pages, candidate, page) for page in candidate.pages],
                "decision": {name: getattr(decision, name) for name in _CHOICES} if decision else None,
                "stale": not decision and candidate.id in self._stale,
                "removed": self._removed.get(candidate.id, ""),
            }
        )

    def image(self, values: Parameters) -> tuple[str, bytes]:
        """Return the image of a page that a candidate has evidence on; no other page is shown."""
        candidate, page = self._candidate(values.get("place", "")), values.number("page", 0)
        if page not in candidate.pages:
            raise DataError(f"candidate {candidate.id} has no evidence on page {page + 1}")
        with self._image_lock:
            return "image/webp", webp(self._pages.image(candidate.document, page), _WIDTH)

    def decide(self, content: bytes) -> tuple[str, bytes]:
        """Save a decision: an object with `place`, `verdict`, and if wanted `reason`, `question` and `answer`.

        Raises:
            DataError: it is no decision, or cannot be saved.
        """
        record = json_of(content)
        if not isinstance(record, dict) or not isinstance(record.get("place"), str):
            raise DataError("a decision is an object with a `place`, a text")
        candidate = self._candidate(record.pop("place"))
        record |= {"candidate": candidate.id, "digest": candidate_digest(candidate), "reviewer": self._reviewer}
        if record.get("verdict") == UNDO:
            raise DataError("a verdict is taken back at /undo")
        decision = decision_of(record | {"time": _now()})
        with self._lock:
            add_decision(self._path, decision)
            self._given.append(decision)
        return _json({"verdict": decision.verdict})

    def undo(self, content: bytes) -> tuple[str, bytes]:  # noqa: ARG002 # the last verdict is known here
        """Take the reviewer's last verdict back by one more line; returns its candidate's place and present verdict.

        Raises:
            DataError: there is none, or the line cannot be saved.
        """
        with self._lock:
            if not self._given:
                raise DataError("there is no verdict to take back")
            last = self._given[-1]
            add_decision(self._path, Decision(last.candidate, last.digest, self._reviewer, UNDO, time=_now()))
            self._given.pop()
        place = next(place for place, candidate in enumerate(self._candidates) if candidate.id == last.candidate)
        present = self._decisions.get(last.candidate)
        return _json({"place": place, "verdict": present.verdict if present else ""})

    @property
    def _decisions(self) -> dict[str, Decision]:
        """The reviewer's last decision about each candidate."""
        return {decision.candidate: decision for decision in self._given}

    def _candidate(self, place: str) -> Candidate:
        number = whole_number(place)
        if number is None or number >= len(self._candidates):
            message = f"place: there is no candidate {quoted(place)}, only {len(self._candidates):,} from 0 on"
            raise DataError(message)
        return self._candidates[number]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _json(value: Any) -> tuple[str, bytes]:
    return "application/json", as_json(value)


class ReviewHandler(http.Handler):
    """Answers the reviewer's browser on this machine."""

    review: Review
    on_data_error = HTTPStatus.BAD_REQUEST

    def admit(self) -> None:
        """Refuse what comes from elsewhere, and decisions of other pages than this review's."""
        super().admit()
        given = self.headers.get(TOKEN, "").encode("latin-1", "replace")
        if self.command == "POST" and not hmac.compare_digest(given, self.review.token.encode()):
            raise Refusal(HTTPStatus.FORBIDDEN, "this page is of an earlier review: load it again")

    def routes(self) -> http.Verbs:
        """Return what answers at the address."""
        review = self.review
        shown = {
            "/": review.page,
            "/verdicts": review.verdicts,
            "/candidate": review.candidate,
            "/image": review.image,
        }
        decided = {"/decision": review.decide, "/undo": review.undo}
        if show := shown.get(self.address):
            return {"GET": lambda _: self.send(HTTPStatus.OK, *show(self.values))}
        if decide := decided.get(self.address):
            return {"POST": lambda body: self.send(HTTPStatus.OK, *decide(body))}
        raise Refusal(HTTPStatus.NOT_FOUND, f"{self.address}: there is nothing here")


def serve_review(
    candidates: Sequence[Candidate],
    pages: PageSource,
    decisions_file: Path,
    *,
    reviewer: str,
    port: int = 0,
    removed: Mapping[str, str] | None = None,
) -> http.Server:
    """Open the review of candidates on this machine's own address; `http.serve_until_interrupted` answers with it.

    Args:
        candidates: to review, in their order.
        pages: texts and images of their pages.
        decisions_file: `.jsonl`; each decision is written to its end at once.
        reviewer: the name of the reviewer.
        port: of the server; 0 takes a free one.
        removed: why a rule removed a candidate, by its id; those are marked.

    Raises:
        DataError: there is nothing to review, the file has mistakes, or the port is taken.
    """
    review = Review(candidates, pages, decisions_file, reviewer, removed)
    return http.open_server(type("OneReview", (ReviewHandler,), {"review": review}), port)
