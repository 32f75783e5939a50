"""A page corpus, read from its Parquet files, which are read again after a change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ohr.files.changes import State, state_of
from ohr.files.names import quoted_id
from ohr.messages.faults import Fault, sentences

from ..copies import Copy
from .corpus import Pages, read_pages
from .layout import NAMES, SAMPLE, parquet_files
from .queries import read_questions


@dataclass(frozen=True, slots=True)
class PageCopy(Copy):
    """The content of a copy."""

    pages: Pages


def root_of(root: Path | str) -> Path:
    """Return the folder that `root` names."""
    return (SAMPLE if root == "sample" else Path(root)).resolve()


def load(root: Path | str, split: str | None, languages: tuple[str, ...] | None, language: str) -> PageCopy:
    """Read a page corpus without its images; one whose files did not change is read once.

    Raises:
        DataError: a file is missing or damaged, lacks a column, or contradicts another; or there is no such language.
    """
    folder = root_of(root)
    files = parquet_files(folder, split)
    state = state_of(*(path for paths in files.values() for path in paths))
    return _load(folder.name, tuple(files.items()), state, languages, language)


@lru_cache(maxsize=4)
def _load(
    name: str,
    files: tuple[tuple[str, tuple[Path, ...]], ...],
    state: State,  # noqa: ARG001 # a key
    languages: tuple[str, ...] | None,
    language: str,
) -> PageCopy:
    faults: list[Fault] = []
    paths: Mapping[str, tuple[Path, ...]] = dict(files)
    pages = read_pages(paths, quoted_id(name), language, faults)
    places, questions = read_questions(paths, pages, languages, faults)
    notes = (*sentences(faults), *_absent(pages))
    return PageCopy(pages.documents, questions, places, notes, pages)


def _absent(pages: Pages) -> Iterator[str]:
    """Yield what follows where the corpus has no column of documents or of texts."""
    held = pages.shards[0].columns.keys()
    if "document" not in held:
        names = " or ".join(NAMES["corpus"]["document"])
        yield f"the corpus has no column {names}: each page is a document, and intervals do not cluster pages"
    if "text" not in held:
        names = " or ".join(NAMES["corpus"]["text"])
        yield f"the corpus has no column {names}: there is no ground truth, and text retrieval needs an OCR engine"
