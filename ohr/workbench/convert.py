"""Conversion of OCR results, as a system wrote them, to OHRBench's layout."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ohr.contracts import Benchmark, Document, Page
from ohr.errors import DataError
from ohr.registry import Registry

_DOMAIN = "documents"
"""The domain of documents whose files are in no folder, as the benchmark `folder` names it."""


@dataclass
class Converted:
    """The work of a conversion: documents and pages written, and the reasons of those that were not."""

    documents: int = 0
    pages: int = 0
    failures: list[str] = field(default_factory=list)


def convert(source: Path, out: Path, form: str, markup: Any, benchmark: Benchmark | None) -> Converted:
    """Write a folder of results as `<out>/<domain>/<document>.json`, page by page.

    Args:
        form: as `format` of `precomputed`.
        markup: as `markup` of `precomputed`.
        benchmark: names the documents and their pages; None takes each document that the folder has.

    Raises:
        DataError: `out` has files already, or a name leads out of it.
        PluginError: the folder has no results in this format.
    """
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: is not empty; name a new folder")
    engine: Any = Registry().load("ocr", "precomputed")
    reader = engine.model_validate({"root": source, "format": form, "markup": markup})
    reader.check()
    done = Converted()
    for document in benchmark.documents() if benchmark else _found(reader):
        pages = reader.recorded(document) if benchmark else reader.everything(document.name)
        good = [page for page in pages if page.error is None]
        done.failures += [
            f"{document.name} page {page.index}: {page.error}" for page in pages if page.error is not None
        ]
        if good:
            _write(out / f"{_inside(document.name)}.json", good)
            done.documents, done.pages = done.documents + 1, done.pages + len(good)
    return done


def _found(reader: Any) -> Iterator[Document]:
    return (Document(name, name.split("/")[0], "", 0) for name in reader.names())


def _inside(name: str) -> str:
    return name if "/" in name else f"{_DOMAIN}/{name}"


def _write(path: Path, pages: list[Page]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [{"page_idx": page.index, "text": page.text} for page in sorted(pages, key=lambda page: page.index)]
    path.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
