"""Notes about a set that ohr built from somebody's documents: what its ground truth is worth."""

from collections.abc import Mapping, Sequence

from ohr.contracts import Page
from ohr.files.built_set import BuiltSet, origins, silver_sentence, unchanged
from ohr.messages.faults import Fault, sentences

_CHANGED = "whose ground truth was changed after the set was built"


def built_notes(built: BuiltSet, truth: Mapping[str, Sequence[Page]]) -> list[str]:
    """Return sentences about silver pages, and pages that are not as the set was built.

    Args:
        built: the set as it was built.
        truth: the pages as they are now, by document.
    """
    faults = [
        Fault(
            "page",
            _CHANGED if page.index in built.pages.get(name, {}) else "that the set was built without",
            f"{page.document} page {page.index + 1}",
        )
        for name in truth
        for page in truth[name]
        if not unchanged(built, page)
    ]
    silver, pages = origins(built, truth)["silver"], sum(map(len, truth.values()))
    return [*([silver_sentence(silver, pages, built.engine)] if silver else []), *sentences(faults)]
