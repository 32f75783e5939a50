"""Scores of the text of pages, by what it keeps for the questions about them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import nan
from types import MappingProxyType

from ohr.contracts import Completion, PageJudgeMetric, PageMetric, Question
from ohr.metrics.cases import Outcome, graded
from ohr.metrics.dose import Pages, own_text
from ohr.metrics.scores import Rules, Scores


def page_scores(
    questions: Sequence[Question],
    truth: Pages,
    kb: Pages,
    rules: Rules,
    judged: Mapping[str, Mapping[str, Completion | None]] = MappingProxyType({}),
) -> Scores:
    """Score the pages of some questions by the protocol's metrics of pages, and by the facts that are left.

    Args:
        questions: of one document.
        truth: the ground truth's pages.
        kb: the knowledge base's pages; a missing or failed page is empty text.
        rules: metrics and protocol.
        judged: by judge, its reply by the first question about the same pages; None where it gave none. Questions
            about other pages have no score.
    """
    outcomes: dict[str, dict[str, Outcome]] = defaultdict(dict)
    for asked in about_same_pages(questions):
        texts = own_text(asked[0], kb), own_text(asked[0], truth)
        for name in rules.page_metrics:
            metric = rules.metrics[name]
            if isinstance(metric, PageMetric):
                outcomes[name] |= _each(partial(metric.score_page, *texts, asked), asked)
            elif isinstance(metric, PageJudgeMetric):
                replies = judged.get(name, {})
                scored = partial(_judged, metric, replies.get(asked[0].id), texts, asked)
                outcomes[name] |= _each(scored, asked) if asked[0].id in replies else {}
        for name in rules.facts:
            outcomes[name] |= {q.id: partial(rules.surviving, q, texts[:1]) for q in asked}
    return _scores(questions, outcomes)


def about_same_pages(questions: Sequence[Question]) -> Iterator[tuple[Question, ...]]:
    """Group questions of one document by the pages that they are about; those whose place is unknown are left out."""
    found: dict[tuple[int, ...], list[Question]] = defaultdict(list)
    for question in questions:
        if question.pages:
            found[tuple(sorted(question.pages))].append(question)
    return map(tuple, found.values())


def _judged(
    metric: PageJudgeMetric, reply: Completion | None, texts: tuple[str, str], questions: Sequence[Question]
) -> Sequence[float]:
    return metric.score_page_reply(graded(reply), *texts, questions)


def _each(scored: Outcome, questions: Sequence[Question]) -> dict[str, Outcome]:
    """Return the outcome of each question where a metric scores them together; it is asked once."""
    held: list[object] = []

    def one(place: int) -> object:
        if not held:
            try:
                held.append(scored())
            except (Exception, SystemExit) as error:  # a metric may raise anything: its scores fail
                held.append(error)
        if isinstance(held[0], BaseException):
            raise held[0]
        given = list(held[0])  # type: ignore[call-overload] # a plugin may return anything
        if len(given) != len(questions):
            raise ValueError(f"{len(given)} scores for {len(questions)} questions")
        return given[place]

    return {question.id: partial(one, place) for place, question in enumerate(questions)}


def _scores(questions: Sequence[Question], outcomes: dict[str, dict[str, Outcome]]) -> Scores:
    made = Scores()
    for name, found in outcomes.items():
        for question in questions:
            made.add_checked(name, found.get(question.id, partial(float, nan)), question.id, failed=False)
    return made
