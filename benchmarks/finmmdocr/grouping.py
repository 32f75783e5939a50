"""Groups of questions as in the paper's tables."""

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from .release_records import CHARTS, DOC_TYPES, SCENARIOS, TABLES, TEXTS, Record

_ABBREVIATIONS = {name: short for short, name in DOC_TYPES.items()}
_SCENARIOS = {name: short for short, name in SCENARIOS.items()}


class Group(NamedTuple):
    """A group that a question belongs to.

    Attributes:
        dimension: what questions are grouped by, such as `doc_length`.
        name: the group, as the paper's tables name it.
        derived: it was computed here, since the record does not have the label.
    """

    dimension: str
    name: str
    derived: bool = False


def calc_steps(program: str) -> int | None:
    """Count the binary operators of a program, those of `+=` and similar included; None where it is no Python."""
    try:
        return sum(isinstance(node, ast.BinOp | ast.AugAssign) for node in ast.walk(ast.parse(program)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def extract_steps(evidence: Mapping[str, tuple[int, ...]]) -> int:
    """Count the values that are extracted: a page is listed once for each."""
    return sum(len(pages) for pages in evidence.values())


_LABELS = {
    "scenario": "{} scenario",
    "scenario_count": "scenarios {}",
    "doc_length": "{} pages",
    "evidence_page": "{} page",
    "evidence_index": "mean page {}",
    "extract": "{} values",
    "compute": "{} steps",
    "calculation": "{} steps",
    "contextual_extraction": "{} from text",
    "visual_extraction": "{} from tables and charts",
}
"""Words for bins, so that a column of a table can be read by itself."""


def label(group: Group) -> tuple[str, str]:
    """Name a group as a group of a question: a name and a value, as in `doc_length` and `<=30 pages`.

    A question has one value of each name, but several scenarios: each of these is a name, with the value `yes`.
    """
    dimension, name = group.dimension, group.name
    if dimension == "scenario_type":
        return f"scenario {_SCENARIOS.get(name, name).replace('=', '-')}", "yes"
    return dimension, _LABELS.get(dimension, "{}").format(name)


def groups(record: Record) -> tuple[Group, ...]:
    """List the groups of a question.

    A label that the record lacks is derived from evidence and program where it can be, or its groups are left out:
    scenarios cannot be derived.
    """
    return (*_of_scenarios(record), *_of_document(record), *_of_evidence(record), *_of_steps(record))


def _of_scenarios(record: Record) -> Iterator[Group]:
    if record.scenarios is None:
        return
    labels = dict.fromkeys(record.scenarios)
    yield Group("scenario", "w/" if labels else "w/o")
    if labels:
        yield Group("scenario_count", _bin(len(labels), 1, 2, 3))
    for label in labels:
        yield Group("scenario_type", label)


def _of_document(record: Record) -> Iterator[Group]:
    yield Group("doc_length", _bin(record.pages_num, 30))
    yield Group("doc_type", _ABBREVIATIONS.get(record.doc_type, record.doc_type))


def _of_evidence(record: Record) -> Iterator[Group]:
    pages = record.gold_pages
    if not pages:
        return
    yield Group("evidence_page", "single" if len(pages) == 1 else "cross")
    yield Group("evidence_type", evidence_type(record.evidence))
    mean = sum(pages) / len(pages)
    yield Group("evidence_index", next((name for end, name in _INDEX if mean <= end), ">30"))


_INDEX = ((10, "1-10"), (20, "11-20"), (30, "21-30"))
"""Last mean page number of a bin, and its name. A mean between two bins belongs to the later one."""


def evidence_type(evidence: Mapping[str, tuple[int, ...]]) -> str:
    """Return `text`, `table` or `chart` where all evidence is of that type, else `mix`."""
    kinds = {kind for kind, pages in evidence.items() if pages}
    for name, members in (("text", TEXTS), ("table", TABLES), ("chart", CHARTS)):
        if kinds <= set(members):
            return name
    return "mix"


def _of_steps(record: Record) -> Iterator[Group]:
    derived = record.extract_steps is None
    extracted = record.extract_steps if record.extract_steps is not None else extract_steps(record.evidence)
    yield Group("extract", _bin(extracted, 4), derived)
    calculated = record.calc_steps if record.calc_steps is not None else calc_steps(record.python_solution)
    if calculated is not None:
        yield Group("compute", _bin(calculated, 4), record.calc_steps is None)
        yield Group("calculation", _bin(calculated, 2, 4, 6), record.calc_steps is None)
    textual = extract_steps({kind: pages for kind, pages in record.evidence.items() if kind in TEXTS})
    visual = extract_steps(record.evidence) - textual
    yield Group("contextual_extraction", _bin(textual, 0, 2, 4), derived=True)
    yield Group("visual_extraction", _bin(visual, 0, 2, 4), derived=True)


def _bin(value: int, *ends: int) -> str:
    """Name the bin of a value: bins end with each of `ends`; the first starts at 0 and the last is open."""
    if value <= ends[0]:
        return f"{ends[0]}" if ends[0] in (0, 1) else f"<={ends[0]}"
    for before, end in pairwise(ends):
        if value <= end:
            return f"{end}" if end == before + 1 else f"{before + 1}-{end}"
    return f">={ends[-1] + 1}"
