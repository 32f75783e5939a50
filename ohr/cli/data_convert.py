"""`ohr data convert`: a system's own result files as OHRBench's layout."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import report, say, say_first, say_json
from ohr.cli.options import AsJson, Force
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.contracts import Document, Page


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
    warnings = reader.notes(documents)
    about = f"data convert {source.resolve()} --format {shown} --markup {markup} --benchmark {kind} --root {root}"
    with filled(target, "OUT", {"command": about}, force=force):
        written, failed, hygiene = _converted(reader, documents, target)
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


def _converted(
    reader: Any, documents: "Sequence[Document]", target: Path
) -> tuple[list[int], list[str], dict[str, int]]:
    """Write all documents that are not whole yet; returns the pages of each, those that failed, and artifacts.

    Artifacts are counted by the pages that have some of a kind.
    """
    from ohr.markup.artifacts import artifacts

    failed, written, hygiene = [], [], Counter[str]()
    for document in documents:
        pages = _whole(target, document)
        if not pages:
            read: Sequence[Page] = reader.recorded(document)
            failed += [f"{page.document} page {page.index + 1}: {page.error}" for page in read if page.error]
            pages = [page for page in read if not page.error]
            _write(target, document, pages)
        written.append(len(pages))
        hygiene.update(kind for page in pages for kind in {artifact.kind for artifact in artifacts(page.text)})
    return written, failed, dict(sorted(hygiene.items()))


def _whole(target: Path, document: "Document") -> "Sequence[Page]":
    """Return the pages of a document where an earlier, unfinished conversion has written all; else none."""
    from ohr.errors import DataError
    from ohr.files.ohrbench_json import read_pages

    try:
        pages = read_pages(target, document.name)
    except DataError:  # cut
        return ()
    return pages if len(pages) == document.pages else ()


def _write(target: Path, document: "Document", pages: "Sequence[Page]") -> None:
    """Write a document's pages."""
    from ohr.files.ohrbench_json import write_pages
    from ohr.results.folder.whole_files import replaced

    if pages:
        path = target / f"{document.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as new:
            write_pages(new, pages)
