"""`ohr view`: the pages of a folder of runs on a local port; what is looked at is read then."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from ohr.errors import OhrError
from ohr.report.html.details import Details
from ohr.report.html.findings import read_findings
from ohr.report.html.images import PageImages
from ohr.report.html.pack import as_json, packed
from ohr.report.html.page import policy, render, render_index
from ohr.report.html.questions import Choice, QuestionList
from ohr.results.folder import MANIFEST, read_manifest, status
from ohr.study.events import phases, read_events

_log = logging.getLogger(__name__)

_KEPT = 4
"""Runs whose tables are kept open."""
_IMAGES = 64
"""Page images that are kept: a question that is opened again shows its page at once."""
_MOST = 200
"""Questions of one answer at most."""

Query = Mapping[str, str]


class NotFound(Exception):
    """There is nothing at an address."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a browser."""

    body: bytes
    kind: str = "application/json"
    policy: str = "default-src 'none'"


class OpenRun:
    """A finished run: its page is made once, its tables stay open."""

    def __init__(self, folder: Path, trust_plugins: bool) -> None:
        self._folder, self._trusted, self._lock = folder, trust_plugins, RLock()
        self.listed = QuestionList(folder)
        self._details = Details(self.listed)
        self._images = PageImages(folder, trust_plugins=trust_plugins)
        self.image = lru_cache(maxsize=_IMAGES)(self._image)

    def page(self) -> Reply:
        """Return the page; it asks for everything else."""
        with self._lock:
            findings = read_findings(self._folder, trust_plugins=self._trusted)
        text = render([findings], {"0/charts": packed(findings.charts)}, title=findings.name, mode="served")
        return Reply(text.encode("utf-8", "replace"), "text/html; charset=utf-8", "")

    def about(self, _query: Query) -> Reply:
        """Return what the page needs to offer choices."""
        with self._lock:
            return Reply(as_json(self.listed.about()))

    def questions(self, query: Query) -> Reply:
        """Return one page of the list of questions."""
        pipeline, condition = _number(query, "pipeline"), _number(query, "condition")
        if pipeline >= len(self.listed.pipelines) or condition >= len(self.listed.conditions):
            raise NotFound
        change = query.get("change", "")
        if change not in ("", "lost", "gained", "failed"):
            raise NotFound
        texts = {name: query.get(name, "") for name in ("source", "domain", "search")}
        order, descending = query.get("order", "lost"), query.get("descending", "1") == "1"
        choice = Choice(pipeline, condition, change, **texts, order=order, descending=descending)  # type: ignore[arg-type] # just checked
        size = min(max(_number(query, "size", 25), 1), _MOST)
        with self._lock:
            places = self.listed.select(choice)
            start = size * max(_number(query, "page", 1) - 1, 0)
            rows = self.listed.rows(choice, places[start : start + size].tolist())
        return Reply(as_json({"data": rows, "last_page": max(-(-len(places) // size), 1), "last_row": len(places)}))

    def question(self, query: Query) -> Reply:
        """Return one question with everything that is known of it."""
        place = _number(query, "place")
        if place >= len(self.listed.ids):
            raise NotFound
        with self._lock:
            return Reply(as_json(self._details.read([place])))

    def picture(self, query: Query) -> Reply:
        """Return a page image as a condition's engine saw it."""
        condition, document = query.get("condition", ""), query.get("document", "")
        return Reply(self.image(self._images.source(condition), document, _number(query, "page")), "image/webp")

    def _image(self, source: str, document: str, page: int) -> bytes:
        with self._lock:
            return self._images.make(source, document, page)


class Site:
    """Everything that `ohr view` can show of a folder of runs.

    Args:
        runs: the folder: `<name>/<time>-<key>/` below it.
        trust_plugins: run the plugin files of the runs' specs, to make page images.
    """

    def __init__(self, runs: Path, *, trust_plugins: bool = False) -> None:
        self.runs, self._trusted, self._lock = runs, trust_plugins, RLock()
        self._open = lru_cache(maxsize=_KEPT)(self._opened)

    def reply(self, path: str, query: Query) -> Reply:
        """Answer a request.

        Raises:
            NotFound: there is nothing at this address.
            OhrError: a run cannot be read, with the reason.
        """
        parts = [unquote(part) for part in path.split("/") if part]
        if not parts:
            text = render_index(str(self.runs))
            return Reply(text.encode("utf-8", "replace"), "text/html; charset=utf-8", policy("index", served=True))
        if parts == ["runs"]:
            return Reply(as_json(list_runs(self.runs)))
        if parts[0] != "run" or len(parts) not in (3, 5):
            raise NotFound
        folder = self._folder(*parts[1:3])
        with self._lock:
            run = self._open(folder, (folder / MANIFEST).stat().st_mtime_ns)
        if len(parts) == 3:
            return run.page()
        answers: Mapping[str, Callable[[Query], Reply]] = {
            "about": run.about, "questions": run.questions, "question": run.question, "image": run.picture,
        }  # fmt: skip
        if parts[3] != "0" or parts[4] not in answers:
            raise NotFound
        return answers[parts[4]](query)

    def _opened(self, folder: Path, _written: int) -> OpenRun:
        return OpenRun(folder, self._trusted)

    def _folder(self, name: str, run: str) -> Path:
        """Find a run by the names of its two folders; no other file can be reached."""
        found = next(
            (folder for folder in run_folders(self.runs) if (folder.parent.name, folder.name) == (name, run)), None
        )
        if found is None:
            raise NotFound
        return found


def run_folders(runs: Path) -> list[Path]:
    """List the folders of runs, in any state."""
    return [path.parent for path in runs.glob(f"*/*/{MANIFEST}") if not path.parent.name.startswith(".")]


def list_runs(runs: Path) -> list[dict[str, Any]]:
    """Describe the runs of a folder, the newest first, with the progress of those that are not finished."""
    found = []
    for folder in sorted(run_folders(runs), key=lambda folder: folder.name, reverse=True):
        about: dict[str, Any] = {"name": folder.parent.name, "folder": folder.name, "phases": [], "path": ""}
        about |= {"questions": None, "failures": 0, "reason": "", "last": ""}
        try:
            manifest = read_manifest(folder)
            about["status"], about["questions"] = status(manifest), manifest.get("questions")
            about["reason"] = str(manifest.get("reason") or "")
            about["failures"] = int((manifest.get("failures") or {}).get("items", 0))
        except (OhrError, TypeError, ValueError, AttributeError) as error:
            found.append({**about, "status": "not readable", "reason": str(error)})
            continue
        if about["status"] == "finished":
            about["path"] = f"/run/{quote(folder.parent.name, safe='')}/{quote(folder.name, safe='')}/"
        else:
            about |= _progress(folder)
        found.append(about)
    return found


def _progress(folder: Path) -> dict[str, Any]:
    seen = [{"name": p.name, "done": p.done, "total": p.total, "left": p.left} for p in phases(folder)]
    failures = [event for event in read_events(folder) if event.get("event") == "failure"]
    last = failures[-1] if failures else {}
    reason = f"{last.get('stage')} on {last.get('item')}: {last.get('reason')}" if last else ""
    return {"phases": seen, "failures": len(failures), "last": reason}


def _number(query: Query, name: str, default: int = 0) -> int:
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise NotFound
    return int(text)


# --- the server -------------------------------------------------------------------------------------------


def make_server(site: Site, port: int) -> ThreadingHTTPServer:
    """Return a server on this machine only; port 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """

    class Handler(_Handler):
        pages = site

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


class _Handler(BaseHTTPRequestHandler):
    """Answers browsers on this machine."""

    pages: ClassVar[Site]
    protocol_version = "HTTP/1.1"
    server_version = "ohr"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a request."""
        if not self._is_local():
            self._send(HTTPStatus.FORBIDDEN, _plain("ohr view answers to 127.0.0.1 and localhost only"))
            return
        address = urlsplit(self.path)
        try:
            self._send(HTTPStatus.OK, self.pages.reply(address.path, dict(parse_qsl(address.query))))
        except NotFound:
            self._send(HTTPStatus.NOT_FOUND, _plain("nothing is here"))
        except OhrError as error:
            self._send(HTTPStatus.UNPROCESSABLE_ENTITY, _plain(str(error)))
        except (BrokenPipeError, ConnectionResetError):  # the reader has left the page
            self.close_connection = True
        except Exception as error:
            _log.exception("%s", self.path)
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, _plain(f"{type(error).__name__}: {error}"))

    def _is_local(self) -> bool:
        """Report whether the browser asked for this machine: a page elsewhere that renames itself to it did not."""
        port = self.server.server_address[1]
        return self.headers.get("Host", "") in (f"127.0.0.1:{port}", f"localhost:{port}")

    def _send(self, state: HTTPStatus, reply: Reply) -> None:
        self.send_response(state)
        headers: Sequence[tuple[str, str]] = (
            ("Content-Type", reply.kind),
            ("Content-Length", str(len(reply.body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("X-Frame-Options", "DENY"),
        )
        for name, value in headers:
            self.send_header(name, value)
        if reply.policy:
            self.send_header("Content-Security-Policy", reply.policy)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """Log requests where they are asked for, not in the user's terminal."""
        _log.debug(format, *args)


def _plain(text: str) -> Reply:
    return Reply(text.encode("utf-8", "replace"), "text/plain; charset=utf-8")
