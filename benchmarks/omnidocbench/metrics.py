"""Metrics of a parsed page: its parts by OmniDocBench's definitions, each with the version that defines it."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from math import isnan, nan
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import PageMetric, Question
from ohr.files.json_input import parse_json
from ohr.parse_scores.omnidocbench import PageScores, Version, score_markdown, score_page

PAGE, TABLE = "page", "table"
"""`task_type` of the question that stands for a page, and of those that stand for its tables."""

_PIPES = re.compile(r"^[^\S\n]*\|.*\|[^\S\n]*$", re.MULTILINE)
"""A row of a table in Markdown."""
_LONGEST = 100_000
"""Characters of a page: some texts of one sign take minutes from here on, and no page is as long."""
Part = Literal["text", "formula", "table", "order"]


class ParsedPage(PageMetric, kind="omnidocbench_page"):
    """How near a part of a page is to the truth's, by blocks as OmniDocBench matches them: 1 - edit distance."""

    packages: ClassVar[tuple[str, ...]] = ("rapidfuzz", "scipy", "pylatexenc", "beautifulsoup4", "lxml")
    part: Annotated[Part, Field(description="Text, display formulas, HTML of tables, or reading order.")]
    scorer: Annotated[Version, Field(description="Version of OmniDocBench's code, whose matching is repeated.")]
    truth: Annotated[
        Literal["layout", "markdown"], Field(description="Form of the truth: annotated blocks, or Markdown.")
    ] = "layout"

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float | Exception]:
        """Return the score of the page for its own question; nan for others, and where the truth has no such part."""
        scores, fault = _scored(self.truth, questions, text, truth, self.scorer)
        part = getattr(scores, self.part) if scores else None
        # of Markdown, tables of the truth count also where the text has none, which the published code leaves out
        missed = self.part == "table" and any(question.task_type == TABLE for question in questions)
        score = 1 - part.distance if part else 0.0 if missed else nan
        own = score if fault is None or isnan(score) else fault
        return [own if question.task_type == PAGE else nan for question in questions]


class ParsedTable(PageMetric, kind="omnidocbench_table"):
    """TEDS of the table that was matched with each of the truth's, maybe negative; without one it is 0."""

    lowest: ClassVar[float] = -1.0
    packages: ClassVar[tuple[str, ...]] = ParsedPage.packages
    measure: Annotated[
        Literal["teds", "teds_s", "teds_raw"],
        Field(description="`teds`; `teds_s` of the structure alone; `teds_raw` without normalization."),
    ] = "teds"
    scorer: Annotated[Version, Field(description="Version of OmniDocBench's code, whose matching is repeated.")]
    truth: Annotated[
        Literal["layout", "markdown"], Field(description="Form of the truth: annotated blocks, or Markdown.")
    ] = "layout"
    notation: Annotated[
        Literal["any", "html"],
        Field(description="`any` converts tables in Markdown, as published; with `html` they are no tables."),
    ] = "any"

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float | Exception]:
        """Return one score for each question that stands for a table; nan for others."""
        read = _PIPES.sub("", text) if self.notation == "html" else text
        scores, fault = _scored(self.truth, questions, read, truth, self.scorer)
        values = [getattr(table, self.measure) for table in scores.tables] if scores else []
        scored = dict(enumerate(values))  # a table of the truth that nothing was matched with may be missing
        return [
            (fault or scored.get(int(question.answers[0]), 0.0)) if question.task_type == TABLE else nan
            for question in questions
        ]


def _scored(
    form: Literal["layout", "markdown"], questions: Sequence[Question], text: str, truth: str, version: Version
) -> tuple[PageScores | None, ValueError | None]:
    """Score the page that one of the questions represents; one that cannot be scored as an empty one, with the fault.

    An empty page has the parts of the truth, so that a fault counts once, and where there is something to score.
    """
    own = next((question for question in questions if question.task_type == PAGE), None)
    if own is None:
        return None, None
    score = partial(_by_layout, own.answers[0]) if form == "layout" else partial(_by_markdown, truth)
    try:
        if form == "layout" and len(text) > _LONGEST:
            raise ValueError(f"a page of {len(text):,} characters is not scored: {_LONGEST:,} are the most")
        return score(text, version), None
    except ValueError as error:
        return score("", version), error


@lru_cache(maxsize=4)  # metrics score a page one after the other
def _by_layout(record: str, text: str, version: Version) -> PageScores:
    return score_page(parse_json(record.encode()), text, version)


@lru_cache(maxsize=4)
def _by_markdown(truth: str, text: str, version: Version) -> PageScores:
    return score_markdown(truth, text, version)
