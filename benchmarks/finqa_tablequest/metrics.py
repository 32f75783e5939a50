"""Metrics of finqa-tablequest-bench: measures of ranked pages, and the binary judge.

The published code (query_qrel_builder.py, evaluator_ir.py) scores a page by its best chunk and measures with
ir_measures (trec_eval): nDCG, precision and recall at 1, 3, 5 and 10, reciprocal rank and R-precision. It takes a
query's text for its key, so that equal questions become one query with the pages of all of them. Its generation
(ollama_answer_generation.py) looks pages up by the number of the question instead. Of a judge's reply,
llm_judge_evaluation.py takes one that it cannot parse for INCORRECT; `clean` reads decorated verdicts, and takes one
that it cannot parse for a failed one.
"""

from collections.abc import Collection, Hashable, Sequence
from math import nan
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.benchmarks.tablequest.answer_match import parse_answer
from ohr.contracts import Case, JudgeMetric, Prompt, Ranking, RankingMetric
from ohr.statistics.ranking import ndcg_at_k, precision_at_k, recall_at_k, reciprocal_rank

from ..tablequest.judges import (
    BINARY_SYSTEM,
    BINARY_USER,
    UNPARSED,
    AskedJudge,
    Judged,
    Judgment,
    binary_prompt,
    judged_score,
    read_verdict,
)

Protocol = Literal["clean", "reference"]


def parse_binary_judge(reply: str, protocol: Protocol = "reference") -> Judged:
    """Read the judge's reply.

    Args:
        protocol: `reference`: lines that begin with JUDGMENT:, CONFIDENCE: and REASONING:, in capitals and without
            decoration; a later line overrides an earlier one, a confidence that is no number is 0, and a reply without
            a verdict is INCORRECT. `clean`: any case, and Markdown around the keys and the verdict; also a reply of
            nothing but the verdict; a reply without one is ERROR.
    """
    return _as_published(reply) if protocol == "reference" else read_verdict(reply)


def _as_published(reply: str) -> Judged:
    judgment: Judgment = "INCORRECT"
    confidence, reasoning = 0.0, UNPARSED
    for line in map(str.strip, reply.strip().split("\n")):
        key, colon, rest = line.partition(":")
        value = rest.replace(f"{key}:", "").strip()  # the published code removes the key wherever it occurs
        match f"{key}{colon}":
            case "JUDGMENT:":
                said = value.upper()
                judgment = "CORRECT" if "CORRECT" in said and "INCORRECT" not in said else "INCORRECT"
            case "CONFIDENCE:":
                confidence = _clamped(value)
            case "REASONING:":
                reasoning = value
    return Judged(judgment, confidence, reasoning)


def _clamped(value: str) -> float:
    try:
        # in this order, not a number becomes 1, as in the published code
        return max(0.0, min(1.0, float(value)))
    except ValueError:
        return 0.0


CUT_OFFS = (1, 3, 5, 10)
MEASURES = (*(f"{name}@{k}" for k in CUT_OFFS for name in ("nDCG", "P", "R")), "RR", "Rprec")


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

    template: ClassVar[str] = BINARY_SYSTEM + BINARY_USER
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
