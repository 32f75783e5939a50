"""Metrics of pages and of facts: what a text keeps of the facts that annotators tagged, and of the page's words."""

from collections.abc import Sequence
from functools import lru_cache
from math import nan
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Metric, PageJudgeMetric, PageMetric, Prompt, Question
from ohr.models.asking import AskingMetric

from .fact_questions import gold_of, number_of
from .judging import by_fact, judge_messages, judge_postprocess, parse_reply, prompt_sha256
from .lexical import page_scores
from .matching import compat_det, is_part, strict_det
from .occurrences import holds
from .totals import Diagnostic

Rule = Literal["substring", "whole", "in_place"]
Count = Literal["correct", "found"]
Verdicts = Sequence[Diagnostic]

_PACKAGES = ("beautifulsoup4", "lxml", "rapidfuzz")
_SKIP = "A page without any text has no score, as a page without a prediction in the published code; else it scores 0."
_VERDICTS = {"correct": "correct", "found": "found_in_prediction"}


class Ffa(PageMetric, kind="ffa"):
    """1 for each fact of a page that its text has, 0 for each other; the mean is FFA, without a judge.

    It scores questions of FinCriticalED. `substring` searches for the value as the published code does on top of its
    judge, `whole` for whole values with their signs, each occurrence of which counts once; `in_place` also wants the
    words around it, so that values that changed places are wrong.
    """

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = _PACKAGES
    rule: Annotated[Rule, Field(description="How a value is searched for.")] = "whole"
    count: Annotated[
        Count, Field(description="`found` counts what can be recognized, too; of `substring` both are the same.")
    ] = "correct"
    skip_blank: Annotated[bool, Field(description=_SKIP)] = False

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:  # noqa: ARG002
        """Return the scores of the page's facts; nan for its other questions, and where its own is not among them."""
        gold = gold_of(questions)
        if gold is None or (self.skip_blank and not text):
            return [nan] * len(questions)
        return _scores(_verdicts(gold, text, self.rule), self.count, questions)


class PageLexical(PageMetric, kind="page_lexical"):
    """The words of a page: ROUGE-1 and ROUGE-L (F1 of stems), or 1 - edit distance, as FinCriticalED computes them.

    Both sides are compared as plain text. It scores the page's own question, so that each page has one score.
    """

    packages: ClassVar[tuple[str, ...]] = _PACKAGES
    measure: Annotated[
        Literal["rouge1", "rougeL", "edit_similarity", "coverage"],
        Field(description="`coverage` is 1 where the page has any text."),
    ] = "rouge1"
    skip_blank: Annotated[bool, Field(description=_SKIP)] = False

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:
        """Return the score of the page's own question; nan for those of its facts."""
        score = nan
        if self.measure == "coverage":
            score = float(bool(text))
        elif text or not self.skip_blank:
            found = _lexical(truth, text)
            score = 1 - found["edit_distance"] if self.measure == "edit_similarity" else found[self.measure]
        return [nan if question.asked else score for question in questions]


class FactInText(Metric, kind="fact_in_text"):
    """1 where a text has a fact of FinCriticalED, else 0: by the rules of `ffa`, but for signs beside the value."""

    packages: ClassVar[tuple[str, ...]] = _PACKAGES
    rule: Annotated[Literal["substring", "whole"], Field(description="As of `ffa`.")] = "whole"

    def score(self, prediction: str, reference: str) -> float:
        """Return whether the text has the fact; nan for a fact without a letter or sign."""
        if not reference.strip():
            return nan
        return float(is_part(reference, prediction) if self.rule == "substring" else holds(prediction, reference))


class FfaJudge(AskingMetric, PageJudgeMetric, kind="ffa_judge"):
    """FFA as published: a generator judges the facts of a page, and a search for their values corrects its verdicts.

    A reply without a verdict that can be read is a failed score of all facts of the page. Every reply is kept in
    `judgements.parquet`.
    """

    packages: ClassVar[tuple[str, ...]] = _PACKAGES
    protocol: Annotated[
        Literal["reference", "clean"],
        Field(
            description="`reference` corrects only verdicts that the judge gave, as published; `clean` also adds those "
            "that it left out, and calls nothing correct that is not found."
        ),
    ] = "reference"
    count: Annotated[Count, Field(description="`found` counts what the judge recognizes, too.")] = "correct"

    @property
    def prompt_sha256(self) -> str:
        """Hash of the prompt's two messages."""
        return prompt_sha256()

    def prompt_for_page(self, text: str, truth: str, questions: Sequence[Question]) -> Prompt | None:  # noqa: ARG002
        """Return the prompt about a page; None without facts, or without text in the published protocol."""
        gold = gold_of(questions)
        if gold is None or not any(question.facts for question in questions):
            return None
        if self.protocol == "reference" and not text:
            return None
        system, user = judge_messages(gold, text)
        own = next(question for question in questions if not question.asked)
        return Prompt(own.text, (text,), system, user, id=own.id)

    def score_page_reply(
        self,
        reply: str,
        text: str,
        truth: str,  # noqa: ARG002
        questions: Sequence[Question],
    ) -> Sequence[float]:
        """Return the corrected verdicts on the facts; nan for other questions.

        Raises:
            ValueError: no verdict of the reply can be read.
        """
        gold, read = gold_of(questions), parse_reply(reply)
        if gold is None:
            return [nan] * len(questions)
        if read.fault and not read.diagnostics:
            raise ValueError(read.fault)
        verdicts = judge_postprocess(gold, text, read.diagnostics, self.protocol)["entity_diagnostics"]
        return _scores(by_fact(gold, verdicts), self.count, questions)


def _scores(verdicts: Verdicts, count: Count, questions: Sequence[Question]) -> list[float]:
    numbers = [number_of(question) for question in questions]
    return [nan if number is None else float(verdicts[number][_VERDICTS[count]]) for number in numbers]


@lru_cache(maxsize=4)  # metrics score a page one after the other
def _verdicts(gold: str, text: str, rule: Rule) -> Verdicts:
    made = compat_det(gold, text) if rule == "substring" else strict_det(gold, text, context_veto=rule == "in_place")
    found: Verdicts = made["entity_diagnostics"]
    return found


@lru_cache(maxsize=2)
def _lexical(truth: str, text: str) -> dict[str, float]:
    return page_scores(truth, text)
