"""Which questions OHRBench asks, and which of them cannot score."""

from dataclasses import dataclass, replace
from pathlib import Path

from ohr.contracts import Document, Question
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.names import by_form, other_form
from ohr.files.ohrbench_questions import survey_questions
from ohr.messages.faults import Fault

FILES = ("qas_v2.json", "qas.json")


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions and their faults.

    Args:
        misnamed: questions that name their document in another Unicode form, where that is not matched.
    """

    questions: tuple[Question, ...]
    faults: tuple[Fault, ...]
    misnamed: frozenset[str]


def question_file(root: Path) -> Path:
    """Return the newest questions under `root`.

    Raises:
        DataError: there are none.
    """
    for name in FILES:
        if (root / name).is_file():
            return root / name
    raise DataError(f"{root}: holds neither {' nor '.join(FILES)}")


def document_fault(question: Question, document: Document | None) -> Fault | None:
    """Report a question about a document or a page that does not exist; it stays in the count and scores 0."""
    if document is None:
        return Fault("question", "about an absent document, scored 0 in a run", f"{question.id} ({question.document})")
    if question.pages and question.pages[-1] >= document.pages:
        where = f"{question.id} (page {question.pages[-1] + 1} of {document.pages})"
        return Fault("question", "with evidence beyond the document, scored 0 in a run", where)
    return None


@kept_until_changed()
def asked(path: Path, domains: tuple[str, ...] | None, documents: tuple[str, ...], *, as_published: bool) -> Asked:
    """Read the questions of some domains about documents of these names; a file that changed is read again.

    Args:
        as_published: a document that a question names in another Unicode form is another one, as in the published
            code; otherwise it is matched.
    """
    read, faults = survey_questions(path, as_published=as_published)
    names = by_form(documents)
    what_then = "scored 0 in a run as in the published code" if as_published else "matched"
    kept, misnamed = [], []
    for question in read:
        if domains is not None and question.domain not in domains:
            faults.append(Fault("question", "outside the chosen domains, left out", question.id))
            continue
        other = other_form(question.document, names)
        if other is not None:
            where = f"{question.id} ({question.document})"
            faults.append(Fault("question", f"whose document is named in another Unicode form, {what_then}", where))
            if as_published:
                misnamed.append(question.id)
            else:
                question = replace(question, document=other)
        kept.append(question)
    return Asked(tuple(kept), tuple(faults), frozenset(misnamed))
