"""Metrics of finqa-tablequest-bench: measures of ranked pages, and the binary judge."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.benchmarks.tablequest.answer_match import parse_answer
from ohr.contracts import Case, JudgeMetric, Prompt, Ranking, RankingMetric

from ..tablequest.binary import SYSTEM, USER, binary_prompt
from ..tablequest.judges import AskedJudge, judged_score
from .judging import Protocol, parse_binary_judge
from .retrieval import measures

Measure = Literal[
    "nDCG@1", "P@1", "R@1", "nDCG@3", "P@3", "R@3", "nDCG@5", "P@5", "R@5", "nDCG@10", "P@10", "R@10", "RR", "Rprec"
]  # fmt: skip
PageIds = tuple[tuple[str, int], ...]


class Trec(RankingMetric, kind="trec"):
    """A measure of trec_eval over ranked pages: a page has the rank of its best chunk, and counts once.

    A retriever's `top_k` ends the ranking; of chunks with equal scores, the retriever decides which comes first.
    """

    measure: Annotated[Measure, Field(description="As ir_measures names it.")] = "RR"
    merged: Annotated[
        tuple[tuple[str, PageIds], ...],
        Field(description="Questions with equal texts, and all their pages: the first one is scored for all."),
    ] = ()

    def score_ranking(self, ranking: Ranking) -> float:
        """Return the measure; nan for a question that is merged into an earlier one."""
        relevant = frozenset(ranking.pages)
        for text, pages in self.merged:
            if text == ranking.question and relevant:
                relevant = frozenset(pages) if pages[0] in relevant else frozenset()
        found = list(dict.fromkeys(page for hit in ranking.hits for page in hit))
        return measures(found, relevant)[self.measure]


class FinqaJudge(AskedJudge, JudgeMetric, kind="finqa_judge"):
    """1 where the judge's verdict is CORRECT, 0 where it is INCORRECT.

    A failed call is a failed score, and counts as 0. A reply without a verdict is INCORRECT in `reference`, and a
    failed score in `clean`.
    """

    template: ClassVar[str] = SYSTEM + USER
    protocol: Annotated[
        Protocol, Field(description="`reference` reads only undecorated replies, as the published code does.")
    ] = "clean"

    def prompt_for(self, case: Case) -> Prompt | None:
        """Return the prompt about an answer; None where there is no gold answer."""
        if not case.answers:
            return None
        return binary_prompt(case.question, case.answers[0], parse_answer(case.reply), id=case.id)

    def score_reply(self, reply: str) -> float:
        """Return the verdict."""
        return judged_score(parse_binary_judge(reply, self.protocol), reply)
