"""Scores by metrics that see more than two texts: a ranking, or a question with its passages and its reply."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import nan
from types import MappingProxyType
from typing import NoReturn

from ohr.contracts import (
    Case,
    CaseJudgeMetric,
    CaseMetric,
    Chunk,
    Completion,
    PageId,
    Question,
    Ranking,
)
from ohr.isolated import isolated
from ohr.text.thoughts import without_thoughts

Outcome = Callable[[], object]
"""Returns the score as the metric gave it, or raises what it raised."""


@dataclass(frozen=True, slots=True)
class Replies:
    """Replies of some questions, as metrics of cases need them, by question id.

    Args:
        cases: the cases.
        judged: by judge, the judge's replies to its prompts, each None where it gave none. A question whose score is
            undefined is absent.
    """

    cases: Mapping[str, Case] = field(default_factory=dict)
    judged: Mapping[str, Mapping[str, Sequence[Completion | None]]] = field(default_factory=dict)


NO_REPLIES = Replies()


def ranking_of(
    question: Question,
    chunks: Sequence[Chunk],
    size: int = 0,
    copies: Mapping[PageId, PageId] = MappingProxyType({}),
    *,
    by_page: bool = False,
) -> Ranking:
    """Return a question's hits, best first, as metrics see them.

    Args:
        by_page: rank the pages that were found, each once, in place of the chunks.
        size: pages of the question's document; 0 where that is not known.
        copies: the page that counts, for each page that is there more than once.
    """
    hits = tuple(counted_pages(chunk, copies) for chunk in chunks)
    if by_page:
        hits = tuple((page,) for page in dict.fromkeys(page for pages in hits for page in pages))
    texts = tuple(chunk.text for chunk in chunks)
    grades = wanted_pages(question, copies)
    return Ranking(question.text, hits, texts, frozenset(grades), question.evidence, size, grades)


def counted_pages(chunk: Chunk, copies: Mapping[PageId, PageId]) -> tuple[PageId, ...]:
    """Return the pages of a chunk; of copies, the page that counts."""
    return tuple(copies.get((chunk.document, page), (chunk.document, page)) for page in chunk.pages)


def wanted_pages(question: Question, copies: Mapping[PageId, PageId]) -> dict[PageId, float]:
    """Return the pages that a ranking should find with their grades; of copies, the page that counts."""
    wanted: dict[PageId, float] = {}
    for page, grade in question.grades.items():
        counts = copies.get(page, page)
        wanted[counts] = max(grade, wanted.get(counts, grade))
    return wanted


def case_of(question: Question, passages: Sequence[str], answer: str) -> Case:
    """Return an answer with its question and what was read."""
    return Case(question.text, question.answers, tuple(passages), answer, question.id, dict(question.groups))


def case_outcomes(
    name: str, metric: CaseMetric | CaseJudgeMetric, questions: Sequence[str], replies: Replies
) -> dict[str, Outcome]:
    """Score the replies to some questions, all at once where a metric can; one that it raises on fails alone.

    Returns:
        by question id; nan for a question without a case, or whose score is undefined.
    """
    if isinstance(metric, CaseJudgeMetric):
        return {question: partial(_judged, name, metric, question, replies) for question in questions}
    there = [question for question in questions if question in replies.cases]
    done, failed = isolated([replies.cases[question] for question in there], metric.score_cases)
    found: dict[str, Outcome] = {question: partial(float, nan) for question in questions}
    found |= {there[place]: partial(_given, value) for place, value in done.items()}
    return found | {there[place]: partial(_raised, error) for place, error in failed.items()}


def _judged(name: str, metric: CaseJudgeMetric, question: str, replies: Replies) -> object:
    judged = replies.judged.get(name, {})
    if question not in judged:
        return nan
    return metric.score_judged(replies.cases[question], [graded(reply) for reply in judged[question]])


def graded(reply: Completion | None) -> str:
    """Return the text of a judge's reply from which a grade may be read, without the judge's thoughts.

    Raises:
        ValueError: there is no reply, or it was cut, so that its grade may be missing, or only be thought about.
    """
    if reply is None:
        raise ValueError("the judge gave no reply")
    if reply.finish == "length":
        raise ValueError(
            f"the judge's reply was cut at its longest; raise the judge's max_tokens: {reply.text[-80:]!r}"
        )
    return without_thoughts(reply.text)


def _given(value: object) -> object:
    return value


def _raised(error: BaseException) -> NoReturn:
    raise error
