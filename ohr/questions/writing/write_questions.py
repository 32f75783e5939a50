"""Lets a model write questions: on one page each, then on two."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations, groupby
from math import ceil
from typing import Any, NamedTuple, TypeVar, cast

from ohr.contracts import EvidenceSource, Page, PageId
from ohr.messages.wording import counted
from ohr.questions.candidate import Candidate, Model, Task
from ohr.questions.truth_texts import letters
from ohr.questions.writing.assignments import (
    LEVELS,
    ONE_PAGE,
    TASKS,
    Asked,
    Assignment,
    Form,
    Level,
    Passage,
    Wanted,
    assigned,
    joined,
    prompts_of,
)
from ohr.questions.writing.entities import Entities, entities_of
from ohr.questions.writing.reading import Fault, candidates_of
from ohr.questions.writing.spots import Spot, section, size, spots, title
from ohr.seeds import generator
from ohr.text.language import written_in

Pages = Mapping[str, Sequence[Page]]
"""The usable pages of each document."""

_Kind = TypeVar("_Kind", bound=str)


class Plan(NamedTuple):
    """The assignments, and in sentences what is asked for and cannot be had."""

    assignments: tuple[Assignment, ...]
    notes: tuple[str, ...]


def plan_writing(pages: Pages, settings: Wanted, seed: int) -> Plan:
    """Plan the questions on one page each.

    Questions are spread over documents first and pages second, as intervals need many documents. Each source gets its
    share, from the pages that have it; where no page can give more of a source, the others get what is left of it. The
    same pages and seed give the same assignments, and a larger `total` those of a smaller one and more.

    Args:
        pages: pages without text, or in other scripts than Latin and Chinese, are left out; a note counts the latter.
    """
    planner = _Planner(pages, settings, seed)
    assignments = tuple(planner.assignments())
    return Plan(assignments, tuple(planner.notes()))


def fairest(counts: Mapping[_Kind, int], shares: Mapping[_Kind, float]) -> _Kind:
    """Return the kind that is the farthest below its share; kinds without a share are never taken."""
    return min(
        (kind for kind, share in shares.items() if share > 0), key=lambda kind: (counts[kind] + 1) / shares[kind]
    )


def asked_for(settings: Wanted) -> tuple[int, int]:
    """Return how many questions are asked for on one page and on two."""
    every = ceil(settings.total * settings.asked_per_question)
    several = round(every * settings.multi_page)
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

    def __init__(self, pages: Pages, settings: Wanted, seed: int) -> None:
        self._settings = settings
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
        self._missing = [source for source in ONE_PAGE if settings.shares.of(source) and not self._heaps[source]]
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
            for number, spot in enumerate(spots(text, self._settings.most_words)):
                draw = float(generator(seed, "question writing", *page, number).random())
                heaps[spot.source].append(_Place(0, 0, 0, spot.rank, draw, page, spot))
        for heap in heaps.values():
            heapify(heap)
        return heaps

    def assignments(self) -> Iterator[Assignment]:
        """Yield assignments until as many questions are asked for as wanted, or no page has room."""
        left = asked_for(self._settings)[0]
        shares = {source: self._settings.shares.of(source) for source in ONE_PAGE if self._heaps[source]}
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
            of_it = f"{100 * self._settings.shares.of(source) / sum(map(self._settings.shares.of, ONE_PAGE)):.0f}%"
            yield f"no page has {what}: the {of_it} of the questions on {source} go to the other sources"
        asked, goal = sum(self._by_source.values()), asked_for(self._settings)[0]
        if asked < goal:
            yield (
                f"the pages have room for {counted(asked, 'question')} of the {goal:,} to be asked for: add documents, "
                f"or raise per_page ({self._settings.per_page})"
            )

    def _next(self, source: EvidenceSource) -> Assignment | None:
        """Take the place of the document, and in it of the page, that was asked least; None where none has room."""
        heap = self._heaps[source]
        while heap:
            place = heappop(heap)
            room = self._settings.per_page - self._by_page[place.page]
            now = place._replace(document_asked=self._by_document[place.page[0]], page_asked=self._by_page[place.page])
            if room > 0 and now != place:  # what it was sorted by is not true any more
                heappush(heap, now)
            elif room > 0 and (way := self._way(place, source)):
                heappush(heap, place._replace(visits=place.visits + 1))
                return self._assign(place, *way, min(self._settings.per_prompt, room))
        return None

    def _way(self, place: _Place, source: EvidenceSource) -> tuple[Task, Level] | None:
        """Return the task and the level of a place's next prompt; None where all of them were asked for."""
        shares = self._settings.tasks
        used = self._used[place.page, place.spot]
        for task in sorted((task for task in TASKS if shares[task]), key=fairest(self._by_task[source], shares).__ne__):
            if levels := {level: 1.0 for level in LEVELS if (task, level) not in used}:
                return task, fairest(self._by_level[source], levels)
        return None

    def _assign(self, place: _Place, task: Task, level: Level, questions: int) -> Assignment:
        (document, index), spot, source = place.page, place.spot, place.spot.source
        form = fairest(self._by_form[task], self._settings.answer_forms)
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


