"""The file of all candidates of a build: JSON Lines, each with the rule that removed it, if one did.

A candidate that a rule removed has `removed_by` and `because`, and `undecided` where a model's reply could not be used.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from ohr.errors import DataError
from ohr.files.json_input import read_records as read_objects
from ohr.files.json_input import refuse_lines
from ohr.messages.wording import quoted
from ohr.registry import choices

from .candidate import Candidate, Evidence, Removal

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
