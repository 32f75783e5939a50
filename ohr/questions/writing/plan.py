"""Plans which prompts are asked about which pages."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import ceil
from typing import Any, NamedTuple, TypeVar, cast

from ohr.contracts import EvidenceSource, Page, PageId
from ohr.messages.wording import counted
from ohr.questions.candidate import Task
from ohr.questions.writing.assignment import Assignment, Passage
from ohr.questions.writing.layout import Spot, section, spots, title
from ohr.questions.writing.templates import LEVELS, TASKS, Asked, Level, assigned
from ohr.questions.writing.wanted import ONE_PAGE, Form, Wanted
from ohr.seeds import generator
from ohr.text.language import written_in

Pages = Mapping[str, Sequence[Page]]
"""The usable pages of each document."""

_Kind = TypeVar("_Kind", bound=str)


class Plan(NamedTuple):
    """The assignments, and in sentences what is asked for and cannot be had."""

    assignments: tuple[Assignment, ...]
    notes: tuple[str, ...]


def plan_writing(pages: Pages, wanted: Wanted, seed: int) -> Plan:
    """Plan the questions on one page each.

    Questions are spread over documents first and pages second, as intervals need many documents. Each source gets its
    share, from the pages that have it; where no page can give more of a source, the others get what is left of it. The
    same pages and seed give the same assignments, and a larger `total` those of a smaller one and more.

    Args:
        pages: pages without text, or in other scripts than Latin and Chinese, are left out; a note counts the latter.
    """
    planner = _Planner(pages, wanted, seed)
    assignments = tuple(planner.assignments())
    return Plan(assignments, tuple(planner.notes()))


def fairest(counts: Mapping[_Kind, int], shares: Mapping[_Kind, float]) -> _Kind:
    """Return the kind that is the farthest below its share; kinds without a share are never taken."""
    return min(
        (kind for kind, share in shares.items() if share > 0), key=lambda kind: (counts[kind] + 1) / shares[kind]
    )


def asked_for(wanted: Wanted) -> tuple[int, int]:
    """Return how many questions are asked for on one page and on two."""
    every = ceil(wanted.total * wanted.asked_per_question)
    several = round(every * wanted.multi_page)
    return every - several, several


class _Place(NamedTuple):
    """A spot of a page, in the order in which places are taken: of documents and pages that were asked least."""

    document_asked: int
    page_asked: int
    visits: int
    rank: int
    draw: float
    page: PageId
    spot: Spot


class _Planner:
    """Takes one place after the other, for the source that is the farthest below its share."""

    def __init__(self, pages: Pages, wanted: Wanted, seed: int) -> None:
        self._wanted = wanted
        self._texts: dict[PageId, str] = {}
        self._languages: dict[PageId, str] = {}
        for name in sorted(pages):
            for page in pages[name]:
                if page.text.strip() and not page.error:
                    self._texts[name, page.index] = page.text
                    self._languages[name, page.index] = written_in(page.text)
        self._titles = {
            name: title(next((page.text for page in pages[name] if page.text.strip()), "")) for name in pages
        }
        self._heaps = self._places(seed)
        self._missing = [source for source in ONE_PAGE if wanted.shares.of(source) and not self._heaps[source]]
        self._by_source: Counter[EvidenceSource] = Counter()
        self._by_task: defaultdict[EvidenceSource, Counter[Task]] = defaultdict(Counter)
        self._by_level: defaultdict[EvidenceSource, Counter[Level]] = defaultdict(Counter)
        self._by_form: defaultdict[Task, Counter[Form]] = defaultdict(Counter)
        self._by_document: Counter[str] = Counter()
        self._by_page: Counter[PageId] = Counter()
        self._used: defaultdict[tuple[PageId, Spot], set[tuple[Task, Level]]] = defaultdict(set)

    def _places(self, seed: int) -> dict[EvidenceSource, list[_Place]]:
        heaps: dict[EvidenceSource, list[_Place]] = {source: [] for source in ONE_PAGE}
        for page, text in self._texts.items():
            for number, spot in enumerate(spots(text, self._wanted.most_words)):
                draw = float(generator(seed, "question writing", *page, number).random())
                heaps[spot.source].append(_Place(0, 0, 0, spot.rank, draw, page, spot))
        for heap in heaps.values():
            heapify(heap)
        return heaps

    def assignments(self) -> Iterator[Assignment]:
        """Yield assignments until as many questions are asked for as wanted, or no page has room."""
        left = asked_for(self._wanted)[0]
        shares = {source: self._wanted.shares.of(source) for source in ONE_PAGE if self._heaps[source]}
        while left > 0 and any(shares.values()):
            source = fairest(self._by_source, shares)
            assignment = self._next(source)
            if assignment is None:
                del shares[source]
            else:
                left -= assignment.questions
                yield assignment

    def notes(self) -> Iterator[str]:
        """Yield what cannot be had, in sentences; known after the assignments."""
        for source in self._missing:
            what = "two paragraphs parted by an element" if source == "reading_order" else f"a {source}"
            of_it = f"{100 * self._wanted.shares.of(source) / sum(map(self._wanted.shares.of, ONE_PAGE)):.0f}%"
            yield f"no page has {what}: the {of_it} of the questions on {source} go to the other sources"
        asked, goal = sum(self._by_source.values()), asked_for(self._wanted)[0]
        if asked < goal:
            yield (
                f"the pages have room for {counted(asked, 'question')} of the {goal:,} to be asked for: add documents, "
                f"or raise per_page ({self._wanted.per_page})"
            )

    def _next(self, source: EvidenceSource) -> Assignment | None:
        """Take the place of the document, and in it of the page, that was asked least; None where none has room."""
        heap = self._heaps[source]
        while heap:
            place = heappop(heap)
            room = self._wanted.per_page - self._by_page[place.page]
            now = place._replace(document_asked=self._by_document[place.page[0]], page_asked=self._by_page[place.page])
            if room > 0 and now != place:  # what it was sorted by is not true any more
                heappush(heap, now)
            elif room > 0 and (way := self._way(place, source)):
                heappush(heap, place._replace(visits=place.visits + 1))
                return self._assign(place, *way, min(self._wanted.per_prompt, room))
        return None

    def _way(self, place: _Place, source: EvidenceSource) -> tuple[Task, Level] | None:
        """Return the task and the level of a place's next prompt; None where all of them were asked for."""
        shares: dict[Task, float] = {"understanding": 1 - self._wanted.reasoning, "reasoning": self._wanted.reasoning}
        used = self._used[place.page, place.spot]
        for task in sorted((task for task in TASKS if shares[task]), key=fairest(self._by_task[source], shares).__ne__):
            if levels := {level: 1.0 for level in LEVELS if (task, level) not in used}:
                return task, fairest(self._by_level[source], levels)
        return None

    def _assign(self, place: _Place, task: Task, level: Level, questions: int) -> Assignment:
        (document, index), spot, source = place.page, place.spot, place.spot.source
        form = fairest(self._by_form[task], self._wanted.answer_forms)
        self._used[place.page, spot].add((task, level))
        for counter, kind in (
            (self._by_source, source),
            (self._by_task[source], task),
            (self._by_level[source], level),
            (self._by_form[task], form),
            (self._by_document, document),
            (self._by_page, place.page),
        ):
            cast("Counter[Any]", counter)[kind] += questions
        text = self._texts[place.page]
        passages = tuple(Passage(index, start, text[start:end]) for start, end in spot.spans)
        return assigned(
            document,
            passages,
            Asked(source, task, level, form, self._languages[place.page], questions),
            self._titles[document],
            section(text, spot.spans[0][0]),
        )