_MOST_SPOTS = 3
"""Passages of a document that may have a name that connects two: one that is everywhere connects none."""
_OF_NAME = 2
"""Pairs of passages that one name connects."""
_SHORTEST, _NAME_WORDS = 2, 12
"""Letters of a name at least, and words, or Chinese signs, at most."""
_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_WORDS = 2
"""Each of two passages is as long as one passage of a prompt divided by this."""


class _Link(NamedTuple):
    """Two pages of a document that an entity connects; those whose entity is in few passages come first."""

    holders: int
    draw: float
    entity: str
    candidates: tuple[Candidate, ...] = ()  # two, or none
    passages: tuple[Passage, ...] = ()


def join_assignments(
    candidates: Sequence[Candidate], pages: Pages, entities: Entities, settings: Wanted, seed: int
) -> Plan:
    """Plan the questions on two pages.

    Half of them join two questions on different pages of a document, where a name in the answer of the first is in the
    second; half are written from passages on different pages that share a rare name (OHRBench, section II.4). Where
    one way has fewer than its half, the other has more. They are spread over documents.

    Args:
        candidates: verified ones on one page each; others are left out.
        entities: finds names.
    """
    goal = asked_for(settings)[1]
    if not goal:
        return Plan((), ())
    single = [candidate for candidate in candidates if len(candidate.pages) == 1 and candidate.answers]
    by_questions = _spread(_linked_questions(single, entities, seed))
    by_passages = _spread(_linked_passages(pages, entities, settings, seed))
    questions = by_questions[: max(goal // 2, goal - len(by_passages))]
    passages = by_passages[: goal - len(questions)]
    by_answer = [joined(first, second, link.entity) for _, link in questions for first, second in [link.candidates]]
    assignments = (*by_answer, *_paired(passages, pages, settings))
    missing = goal - len(assignments)
    note = (
        f"{counted(len(assignments), 'question')} on two pages of the {goal:,} to be asked for: {len(by_questions):,} "
        f"pairs of questions and {len(by_passages):,} pairs of passages of a document share a name"
    )
    return Plan(assignments, (note,) if missing > 0 else ())


def _linked_questions(candidates: Sequence[Candidate], entities: Entities, seed: int) -> Iterator[tuple[str, _Link]]:
    ordered = sorted(candidates, key=lambda candidate: (candidate.document, candidate.id))
    for document, group in groupby(ordered, key=lambda candidate: candidate.document):
        own = list(group)
        asked = {candidate.id: letters(candidate.question).text for candidate in own}
        for first in own:
            signs = letters(name := _name(first, entities)).text
            for second in own if signs else ():
                if signs in asked[second.id] and signs not in asked[first.id] and _differ(first, second):
                    draw = float(generator(seed, "joined questions", first.id, second.id).random())
                    yield document, _Link(0, draw, name, (first, second))


def _name(candidate: Candidate, entities: Entities) -> str:
    """Return an answer that is a name of its evidence; "" for others. An answer alone does not show where one begins.

    A list would make a description of several things.
    """
    answer = _ARTICLE.sub("", candidate.answers[0].strip().rstrip("."))
    among = {name for passage in candidate.evidence for name in entities(passage.text, candidate.language)}
    named = any(letters(name).text in letters(answer).text for name in among if len(letters(name).text) >= _SHORTEST)
    return answer if candidate.answer_form == "String" and named and size(answer) <= _NAME_WORDS else ""


def _differ(first: Candidate, second: Candidate) -> bool:
    """Report whether two questions are on different pages and have different answers."""
    answers = letters(first.answers[0]).text, letters(second.answers[0]).text
    return first.pages != second.pages and first.language == second.language and answers[0] != answers[1]


def _linked_passages(pages: Pages, entities: Entities, settings: Wanted, seed: int) -> Iterator[tuple[str, _Link]]:
    for document in sorted(pages):
        holders: defaultdict[str, list[Passage]] = defaultdict(list)
        for page in pages[document]:
            language = written_in(page.text)
            of_text = [spot for spot in spots(page.text, settings.most_words // _WORDS) if spot.source == "text"]
            for spot in of_text:
                start, end = spot.spans[0]
                passage = Passage(page.index, start, page.text[start:end])
                for name in entities(passage.text, language):
                    holders[name].append(passage)
        for name, those in sorted(holders.items()):
            pairs = [pair for pair in combinations(those, 2) if pair[0].page != pair[1].page]
            if len(those) <= _MOST_SPOTS and len(letters(name).text) >= _SHORTEST:
                for pair in pairs[:_OF_NAME]:
                    draw = float(generator(seed, "joined passages", document, name, pair[0].page).random())
                    yield document, _Link(len(those), draw, name, passages=pair)


def _spread(links: Iterator[tuple[str, _Link]]) -> list[tuple[str, _Link]]:
    """Order links: first the best of each document, then the second ones. No two passages, or questions, twice."""
    by_document: defaultdict[str, list[_Link]] = defaultdict(list)
    seen: set[object] = set()
    for document, link in sorted(links, key=lambda pair: (pair[1][:3], pair[0])):
        parts = frozenset(candidate.id for candidate in link.candidates) or (document, frozenset(link.passages))
        if parts not in seen:
            by_document[document].append(link)
        seen.add(parts)
    ranked = [
        (rank, link.draw, document, link) for document, own in by_document.items() for rank, link in enumerate(own)
    ]
    return [(document, link) for _, _, document, link in sorted(ranked, key=lambda row: row[:3])]


def _paired(links: Sequence[tuple[str, _Link]], pages: Pages, settings: Wanted) -> Iterator[Assignment]:
    """Ask about each pair of passages; what is asked depends on the pairs before it alone, so that more change none."""
    forms: Counter[Form] = Counter()
    tasks: Counter[Task] = Counter()
    for number, (document, link) in enumerate(links):
        form, task = fairest(forms, settings.answer_forms), fairest(tasks, settings.tasks)
        forms[form] += 1
        tasks[task] += 1
        language = written_in(link.passages[0].text)
        asked = Asked("multi", task, LEVELS[number % len(LEVELS)], form, language, 1, link.entity)
        first = next((page.text for page in pages[document] if page.text.strip()), "")
        yield assigned(document, link.passages, asked, title(first))


@dataclass(frozen=True, slots=True)
class Written:
    """Candidates that a model wrote, and what became of the other replies.

    Args:
        candidates: in the order of the assignments, with ids that differ.
        assignments: all that were asked.
        faults: of replies that made no candidate, or fewer than there were.
        notes: what was asked for and cannot be had, in sentences.
    """

    candidates: tuple[Candidate, ...]
    assignments: tuple[Assignment, ...]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]

    @property
    def fault_counts(self) -> Mapping[str, int]:
        """How often each fault occurred, the most frequent one first."""
        return dict(Counter(fault.name for fault in self.faults).most_common())


def write(model: Model, pages: Pages, settings: Wanted, seed: int) -> Written:
    """Write the questions on one page each; the model gets all prompts in one call.

    Args:
        pages: usable pages of the ground truth by document.
    """
    return _ask(model, plan_writing(pages, settings, seed))


def join(model: Model, candidates: Sequence[Candidate], pages: Pages, settings: Wanted, seed: int) -> Written:
    """Write the questions on two pages; the model gets all prompts in one call.

    Args:
        candidates: verified ones on one page each.

    Raises:
        MissingExtra: spaCy is not installed, and the settings name a model of it.
        SpecError: spaCy does not have that model.
    """
    return _ask(model, join_assignments(candidates, pages, entities_of(pages, settings.entities), settings, seed))


def _ask(model: Model, plan: Plan) -> Written:
    replies = model.ask(prompts_of(plan.assignments)) if plan.assignments else ()
    candidates: dict[str, Candidate] = {}
    faults: list[Fault] = []
    for assignment, completion in zip(plan.assignments, replies, strict=True):
        written, troubles = candidates_of(assignment, completion, model.name)
        candidates.update({candidate.id: candidate for candidate in written})
        faults += troubles
    return Written(tuple(candidates.values()), plan.assignments, tuple(faults), plan.notes)
