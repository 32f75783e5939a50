"""The dose vector: how noisy a knowledge base is, measured against its ground truth without any retriever."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import nan

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Page, PageId, Passage, Question
from ohr.markup.strip import strip_markup
from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.metrics.edit import edit_distance
from ohr.metrics.lcs import lcs
from ohr.text.chinese import HAS_HAN
from ohr.text.unspaced import HAS_UNSPACED
from ohr.text.words import typed_words, words, words_beside_chinese

DAMAGED = 0.95
"""Evidence is damaged when at most this share of its words is left in order (OHRBench, section III.3)."""

Floats = NDArray[np.float64]
Pages = Mapping[PageId, Page]
"""A knowledge base's or the ground truth's pages by document and index."""


@dataclass(frozen=True, slots=True)
class QuestionDose:
    """The effect of noise on the evidence of one question.

    Args:
        damaged: `lcs_kb` is at most DAMAGED; None (excluded and counted) when a page of the question is missing from
            the ground truth or the evidence has no word.
        lcs_kb: share of the evidence's words on its own pages of the knowledge base, in order.
        lcs_gt: the same on the ground truth's pages; below 1 where evidence is not verbatim.
        damaged_content: `damaged` with markup stripped from both sides; None also where nothing of the evidence is
            left by that.
        term_survival: share of the question's different words on the ground truth's pages that are on the knowledge
            base's too; nan where there is none.
        answer_survival: 1 if an accepted answer that is on the ground truth's pages is also on the knowledge base's, 0
            if none is; nan where the ground truth has none verbatim, and for yes and no.
    """

    question_id: str
    damaged: bool | None
    lcs_kb: float
    lcs_gt: float
    damaged_content: bool | None
    term_survival: float
    answer_survival: float


@dataclass(frozen=True, slots=True)
class PageDose:
    """The effect of noise on one page; `empty` when the ground truth has text there and the knowledge base has none."""

    document: str
    index: int
    edit_distance: float
    edit_distance_content: float
    empty: bool


@dataclass(frozen=True, slots=True)
class Dose:
    """How noisy a knowledge base is for a set of questions and pages; every part is nan where nothing defines it.

    Args:
        r_noise: share of questions whose evidence is damaged (published).
        r_noise_clean: the same among questions whose evidence the ground truth itself holds (`lcs_gt` above DAMAGED).
        r_noise_at_90: r_noise, were evidence damaged from an lcs of .90 on; `r_noise_at_98` likewise.
        r_content: r_noise with markup stripped from both sides.
        evidence_loss: 1 - sum of min(lcs_kb, lcs_gt) / sum of lcs_gt: no threshold.
        term_survival: mean over the questions that define it, as is `answer_survival`.
        edit_distance: mean over pages, as are `edit_distance_content` and `empty_pages` (a share).
        questions: how many questions were counted.
        excluded: how many were not.
    """

    r_noise: float
    r_noise_clean: float
    r_noise_at_90: float
    r_noise_at_98: float
    r_content: float
    evidence_loss: float
    term_survival: float
    answer_survival: float
    edit_distance: float
    edit_distance_content: float
    empty_pages: float
    questions: int
    excluded: int


def by_page(pages: Iterable[Page]) -> dict[PageId, Page]:
    """Key pages by document and index."""
    return {(page.document, page.index): page for page in pages}


def own_text(question: Question, pages: Pages) -> str:
    """Join the question's own pages in ascending order with a blank line.

    Edge cases: a missing or failed page is empty text.
    """
    found = (pages.get((question.document, index)) for index in sorted(question.pages))
    return "\n\n".join(page.text if page is not None and page.error is None else "" for page in found)


def own_passages(question: Question, pages: Pages) -> list[Passage]:
    """Return the question's own pages in their order, as a generator reads them.

    Edge cases: a missing or failed page is left out; an empty one is an empty text.
    """
    found = ((place, pages.get(place)) for place in question.own_pages)
    return [Passage(page.text, (place,)) for place, page in found if page is not None and page.error is None]


def evidence_text(question: Question) -> str:
    """Join the passages of a question's evidence, one a line."""
    return "\n".join(question.evidence)


def question_dose(
    question: Question, truth: Pages, kb: Pages, segment_chinese: bool = True, *, bare: bool = False
) -> QuestionDose:
    """Measure the damage to one question's evidence, terms and answer.

    Args:
        question: its `pages` must all be in `truth` to count.
        truth: the ground truth's pages.
        kb: the knowledge base's pages; a missing or failed page is empty text.
        segment_chinese: as in `lcs`.
        bare: there is no ground truth of anything. Then the evidence itself is what `damaged` and `lcs_kb` are measured
            against, and the parts that compare with the ground truth are nan.
    """
    missing = not bare and any((question.document, index) not in truth for index in question.pages)
    if missing or not question.is_located:
        return undefined_dose(question)
    evidence, clean, noisy = evidence_text(question), own_text(question, truth), own_text(question, kb)
    lcs_kb = lcs(noisy, evidence, segment_chinese)
    return QuestionDose(
        question_id=question.id,
        damaged=_damaged(lcs_kb),
        lcs_kb=lcs_kb,
        lcs_gt=nan if bare else lcs_kb if clean == noisy else lcs(clean, evidence, segment_chinese),
        damaged_content=_damaged(lcs(strip_markup(noisy), strip_markup(evidence), segment_chinese)),
        term_survival=_term_survival(question.text, clean, noisy),
        answer_survival=_answer_survival(question.answers, clean, noisy),
    )


