"""Notes about a set that ohr built from somebody's documents: where its ground truth comes from."""

from collections import Counter
from collections.abc import Mapping, Sequence

from ohr.contracts import Page
from ohr.files.built_set import BuiltSet, page_digest, silver_sentence
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted

_CHANGED = "whose ground truth was changed after the set was built"


def built_notes(built: BuiltSet, truth: Mapping[str, Sequence[Page]]) -> list[str]:
    """Return sentences about a set.

    Args:
        built: the set as it was built.
        truth: the pages as they are now, by document.
    """
    origins: Counter[str] = Counter()
    faults = []
    for name in truth:
        as_built = built.pages.get(name, {})
        for page in truth[name]:
            before = as_built.get(page.index)
            if before and before.digest == page_digest(page.text):
                origins[before.origin] += 1
            else:
                faults.append(Fault("page", _CHANGED if before else "that the set was built without", _where(page)))
    pages = sum(map(len, truth.values()))
    known = ", ".join(f"{origins[origin]:,} {origin}" for origin in sorted(origins))
    notes = [f"a set that ohr built: {counted(len(truth), 'document')}, {counted(pages, 'page')} of truth ({known})"]
    if origins["silver"]:
        notes.append(silver_sentence(origins["silver"], pages, built.engine))
    return [*notes, *sentences(faults)]


def _where(page: Page) -> str:
    return f"{page.document} page {page.index + 1}"
