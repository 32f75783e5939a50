"""Retrieval of pages: MRR@k and Recall@k as published, and golden_k, which the paper names but does not define."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from math import inf, isnan, nan
from typing import Any

from .protocol import Protocol


def recall(pages: Sequence[Hashable], gold: Collection[Hashable], k: int, protocol: Protocol = "reference") -> float:
    """Return the share of gold pages among the first `k`.

    Args:
        pages: page numbers, best first.
        gold: page numbers; repeated ones count once.
        k: at least 1.
        protocol: with `reference`, a question without gold pages scores 0, and a page that is ranked twice counts
            twice; with `clean`, the first is nan, and the second counts once.
    """
    wanted = set(gold)
    if not wanted:
        return 0.0 if protocol == "reference" else nan
    return sum(page in wanted for page in _ranked(pages, protocol)[:k]) / len(wanted)


def reciprocal_rank(
    pages: Sequence[Hashable], gold: Collection[Hashable], k: int, protocol: Protocol = "reference"
) -> float:
    """Return 1 divided by the rank of the first gold page, or 0 where that is beyond `k`; see `recall`."""
    wanted = set(gold)
    if not wanted and protocol == "clean":
        return nan
    ranks = (rank for rank, page in enumerate(_ranked(pages, protocol)[:k], start=1) if page in wanted)
    return 1 / next(ranks, inf)


def retrieval_at(
    questions: Sequence[Mapping[str, Any]], k: int = 10, protocol: Protocol = "reference"
) -> dict[str, float]:
    """Return the means `MRR@k` and `Recall@k` over questions; nan where there is none.

    Args:
        questions: each with `retrieved_results`, a list of {page, score} with the best first, and `evidence_pages`.
        k: at least 1.
        protocol: with `clean`, questions without gold pages are left out; with `reference`, they count 0.
    """
    cases = [([hit["page"] for hit in each["retrieved_results"]], each["evidence_pages"]) for each in questions]
    return {
        f"MRR@{k}": _mean([reciprocal_rank(pages, gold, k, protocol) for pages, gold in cases]),
        f"Recall@{k}": _mean([recall(pages, gold, k, protocol) for pages, gold in cases]),
    }


def last_rank(pages: Sequence[Hashable], gold: Collection[Hashable], pages_num: int | None = None) -> int | None:
    """Return the smallest k whose first k pages contain every gold page; None where there is no gold page.

    This is the meaning of golden_k that fits the published means; the authors do not define it.

    Args:
        pages: page numbers, best first.
        gold: page numbers; repeated ones count once.
        pages_num: pages of the document: the rank of a gold page that is not ranked. None takes the rank behind the
            last ranked page.
    """
    ranks = {page: rank for rank, page in reversed(list(enumerate(pages, start=1)))}
    absent = len(pages) + 1 if pages_num is None else pages_num
    return max((ranks.get(page, absent) for page in gold), default=None)


def golden_k(questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return golden_k of each question (`per_question`, None without gold pages) and the `mean` of the others.

    Args:
        questions: each with `ranking`, page numbers with the best first, `gold`, and perhaps `pages_num`; see
            `last_rank`.
    """
    ranks = [last_rank(each["ranking"], each["gold"], each.get("pages_num")) for each in questions]
    return {"per_question": ranks, "mean": _mean([rank for rank in ranks if rank is not None])}


def unranked(questions: Sequence[Mapping[str, Any]]) -> int:
    """Count the questions with a gold page that their ranking lacks: their golden_k is a lower bound."""
    return sum(not set(each["gold"]) <= set(each["ranking"]) for each in questions)


def _ranked(pages: Sequence[Hashable], protocol: Protocol) -> Sequence[Hashable]:
    return pages if protocol == "reference" else list(dict.fromkeys(pages))


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan
