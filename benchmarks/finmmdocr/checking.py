"""Checks records of FinMMDocR: what is wrong with one, and what does not fit together."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from sys import float_info
from typing import Any

from ohr.files.json_input import whole_number
from ohr.messages.faults import Fault
from ohr.messages.wording import keys_of, named, quoted, shortened

from .records import CHARTS, TABLES, TEXTS, Record

NO_OBJECT, NO_OBJECTS = "that is no object", "that are no objects"
NO_EVIDENCE = "without an evidence page, left out of retrieval scores (0 in the reference protocol)"
NO_PROGRAM = "without a gold program"
UNKNOWN_KIND = "with an unknown kind of evidence, which counts as evidence of a mixed type"
BEYOND = "with evidence behind the document's last page, which is not counted"
IMAGES = "whose pages_num is not the number of its images"
_NOT_MET = "which no answer meets: left out of the accuracy (0 in the reference protocol)"
STRING_GOLD = f"whose ground_truth is a string, {_NOT_MET}"
NO_NUMBER = f"whose ground_truth is no number, {_NOT_MET}"
NOT_FINITE = f"whose ground_truth is not finite, {_NOT_MET}"
TOO_LARGE = "whose ground_truth is too large for a double, which no answer meets: scored 0"
_NOT_COUNTED = {
    "pages_num": "whose pages_num is no whole number from 0 on, so that its images are counted",
    "extract_steps": "whose extract_steps is no whole number from 0 on, so that it is derived",
    "calc_steps": "whose calc_steps is no whole number from 0 on, so that it is derived",
}
HARMLESS = frozenset(
    (
        *(NO_EVIDENCE, NO_PROGRAM, UNKNOWN_KIND, BEYOND, IMAGES),
        *(STRING_GOLD, NO_NUMBER, NOT_FINITE, TOO_LARGE),
        *_NOT_COUNTED.values(),
    )
)
"""Faults of a record that is used all the same."""

_TEXT_FIELDS = ("question_id", "doc_id", "question")
_KINDS = frozenset((*TEXTS, *TABLES, *CHARTS))


def record_of(value: Any, where: str) -> tuple[Record | None, list[Fault]]:
    """Make a record of a JSON value, and list its faults; None where it cannot be used at all.

    Args:
        value: the value.
        where: file and record, or line, for messages.
    """
    if not isinstance(value, dict):
        return None, [Fault("record", NO_OBJECT, f"{where} ({quoted(value)})")]
    lacking = [name for name in _TEXT_FIELDS if not isinstance(value.get(name), str) or not value[name].strip()]
    if lacking:
        return None, [Fault("record", f"without {' and '.join(lacking)}", f"{where}, which has {keys_of(value)}")]
    place = f"{shortened(value['question_id'])} ({where})"
    evidence, wrong = _evidence(value.get("evidence"), place)
    images = tuple(path for path in _listed(value.get("images")) if isinstance(path, str))
    numbers = {name: _number(value.get(name)) for name in _NOT_COUNTED}
    pages = numbers["pages_num"]
    record = Record(
        question_id=value["question_id"],
        doc_id=value["doc_id"],
        doc_type=_text(value.get("doc_type")),
        question=value["question"],
        evidence=evidence,
        python_solution=_text(value.get("python_solution")),
        ground_truth=value.get("ground_truth"),
        pages_num=len(images) if pages is None else pages,
        images=images,
        texts=_text(value.get("texts")),
        source_id=_text(value.get("source_id")),
        scenarios=tuple(map(str, _listed(value["scenarios"]))) if value.get("scenarios") is not None else None,
        extract_steps=numbers["extract_steps"],
        calc_steps=numbers["calc_steps"],
        where=where,
    )
    return record, [*wrong, *_label_faults(value, place), *_faults(record, place)]


def faults_of(records: Sequence[Record]) -> Iterator[Fault]:
    """Report ids that repeat and documents whose records contradict each other, as two mixed versions do."""
    by_id: dict[str, list[Record]] = defaultdict(list)
    by_document: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_id[record.question_id].append(record)
        by_document[record.doc_id].append(record)
    for name, same in by_id.items():
        if len(same) > 1:
            equal = all(record == same[0] for record in same)
            about = "whose id repeats" if equal else "whose id repeats with another content: two versions may be mixed"
            yield Fault("record", about, f"{shortened(name)} ({named([record.where for record in same])})")
    for name, same in by_document.items():
        for what, values in (
            ("pages_num", {record.pages_num for record in same}),
            ("doc_type", {record.doc_type for record in same}),
            ("page images", {record.images for record in same}),
            ("texts", {record.texts for record in same}),
        ):
            if len(values) > 1:
                about = f"whose records differ in {what}: two versions may be mixed"
                yield Fault("document", about, f"{shortened(name)} ({', '.join(record.where for record in same[:2])})")


def _evidence(value: Any, place: str) -> tuple[dict[str, tuple[int, ...]], list[Fault]]:
    """Read the page numbers by kind; a number that cannot be read is a fault."""
    if not isinstance(value, Mapping):
        wrong = [] if value is None else [Fault("record", "whose evidence is no object", f"{place}: {quoted(value)}")]
        return {}, wrong
    found: dict[str, tuple[int, ...]] = {}
    faults = []
    for kind, pages in value.items():
        numbers = [_number(page) for page in _listed(pages)]
        for page, number in zip(_listed(pages), numbers, strict=True):
            if number is None:
                faults.append(
                    Fault("record", "whose evidence page is no whole number from 1 on", f"{place}: {quoted(page)}")
                )
        found[kind] = tuple(number for number in numbers if number is not None)
        if found[kind] and kind not in _KINDS:
            faults.append(Fault("record", UNKNOWN_KIND, f"{place}: {shortened(kind)}"))
    return found, faults


def _label_faults(value: Mapping[str, Any], place: str) -> Iterator[Fault]:
    """Report counts that are none, and scenarios that are no list of texts."""
    for name, about in _NOT_COUNTED.items():
        if value.get(name) is not None and _number(value[name]) is None:
            yield Fault("record", about, f"{place}: {quoted(value[name])}")
    scenarios = value.get("scenarios")
    if scenarios is not None and not (isinstance(scenarios, list) and all(isinstance(one, str) for one in scenarios)):
        yield Fault("record", "whose scenarios are no list of texts", f"{place}: {quoted(scenarios)}")


def _faults(record: Record, place: str) -> Iterator[Fault]:
    pages = record.gold_pages
    if 0 in pages:
        yield Fault("record", "with evidence on page 0: pages count from 1, so that all may be off by one", place)
    if pages and record.pages_num and pages[-1] > record.pages_num:
        yield Fault("record", BEYOND, f"{place}: page {pages[-1]} of {record.pages_num}")
    if not record.pages_num:
        yield Fault("record", "without pages", place)
    if record.pages_num != len(record.images):
        yield Fault("record", IMAGES, f"{place}: {record.pages_num} and {len(record.images)}")
    yield from _gold_faults(record.ground_truth, place)
    if not pages:
        yield Fault("record", NO_EVIDENCE, place)
    if "def solution" not in record.python_solution:
        yield Fault("record", NO_PROGRAM, place)


def _gold_faults(gold: object, place: str) -> Iterator[Fault]:
    if isinstance(gold, str):
        yield Fault("record", STRING_GOLD, f"{place}: {quoted(gold)}")
    elif not isinstance(gold, int | float):
        yield Fault("record", NO_NUMBER, f"{place}: {quoted(gold)}")
    elif isinstance(gold, float) and not isfinite(gold):
        yield Fault("record", NOT_FINITE, f"{place}: {gold}")
    elif abs(gold) > float_info.max:
        yield Fault("record", TOO_LARGE, f"{place}: {quoted(gold)}")


def _number(value: Any) -> int | None:
    """Read a whole number from 0 on; None for a text, too."""
    return None if isinstance(value, str) else whole_number(value)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return "" if value is None else str(value)
