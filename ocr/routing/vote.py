"""An ensemble of engines that votes by line."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts import DocumentView, Recognition

from .parts import Parts


class Vote(Parts, kind="vote"):
    """Reads each page with all parts and keeps, line by line, the reading that agrees most with the others.

    The first part gives the order of the lines. Lines of the others are paired with its lines by their similarity
    (1 - edit distance / length of the longer one); of a group, the line with the largest sum of similarities to the
    others is kept (the set median; cf. ROVER, Fiscus, ASRU 1997), the first of equal ones. A line of the first part
    without a counterpart stays; one that it lacks is added where most of the parts have it.
    """

    family: ClassVar[str] = "ocr"
    similar: Annotated[float, Field(gt=0, le=1, description="Least similarity of two readings of one line.")] = 0.6

    def recognise_document(self, view: DocumentView) -> list[Recognition]:
        """Read a document with all parts."""
        pages = range(len(view.images))
        found = [self.by_part(place, view, pages) for place in range(len(self.parts))]
        return [self._voted([read[page] for read in found]) for page in pages]

    def _voted(self, reads: Sequence[Recognition]) -> Recognition:
        good = [read for read in reads if read.error is None]
        if not good:
            return Recognition(error="; ".join(str(read.error) for read in reads))
        text = "\n".join(voted([_lines(read.text) for read in good], self.similar))
        tokens = {name: sum(getattr(read, name) for read in good) for name in ("tokens_in", "tokens_out")}
        return replace(good[0], text=text, words=(), confidence=None, seconds=None, reader="", **tokens)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def voted(readings: Sequence[Sequence[str]], least: float) -> list[str]:
    """Vote by line.

    Args:
        readings: the lines that each engine read; the first decides the order.
        least: smallest similarity of two readings of one line, in (0, 1].
    """
    first, *others = readings
    groups = [[line] for line in first]
    unmatched: list[tuple[int, str]] = []  # the group after which a line follows in its own reading
    for lines in others:
        partners = _partners(first, lines, least)
        after = -1
        for place, line in enumerate(lines):
            if place in partners:
                after = partners[place]
                groups[after].append(line)
            else:
                unmatched.append((after, line))
    kept = [_median(group) for group in groups]
    return _with_missing(kept, unmatched, least, len(readings))


def _partners(first: Sequence[str], lines: Sequence[str], least: float) -> dict[int, int]:
    """Pair lines with those of the first reading, the most similar ones first, each once; place by place."""
    if not first or not lines:
        return {}
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    scores = process.cdist(lines, first, scorer=Levenshtein.normalized_similarity, score_cutoff=least)
    order = sorted(
        ((-scores[a, b], abs(a - b), a, b) for a, b in zip(*scores.nonzero(), strict=True) if scores[a, b] >= least)
    )
    found: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, own, other in order:
        if own not in found and other not in taken:
            found[int(own)] = int(other)
            taken.add(other)
    return found


def _median(group: Sequence[str]) -> str:
    if len(group) < 3:
        return group[0]
    from rapidfuzz.distance import Levenshtein

    sums = [sum(Levenshtein.normalized_similarity(line, other) for other in group) for line in group]
    return group[sums.index(max(sums))]


def _with_missing(kept: Sequence[str], unmatched: Sequence[tuple[int, str]], least: float, engines: int) -> list[str]:
    """Insert the lines that the first reading lacks and more than half of all engines have."""
    groups: list[tuple[int, list[str]]] = []
    for after, line in unmatched:
        near = next((n for n, (_, group) in enumerate(groups) if _partners(group[:1], [line], least)), None)
        if near is None:
            groups.append((after, [line]))
        else:
            place, group = groups[near]
            groups[near] = max(place, after), [*group, line]
    found: list[str] = []
    for place in range(-1, len(kept)):
        found += [kept[place]] if place >= 0 else []
        found += [_median(group) for after, group in groups if after == place and len(group) > engines / 2]
    return found
