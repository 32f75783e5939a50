"""Floors and ceilings of answers: a generator's scores without the knowledge base, and with the evidence alone."""

from collections.abc import Sequence

from ohr import seeds
from ohr.contracts import Page, Question
from ohr.dataset.inputs import Inputs, TruthPages
from ohr.metrics.floors import CEILINGS, FLOORS

CONDITIONS = (*FLOORS, *CEILINGS)
_CONTEXT = 2000  # characters of another page: about as much as two chunks of 256 tokens


def reference_texts(condition: str, question: Question, inputs: Inputs, seed: int) -> Sequence[str]:
    """Return the text that the generator may read under a condition.

    `closed_book`: nothing; `shuffled_context`: the beginning of a page of another document, of the same domain where
    there is one; `evidence_only`: the evidence.
    """
    if condition == "closed_book":
        return ()
    if condition == "evidence_only":
        return question.evidence
    other = _other_page(question, inputs, seed)
    return (other.text[:_CONTEXT] if other else "",)


def pages_shown(condition: str, question: Question, inputs: Inputs, seed: int) -> list[tuple[str, int]]:
    """Name the pages that a generator that reads images may look at under a condition, as in `reference_texts`."""
    if condition == "closed_book":
        return []
    if condition == "evidence_only":
        return list(question.own_pages)
    other = _other_page(question, inputs, seed)
    return [(other.document, other.index)] if other else []


def _other_page(question: Question, inputs: Inputs, seed: int) -> Page | None:
    """Draw a page of ground truth from another document of the question's domain, else of any domain."""
    for domain in (question.domain, None):
        pages = inputs.truth_pages.get(domain) or TruthPages({})
        own = pages.numbers(question.document)
        if others := len(pages) - len(own):
            number = int(seeds.generator(seed, "shuffled_context", question.id).integers(others))
            name, index = pages.page(number + len(own) if number >= own.start else number)
            return inputs.truth[name][index]
    return None
