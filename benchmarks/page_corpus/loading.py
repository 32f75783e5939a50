"""A page corpus, read from its Parquet files, which are read again after a change."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ohr.files.changes import State, state_of
from ohr.files.names import quoted_id
from ohr.messages.faults import Fault, sentences

from ..copies import Copy
from .corpus import Pages, read_pages
from .layout import SAMPLE, parquet_files
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
    return PageCopy(pages.documents, questions, places, tuple(sentences(faults)), pages)
