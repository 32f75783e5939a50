"""Documents and questions as ohr has them, from the records of FinMMDocR."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ohr.contracts import Document, EvidenceSource, Question
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted, named, shortened

from ..copies import Copy
from .answer_numbers import read_from
from .grouping import evidence_type, groups, label
from .release_records import (
    Record,
    Survey,
    find_below,
    page_texts,
    questions_file,
    survey,
)

_SOURCES: Mapping[str, EvidenceSource] = {"text": "text", "table": "table", "chart": "chart", "mix": "multi"}


@dataclass(frozen=True, slots=True)
class Asked(Copy):
    """The benchmark of a folder.

    Args:
        records: one of each document, by the document's name.
        found: all records, those that are left out too, and their faults.
    """

    records: Mapping[str, Record]
    found: Survey


def domain_of(record: Record) -> str:
    """Name the type of a document as a domain: `financial_report_10_q`."""
    words = record.doc_type.lower().replace("&", " and ")
    return "_".join(re.findall(r"\w+", words)) or "unknown"


def name_of(record: Record) -> str:
    """Name a record's document."""
    return f"{domain_of(record)}/{record.doc_id}"


def asked(root: Path) -> Asked:
    """Read the questions of a folder, all of them; a file that changed is read again.

    Raises:
        DataError: the file of the questions cannot be read, or has records with which scores would be wrong.
    """
    return _asked(questions_file(root), root)


@kept_until_changed()
def _asked(path: Path, root: Path) -> Asked:
    found = survey(root)
    if found.errors:
        raise DataError(f"{path}: {'; '.join(sentences(found.errors))}")
    records = {name_of(record): record for record in reversed(found.records)}
    records = {name: records[name] for name in dict.fromkeys(map(name_of, found.records))}
    documents = tuple(
        Document(name, domain_of(record), record.language, record.pages_num) for name, record in records.items()
    )
    places = {record.question_id: str(root / record.where) for record in found.records}
    return Asked(documents, tuple(_questions(root, found.records)), places, tuple(found.notes), records, found)


def _questions(root: Path, records: Sequence[Record]) -> Iterator[Question]:
    """Make the questions; the texts of a document are read for all of its questions at once."""
    by_document: dict[str, list[Record]] = {}
    for record in records:
        by_document.setdefault(record.doc_id, []).append(record)
    made: dict[str, Question] = {}
    for same in by_document.values():
        texts = texts_of(root, same[0])
        made |= {record.question_id: _question(record, texts) for record in same}
    return (made[record.question_id] for record in records)


def texts_of(root: Path, record: Record) -> list[str]:
    """Return the texts of a document's pages; none where there are none that can be used."""
    try:
        return page_texts(root, record)
    except DataError:
        return []


def _question(record: Record, texts: Sequence[str]) -> Question:
    pages = [page - 1 for page in record.gold_pages if page <= record.pages_num]
    evidence = [texts[page] if texts else "" for page in pages]
    return Question(
        id=record.question_id,
        text=record.question,
        answers=(json.dumps(record.ground_truth, ensure_ascii=False),),
        document=name_of(record),
        pages=tuple(pages),
        evidence=tuple(evidence),
        evidence_source=_SOURCES[evidence_type(record.evidence)],
        domain=domain_of(record),
        answer_form="Numeric",
        facts=read_from(record.python_solution, evidence),
        groups=tuple(dict(map(label, groups(record))).items()),
    )


def file_faults(root: Path, records: Mapping[str, Record]) -> Iterator[Fault]:
    """Report the documents that lack page images or texts."""
    for name, record in records.items():
        files = [(path, find_below(root, path)) for path in record.images]
        for what, paths in (
            ("missing", [path for path, file in files if file is None]),
            ("empty files", [path for path, file in files if file is not None and not file.stat().st_size]),
        ):
            if paths:
                which = f"{shortened(name)} ({counted(len(paths), 'image')}: {named(list(map(shortened, paths)))})"
                about = f"whose page images are {what}, so that those pages fail in runs with images"
                yield Fault("document", about, which)
        try:
            page_texts(root, record)
        except DataError as error:
            yield Fault("document", "without usable texts, so without ground truth, evidence and facts", str(error))


def label_notes(records: Sequence[Record]) -> Iterator[str]:
    """Report the groups that were derived here, or are not there at all."""
    whole = counted(len(records), "question")
    steps = sum(record.extract_steps is None or record.calc_steps is None for record in records)
    if steps:
        yield (
            f"{steps:,} of {whole} without labels of steps: the groups extract, compute and calculation are derived "
            "from the evidence and the gold program, and are not the published ones"
        )
    scenarios = sum(record.scenarios is None for record in records)
    if scenarios:
        yield f"{scenarios:,} of {whole} without labels of scenarios: they are in no group by scenario"
