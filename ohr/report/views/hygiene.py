"""Artifacts in the texts of a run: a table of them, and the sentences of a first screen where they are many."""

from ohr.markup.artifacts import WORDS
from ohr.messages.wording import counted, named
from ohr.report.views.view import Interval, View
from ohr.results.derived.hygiene_rows import hygiene_by_kind, read_hygiene
from ohr.results.run import Run

_MANY_PAGES, _MANY_CHARACTERS = 0.01, 0.05
"""Shares of a condition's pages, or of their characters, from which artifacts are said first: an engine that fails on
one page of a hundred fails on each long document, and a twentieth of the text is as much as light noise changes."""
_HOW = (
    "What the pages' texts have that is not on the pages: loops of a model that found no end, refusals, fences, "
    "coordinates, pictures as base64. Pages of all draws; characters of a loop are those after its first round. "
    "hygiene.csv has each page; the treatment strip_artifacts removes them."
)


def views(run: Run, *, texts: bool = True) -> list[View]:
    """Return the table of artifacts, with an example of each from a page if wanted; none for a run without them."""
    rows = [
        {**row, "share_of_characters": Interval(row["share_of_characters"], is_share=True)}
        for row in hygiene_by_kind(run)
    ]
    names = {name: name.replace("_", " ") for row in rows for name in row if texts or name != "example"}
    return [View.of("Artifacts in the texts of pages", _HOW, rows, names)] if rows else []


def hygiene_sentences(run: Run) -> list[str]:
    """Return a sentence about the condition with most artifacts, and the others; nothing where they are few."""
    many = [
        found
        for found in read_hygiene(run)
        if found.pages >= _MANY_PAGES * found.of_pages or found.characters >= _MANY_CHARACTERS * found.of_characters
    ]
    if not many:
        return []
    worst = max(many, key=lambda found: found.pages / found.of_pages)
    kinds = ", ".join(f"{WORDS[kind]} on {pages:,}" for kind, pages in worst.kinds.items() if kind in WORDS)
    share, of = worst.characters / max(worst.of_characters, 1), counted(worst.of_pages, "page")
    others = [found.condition for found in many if found is not worst]
    more = f" The texts of {named(others)} have artifacts, too." if others else ""
    return [f"{worst.condition}: {worst.pages:,} of {of} have artifacts, {share:.0%} of the characters: {kinds}.{more}"]
