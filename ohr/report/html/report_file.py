"""Writes the report of runs: one file that opens offline, and a folder of data beside it where there is much."""

import base64
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ohr import extras
from ohr.errors import DataError
from ohr.noise_files.workers import each
from ohr.noise_files.workers import workers as processes
from ohr.report.html.details import Details, Gathered, assembled
from ohr.report.html.findings import Findings, read_findings
from ohr.report.html.images import PageImages
from ohr.report.html.question_list import Choice, QuestionList, shown
from ohr.report.html.report_page import packed, render
from ohr.results.folder.replace import record_folder, refuse, set_aside, written
from ohr.results.folder.run_folder import REPORT
from ohr.results.run import Run
from ohr.unfinished import unfinished

IMAGES = 24
"""Page images that a report embeds by default."""

_EMBEDDED = 3_600_000  # characters of packed data in the page; with its libraries and tables it stays under 5 MB
_QUESTIONS = 48  # questions of one part of the details: about a megabyte of JSON
_MANY = 2_000  # questions from which processes save more time than it takes to start them
_IMAGE_BYTES = 1_200_000
_PATIENCE = 5  # page images that may fail before no more are tried: where data or a plugin is missing, all do


class Parts:
    """The data of a page: held to be embedded, or written beside it as soon as it is too much.

    Args:
        folder: where files beside the page go.
    """

    def __init__(self, folder: Path) -> None:
        self.embedded: dict[str, str] = {}
        self._loose: dict[str, str] = {}
        self._folder, self._size = folder, 0

    @property
    def beside(self) -> bool:
        """Report whether there are files beside the page."""
        return self._size > _EMBEDDED

    def embed(self, name: str, value: Any) -> None:
        """Add data that the page begins with."""
        self.embedded[name] = packed(value)
        self._grow(self.embedded[name])

    def add(self, name: str, value: Any) -> None:
        """Add data that the page reads when it is looked at."""
        self.put(name, packed(value))

    def put(self, name: str, text: str) -> None:
        """Add data that is packed already."""
        self._loose[name] = text
        self._grow(text)

    def close(self) -> None:
        """Embed everything that was not written."""
        self.embedded |= self._loose
        self._loose = {}

    def _grow(self, text: str) -> None:
        self._size += len(text)
        if self.beside:
            for name, held in self._loose.items():
                self._write(name, held)
            self._loose = {}

    def _write(self, name: str, text: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        script = f'ohrPart("{name}","{text}");\n'  # names and base64: nothing to escape
        (self._folder / f"{name.replace('/', '-')}.js").write_text(script, encoding="ascii")


def write_report(
    runs: Sequence[Run],
    path: Path,
    *,
    images: int = IMAGES,
    details: int | None = None,
    trust_plugins: bool = False,
    pages: bool = False,
    texts: bool = True,
    workers: int = 1,
    force: bool = False,
) -> list[Path]:
    """Write the report of some runs.

    Args:
        path: of the file; data beside it goes to `<name>-data`.
        images: page images that are embedded at most, those of the questions that lost most.
        details: questions of each run that can be opened, those that lost most; by default all.
        trust_plugins: run the plugin files of the runs' specs, to make page images.
        pages: measure what the pages of the runs look like, where a run has not done it.
        texts: show questions, answers and pages; without, the page has numbers and names alone, and no images.
        workers: processes for the details of large runs.
        force: keep a file or folder that is there, and that ohr did not write, as `<name>.bak-<time>`.

    Returns:
        The file, and the folder beside it where there is one.

    Raises:
        DataError: a run is not finished or damaged, the file cannot be written, or something else is there.
        MissingExtra: jinja2 is not installed.
    """
    beside = path.with_name(f"{path.stem}-data")
    own = _ready(runs, path, beside, force)
    if not texts:
        images = details = 0
    new = unfinished(path.parent, "-data")
    parts = Parts(new)
    count = workers if sum(run.manifest["questions"] for run in runs) > _MANY else 1
    try:
        with processes(count) as executor:
            reading = partial(read_findings, trust_plugins=trust_plugins, pages=pages, texts=texts)
            submitted = [executor.submit(reading, run) for run in runs]
            for number, run in enumerate(runs):
                listed = QuestionList(run, texts=texts)
                _add(parts, str(number), listed, images // len(runs), trust_plugins)
                _add_details(parts, str(number), listed, details, executor, count)
            findings = [future.result() for future in submitted]
        for number, shown_run in enumerate(findings):
            parts.embed(f"{number}/charts", shown_run.charts)
        parts.close()
        pieces = render(findings, parts.embedded, title=_title(findings), parts=beside.name if parts.beside else "")
        with written(path, "--out", force=force, own=own) as file, file.open("wb") as page:
            page.writelines(piece.encode("utf-8", "replace") for piece in pieces)
        return [path, *_moved(new, beside)]
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _moved(new: Path, beside: Path) -> list[Path]:
    """Put the folder of data, where there is one, in the place of an earlier one."""
    set_aside(beside)
    shutil.rmtree(beside, ignore_errors=True)
    if not new.exists():
        return []
    record_folder(new)
    return [new.rename(beside)]


def _title(findings: Sequence[Findings]) -> str:
    return f"{findings[0].name}: report" if len(findings) == 1 else f"{len(findings)} runs: report"


def _ready(runs: Sequence[Run], path: Path, beside: Path, force: bool) -> bool:
    """Refuse what `write_report` refuses; returns whether the page is that of a run, in the run's folder."""
    extras.require("jinja2", "report")
    own = path.resolve() in [(run.folder / REPORT).resolve() for run in runs]
    for place in (beside,) if own else (path, beside):
        refuse(place, "--out", force=force)
    return own


def _add(parts: Parts, run: str, listed: QuestionList, images: int, trust_plugins: bool) -> None:
    parts.embed(f"{run}/about", listed.about())
    parts.add(f"{run}/images", embedded_images(listed, images, trust_plugins))
    for pipeline in range(len(listed.pipelines)):
        parts.add(f"{run}/scores/{pipeline}", _scores(listed, pipeline))


def _add_details(
    parts: Parts, run: str, listed: QuestionList, most: int | None, executor: Executor, count: int
) -> None:
    """Add everything that is known of each question, or of those that lost most."""
    chosen = range(len(listed.ids)) if most is None else listed.select(Choice(*listed.start))[:most].tolist()
    # by document, so that the pages of a document are in few parts
    order = sorted(chosen, key=lambda place: listed.documents[place])
    held = [order[start : start + _QUESTIONS] for start in range(0, len(order), _QUESTIONS)]
    parts.add(f"{run}/index", _index(listed, {place: n for n, places in enumerate(held) for place in places}))
    details = Details(listed, only=order)
    gathered = (details.gathered(places) for places in held)
    for number, text in enumerate(each(executor, _packed, gathered, count)):
        parts.put(f"{run}/details/{number}", text)


def _packed(part: Gathered) -> str:
    return packed(assembled(part))


def _index(listed: QuestionList, part: dict[int, int]) -> dict[str, Any]:
    return {
        "id": listed.ids,
        "text": [shown(text) for text in listed.texts],
        "document": listed.documents,
        "domain": listed.domains,
        "source": listed.sources,
        "part": [part.get(place) for place in range(len(listed.ids))],
    }


def _scores(listed: QuestionList, pipeline: int) -> dict[str, Any]:
    """Return the scores of a pipeline: for each condition a column of numbers, and the places that failed."""
    cells = [listed.scores(pipeline, condition) for condition in range(len(listed.conditions))]
    return {
        "values": [
            [None if value != value else value for value in np.round(values, 4).tolist()] for values, _ in cells
        ],
        "failed": [np.flatnonzero(bad).tolist() for _, bad in cells],
    }


def embedded_images(listed: QuestionList, most: int, trust_plugins: bool) -> dict[str, Any]:
    """Make the page images of the questions that lost most, until there are enough.

    Returns:
        `sources`: condition to the condition whose images it has. `pages`: data URLs by source, document and page.
        `reason`: why there are none.
    """
    images = PageImages(listed.run, trust_plugins=trust_plugins)
    sources = {condition: images.source(condition) for condition in listed.conditions}
    pages: dict[str, str] = {}
    size, reasons = 0, list[str]()
    for condition, document, index in _wanted(listed, sources) if most else ():
        key = f"{sources[condition]}\t{document}\t{index}"
        if key in pages:
            continue
        if len(pages) >= most or size > _IMAGE_BYTES or len(reasons) > _PATIENCE:
            break
        try:
            made = images.make(condition, document, index)
        except DataError as error:
            reasons.append(str(error))
            continue
        pages[key] = f"data:image/webp;base64,{base64.b64encode(made).decode('ascii')}"
        size += len(made)
    return {"sources": sources, "pages": pages, "reason": "" if pages else next(iter(reasons), "")}


def _wanted(listed: QuestionList, sources: dict[str, str]) -> Iterator[tuple[str, str, int]]:
    """Yield the pages to show, the worst question's first: noisy, then clean where that is another image."""
    from ohr.results.tables.row_lookup import Lookup

    pipeline, worst = listed.start
    order = listed.select(Choice(pipeline, worst))
    asked = Lookup(listed.run.path("questions"), "question_id", ["pages"])
    plain = next((name for name in listed.conditions if not sources[name]), None)
    for place in order.tolist():
        for row in asked.rows([listed.ids[place]]):
            for index in row["pages"] or ():
                for condition in dict.fromkeys((listed.conditions[worst], plain)):
                    if condition is not None:
                        yield condition, listed.documents[place], index
