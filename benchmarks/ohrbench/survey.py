"""Which knowledge bases, documents and questions a folder of OHRBench has, and what is wrong with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ohr.contracts import Document, Page, Question
from ohr.errors import DataError
from ohr.files.built_set import BuiltSet, origins, silver_sentence, unchanged
from ohr.files.changes import kept_until_changed
from ohr.files.digests import input_value
from ohr.files.names import UNWRITABLE, by_form, other_form
from ohr.files.ohrbench_json import document_facts, document_files, json_files, read_document, unwritable_files
from ohr.files.ohrbench_questions import survey_questions
from ohr.messages.faults import Fault, sentences
from ohr.text.language import is_chinese

TRUTH = "gt"
"""Name of the knowledge base that is the ground truth."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The documents of all knowledge bases, and the faults of their files."""

    documents: tuple[Document, ...]
    faults: tuple[Fault, ...]


def base_names(root: Path) -> list[str]:
    """Name the knowledge bases under `root`, ground truth first.

    Raises:
        DataError: there is no ground truth, so that nothing can be evaluated.
    """
    folder = root / "retrieval_base"
    if not (folder / TRUTH).is_dir():
        raise DataError(f"{folder / TRUTH}: no such folder; OHRBench has retrieval_base/gt/<domain>/<document>.json")
    others = sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != TRUTH)
    return [TRUTH, *(name for name in others if not name.startswith("."))]


def base_files(root: Path, domains: Sequence[str] | None) -> Mapping[str, Mapping[str, Path]]:
    """List the files of each knowledge base by document, without reading one; ground truth first.

    A file that is named in another Unicode form is the ground truth's document; the engine that reads it reports that.
    """
    bases = tuple(base_names(root))
    paths = tuple(sorted(entry.path for entry in json_files(root / "retrieval_base")))
    return _base_files(root, domains and tuple(domains), bases, paths)


@lru_cache(maxsize=4)
def _base_files(
    root: Path,
    domains: tuple[str, ...] | None,
    names_of_bases: tuple[str, ...],
    paths: tuple[str, ...],  # noqa: ARG001 # a cache key
) -> Mapping[str, Mapping[str, Path]]:
    bases: dict[str, dict[str, Path]] = {}
    names: Mapping[str, Sequence[str]] = {}
    for base in names_of_bases:
        files = document_files(root / "retrieval_base" / base)
        chosen = {name: path for name, path in files.items() if domains is None or name.split("/")[0] in domains}
        bases[base] = {other_form(name, names) or name: path for name, path in chosen.items()}
        names = names or by_form(bases[base])
    return bases


def survey(root: Path, domains: tuple[str, ...] | None) -> Survey:
    """Read every file for its number of pages and its faults; a folder that changed is read again."""
    files = ((entry.path, entry.stat()) for entry in json_files(root / "retrieval_base"))
    signature = tuple(sorted((path, about.st_size, about.st_mtime_ns) for path, about in files))
    return _survey(root, domains, signature)


@lru_cache(maxsize=4)
def _survey(root: Path, domains: tuple[str, ...] | None, signature: object) -> Survey:  # noqa: ARG001 # a cache key
    faults: list[Fault] = []
    documents: dict[str, Document] = {}
    for base, files in base_files(root, domains).items():
        truth = base == TRUTH
        faults += [
            Fault("file", f"whose {UNWRITABLE}, left out", name)
            for name in unwritable_files(root / "retrieval_base" / base)
        ]
        for name, path in files.items():
            numbers, own_faults = document_facts(path, name)
            if truth:
                faults += own_faults
            elif name not in documents:
                faults.append(Fault("document", f"of {base} without ground truth, indexed all the same", name))
            count = max(numbers, default=-1) + 1
            known = documents.get(name) or Document(name, name.split("/")[0], _language(path, name), count)
            documents[name] = replace(known, pages=max(known.pages, count))
    faults += [Fault("document", "without a page, left out", d.name) for d in documents.values() if not d.pages]
    with_pages = (document for document in documents.values() if document.pages)
    return Survey(tuple(sorted(with_pages, key=lambda document: f"{document.name}.json".split("/"))), tuple(faults))


def _language(path: Path, name: str) -> str:
    def is_in_chinese() -> bool:
        return is_chinese("".join(page.text for page in read_document(path, name).pages))

    return "zh" if input_value(path, "is Chinese 1", is_in_chinese) else "en"


_CHANGED = "whose ground truth was changed after the set was built"


def built_notes(built: BuiltSet, truth: Mapping[str, Sequence[Page]]) -> list[str]:
    """Return sentences about silver pages, and pages that are not as the set was built.

    Args:
        built: the set as it was built.
        truth: the pages as they are now, by document.
    """
    faults = [
        Fault(
            "page",
            _CHANGED if page.index in built.pages.get(name, {}) else "that the set was built without",
            f"{page.document} page {page.index + 1}",
        )
        for name in truth
        for page in truth[name]
        if not unchanged(built, page)
    ]
    silver, pages = origins(built, truth)["silver"], sum(map(len, truth.values()))
    return [*([silver_sentence(silver, pages, built.engine)] if silver else []), *sentences(faults)]


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
    questions, misnamed = [], []
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
        questions.append(question)
    return Asked(tuple(questions), tuple(faults), frozenset(misnamed))
