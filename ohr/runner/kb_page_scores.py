"""Scores of a knowledge base's pages, gathered over its documents, with what judges replied."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import nan

from ohr.contracts import Question
from ohr.engine.scheduler import Scheduler
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import BasePart
from ohr.metrics.question_scores import about_same_pages
from ohr.metrics.scores import Scores, with_failures
from ohr.runner.columns import Judgement
from ohr.spec.model import Named
from ohr.spec.payees import judging
from ohr.steps.answers.judging import reply_keys
from ohr.steps.answers.scoring import read_scores

_AT_ONCE = 64
"""Documents that are read at once: few enough to hold, enough to save round trips to a remote store."""


def page_scores(
    part: BasePart, scheduler: Scheduler, keys: Keys, failed: Collection[str]
) -> tuple[Scores, dict[str, list[Judgement]]]:
    """Gather the scores of the questions by the text of their pages, and the judges' replies.

    Args:
        failed: ids of questions that need a page that failed.

    Returns:
        the scores of all questions, in their order, nan where a question is about no page; and replies by judge.
    """
    inputs, merged = keys.inputs, Scores()
    values: dict[str, dict[str, float]] = {}
    lost: dict[str, set[str]] = {}
    judgements: dict[str, list[Judgement]] = {judge.name: [] for judge in keys.page_judges}
    for names in slices(list(part.scores)):
        scored = scheduler.read([part.scores[name] for name in names])
        judged = scheduler.read([part.judged[name] for name in names if name in part.judged])
        replies = scheduler.read({key for about in judged.values() for key in reply_keys(about)})
        for judge in keys.page_judges:
            mine = {key for about in judged.values() for names in about.get(judge.name, {}).values() for key in names}
            found = {key: replies[key] for key in mine if key in replies}
            scheduler.ledger.usage.add(judging(Named(judge.name, judge.metric)), found)
        for name in names:
            asked = inputs.about[name]
            scores = read_scores(
                scored.get(part.scores[name]), [*keys.rules.page_metrics, *keys.rules.facts], len(asked)
            )
            for judge, about in judged.get(part.judged.get(name, ""), {}).items():
                judgements[judge] += _judgements(judge, about, replies, asked, scores)
            scores = with_failures(scores, asked, failed)
            merged.failures += scores.failures
            for metric, column in scores.values.items():
                ids = [question.id for question in asked]
                values.setdefault(metric, {}).update(zip(ids, column, strict=True))
                flags = zip(ids, scores.failed[metric], strict=True)
                lost.setdefault(metric, set()).update(question for question, is_lost in flags if is_lost)
    for metric, known in values.items():
        merged.values[metric] = [known.get(question.id, nan) for question in inputs.questions]
        merged.failed[metric] = [question.id in lost[metric] for question in inputs.questions]
    return merged, judgements


def _judgements(
    judge: str,
    about: Mapping[str, Sequence[str]],
    replies: Mapping[str, Mapping[str, str]],
    questions: Sequence[Question],
    scores: Scores,
) -> Iterator[Judgement]:
    """Yield a judge's replies about the pages of one document; a reply is about several questions of the same pages."""
    given = dict(zip((question.id for question in questions), scores.values[judge], strict=True))
    reasons = {failure.question: failure.reason for failure in scores.failures if failure.metric == judge}
    for same in about_same_pages(questions):
        for name in about.get(same[0].id, ()):
            reply = replies.get(name)
            text = None if reply is None else reply["text"]
            yield from (Judgement(q.id, text, reasons.get(q.id), given[q.id]) for q in same)


def slices(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield keys of documents, as many as are read at once."""
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
