"""Metrics of FinMMDocR: what programs return, which pages a retriever finds, and numbers that survive."""

import json
from collections.abc import Collection, Hashable, Sequence
from math import nan
from typing import Annotated, Literal

from pydantic import Field

from ohr.contracts import Case, CaseMetric, Metric, Ranking, RankingMetric, execution
from ohr.statistics.ranking import recall_at_k, reciprocal_rank

from .answer_numbers import number_of, numbers_in, pot_accuracy
from .release_records import Protocol
from .reply_programs import End, extract_program, refuse_without_isolation, run

PAGES = 10_000
"""Scale of `golden_rank`: more pages than any document has whose page images can be read."""

Rules = Annotated[Protocol, Field(description="`reference` scores as the published code does, faults included.")]
_CutOff = Annotated[
    int, Field(gt=0, description="Pages that count, from the best; a retriever's top_k may end sooner.")
]

_WITHOUT_GOLD = {"reference": 0.0, "clean": nan}
"""The score of a question without gold pages, by protocol."""


def gold_of(answers: Sequence[str]) -> object:
    """Return the gold of a question, whose only accepted answer is its JSON; None where that is no JSON."""
    try:
        return json.loads(answers[0]) if answers else None
    except ValueError:
        return None


class _Executing(CaseMetric):
    """A metric that runs the programs of replies, all of a batch together."""

    protocol: Rules = "clean"
    seconds: Annotated[float, Field(gt=0, le=600, description="Most wall time of a program; 3 as published.")] = 3.0
    unsafe: Annotated[
        Literal["", "I accept that programs run without isolation"],
        execution("These words let programs run where this machine cannot isolate them."),
    ] = ""

    def check(self) -> None:
        """Refuse a machine that cannot isolate programs, unless the words of `unsafe` are there."""
        refuse_without_isolation(self.unsafe)

    def score_case(self, case: Case) -> float:
        """Return the score of one reply."""
        return self.score_cases([case])[0]

    def ends(self, cases: Sequence[Case]) -> list[End]:
        """Run the programs of some replies."""
        programs = [extract_program(case.reply, self.protocol) for case in cases]
        return run(programs, self.seconds, self.unsafe)


class PotAccuracy(_Executing, kind="pot_accuracy"):
    """1 where the program of a reply returns the gold within 0.2 %, else 0.

    A gold that is no finite number gives nan; in the reference protocol 0.
    """

    def score_cases(self, cases: Sequence[Case]) -> list[float]:
        """Run the programs and compare what they return."""
        ends = self.ends(cases)
        return [
            pot_accuracy(end.number, gold_of(case.answers), self.protocol)
            for case, end in zip(cases, ends, strict=True)
        ]


class Executed(_Executing, kind="executed"):
    """1 where the program of a reply ends without an exception and in time, whatever it returns."""

    def score_cases(self, cases: Sequence[Case]) -> list[float]:
        """Run the programs."""
        return [float(end.executed) for end in self.ends(cases)]


class PageRecall(RankingMetric, kind="page_recall"):
    """The share of the gold pages among the first k pages."""

    k: _CutOff = 10
    protocol: Rules = "clean"

    def score_ranking(self, ranking: Ranking) -> float:
        """Return the share; a question without gold pages has none, in the reference protocol 0."""
        first = [[page] for page in _pages(ranking)]
        return recall_at_k(first, ranking.pages, self.k) if ranking.pages else _WITHOUT_GOLD[self.protocol]


class PageMrr(RankingMetric, kind="page_mrr"):
    """1 / rank of the first gold page, 0 where that is beyond the first k pages."""

    k: _CutOff = 10
    protocol: Rules = "clean"

    def score_ranking(self, ranking: Ranking) -> float:
        """Return the score; a question without gold pages has none, in the reference protocol 0."""
        first = [[page] for page in _pages(ranking)[: self.k]]
        return reciprocal_rank(first, ranking.pages) if ranking.pages else _WITHOUT_GOLD[self.protocol]


class GoldenRank(RankingMetric, kind="golden_rank"):
    """1 - golden_k / 10,000, where golden_k is the rank of the last gold page.

    A gold page that was not found counts as the document's last one, or, where its pages are not known, gives 0. So the
    mean of golden_k is 10,000 x (1 - mean), which the aggregate `golden_k` prints.
    """

    def score_ranking(self, ranking: Ranking) -> float:
        """Return the score; nan for a question without gold pages."""
        rank = last_rank(_pages(ranking), ranking.pages, ranking.size or PAGES)
        return nan if rank is None else max(0.0, 1 - rank / PAGES)


class GoldenFound(RankingMetric, kind="golden_found"):
    """1 where every gold page was found, at whatever rank; elsewhere golden_k is only estimated."""

    def score_ranking(self, ranking: Ranking) -> float:
        """Return the score; nan for a question without gold pages."""
        return float(ranking.pages <= set(_pages(ranking))) if ranking.pages else nan


class NumberInText(Metric, kind="number_in_text"):
    """1 where a text has a number, whole, with or without thousands separators, currency and sign; else 0.

    A reference that is no number counts where the text contains it; an empty one is undefined.
    """

    def score(self, prediction: str, reference: str) -> float:
        """Look for the number `reference` in the text `prediction`."""
        if not reference.strip():
            return nan
        number = number_of(reference)
        return float(reference.strip() in prediction if number is None else number in numbers_in(prediction))


def last_rank(pages: Sequence[Hashable], gold: Collection[Hashable], pages_num: int) -> int | None:
    """Return the smallest k whose first k pages contain every gold page; None where there is no gold page.

    This is the meaning of golden_k that fits the published means; the authors do not define it.

    Args:
        pages: page numbers, best first.
        gold: page numbers; repeated ones count once.
        pages_num: pages of the document: the rank of a gold page that is not ranked.
    """
    ranks = {page: rank for rank, page in reversed(list(enumerate(pages, start=1)))}
    return max((ranks.get(page, pages_num) for page in gold), default=None)


def _pages(ranking: Ranking) -> list[tuple[str, int]]:
    """Return the pages of all hits, best first; a page of several hits has its best place."""
    return list(dict.fromkeys(page for pages in ranking.hits for page in pages))
