"""Files of answers: the names of their columns, and their cells."""

from collections.abc import Mapping, Sequence
from typing import Any

from ohr.errors import DataError
from ohr.files.json_input import text_of
from ohr.files.tables import is_blank
from ohr.messages.wording import keys_of

IDS: dict[str, tuple[str, ...]] = {"question id": ("question_id",), "id": ("id", "qid")}
"""Names of a question's id; the first part that is there counts."""
PREDICTIONS = ("prediction", "predicted_answer", "generated_text", "generated_answer")
"""Names of an answer that never is an accepted one."""
ANSWERS = ("answer", "response", "reply", "output")
"""Names of an answer, or of an accepted one where a file has both."""


def id_of(value: Any, where: str, columns: Sequence[str] = ()) -> str:
    """Return a question's id as text; raises DataError where there is none, which names the columns that are there."""
    if is_blank(value):
        there = f" (it has {keys_of(columns)})" if columns else ""
        raise DataError(f"{where}: has none of {', '.join(name for names in IDS.values() for name in names)}{there}")
    # pandas writes the ids of a column that also has blank cells as 12.0
    return str(int(value)) if isinstance(value, float) and value.is_integer() else text_of(value).strip()


def answer_text(answer: Any, where: str) -> str:
    """Return an answer as text; a flag is yes or no. Raises DataError where it is none."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, list) and all(isinstance(part, str | int | float) for part in answer):
        return ", ".join(map(text_of, answer))
    if answer is None or isinstance(answer, str | int | float | Mapping):
        return text_of(answer)  # a system that says nothing has answered nothing
    raise DataError(f"{where}: an answer must be text, a number, a list of them or a mapping (got {answer!r:.60})")


def spelled(accepted: Any) -> Any:
    """Put texts in the place of flags and numbers among accepted answers, two where a system may write either.

    A flag is accepted as it is written and as yes or no, a number as it is written and in its shortest form: 2.0 and 2.
    """
    listed = accepted if isinstance(accepted, list) else [accepted]
    if not any(isinstance(each, bool | float) for each in listed):
        return accepted
    return [text for each in listed for text in _spellings(each)]


def _spellings(value: Any) -> list[Any]:
    if not isinstance(value, bool | float):
        return [value]
    other = answer_text(value, "") if isinstance(value, bool) else text_of(float(value))
    return list(dict.fromkeys((text_of(value), other)))
