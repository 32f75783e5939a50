"""`ohr data convert`: a system's own result files as OHRBench's layout."""

import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ohr.cli.display.console import report, say, say_first, say_json
from ohr.cli.options import AsJson, Force
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.contracts import Document, Page, Word
    from ohr.messages.faults import Fault


def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Folder with the results.", show_default=False)],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="A new folder, or one that was left unfinished.", show_default=False)
    ],
    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="The system, as `format` of `precomputed`, if the files do not show it."),
    ] = None,
    markup: Annotated[
        str, typer.Option(metavar="PRESET", help="as_is or ohrbench: LaTeX tables, text only.")
    ] = "as_is",
    kind: Annotated[
        str | None, typer.Option("--benchmark", metavar="KIND", help="Take its documents, with their names.")
    ] = None,
    root: Annotated[Path | None, typer.Option(metavar="DIR", help="The benchmark's folder, if it needs one.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Convert results of MinerU, Marker, docling and others to `<domain>/<document>.json`, as OHRBench has them.

    Without a benchmark, each document that SOURCE seems to hold is converted. A page without a result is left out; the
    command then ends with status 1. When it was killed, the same command continues where it was.
    """
    from ohr.results.folder.replace import filled

    reader = _reader(source, target, format, markup)
    shown: str = reader.format.kind
    files = reader.files(_documents(kind, root) if kind else None)
    about = f"data convert {source.resolve()} --format {shown} --markup {markup} --benchmark {kind} --root {root}"
    with filled(target, "OUT", {"command": about}, force=force):
        written, failed, warnings, hygiene = _all_converted(reader, files, target)
    pages, whole = sum(written), sum(count > 0 for count in written)
    if as_json:
        counts = {"format": shown, "documents": whole, "pages": pages, "failed": len(failed), "hygiene": hygiene}
        say_json({**counts, "failures": failed, "warnings": warnings})
    else:
        where = f"{target}" if format else f"{target}, read as {shown}"
        _print(f"{counted(pages, 'page')} of {counted(whole, 'document')} in {where}", warnings, failed)
    if not pages:
        report(f"nothing in {source} was converted: look at --format and at the names of the files")
    if failed or not pages:
        raise typer.Exit(1)


def _print(written: str, warnings: Sequence[str], failed: Sequence[str]) -> None:
    say_first("warnings:", warnings)
    say_first("pages without a result:", failed)
    say(f"{written}; {len(failed):,} without a result")


def _reader(source: Path, target: Path, format: str | None, markup: str) -> Any:
    from ohr.errors import DataError
    from ohr.spec.read import make_ocr

    if target.resolve().is_relative_to(source.resolve()):
        raise DataError(f"{target} is inside {source}: name a folder elsewhere")
    keys = {"kind": "precomputed", "root": str(source), "markup": markup}
    reader = make_ocr(keys if format is None else {**keys, "format": format}, "ohr data convert")
    reader.check()
    return reader


def _documents(kind: str, root: Path | None) -> "Sequence[Document]":
    from ohr.spec.read import make_benchmark

    keys = {"kind": kind} if root is None else {"kind": kind, "root": str(root)}
    benchmark = make_benchmark(keys, "ohr data convert")
    benchmark.check()
    return benchmark.documents()


_MANY = 20_000_000
"""Bytes of results from which on processes share the work: a second of one, about what it takes to start another."""


class _Done(NamedTuple):
    """A document that was converted: its pages, those that failed and those with artifacts, faults, and warnings."""

    pages: int
    failed: list[str]
    artifacts: "Mapping[str, int]"
    faults: "Sequence[Fault]"
    logged: list[tuple[str, str]]


def _all_converted(
    reader: Any, files: "Sequence[Any]", target: Path
) -> tuple[list[int], list[str], list[str], dict[str, int]]:
    """Convert all documents, in processes where there is much to read.

    Returns:
        the pages of each, failures, warnings, and how many pages have artifacts, by kind.
    """
    from concurrent.futures.process import BrokenProcessPool

    from ohr.errors import DataError
    from ohr.messages.faults import Fault, sentences
    from ohr.noise_files.workers import each, workers

    size = sum(path.stat().st_size for path in {piece.path for one in files for piece in one.pieces} if path.exists())
    count = min(os.cpu_count() or 1, len(files)) if size >= _MANY else 1
    written, failed, faults, hygiene = [], [], list[Fault](), Counter[str]()
    try:
        with workers(count) as executor:
            for done in each(executor, partial(_converted, reader, target), files, count):
                written.append(done.pages)
                failed += done.failed
                faults += done.faults
                hygiene.update(done.artifacts)
                for name, message in done.logged:
                    logging.getLogger(name).warning("%s", message)
    except BrokenProcessPool:
        raise DataError(f"{target}: a process that read results was ended; the same command continues") from None
    return written, failed, sentences(reader.faults(files, faults)), dict(sorted(hygiene.items()))


def _converted(reader: Any, target: Path, files: Any) -> _Done:
    """Write a document that is not whole yet."""
    with _Gathered() as gathered:
        document, pages, words, artifacts, faults = reader.converted(files)
    logged = list(gathered.logged)
    failed = [f"{page.document} page {page.index + 1}: {page.error}" for page in pages if page.error]
    whole = [page for page in pages if not page.error]
    if failed or not _is_whole(target, document):
        _write(target, document, whole, words)
    return _Done(len(whole), failed, artifacts, faults, logged)


class _Gathered(logging.Handler):
    """Gathers warnings of readers, each once: a process of a pool has nobody who reads them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.logged: dict[tuple[str, str], None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message, and its logger's name."""
        self.logged[record.name, record.getMessage()] = None

    def __enter__(self) -> "_Gathered":
        logger = logging.getLogger("ohr")
        self._before = logger.handlers, logger.propagate
        logger.handlers, logger.propagate = [self], False
        return self

    def __exit__(self, *error: object) -> None:
        logger = logging.getLogger("ohr")
        logger.handlers, logger.propagate = self._before


def _is_whole(target: Path, document: "Document") -> bool:
    """Report whether an earlier, unfinished conversion has written every page of a document."""
    from ohr.errors import DataError
    from ohr.files.ohrbench_json import read_pages

    try:
        pages = read_pages(target, document.name)
    except DataError:  # cut
        return False
    return bool(pages) and len(pages) == document.pages


def _write(target: Path, document: "Document", pages: "Sequence[Page]", words: "Mapping[int, Sequence[Word]]") -> None:
    """Write a document's pages, and the words that have a confidence."""
    from ohr.files.ohrbench_json import write_pages
    from ohr.results.folder.whole_files import replaced

    if pages:
        path = target / f"{document.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as new:
            write_pages(new, pages, words)
