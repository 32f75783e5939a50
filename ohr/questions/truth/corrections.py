"""Pages that a user corrected, and which of a folder's files are not used."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ohr.contracts import Document, Page
from ohr.errors import DataError
from ohr.files.built_set import BuiltPage, page_digest, read_set
from ohr.files.names import composed
from ohr.files.ohrbench_json import benchmark_root, document_files, read_file, set_names
from ohr.messages.faults import Fault

_DOMAIN = "documents/"
"""Domain of documents in the folder itself, which corrected files may leave out."""


def read_corrected(folder: Path, documents: Sequence[Document]) -> tuple[dict[str, list[Page]], list[Fault]]:
    """Read corrected pages by document, and the faults of those that are not used.

    Of the ground truth of a set that ohr built, only the pages that were changed since are corrected, and those that
    were when it was built.

    Args:
        folder: of `<domain>/<document>.json`, each a list of {page_idx, text}; of `<document>.json` for documents in
            the folder itself. Names may be those of a built set.

    Raises:
        DataError: there is no such folder, or a file is damaged.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder of corrected pages")
    known = _by_name(documents)
    root = benchmark_root(folder)
    built = read_set(root) if root else None
    pages: defaultdict[str, list[Page]] = defaultdict(list)
    faults: list[Fault] = []
    for name, path in _files(folder):
        document = known.get(composed(name))
        if document is None:
            faults.append(Fault("corrected file", "of no document, not used", path.relative_to(folder).as_posix()))
            continue
        as_built = built.pages.get(name, {}) if built else {}
        for page in read_file(path, document.name):
            if page.error is not None or page.index >= document.pages:
                why = page.error or f"the document has {document.pages}"
                faults.append(Fault("corrected page", "that cannot be used", f"{name} page {page.index + 1} ({why})"))
            elif _is_corrected(page, as_built):
                pages[document.name].append(page)
    return pages, faults


def _is_corrected(page: Page, as_built: Mapping[int, BuiltPage]) -> bool:
    before = as_built.get(page.index)
    return before is None or before.origin == "corrected" or before.digest != page_digest(page.text)


def _by_name(documents: Sequence[Document]) -> dict[str, Document]:
    """Return documents by each name that a corrected file may have."""
    renamed = set_names(document.name for document in documents)
    names = {composed(document.name.removeprefix(_DOMAIN)): document for document in documents}
    names |= {renamed[document.name]: document for document in documents}
    return names | {composed(document.name): document for document in documents}


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    yield from document_files(folder).items()
    yield from ((path.stem, path) for path in sorted(folder.glob("*.json")))
