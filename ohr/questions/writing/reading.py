"""Makes candidates of replies, and counts what could not be used."""

import re
from functools import cache
from typing import NamedTuple

from ohr.contracts import Completion
from ohr.messages.wording import shortened
from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.questions.candidate import Candidate
from ohr.questions.numbers import numbers
from ohr.questions.texts import letters, stems
from ohr.questions.writing.assignment import Assignment, short_hash
from ohr.questions.writing.own_words import Quotes
from ohr.questions.writing.replies import Item, items_in, plain
from ohr.questions.writing.templates import parts_of
from ohr.questions.writing.wanted import FORMS
from ohr.text.words import normalise, words

_NOTHING = frozenset({"", "none", "null", "na", "n/a", "无", "没有", "无法"})
_YES_NO = CLOSED_ANSWERS - {"noanswer"} | {"是", "否", "不是", "对", "不对"}
_NAME_WORDS = 12
"""Words of the name of what a question is about, at most."""
_NUMBER_WORDS = 5
"""Words of a number with its unit, at most: 3.5 million metric tons a year."""


class Fault(NamedTuple):
    """Why a reply, or a part of it, made no candidate.

    Args:
        name: `no reply: ...`, `no JSON`, `no question`, `no answer`, `cut`, `copies the example` or, of a question on
            two pages, `names the entity` or `evidence of one page`.
        reply: its beginning.
    """

    assignment: str
    name: str
    reply: str


def candidates_of(
    assignment: Assignment, completion: Completion, made_by: str = ""
) -> tuple[list[Candidate], list[Fault]]:
    """Read the reply to an assignment; whatever a model writes, this never raises.

    At most as many candidates are made as were asked for. A question that lacks the name of what it is about gets it in
    front, and the note `name_added`. Evidence that the passages have in other signs becomes their
    own words; other evidence stays as it is, and the rule `evidence_not_on_its_page` removes it.
    """
    if completion.error is not None:
        return [], [Fault(assignment.id, f"no reply: {completion.error}", "")]
    items = items_in(completion.text, assignment.prompt.opening)
    candidates: dict[str, Candidate] = {}
    names = [] if items else ["cut" if completion.finish == "length" else _nothing(completion.text)]
    for item in items:
        name = _fault(assignment, item)
        if name:
            names.append(name)
        elif len(candidates) < assignment.questions:
            candidate = _candidate(assignment, item, made_by)
            if _on_one_page(assignment, candidate):
                names.append("evidence of one page")
            else:
                candidates.setdefault(candidate.id, candidate)
    return list(candidates.values()), [Fault(assignment.id, name, shortened(completion.text)) for name in names]


def _on_one_page(assignment: Assignment, candidate: Candidate) -> bool:
    """Report whether all evidence of a question on two pages is on one of them; a quote without a place is unknown."""
    placed = bool(candidate.evidence) and all(passage.start >= 0 for passage in candidate.evidence)
    return placed and not assignment.parents and len(assignment.pages) > len(candidate.pages)


def _nothing(reply: str) -> str:
    """Return the fault of a reply without an item: the model says that there is no question, or something else."""
    said = re.sub(r"[`\s.。\"'*]|json", "", reply, flags=re.IGNORECASE).casefold()
    return "no question" if said in {"[]", "{}", "[{}]", *_NOTHING} and said else "no JSON"


def _fault(assignment: Assignment, item: Item) -> str:
    """Return why an item is no candidate; "" where it is one."""
    asked = letters(item.question).text
    if not item.whole:
        return "cut"
    if normalise(item.question) in _NOTHING or not asked:
        return "no question"
    if not _copied(assignment.language).isdisjoint({asked, *(letters(quote).text for quote in item.evidence)}):
        return "copies the example"
    if assignment.parents:
        named = letters(assignment.entity).text
        return "names the entity" if named in asked or letters(assignment.parents[0].answers[0]).text in asked else ""
    return "no answer" if normalise(_answer(assignment, item)) in _NOTHING else ""


@cache
def _copied(language: str) -> frozenset[str]:
    """Return the letters of the questions and the evidence in a language's examples: small models repeat them."""
    items = [item for example in parts_of(language).example.values() for item in items_in(example)]
    return frozenset(letters(text).text for item in items for text in (item.question, *item.evidence))


def _answer(assignment: Assignment, item: Item) -> str:
    answers = parts_of(assignment.language).answers
    return plain(item.answer, answers["and"], (answers["true"], answers["false"]))


def _candidate(assignment: Assignment, item: Item, made_by: str) -> Candidate:
    parents, pages = assignment.parents, assignment.pages
    question = _named(assignment, item)
    name = short_hash(assignment.document, *pages, assignment.id, question)
    quotes = Quotes(assignment.passages)
    answer = _answer(assignment, item)
    wanted = answer if len(item.evidence) == 1 else ""  # of two passages one may be without the answer
    evidence = [passage for parent in parents for passage in parent.evidence]
    return Candidate(
        id=name,
        question=question,
        answers=parents[1].answers if parents else (answer,),
        document=assignment.document,
        evidence=tuple(evidence) or tuple(quotes.evidence(quote, wanted) for quote in item.evidence),
        source=assignment.source,
        task=assignment.task,
        answer_form=parents[1].answer_form if parents else form_of(answer, item),
        language=assignment.language,
        origin="joined" if parents else "written",
        made_by=made_by,
        parents=tuple(parent.id for parent in parents),
        notes={"pages": "single" if len(pages) == 1 else "several"}
        | ({"name_added": item.about} if question != item.question else {}),
    )


def _named(assignment: Assignment, item: Item) -> str:
    """Return a question after the name of what it is about, where it has no word of that name: small models forget it.

    The name must be in the prompt's title or passage, and must not hold the answer.
    """
    about, shown = letters(item.about).text, letters(assignment.prompt.user).text
    answer = letters(_answer(assignment, item)).text
    missing = set(stems(item.about)).isdisjoint(stems(item.question))
    usable = about and about in shown and answer not in about and len(words(item.about)) <= _NAME_WORDS
    colon = parts_of(assignment.language).answers["colon"]
    return f"{item.about}{colon}{item.question}" if missing and usable and not assignment.parents else item.question


def form_of(answer: str, item: Item) -> str:
    """Return the form of an answer by what it is; where that leaves it open, as the model says."""
    if normalise(answer) in _YES_NO:
        return "Yes/No"
    if isinstance(item.answer, list) and len(item.answer) > 1:
        return "List"
    if numbers(answer) and len(words(answer)) <= _NUMBER_WORDS and re.search(r"[0-9]", answer):
        return "Numeric"
    return item.form if item.form in FORMS and item.form in ("String", "List") else "String"