def undefined_dose(question: Question) -> QuestionDose:
    """Return the dose of a question for which nothing defines it."""
    return QuestionDose(question.id, None, nan, nan, None, nan, nan)


def page_dose(truth: Page, kb: Page | None) -> PageDose:
    """Measure the distance of one page from its ground truth; a missing or failed page is empty text."""
    text = kb.text if kb is not None and kb.error is None else ""
    if text == truth.text:
        return PageDose(truth.document, truth.index, 0.0, 0.0, False)
    content = edit_distance(strip_markup(text), strip_markup(truth.text))
    return PageDose(truth.document, truth.index, edit_distance(text, truth.text), content, is_emptied(truth, kb))


def is_emptied(truth: Page, kb: Page | None) -> bool:
    """Report whether the ground truth has text on a page and the knowledge base has none; a failed page has none."""
    return bool(truth.text.strip()) and not (kb is not None and kb.error is None and kb.text.strip())


def dose(questions: Sequence[QuestionDose], pages: Sequence[PageDose]) -> Dose:
    """Aggregate over any set of questions (all, or one evidence source's) and of pages (all, or theirs).

    Edge cases: as `aggregated`.
    """
    return aggregated(
        {name: _column(questions, name) for name in QUESTION_PARTS}, {name: _column(pages, name) for name in PAGE_PARTS}
    )


QUESTION_PARTS = ("damaged", "damaged_content", "lcs_kb", "lcs_gt", "term_survival", "answer_survival")
PAGE_PARTS = ("edit_distance", "edit_distance_content", "empty")
"""Fields of each question and of each page that `aggregated` needs."""


def aggregated(questions: Mapping[str, Floats], pages: Mapping[str, Floats]) -> Dose:
    """Aggregate columns: QUESTION_PARTS with one value per question, PAGE_PARTS with one per page; nan is undefined.

    Edge cases: questions without a value of `damaged` are excluded from every mean; empty columns give nan.
    """
    counted = ~np.isnan(questions["damaged"])
    found = {name: column[counted] for name, column in questions.items()}
    intact = found["lcs_gt"] > DAMAGED
    held = float(found["lcs_gt"].sum())
    return Dose(
        r_noise=_mean(found["damaged"]),
        r_noise_clean=_mean(found["damaged"][intact]),
        r_noise_at_90=_mean((found["lcs_kb"] <= 0.90).astype(float)),
        r_noise_at_98=_mean((found["lcs_kb"] <= 0.98).astype(float)),
        r_content=_mean(found["damaged_content"]),
        evidence_loss=1 - float(np.minimum(found["lcs_kb"], found["lcs_gt"]).sum()) / held if held > 0 else nan,
        term_survival=_mean(found["term_survival"]),
        answer_survival=_mean(found["answer_survival"]),
        edit_distance=_mean(pages["edit_distance"]),
        edit_distance_content=_mean(pages["edit_distance_content"]),
        empty_pages=_mean(pages["empty"]),
        questions=int(counted.sum()),
        excluded=int((~counted).sum()),
    )


def mean_dose(draws: Sequence[Dose]) -> Dose:
    """Average the doses of the draws of one level, each part over the draws that define it."""
    parts = {part.name: _mean(np.array([getattr(draw, part.name) for draw in draws], float)) for part in fields(Dose)}
    return Dose(**parts | {"questions": draws[0].questions, "excluded": draws[0].excluded})  # type: ignore[arg-type] # counts


def _column(values: Sequence[QuestionDose] | Sequence[PageDose], name: str) -> Floats:
    found = (getattr(value, name) for value in values)
    return np.array([nan if value is None else value for value in found], dtype=float)


def _damaged(share: float) -> bool | None:
    return None if np.isnan(share) else share <= DAMAGED


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else nan


def _term_survival(query: str, clean: str, noisy: str) -> float:
    cut = words if HAS_HAN.search(query) else words_beside_chinese
    present = set(words(query)).intersection(cut(clean))
    return len(present.intersection(cut(noisy))) / len(present) if present else nan


def _answer_survival(answers: Sequence[str], clean: str, noisy: str) -> float:
    present = [answer for answer in answers if _is_in(answer, clean)]
    return float(any(_is_in(answer, noisy) for answer in present)) if present else nan


def _is_in(answer: str, text: str) -> bool:
    wanted, held = " ".join(typed_words(answer)), " ".join(typed_words(text))
    if not wanted or wanted in CLOSED_ANSWERS:
        return False
    if HAS_HAN.search(wanted) or HAS_UNSPACED.search(wanted):  # no word boundaries to respect
        return wanted.replace(" ", "") in held.replace(" ", "")
    return f" {wanted} " in f" {held} "
