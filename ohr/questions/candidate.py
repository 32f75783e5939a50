"""Candidates: questions with answers and evidence, before and after they are verified, and the file of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from ohr.contracts import Completion, EvidenceSource, Prompt
from ohr.errors import DataError
from ohr.files.json_input import read_records as read_objects
from ohr.files.json_input import refuse_lines
from ohr.messages.wording import quoted
from ohr.registry import choices

Task = Literal["understanding", "reasoning"]
"""Whether the evidence holds the answer, or it is worked out."""
Origin = Literal["written", "joined", "imported"]
"""How a candidate came about: a model wrote it, two single-page ones were joined, or it was brought."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that an answer needs: characters [start, end) of a page's ground truth; -1 where it is not there."""

    page: int
    text: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that may become part of a set.

    Args:
        id: unique in the set, and the same in every build from the same inputs.
        answers: accepted answers; the first is the one that was written.
        document: its name, `<domain>/<name>`.
        evidence: in the order in which the answer needs them; of several pages in a multi-page question.
        source: of the evidence.
        task: "" where an import does not say.
        answer_form: as in OHRBench: String, Integer, Float, Boolean, List, ...
        language: ISO 639-1.
        origin: how it came about; `made_by` names the model, or the file and line.
        parents: ids of the candidates that it was joined from.
        notes: what is known of it beyond this, by name. `pages` is `single` where the task asked for one page.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    document: str
    evidence: tuple[Evidence, ...]
    source: EvidenceSource = "text"
    task: Task | Literal[""] = "understanding"
    answer_form: str = "String"
    language: str = "en"
    origin: Origin = "written"
    made_by: str = ""
    parents: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def pages(self) -> tuple[int, ...]:
        """The pages of its evidence, each once, in the order of the evidence."""
        return tuple(dict.fromkeys(passage.page for passage in self.evidence))


@dataclass(frozen=True, slots=True)
class Removal:
    """Why a candidate was removed: the rule, and its reason in words.

    Args:
        undecided: the rule needs a model's reply, and got none that it can use.
    """

    candidate: str
    rule: str
    reason: str
    undecided: bool = False


Ask = Callable[[Sequence[Prompt]], Sequence[Completion]]
"""Returns a model's replies, in the order of the prompts; one that failed has an `error`.

Prompts that differ in `attempt` alone are samples of the same prompt.
"""


class Model(NamedTuple):
    """A model by its name in the settings, as writing and verification see it."""

    name: str
    ask: Ask


T = TypeVar("T")

FILE = "candidates.jsonl"
"""Its name in the folder of a set."""

_CANDIDATE, _REMOVED = TypeAdapter(Candidate), TypeAdapter(Removal)
_REMOVAL = {"removed_by": "rule", "because": "reason", "undecided": "undecided"}
_KEYS = (*(field.name for field in fields(Candidate)), *_REMOVAL)
_PASSAGE_KEYS = tuple(field.name for field in fields(Evidence))
_ALWAYS = ("id", "question", "answers", "document", "evidence")


class Record(NamedTuple):
    """A candidate, and why it was removed; None where it was not."""

    candidate: Candidate
    removal: Removal | None = None


def write_candidates(path: Path, candidates: Sequence[Candidate], removals: Sequence[Removal] = ()) -> None:
    """Write candidates in their order; equal ones give equal bytes.

    Args:
        path: of the file, which is replaced.
        removals: of some of the candidates; others are not written.
    """
    reasons = {removal.candidate: removal for removal in removals}
    text = "".join(_line(candidate, reasons.get(candidate.id)) for candidate in candidates)
    path.write_bytes(text.encode("utf-8", "replace"))


def read_records(path: Path) -> list[Record]:
    """Read candidates in their order.

    Raises:
        DataError: the file cannot be read, or has lines that are no candidates; the message names the first ones.
    """
    records: list[Record] = []
    wrong: list[str] = []
    lines: dict[str, str] = {}
    for where, found in read_objects(path, "candidates"):
        try:
            record = _record(found)
            if (earlier := lines.setdefault(record.candidate.id, where)) != where:
                raise DataError(f"the id {quoted(record.candidate.id)} is that of {earlier}, too")
            records.append(record)
        except DataError as error:
            wrong.append(f"{where}: {error}")
    refuse_lines(path, wrong)
    return records


def _line(candidate: Candidate, removal: Removal | None) -> str:
    about = asdict(candidate)
    about["notes"] = dict(sorted(candidate.notes.items()))
    if removal:
        about |= {name: getattr(removal, attribute) for name, attribute in _REMOVAL.items()}
    # the task of an import may be unknown, which is not what a missing key says
    stated = {name: value for name, value in about.items() if value or name in (*_ALWAYS, "task")}
    return json.dumps(stated, ensure_ascii=False) + "\n"


def _record(found: Mapping[str, Any]) -> Record:
    _refuse_unknown(found, _KEYS)
    if isinstance(found.get("evidence"), list):
        for passage in found["evidence"]:
            _refuse_unknown(passage if isinstance(passage, Mapping) else {}, _PASSAGE_KEYS)
    candidate = _checked(_CANDIDATE, {name: value for name, value in found.items() if name not in _REMOVAL})
    if not candidate.id.strip():
        raise DataError("id is empty")
    reason = {attribute: found[name] for name, attribute in _REMOVAL.items() if name in found}
    if not reason:
        return Record(candidate)
    if "rule" not in reason:
        raise DataError("removed_by is missing, where there is a reason")
    return Record(candidate, _checked(_REMOVED, {"candidate": candidate.id, "reason": "", **reason}))


def _refuse_unknown(found: Mapping[str, Any], keys: Sequence[str]) -> None:
    if unknown := [name for name in found if name not in keys]:
        raise DataError(f"there is no key {quoted(unknown[0])}. {choices(unknown[0], keys)}")


def _checked(shape: TypeAdapter[T], values: Mapping[str, Any]) -> T:
    try:
        return shape.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        if first["type"] == "missing":
            raise DataError(f"{place} is missing") from None
        needed = first["msg"].replace("Input should be", "must be")
        raise DataError(f"{place} {needed} (got {quoted(first['input'])})") from None
