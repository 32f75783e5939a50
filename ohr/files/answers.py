"""Files of answers: the names of their columns, and their cells."""

import json
from collections.abc import Mapping
from typing import Any

from ohr.errors import DataError

IDS: dict[str, tuple[str, ...]] = {"question id": ("question_id",), "id": ("id", "qid")}
"""Names of a question's id; the first part that is there counts."""
PREDICTIONS = ("prediction", "predicted_answer", "generated_text", "generated_answer")
"""Names of an answer that never is an accepted one."""
ANSWERS = ("answer", "response", "reply", "output")
"""Names of an answer, or of an accepted one where a file has both."""


def id_of(value: Any, where: str) -> str:
    """Return a question's id as text; raises DataError where there is none."""
    if value is None:
        raise DataError(f"{where}: has none of {', '.join(name for names in IDS.values() for name in names)}")
    # pandas writes the ids of a column that also has blank cells as 12.0
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def text_of(answer: Any, where: str) -> str:
    """Return an answer as text; raises DataError where it is none."""
    if answer is None:
        return ""  # a system that says nothing has answered nothing
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, str | int | float):
        return str(answer)
    if isinstance(answer, list) and all(isinstance(part, str | int | float) for part in answer):
        return ", ".join(map(str, answer))
    if isinstance(answer, Mapping):
        return json.dumps(answer, ensure_ascii=False)
    raise DataError(f"{where}: an answer must be text, a number, a list of them or a mapping (got {answer!r:.60})")
