"""Evidence that is not on its page: found before a run, since it makes the clean text look noisy."""

from collections.abc import Iterator
from dataclasses import dataclass

from ohr.contracts import Page, Question
from ohr.dataset.inputs import Inputs
from ohr.messages.wording import counted, quoted
from ohr.metrics.dose import DAMAGED, by_page, evidence_text, own_text
from ohr.metrics.lcs import lcs

_SHOWN = 60  # characters of the best match in a message


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A question whose evidence its pages do not hold word for word.

    Args:
        share: of the evidence's words that the pages hold in order.
        best: the part of the pages that resembles the evidence most.
        elsewhere: index of another page of the document that holds it; None where none does.
    """

    question: Question
    share: float
    best: str
    elsewhere: int | None


def misplaced(inputs: Inputs) -> Iterator[Misplaced]:
    """Yield the questions whose evidence counts as damaged on the ground truth itself.

    A question without evidence, or whose pages have no ground truth, is none.
    """
    cuts = inputs.benchmark.scoring.segment_chinese
    for document, asked in inputs.about.items():
        pages = by_page(inputs.truth.get(document, ()))
        for question in asked:
            there = all((document, index) in pages for index in question.pages)
            if not (there and question.pages and any(question.evidence)):
                continue
            text, evidence = own_text(question, pages), evidence_text(question)
            share = lcs(text, evidence, cuts)
            if share <= DAMAGED:
                yield Misplaced(question, share, best_match(text, evidence), _elsewhere(pages, question, cuts))


def explained(found: Misplaced, first_page: int = 1) -> str:
    """Describe a misplaced evidence; pages are counted from `first_page`."""
    question = found.question
    pages = ", ".join(str(index + first_page) for index in question.pages)
    where = f"{'pages' if len(question.pages) > 1 else 'page'} {pages} of {question.document}"
    match = f"best match {found.share:.0%}: {quoted(found.best)}" if found.best else "the page has none of its words"
    other = "" if found.elsewhere is None else f"; it is on page {found.elsewhere + first_page}"
    return f"{question.id}: evidence is not on {where} ({match}){other}"


def sentence(count: int) -> str:
    """Return a warning that counts questions with misplaced evidence."""
    return (
        f"{counted(count, 'question')} whose evidence is not on its page word for word: even the clean text counts as "
        "damaged there, and r_noise_clean leaves them out"
    )


def best_match(text: str, evidence: str) -> str:
    """Return the part of a text that resembles the evidence most, from its first words on."""
    from rapidfuzz import fuzz

    found = fuzz.partial_ratio_alignment(evidence[:2_000], text[:200_000], score_cutoff=40)
    return "" if found is None else " ".join(text[found.dest_start : found.dest_end].split())[:_SHOWN]


def _elsewhere(pages: dict[tuple[str, int], Page], question: Question, cuts: bool) -> int | None:
    wanted = evidence_text(question)
    others = (page for (_, index), page in pages.items() if index not in question.pages)
    return next((page.index for page in others if lcs(page.text, wanted, cuts) > DAMAGED), None)
