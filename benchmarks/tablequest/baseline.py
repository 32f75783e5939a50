"""The answers of the opponent that all models are compared with: given to clean pages, and fixed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.json_input import read_replies
from ohr.text.thoughts import without_thoughts

from .answer_match import parse_answer

SAMPLE = Path(__file__).parent / "sample"


def baseline_file(baseline: Path | Literal["sample"]) -> Path:
    """Return the file with the opponent's answers; `sample` is that of the shipped sample."""
    return SAMPLE / "replies" / "baseline.jsonl" if baseline == "sample" else Path(baseline)


@kept_until_changed()
def read_baseline(path: Path) -> Mapping[str, str]:
    """Read the opponent's answers by question.

    Raises:
        DataError: as `read_replies`, or there is none.
    """
    found = {name: parse_answer(without_thoughts(reply)) for name, reply in read_replies(path).items()}
    if not found:
        raise DataError(f"{path}: has no replies")
    return found
