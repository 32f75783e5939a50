"""Scores by metrics that see more than two texts: a ranking, or a question with its passages and its reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

from ohr.contracts import Case, CaseMetric, Chunk, JudgeMetric, Question, Ranking, RankingMetric


@dataclass(frozen=True, slots=True)
class Replies:
    """Replies of some questions, as metrics of cases need them, by question id.

    Args:
        cases: for metrics that score cases themselves.
        judged: by judge, the judge's reply; None where it gave none. A question that it was not asked about is absent.
    """

    cases: Mapping[str, Case] = field(default_factory=dict)
    judged: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)


NO_REPLIES = Replies()


def ranking_score(metric: RankingMetric, question: Question, chunks: Sequence[Chunk]) -> object:
    """Return the score of a question's hits, best first, as the metric gives it."""
    hits = tuple(tuple((chunk.document, page) for page in chunk.pages) for chunk in chunks)
    wanted = frozenset((question.document, page) for page in question.pages)
    texts = tuple(chunk.text for chunk in chunks)
    return metric.score_ranking(Ranking(question.text, hits, texts, wanted, question.evidence))


def case_score(name: str, metric: CaseMetric | JudgeMetric, question: str, replies: Replies) -> object:
    """Return the score of a question's reply, or of a judge's reply about it, as the metric gives it.

    Raises:
        ValueError: the judge gave no reply, or a reply without a grade.
    """
    if isinstance(metric, CaseMetric):
        return metric.score_case(replies.cases[question]) if question in replies.cases else nan
    judged = replies.judged.get(name, {})
    if question not in judged:
        return nan
    if (reply := judged[question]) is None:
        raise ValueError("the judge gave no reply")
    return metric.score_reply(reply)
