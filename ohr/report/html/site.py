"""`ohr view`: runs as pages on a local port; questions and page images are read when they are looked at."""

from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any, cast, get_args
from urllib.parse import unquote

from ohr.errors import DataError
from ohr.report.html.details import Details
from ohr.report.html.findings import read_findings
from ohr.report.html.images import PageImages
from ohr.report.html.question_list import ORDERS, Change, Choice, QuestionList
from ohr.report.html.report_page import html_answer, json_answer, packed, render, render_index
from ohr.results.folder.run_folder import MANIFEST
from ohr.results.run import Run
from ohr.serving import http
from ohr.serving.http import Parameters

_KEPT = 4  # runs whose questions are held at once
_MOST = 200  # questions of one answer

Progress = Callable[[Path], list[dict[str, Any]]]
"""A run's folder to its phases: name, done, total, rate, and seconds left or None."""


class _Opened:
    """A finished run that somebody looks at.

    Args:
        trust_plugins: run the plugin files of its spec, to make page images.
    """

    def __init__(self, run: Run, *, trust_plugins: bool) -> None:
        self._lock = Lock()  # of the Parquet files, which are read by place
        self._findings = read_findings(run, trust_plugins=trust_plugins)
        self._listed = QuestionList(run)
        self._details = Details(self._listed)
        self._images = PageImages(run, trust_plugins=trust_plugins)

    def page(self, values: Parameters) -> tuple[str, bytes]:  # noqa: ARG002 # as of the other addresses
        page = render(
            [self._findings], {"0/charts": packed(self._findings.charts)}, title=self._findings.name, mode="served"
        )
        return html_answer("".join(page))

    def about(self, values: Parameters) -> tuple[str, bytes]:  # noqa: ARG002
        return json_answer(self._listed.about())

    def questions(self, values: Parameters) -> tuple[str, bytes]:
        listed = self._listed
        size, number = values.number("size", 1, _MOST, default=25), values.number("page", 1, default=1)
        choice = Choice(
            pipeline=values.number("pipeline", 0, max(len(listed.pipelines) - 1, 0)),  # pages alone have none
            condition=values.number("condition", 0, max(len(listed.conditions) - 1, 0)),
            change=cast("Change", values.word("change", get_args(Change))),
            source=values.word("source", ["", *listed.groups["source"]]),
            domain=values.word("domain", ["", *listed.groups["domain"]]),
            search=values.get("search", ""),
            order=values.word("order", ORDERS, default="lost"),
            descending=values.word("descending", ("0", "1"), default="1") == "1",
        )
        with self._lock:
            found = listed.select(choice)
            rows = listed.rows(choice, found[(number - 1) * size : number * size].tolist())
        return json_answer({"data": rows, "last_page": max(1, -(-len(found) // size)), "last_row": len(found)})

    def question(self, values: Parameters) -> tuple[str, bytes]:
        """Return one question with everything that is known of it."""
        with self._lock:
            return json_answer(self._details.read([values.number("place", 0, len(self._listed.ids) - 1)]))

    def image(self, values: Parameters) -> tuple[str, bytes]:
        """Return a page image, as the engine saw it."""
        condition = values.word("condition", self._listed.conditions)
        document = values.word("document", list(dict.fromkeys(self._listed.documents)))
        with self._lock:  # noises and renderers need not bear two threads
            page = values.number("page", 0, self._images.count(document) - 1)
            return "image/webp", self._images.make(condition, document, page)


class Site:
    """The runs of a folder.

    Args:
        progress: reads how far an unfinished run is.
        trust_plugins: run the plugin files of the runs' specs, to make page images.
    """

    def __init__(self, runs: Path, progress: Progress, *, trust_plugins: bool = False) -> None:
        self._runs, self._progress, self._lock = runs, progress, Lock()

        @lru_cache(maxsize=_KEPT)
        def opened(folder: Path, written: int) -> _Opened:  # noqa: ARG001 # a run that is written again is read again
            return _Opened(Run.finished(folder), trust_plugins=trust_plugins)

        self._opened = opened

    def answer(self, path: str, values: Parameters) -> tuple[str, bytes]:
        """Return the type and the body of an address.

        Raises:
            DataError: there is nothing at the address, or it cannot be read.
        """
        parts = [unquote(part) for part in path.strip("/").split("/") if part]
        if not parts:
            text = render_index(self.listed(), str(self._runs))
            return html_answer(text)
        if parts == ["runs.json"]:
            return json_answer(self.listed())
        if len(parts) < 3 or parts[0] != "run":
            raise DataError(f"{path}: there is nothing here")
        folder = self._folder(parts[1], parts[2])
        with self._lock:
            run = self._opened(folder, (folder / MANIFEST).stat().st_mtime_ns)
        kind = parts[4] if len(parts) == 5 and parts[3] == "0" else "page" if len(parts) == 3 else ""
        if kind not in ("page", "about", "questions", "question", "image"):
            raise DataError(f"{path}: there is nothing here")
        found: tuple[str, bytes] = getattr(run, kind)(values)
        return found

    def listed(self) -> list[dict[str, Any]]:
        """List the runs, the newest first, with the progress of those that are not finished."""
        found: list[dict[str, Any]] = []
        for path in self._runs.glob(f"*/*/{MANIFEST}"):
            folder, run = path.parent, Run(path.parent)
            names = {"name": folder.parent.name, "folder": folder.name}
            try:
                manifest = run.manifest
            except DataError as error:
                found.append({**names, "status": "damaged", "why": str(error)})
                continue
            state = run.status
            about = {name: manifest.get(name) for name in ("started", "questions", "documents")}
            about["failures"] = (manifest.get("failures") or {}).get("items")
            ahead = {} if state == "running" else {"left": None}
            about["phases"] = [] if state == "finished" else [{**phase, **ahead} for phase in self._progress(folder)]
            found.append(_row(folder, state, why=str(manifest.get("reason") or ""), **about))
        return sorted(found, key=lambda run: run["folder"], reverse=True)

    def _folder(self, name: str, run: str) -> Path:
        """Find a run's folder; only names that are there count, so that no path leaves the folder of runs."""
        for path in self._runs.glob(f"*/*/{MANIFEST}"):
            if (path.parent.parent.name, path.parent.name) == (name, run):
                return path.parent
        raise DataError(f"{name}/{run}: there is no such run")


def _row(folder: Path, state: str, **about: Any) -> dict[str, Any]:
    about["started"] = str(about.get("started") or "")[:16].replace("T", " ")
    names = ("questions", "documents", "failures", "phases")
    return {"name": folder.parent.name, "folder": folder.name, "status": state, **dict.fromkeys(names), **about}


class Handler(http.Handler):
    """Answers browsers on this machine."""

    site: Site
    on_data_error = HTTPStatus.NOT_FOUND

    def routes(self) -> http.Verbs:
        """Return what answers; the site knows its addresses itself."""
        return {"GET": self._show}

    def _show(self, body: bytes) -> None:  # noqa: ARG002 # as of other servers
        if self.address.startswith("/run/") and self.address.count("/") == 3:  # relative addresses start at the run
            self.send(HTTPStatus.FOUND, "text/plain", b"", {"Location": f"{self.address}/"})
            return
        self.send(HTTPStatus.OK, *self.site.answer(self.address, self.values))


def make_server(site: Site, port: int) -> http.Server:
    """Open a server on this machine's own address; the port 0 takes a free one.

    Raises:
        DataError: the port is taken.
    """
    return http.open_server(type("SiteHandler", (Handler,), {"site": site}), port)
