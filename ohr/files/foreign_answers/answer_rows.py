"""One answer with all that a file says of it, whatever the file's layout."""

import io
import json
import re
import tokenize
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ohr.errors import DataError
from ohr.files.json_input import text_of
from ohr.files.tables import is_blank
from ohr.messages.wording import counted, keys_of, quoted

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


CONTEXTS = ("retrieved_contexts", "contexts", "retrieval_context", "context")
"""Names of what was retrieved, where a layout has none of its own; the first that is there counts."""
REFERENCES = ("reference", "expected", "expected_answer", "expected_output", "ground_truth", "ground_truths")
"""Names of accepted answers, where a layout has none of its own."""
EXTRA: Mapping[str, Sequence[str]] = {
    **IDS,
    "document": ("document",),
    "accepted answers": ("accepted_answers",),
    "evidence": ("reference_contexts",),
    "error": ("error",),
}
"""Parts of a row that no layout has a place for, and their names in columns or metadata."""
_ARRAY = re.compile(r"\barray\((\[.*?\])(?:,\s*dtype=\w+)?\)", re.DOTALL)
"""A list within a mapping, as pandas and Hugging Face's datasets print it into a table."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer of a file.

    Args:
        where: its place in the file, for messages.
        question: its text; "" where the file has an id only.
        id: of the question; "" where the file has none.
        answer: "" where nothing was answered.
        contexts: what was retrieved, best first; None where the row says nothing of it.
        references: accepted answers.
        evidence: the passages that should have been retrieved.
        document: what the question is about; questions of one document are no independent draws.
        error: why there is no answer; "" where there is one, or where it is blank for no known reason.
    """

    where: str = field(compare=False)
    question: str
    answer: str = ""
    id: str = ""
    contexts: tuple[str, ...] | None = None
    references: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    document: str = ""
    error: str = ""


class AnswerFile(NamedTuple):
    """The answers of a file, the name of its layout, and what to know of it."""

    layout: str
    rows: tuple[AnswerRow, ...]
    notes: tuple[str, ...] = ()


def answer_file(layout: str, path: object, parts: Iterable[tuple[str, Mapping[str, Any]]]) -> AnswerFile:
    """Make the rows of a file from the parts of each, which `row_of` describes.

    Raises:
        DataError: there is no row, no row has an answer or an error, or one is not sound.
    """
    given = list(parts)
    rows = tuple(row_of(where, found) for where, found in given)
    if not rows:
        raise DataError(f"{path}: holds no answer")
    if not any(row.answer or row.error for row in rows):
        raise DataError(f"{path}: none of its {counted(len(rows), 'row')} has an answer")
    single = sum(isinstance(found.get("contexts"), str) and _listed(found["contexts"]) is None for _, found in given)
    notes = [f"{counted(single, 'row')} whose contexts are one text, taken as one context"] if single else []
    return AnswerFile(layout, rows, tuple(notes))


def row_of(where: str, parts: Mapping[str, Any]) -> AnswerRow:
    """Make a row; raises DataError where a part is not what it should be, or there is neither a question nor an id.

    Args:
        parts: `question`, `answer`, `contexts`, `reference`, and those of EXTRA; `metadata` may hold some of EXTRA.
    """
    metadata = parsed_mapping(parts.get("metadata"))
    held = {
        name: metadata[key] for name, keys in EXTRA.items() for key in keys[::-1] if not is_blank(metadata.get(key))
    }
    known = held | {name: value for name, value in parts.items() if not is_blank(value)}
    question, name = known.get("question", ""), known.get("question id", known.get("id"))
    if isinstance(question, int | float):
        question = text_of(question)
    if not isinstance(question, str):
        raise DataError(f"{where}: its question must be one text, not a conversation (got {quoted(question)})")
    if not question.strip() and name is None:
        raise DataError(f"{where}: has neither a question nor an id")
    answer = answer_text(known.get("answer"), where).strip()
    accepted = spelled(known.get("accepted answers", known.get("reference")))
    return AnswerRow(
        where=where,
        question=question,
        answer=answer,
        id="" if name is None else id_of(name, where),
        contexts=texts_of(known.get("contexts"), where, "contexts"),
        references=tuple(text for text in texts_of(accepted, where, "accepted answers") or () if text.strip()),
        evidence=texts_of(known.get("evidence"), where, "reference contexts") or (),
        document=text_of(known.get("document")),
        error=text_of(known.get("error")) if not answer else "",
    )


def texts_of(value: Any, where: str, what: str) -> tuple[str, ...] | None:
    """Return a list of texts, also one that a table's cell holds as JSON or as Python writes it; None where it is none.

    Raises:
        DataError: it is something else.
    """
    if value is None:
        return None
    if isinstance(value, str):
        listed = _listed(value)
        return (value,) if listed is None else listed
    texts = value if isinstance(value, list) else [value]
    if all(isinstance(each, str | int | float) for each in texts):
        return tuple(map(text_of, texts))
    raise DataError(f"{where}: {what} must be a list of texts (got {quoted(value)})")


def _listed(text: str) -> tuple[str, ...] | None:
    """Read a list of texts that is written as JSON, as a Python literal, or as NumPy prints it, without commas."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        texts = json.loads(text)
    except (ValueError, RecursionError):
        try:
            # Python itself would join texts between which there is no comma
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
            texts = [literal_eval(token.string) for token in tokens if token.type == tokenize.STRING]
        except (ValueError, SyntaxError, tokenize.TokenError):
            return None
        other = "".join(token.string for token in tokens if token.type == tokenize.OP)
        names = any(token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.ERRORTOKEN) for token in tokens)
        if names or other.strip("[],") or not texts:
            return None
    return tuple(texts) if isinstance(texts, list) and all(isinstance(each, str) for each in texts) else None


def parsed_mapping(value: Any) -> Mapping[str, Any]:
    """Return metadata as a mapping, also where a table's cell holds it as text; an empty one where it is none."""
    if isinstance(value, str):
        value = _ARRAY.sub(r"\1", value)
        for parse in (json.loads, literal_eval):
            try:
                value = parse(value)
                break
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    return mapping(value)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value that should be a mapping; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def extra(row: AnswerRow) -> dict[str, Any]:
    """Return what a row has beyond question, answer, contexts and the first accepted answer, by the names of EXTRA."""
    held = {
        "question_id": row.id,
        "document": row.document,
        "accepted_answers": row.references if len(row.references) > 1 else (),
        "error": row.error,
    }
    return {name: value for name, value in held.items() if value}
