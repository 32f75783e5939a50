"""The answers of the opponent that all models are compared with: given to clean pages, and fixed."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ohr.errors import DataError
from ohr.messages.wording import quoted
from ohr.text.thoughts import without_thoughts

from .answers import parse_answer
from .reading import read_records

SAMPLE = Path(__file__).parent / "sample"


def baseline_file(baseline: Path | Literal["sample"]) -> Path:
    """Return the file with the opponent's answers; `sample` is that of the shipped sample."""
    return SAMPLE / "replies" / "baseline.jsonl" if baseline == "sample" else Path(baseline)


def read_baseline(path: Path) -> Mapping[str, str]:
    """Read the opponent's answers by question.

    Raises:
        DataError: the file cannot be read, or a record lacks an id or a reply, or has the id of another.
    """
    try:
        about = path.stat()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    return _read(path, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=8)
def _read(path: Path, size: int, written: int) -> Mapping[str, str]:  # noqa: ARG001 # keys of the cache
    found: dict[str, str] = {}
    for where, record in read_records(path):
        name, reply = record.get("id"), record.get("reply")
        if not isinstance(name, str | int) or isinstance(name, bool) or not isinstance(reply, str):
            raise DataError(f"{where}: must have `id` and `reply`, a text (got {quoted(record)})")
        if str(name) in found:
            raise DataError(f"{where}: question {quoted(name)} has a reply already")
        found[str(name)] = parse_answer(without_thoughts(reply))
    if not found:
        raise DataError(f"{path}: has no replies")
    return found
