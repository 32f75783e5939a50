"""Reads knowledge bases in OHRBench's layout, whatever state they are in: `<base>/<domain>/<document>.json`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ohr.contracts import Page
from ohr.errors import DataError

from .faults import Fault

TRUTH = "gt"
"""Name of the knowledge base that is the ground truth."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file holds: its pages in ascending order, and what is wrong with it."""

    pages: tuple[Page, ...]
    faults: tuple[Fault, ...]


def base_names(root: Path) -> list[str]:
    """Name the knowledge bases under `root`, ground truth first.

    Raises:
        DataError: there is no ground truth, so that nothing can be evaluated.
    """
    folder = root / "retrieval_base"
    if not (folder / TRUTH).is_dir():
        raise DataError(f"{folder / TRUTH}: no such folder; OHRBench has retrieval_base/gt/<domain>/<document>.json")
    others = sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != TRUTH)
    return [TRUTH, *(name for name in others if not name.startswith("."))]


def document_files(base: Path) -> dict[str, Path]:
    """Give each document's file, in the order in which the published code reads them: by path, suffix included.

    Hidden files and folders are skipped, as there; what does not end in `.json` is no document.
    """
    found = {}
    for path in base.glob("*/**/*.json"):
        parts = path.relative_to(base).parts
        if path.is_file() and not any(part.startswith(".") for part in parts):
            found[parts] = path
    return {"/".join(parts).removesuffix(".json"): found[parts] for parts in sorted(found)}


def read_document(path: Path, name: str) -> Reading:
    """Read a document; what cannot be read is a fault, and a page whose text is no string has an error."""
    where = f"{path.parents[name.count('/')].name}/{name}"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Reading((), (Fault("files that are not readable as JSON", where),))
    if not isinstance(entries, list):
        return Reading((), (Fault("files that are not a list of pages", where),))
    pages: dict[int, Page] = {}
    faults: list[Fault] = []
    for place, entry in enumerate(entries):
        number = _number(entry)
        if number is None:
            faults.append(Fault("pages without a page number, left out", f"{where} entry {place}"))
        elif number in pages:
            faults.append(Fault("pages that stand twice, of which the first counts", f"{where} page {number}"))
        else:
            pages[number] = _page(name, number, entry)
            faults += _page_faults(pages[number], entry, where)
    if list(pages) != sorted(pages):
        faults.append(Fault("files whose pages are out of order, put in order", where))
    return Reading(tuple(pages[number] for number in sorted(pages)), tuple(faults))


def compare(base: str, truth: Mapping[str, tuple[Page, ...]], here: Mapping[str, tuple[Page, ...]]) -> Iterator[Fault]:
    """Tell what a knowledge base lacks of the ground truth, and what it has beyond."""
    domains = {name.split("/")[0] for name in here}
    for domain in sorted({name.split("/")[0] for name in truth} - domains):
        yield Fault(f"domains missing from {base}: what is asked of them scores 0 there", domain)
    for name, pages in truth.items():
        if name.split("/")[0] not in domains:
            continue
        if name not in here:
            yield Fault(f"documents missing from {base}: what is asked of them scores 0 there", name)
            continue
        lacking = {page.index for page in pages} - {page.index for page in here[name]}
        for index in sorted(lacking):
            yield Fault(f"pages missing from {base}", f"{name} page {index}")
    for name in here:
        if name not in truth:
            yield Fault(f"documents of {base} without ground truth, indexed all the same", name)


def _number(entry: Any) -> int | None:
    number = entry.get("page_idx", entry.get("page_no")) if isinstance(entry, dict) else None
    if isinstance(number, str) and number.strip().isdecimal():
        return int(number)
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else None


def _page(name: str, number: int, entry: Mapping[str, Any]) -> Page:
    text = entry.get("text")
    if isinstance(text, str):
        return Page(name, number, text)
    return Page(name, number, "", f"text is {_kind(text)}, not a string")


def _page_faults(page: Page, entry: Mapping[str, Any], where: str) -> Iterator[Fault]:
    if page.error is not None:
        yield Fault("pages whose text is not a string, which count as failed", f"{where} page {page.index}")
    elif not page.text.strip():
        yield Fault(f"pages without text in {where.split('/')[0]}", f"{where} page {page.index}")
    if isinstance(entry.get("page_idx", entry.get("page_no")), str):
        yield Fault("page numbers written as text, read as numbers", f"{where} page {page.index}")


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__
