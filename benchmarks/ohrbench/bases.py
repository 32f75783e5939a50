"""Which knowledge bases and documents a folder of OHRBench has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ohr.contracts import Document, Page
from ohr.errors import DataError
from ohr.files.names import UNWRITABLE, by_form, other_form
from ohr.files.ohrbench_json import document_files, json_files, read_document, unwritable_files
from ohr.messages.faults import Fault
from ohr.text.language import is_chinese

TRUTH = "gt"
"""Name of the knowledge base that is the ground truth."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The documents of all knowledge bases, and the faults of their files."""

    documents: tuple[Document, ...]
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


def base_files(root: Path, domains: Sequence[str] | None) -> dict[str, dict[str, Path]]:
    """List the files of each knowledge base by document, without reading one; ground truth first.

    A file that is named in another Unicode form is the ground truth's document; the engine that reads it reports that.
    """
    found: dict[str, dict[str, Path]] = {}
    names: Mapping[str, Sequence[str]] = {}
    for base in base_names(root):
        files = document_files(root / "retrieval_base" / base)
        kept = {name: path for name, path in files.items() if domains is None or name.split("/")[0] in domains}
        found[base] = {other_form(name, names) or name: path for name, path in kept.items()}
        names = names or by_form(found[base])
    return found


def survey(root: Path, domains: tuple[str, ...] | None) -> Survey:
    """Read every file for its number of pages and its faults; a folder that changed is read again."""
    files = ((entry.path, entry.stat()) for entry in json_files(root / "retrieval_base"))
    signature = tuple(sorted((path, about.st_size, about.st_mtime_ns) for path, about in files))
    return _survey(root, domains, signature)


@lru_cache(maxsize=4)
def _survey(root: Path, domains: tuple[str, ...] | None, signature: object) -> Survey:  # noqa: ARG001 # a cache key
    faults: list[Fault] = []
    documents: dict[str, Document] = {}
    for base, files in base_files(root, domains).items():
        truth = base == TRUTH
        faults += [
            Fault("file", f"whose {UNWRITABLE}, left out", name)
            for name in unwritable_files(root / "retrieval_base" / base)
        ]
        for name, path in files.items():
            reading = read_document(path, name)
            if truth:
                faults += reading.faults
            elif name not in documents:
                faults.append(Fault("document", f"of {base} without ground truth, indexed all the same", name))
            count = max((page.index + 1 for page in reading.pages), default=0)
            known = documents.get(name) or Document(name, name.split("/")[0], _language(reading.pages), count)
            documents[name] = replace(known, pages=max(known.pages, count))
    faults += [Fault("document", "without a page, left out", d.name) for d in documents.values() if not d.pages]
    kept = (document for document in documents.values() if document.pages)
    return Survey(tuple(sorted(kept, key=lambda document: f"{document.name}.json".split("/"))), tuple(faults))


def _language(pages: Sequence[Page]) -> str:
    return "zh" if is_chinese("".join(page.text for page in pages)) else "en"
