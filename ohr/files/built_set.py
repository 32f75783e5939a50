"""A set of questions that ohr built, in OHRBench's layout: `set.json` says where its ground truth comes from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.json_input import parse_json
from ohr.messages.wording import counted

FILE = "set.json"
"""File in the folder of a set of questions that says how it was built."""
FORMAT = "ohr question set 1"
"""Value of the key `format`, by which a built set is known."""


class BuiltPage(NamedTuple):
    """How the ground truth of a page came about: `text_layer`, `corrected` or `silver`; and the hash of its text."""

    origin: str
    digest: str


@dataclass(frozen=True, slots=True)
class BuiltSet:
    """The origin of a set's ground truth.

    Args:
        engine: that read the silver pages, with its version; empty where there are none.
        languages: of the documents (ISO 639-1).
        pages: by document and index.
    """

    engine: str
    languages: Mapping[str, str]
    pages: Mapping[str, Mapping[int, BuiltPage]]


def read_set(root: Path) -> BuiltSet | None:
    """Read where the ground truth of a set comes from; None where a folder is no set that ohr built.

    Raises:
        DataError: its file is damaged.
    """
    path = root / FILE
    return _read(path) if path.is_file() else None


@kept_until_changed()
def _read(path: Path) -> BuiltSet | None:
    try:
        content = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return None
    try:
        documents: Mapping[str, Any] = content["documents"]
        return BuiltSet(
            str(content["truth"]["engine"]),
            {name: str(documents[name]["language"]) for name in documents},
            {
                name: {
                    int(index): BuiltPage(str(about["origin"]), str(about["sha256"]))
                    for index, about in documents[name]["pages"].items()
                }
                for name in documents
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: not as it was built: {type(error).__name__} {error}; build the set again") from None


def unchanged(built: BuiltSet, page: Page) -> bool:
    """Report whether the ground truth of a page is as the set was built."""
    before = built.pages.get(page.document, {}).get(page.index)
    return before is not None and before.digest == page_digest(page.text)


def origins(built: BuiltSet, truth: Mapping[str, Sequence[Page]]) -> Counter[str]:
    """Count the pages that are as the set was built, by the origin of their ground truth."""
    every = (page for name in truth for page in truth[name])
    return Counter(built.pages[page.document][page.index].origin for page in every if unchanged(built, page))


def built_sentence(built: BuiltSet, truth: Mapping[str, Sequence[Page]]) -> str:
    """Return the size of a set as it is now, and where its ground truth comes from."""
    counts = origins(built, truth)
    known = ", ".join(f"{counts[origin]:,} {origin}" for origin in sorted(counts))
    pages = counted(sum(map(len, truth.values())), "page")
    return f"a set that ohr built: {counted(len(truth), 'document')}, {pages} of truth ({known})"


def silver_sentence(silver: int, pages: int, engine: str) -> str:
    """Return what everybody must know of results on a set with silver pages."""
    return (
        f"ground truth of {silver:,} of {counted(pages, 'page')} is silver: read by {engine}, not corrected; scores "
        "against it measure agreement with that engine"
    )


def page_digest(text: str) -> str:
    """Hash the text of a page."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
