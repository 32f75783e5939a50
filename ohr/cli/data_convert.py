"""`ohr data convert`: a system's own result files as OHRBench's layout."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import report, say, say_first, say_json
from ohr.cli.options import AsJson, Force
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.contracts import Document, Page, Word


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
    documents = _documents(kind, root) if kind else reader.documents()
    about = f"data convert {source.resolve()} --format {shown} --markup {markup} --benchmark {kind} --root {root}"
    with filled(target, "OUT", {"command": about}, force=force):
        written, failed = _converted(reader, documents, target)
    warnings = reader.notes(documents)  # of files that were just read
    pages, whole = sum(written), sum(count > 0 for count in written)
    if as_json:
        counts = {"format": shown, "documents": whole, "pages": pages, "failed": len(failed)}
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


def _converted(reader: Any, documents: "Sequence[Document]", target: Path) -> tuple[list[int], list[str]]:
    """Write all documents that are not whole yet; returns the pages of each, and the pages that failed."""
    failed, written = [], []
    for document in documents:
        if _is_whole(target, document):
            written.append(document.pages)
            continue
        read: Sequence[Page] = reader.recorded(document)
        failed += [f"{page.document} page {page.index + 1}: {page.error}" for page in read if page.error]
        written.append(_write(target, document, [page for page in read if not page.error], reader.words(document)))
    return written, failed


def _is_whole(target: Path, document: "Document") -> bool:
    """Report whether an earlier, unfinished conversion has written every page of a document."""
    from ohr.errors import DataError
    from ohr.files.ohrbench_json import read_pages

    try:
        pages = read_pages(target, document.name)
    except DataError:  # cut
        return False
    return bool(pages) and len(pages) == document.pages


def _write(target: Path, document: "Document", pages: "Sequence[Page]", words: "Mapping[int, Sequence[Word]]") -> int:
    """Write a document's pages, and the words that have a confidence; returns how many pages there are."""
    from ohr.files.ohrbench_json import write_pages
    from ohr.results.folder.whole_files import replaced

    if pages:
        path = target / f"{document.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as new:
            write_pages(new, pages, words)
    return len(pages)
