"""Retrieval of finqa-tablequest-bench: its queries, and the measures of a ranking.

The published code (query_qrel_builder.py, evaluator_ir.py) scores a page by its best chunk and measures with
ir_measures (trec_eval): nDCG, precision and recall at 1, 3, 5 and 10, reciprocal rank and R-precision. It takes a
query's text for its key, so that equal questions become one query with the pages of all of them. Its generation
(ollama_answer_generation.py) looks pages up by the number of the question instead.
"""

from collections.abc import Collection, Hashable, Sequence
from math import nan
from typing import NamedTuple

from ohr.statistics.ranking import ndcg_at_k, precision_at_k, recall_at_k, reciprocal_rank

from .judging import Protocol
from .question_files import FinqaQuestion

CUT_OFFS = (1, 3, 5, 10)
MEASURES = (*(f"{name}@{k}" for k in CUT_OFFS for name in ("nDCG", "P", "R")), "RR", "Rprec")


class Query(NamedTuple):
    """A query: ids of its questions, several where equal texts were merged, and names of the pages that answer it."""

    questions: tuple[str, ...]
    pages: frozenset[str]


def queries(questions: Sequence[FinqaQuestion], protocol: Protocol = "clean") -> list[Query]:
    """Make the queries of some questions: one for each, in `reference` one for each different text, as published."""
    groups: dict[str, list[FinqaQuestion]] = {}
    for question in questions:
        groups.setdefault(question.question if protocol == "reference" else question.id, []).append(question)
    return [Query(tuple(q.id for q in held), frozenset(q.page for q in held)) for held in groups.values()]


def misplaced(questions: Sequence[FinqaQuestion]) -> list[str]:
    """List the questions for which the published generator reads the pages of another one, or none.

    It takes the query with the question's number, which is another question's after a merge. For the last ones there is
    no query, and the published code answers "No retrieved context available".
    """
    made = queries(questions, "reference")
    return [q.id for place, q in enumerate(questions) if place >= len(made) or q.id not in made[place].questions]


def measures(pages: Sequence[Hashable], relevant: Collection[Hashable]) -> dict[str, float]:
    """Return all measures of one ranking: `nDCG@k`, `P@k`, `R@k` for each cut-off, `RR` and `Rprec`.

    Formulas: those of `ohr.statistics.ranking`; Rprec is recall at as many pages as are relevant.
    Source: trec_eval, by ir_measures.

    Args:
        pages: distinct pages, best first; places after its end find nothing.
        relevant: the query's pages.

    Edge cases: nothing relevant -> nan; nothing found -> 0.
    """
    if not relevant:
        return dict.fromkeys(MEASURES, nan)
    ranking = [[page] for page in pages]
    scores = {"RR": reciprocal_rank(ranking, relevant), "Rprec": recall_at_k(ranking, relevant, len(relevant))}
    for k in CUT_OFFS:
        scores[f"nDCG@{k}"] = ndcg_at_k(ranking, relevant, k)
        scores[f"P@{k}"] = precision_at_k(ranking, relevant, k)
        scores[f"R@{k}"] = recall_at_k(ranking, relevant, k)
    return scores
