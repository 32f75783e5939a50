"""Candidates as records of OHRBench's question file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.errors import DataError
from ohr.messages.faults import Fault, sentences
from ohr.questions.candidate import Candidate
from ohr.questions.truth import Truth


def check(candidates: Sequence[Candidate], truth: Truth) -> None:
    """Refuse questions that the set could not hold; all faults are listed.

    Raises:
        DataError: ids are used twice, a question or answer is empty, or evidence is on a page without ground truth.
    """
    if faults := sentences(_faults(candidates, truth)):
        raise DataError(f"the set cannot be written: {'; '.join(faults)}")


def _faults(candidates: Sequence[Candidate], truth: Truth) -> Iterator[Fault]:
    pages = {(name, page.index) for name in truth.texts for page in truth.texts[name]}
    for name, uses in Counter(candidate.id for candidate in candidates).items():
        if uses > 1:
            yield Fault("id", "used more than once", name)
    for candidate in candidates:
        if not candidate.question.strip():
            yield Fault("question", "without a text", candidate.id)
        if not candidate.answers or not all(answer.strip() for answer in candidate.answers):
            yield Fault("question", "with an empty answer", candidate.id)
        if not candidate.evidence:
            yield Fault("question", "without evidence", candidate.id)
        for page in candidate.pages:
            if (candidate.document, page) not in pages:
                yield Fault(
                    "question",
                    "with evidence on a page without ground truth",
                    f"{candidate.id} (page {page + 1} of {candidate.document})",
                )


def record(candidate: Candidate, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a candidate with the keys of OHRBench's file.

    Evidence on one page is a number with a passage, or with a list of them; on several pages it is a list of pages in
    ascending order, and a passage for each. Passages of a page are in its order, as scores compare words in order.

    Args:
        candidate: one that `check` allows.
        names: of documents in the set, by their own.
    """
    document = names[candidate.document]
    in_order = sorted(candidate.evidence, key=lambda each: (each.page, each.start))
    passages = {page: [each.text for each in in_order if each.page == page] for page in sorted(candidate.pages)}
    several = len(passages) > 1
    context: str | list[str]
    if several:
        context = ["\n".join(own) for own in passages.values()]
    else:
        (own,) = passages.values()
        context = own if len(own) > 1 else own[0]
    return {
        "doc_name": document,
        "ID": candidate.id,
        "questions": candidate.question,
        "answers": candidate.answers[0] if len(candidate.answers) == 1 else list(candidate.answers),
        "doc_type": document.split("/")[0],
        "answer_form": candidate.answer_form,
        "evidence_source": candidate.source,
        "evidence_context": context,
        "evidence_page_no": list(passages) if several else next(iter(passages)),
        "task_type": candidate.task,
    }
