"""FinMMDocR as it is published: the records of `test.json`, one question each, page images, and texts of pages."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path, PurePosixPath
from sys import float_info
from typing import Any, Literal

from ohr.errors import DataError
from ohr.files.json_input import lines, parse_json, whole_number
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted, keys_of, named, quoted, shortened

Protocol = Literal["clean", "reference"]
"""`reference` scores as the published code does, faults included; `clean` repairs the faults."""

TEXTS = ("plain_text", "generalized_text (layout)", "generalized_text")
TABLES = ("table",)
CHARTS = ("image", "pie_chart", "bar_chart", "scatter_chart", "line_chart")
"""Kinds of evidence. The paper does not assign `image` and `generalized_text (layout)` to its types: this is ours."""

DOC_TYPES = {
    "MI": "Market Interpretation",
    "MR": "Macro Research",
    "CR": "Company Research",
    "SR": "Strategy Research",
    "IR": "Industry Research",
    "FE": "Financial Engineering",
    "FO": "Futures & Options",
    "10-Q": "Financial Report (10-Q)",
    "10-K": "Financial Report (10-K)",
}
"""Types of documents as the records name them, by the paper's abbreviation."""

SCENARIOS = {
    "FSA": "Financial Statement Analysis",
    "PM": "Portfolio Management",
    "A&EV": "Asset & Equity Valuation",
    "CF&CM": "Corporate Finance & Capital Management",
    "M&IA": "Market & Industry Analysis",
    "M&FI": "Macroeconomics & Fixed Income",
    "IA&RM": "Investment Analysis & Risk Management",
    "CE&RA": "Commodities, Energy & Real Assets",
    "FM&P": "Financial Modeling & Projections",
    "CS&O": "Corporate Strategy & Operations",
    "CA&M": "Cost Accounting & Management",
    "T&A": "Taxation & Accounting",
}
"""Scenarios by the paper's abbreviation (Figure 3)."""


@dataclass(frozen=True, slots=True)
class Record:
    """One question.

    Args:
        evidence: page numbers from 1 by kind of evidence, each repeated once per value that is used.
        python_solution: the gold program, which defines `solution()`.
        ground_truth: a number, or whatever else the file has, which no answer meets.
        pages_num: pages of the document.
        images: paths of the page images as in the file.
        texts: path of the page texts as in the file: a JSON list with one string per page.
        scenarios: labels; None where the record has none, as in the published data.
        extract_steps: the same, of extracted values.
        calc_steps: the same, of calculations.
        where: file and record, or line.
    """

    question_id: str
    doc_id: str
    doc_type: str
    question: str
    evidence: Mapping[str, tuple[int, ...]]
    python_solution: str
    ground_truth: object
    pages_num: int
    images: tuple[str, ...]
    texts: str
    scenarios: tuple[str, ...] | None = None
    extract_steps: int | None = None
    calc_steps: int | None = None
    where: str = field(default="", compare=False)

    @property
    def gold_pages(self) -> tuple[int, ...]:
        """Pages of all evidence, ascending, each once."""
        return tuple(sorted({page for pages in self.evidence.values() for page in pages}))

    @property
    def language(self) -> str:
        """`en` for documents of DocMath-Eval, whose ids begin with complong, else `zh`."""
        return "en" if self.doc_id.startswith("complong") else "zh"


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
    evidence: dict[str, tuple[int, ...]] = {}
    faults = []
    for kind, pages in value.items():
        numbers = [_number(page) for page in _listed(pages)]
        for page, number in zip(_listed(pages), numbers, strict=True):
            if number is None:
                faults.append(
                    Fault("record", "whose evidence page is no whole number from 1 on", f"{place}: {quoted(page)}")
                )
        evidence[kind] = tuple(number for number in numbers if number is not None)
        if evidence[kind] and kind not in _KINDS:
            faults.append(Fault("record", UNKNOWN_KIND, f"{place}: {shortened(kind)}"))
    return evidence, faults


def _label_faults(value: Mapping[str, Any], place: str) -> Iterator[Fault]:
    """Report counts that are none, and scenarios that are no list of texts."""
    for name, about in _NOT_COUNTED.items():
        if value.get(name) is not None and _number(value[name]) is None:
            yield Fault("record", about, f"{place}: {quoted(value[name])}")
    scenarios = value.get("scenarios")
    if scenarios is not None and not (
        isinstance(scenarios, list) and all(isinstance(scenario, str) for scenario in scenarios)
    ):
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


FILES = ("test.json", "test.jsonl")
_BLANK = b"\xef\xbb\xbf \t\r\n"
"""A byte order mark, and white space."""
_FORM = "FinMMDocR's test.json is a list of records, each with question_id, doc_id, question, evidence, ground_truth"


