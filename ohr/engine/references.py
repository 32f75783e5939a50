"""Floors and ceilings of answers: what a generator scores without the knowledge base, and with perfect help."""

from collections.abc import Mapping, Sequence

from ohr import seeds
from ohr.contracts import Document, Page, Question
from ohr.engine.inputs import Inputs
from ohr.metrics.dose import by_page, own_text

FLOORS = ("closed_book", "shuffled_context")
CEILINGS = ("evidence_only", "own_clean_page")
CONDITIONS = (*FLOORS, *CEILINGS)


def passages(condition: str, question: Question, inputs: Inputs, seed: int) -> Sequence[str]:
    """Give what the generator may read under a condition.

    `closed_book`: nothing; `shuffled_context`: a page of another document, of the same domain where there is one;
    `evidence_only`: the evidence; `own_clean_page`: the question's own ground-truth pages.
    """
    if condition == "closed_book":
        return ()
    if condition == "evidence_only":
        return question.evidence
    if condition == "own_clean_page":
        return (own_text(question, by_page(inputs.truth.get(question.document, ()))),)
    return (_other_page(question, inputs.documents, inputs.truth, seed),)


def _other_page(
    question: Question, documents: Sequence[Document], truth: Mapping[str, Sequence[Page]], seed: int
) -> str:
    others = [document for document in documents if document.name != question.document and truth[document.name]]
    near = [document for document in others if document.domain == question.domain] or others
    pages = [page.text for document in near for page in truth[document.name]]
    if not pages:
        return ""
    return pages[int(seeds.generator(seed, "shuffled_context", question.id).integers(len(pages)))]
