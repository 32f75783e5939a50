"""Plans questions on two pages: two questions joined by what one answers, or two paragraphs with a name in common."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

from ohr.messages.wording import counted
from ohr.questions.candidate import Candidate, Task
from ohr.questions.texts import letters
from ohr.questions.writing.assignment import Assignment, Passage
from ohr.questions.writing.entities import Entities
from ohr.questions.writing.layout import Spot, size, spots, title
from ohr.questions.writing.plan import Pages, Plan, asked_for, fairest
from ohr.questions.writing.templates import LEVELS, Asked, assigned, joined
from ohr.questions.writing.wanted import Form, Wanted
from ohr.seeds import generator
from ohr.text.language import written_in

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
    candidates: tuple[Candidate, ...] = ()
    passages: tuple[Passage, ...] = ()


def join_assignments(
    candidates: Sequence[Candidate], pages: Pages, entities: Entities, wanted: Wanted, seed: int
) -> Plan:
    """Plan the questions on two pages.

    Half of them join two questions on different pages of a document, where a name in the answer of the first is in the
    second; half are written from passages on different pages that share a rare name (OHRBench, section II.4). Where
    one way has fewer than its half, the other has more. They are spread over documents.

    Args:
        candidates: verified ones on one page each; others are left out.
        entities: finds names.
    """
    goal = asked_for(wanted)[1]
    if not goal:
        return Plan((), ())
    single = [candidate for candidate in candidates if len(candidate.pages) == 1 and candidate.answers]
    by_questions = _spread(_linked_questions(single, entities, seed))
    by_passages = _spread(_linked_passages(pages, entities, wanted, seed))
    questions = by_questions[: max(goal // 2, goal - len(by_passages))]
    passages = by_passages[: goal - len(questions)]
    assignments = (*_joined(questions), *_paired(passages, pages, wanted))
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


def _linked_passages(pages: Pages, entities: Entities, wanted: Wanted, seed: int) -> Iterator[tuple[str, _Link]]:
    for document in sorted(pages):
        holders: defaultdict[str, list[Passage]] = defaultdict(list)
        for page in pages[document]:
            language = written_in(page.text)
            of_text = [spot for spot in spots(page.text, wanted.most_words // _WORDS) if spot.source == "text"]
            for spot in of_text:
                passage = _passage(page.index, page.text, spot)
                for name in entities(passage.text, language):
                    holders[name].append(passage)
        for name, those in sorted(holders.items()):
            pairs = [pair for pair in combinations(those, 2) if pair[0].page != pair[1].page]
            if len(those) <= _MOST_SPOTS and len(letters(name).text) >= _SHORTEST:
                for pair in pairs[:_OF_NAME]:
                    draw = float(generator(seed, "joined passages", document, name, pair[0].page).random())
                    yield document, _Link(len(those), draw, name, passages=pair)


def _passage(page: int, text: str, spot: Spot) -> Passage:
    start, end = spot.spans[0]
    return Passage(page, start, text[start:end])


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


def _joined(links: Sequence[tuple[str, _Link]]) -> Iterator[Assignment]:
    for _, link in links:
        yield joined(link.candidates[0], link.candidates[1], link.entity)


def _paired(links: Sequence[tuple[str, _Link]], pages: Pages, wanted: Wanted) -> Iterator[Assignment]:
    """Ask about each pair of passages; what is asked depends on the pairs before it alone, so that more change none."""
    forms: Counter[Form] = Counter()
    tasks: Counter[Task] = Counter()
    shares: Mapping[Task, float] = {"understanding": 1 - wanted.reasoning, "reasoning": wanted.reasoning}
    for number, (document, link) in enumerate(links):
        form, task = fairest(forms, wanted.answer_forms), fairest(tasks, shares)
        forms[form] += 1
        tasks[task] += 1
        language = written_in(link.passages[0].text)
        asked = Asked("multi", task, LEVELS[number % len(LEVELS)], form, language, 1, link.entity)
        first = next((page.text for page in pages[document] if page.text.strip()), "")
        yield assigned(document, link.passages, asked, title(first))