@dataclass(frozen=True, slots=True)
class Survey:
    """The records of a folder, and everything that is not as published.

    Args:
        records: in the order of the file; those that cannot be used are left out.
        faults: `HARMLESS` ones are notes, all others are errors.
    """

    records: tuple[Record, ...]
    faults: tuple[Fault, ...]

    @property
    def errors(self) -> list[Fault]:
        """Faults with which scores would be wrong."""
        return [fault for fault in self.faults if fault.about not in HARMLESS]

    @property
    def notes(self) -> list[str]:
        """One sentence for each kind of harmless fault."""
        return sentences(fault for fault in self.faults if fault.about in HARMLESS)


def survey(root: Path) -> Survey:
    """Read the questions of a folder and report all faults.

    Raises:
        DataError: there is no such file, or it is not JSON or JSON Lines of records.
    """
    path = questions_file(root)
    records: list[Record] = []
    faults: list[Fault] = []
    for where, value in _values(path):
        record, wrong = record_of(value, where)
        faults += wrong
        if record is not None:
            records.append(record)
    strangers = sum(fault.about == NO_OBJECT for fault in faults)
    if strangers > 1:
        faults = [fault._replace(about=NO_OBJECTS) if fault.about == NO_OBJECT else fault for fault in faults]
    if not records and not faults:
        raise DataError(f"{path}: holds no record; {_FORM}")
    faults += faults_of(records)
    return Survey(tuple(records), tuple(faults))


def questions_file(root: Path) -> Path:
    """Return the file of the questions.

    Raises:
        DataError: the folder has none.
    """
    for name in FILES:
        if (root / name).is_file():
            return root / name
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; FinMMDocR is to be downloaded from its publishers")
    raise DataError(f"{root}: no {' or '.join(FILES)}; FinMMDocR is to be downloaded from its publishers")


def page_texts(root: Path, record: Record) -> list[str]:
    """Read the texts of a document's pages, in order.

    Raises:
        DataError: the file is missing, is not a JSON list of strings, or has another number of pages.
    """
    path = find_below(root, record.texts)
    if path is None:
        raise DataError(f"{root / shortened(record.texts)}: no such file ({record.where})")
    texts = _json(path)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{path}: must be a list of strings, one for each page ({record.where})")
    if len(texts) != record.pages_num:
        raise DataError(f"{path}: has {counted(len(texts), 'page')}, not {record.pages_num} ({record.where})")
    return texts


def page_image_file(root: Path, record: Record, index: int) -> Path:
    """Return the file of a page image; pages count from 0 here.

    Raises:
        DataError: it is missing, or the record names none for this page.
    """
    if not 0 <= index < len(record.images):
        raise DataError(f"{root}: {shortened(record.doc_id)} has no image of page {index + 1} ({record.where})")
    path = find_below(root, record.images[index])
    if path is None:
        raise DataError(f"{root / shortened(record.images[index])}: no such file ({record.where})")
    return path


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each record with file and place; the file is a JSON list, or JSON Lines, whatever it is called."""
    content = path.read_bytes()
    if content.lstrip(_BLANK)[:1] == b"{":
        yield from _of_lines(path, content)
        return
    values = _json(path)
    if not isinstance(values, list):
        raise DataError(f"{path}: must be a list (it is {type(values).__name__}); {_FORM}")
    for place, value in enumerate(values):
        yield f"{path.name} record {place}", value


def _of_lines(path: Path, content: bytes) -> Iterator[tuple[str, Any]]:
    try:
        whole = parse_json(content)
    except ValueError:
        whole = None  # several lines
    if whole is not None and "question_id" not in whole:
        raise DataError(f"{path}: must be a list (it is an object); {_FORM}")
    values, broken = [], []
    for number, line in lines(_decoded(path, content)):
        try:
            values.append((f"{path.name} line {number}", parse_json(line.encode())))
        except ValueError as error:
            broken.append(f"line {number} ({error})")
    if broken:
        raise DataError(f"{path}: {counted(len(broken), 'line')} not JSON: {named(broken)}")
    yield from values


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: {_encoding(content, error)}") from None


def _json(path: Path) -> Any:
    content = path.read_bytes()
    try:
        return parse_json(content)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: {_encoding(content, error)}") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}") from None


def _encoding(content: bytes, error: UnicodeDecodeError) -> str:
    """Describe text that is not UTF-8; Chinese is often written in GB 18030."""
    try:
        content.decode("gb18030")
        guess = "; it may be GB 18030: save it as UTF-8"
    except UnicodeDecodeError:
        guess = ": save it as UTF-8"
    return f"not UTF-8 from byte {error.start} on{guess}"


def find_below(root: Path, path: str) -> Path | None:
    """Find a file below the root; records name paths of their authors' machine, whose first folders may differ."""
    parts = [part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in ("/", ".", "..")]
    tails = (root.joinpath(*parts[start:]) for start in range(len(parts)))
    try:
        return next((tail for tail in tails if tail.is_file()), None)
    except OSError:  # a name that is too long
        return None
