"""Finds out which layout a file of answers has, reads it, and writes it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from ohr.errors import DataError
from ohr.files.answers import PREDICTIONS
from ohr.files.foreign_answers import deepeval, inspect_ai, promptfoo, ragas
from ohr.files.foreign_answers.rows import AnswerFile, AnswerRow
from ohr.files.grids import WORKBOOK
from ohr.files.record_files import as_rows, read_values
from ohr.files.tables import read_table

Layout = Literal["ragas", "deepeval", "promptfoo", "inspect_ai"]
"""Programs whose files of answers are read."""
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
"""All layouts."""

_RAGAS = {"user_input", "retrieved_contexts"}
_OLD_RAGAS = {"contexts", "ground_truth", "ground_truths"}
_DEEPEVAL = {"actual_output", "actualOutput", "expected_output", "expectedOutput", "retrieval_context"}
_PROMPTFOO = {"vars", "prompt", "provider"}
_DISTINCTIVE = {*_RAGAS, *_OLD_RAGAS, *_DEEPEVAL, *PREDICTIONS, "question", "input"}
_WRITERS: Mapping[Layout, tuple[Callable[[Sequence[AnswerRow], Mapping[str, str]], str], str]] = {
    "ragas": (ragas.write, ragas.SUFFIX),
    "deepeval": (deepeval.write, deepeval.SUFFIX),
    "promptfoo": (promptfoo.write, promptfoo.SUFFIX),
    "inspect_ai": (inspect_ai.write, inspect_ai.SUFFIX),
}


def read_foreign(
    path: Path, layout: Layout | None = None, column: str | None = None, pick: str | None = None, *, whole: bool = True
) -> AnswerFile | None:
    """Read a file of answers in a layout that is not ohr's own; None where it has that.

    Args:
        path: the file.
        layout: its layout; None to find out.
        column: name of the answers, in tables.
        pick: the system or the epoch, where the file has several.
        whole: refuse the log of an evaluation that lacks samples.

    Raises:
        DataError: it cannot be read, or is not in the layout that is named.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    is_archive = path.suffix.lower() == ".eval" or (layout == "inspect_ai" and content.startswith(WORKBOOK))
    found, fault = (inspect_ai.read_archive(path, content), "") if is_archive else _values(path, content)
    if fault and layout in ("promptfoo", "inspect_ai"):
        raise DataError(f"{path}: a file of {layout} must be JSON: {fault}")
    layout = layout or ("inspect_ai" if is_archive else recognized(path, found))
    if layout is None:
        return None
    if layout in ("ragas", "deepeval") and pick is not None:
        raise DataError(f"{path}: --pick is for files of several systems or epochs, which a file of {layout} has not")
    if layout in ("promptfoo", "inspect_ai") and column is not None:
        raise DataError(f"{path}: --column is for tables, and this is a file of {layout}")
    match layout:
        case "promptfoo":
            return promptfoo.read(path, found, pick)
        case "inspect_ai":
            return inspect_ai.read(path, found, pick, whole=whole)
        case "deepeval":
            return deepeval.read(path, column)
        case "ragas":
            return ragas.read(path, column)


def written(layout: Layout, rows: Sequence[AnswerRow], about: Mapping[str, str]) -> tuple[str, str]:
    """Write rows in a layout; returns the text, and the suffix of its file.

    Args:
        about: where the answers are from, for layouts with a place for that.
    """
    write, suffix = _WRITERS[layout]
    return write(rows, about), suffix


def recognized(path: Path, found: Any) -> Layout | None:
    """Return the layout that a file seems to have, None for ohr's own.

    Args:
        found: what it holds as JSON; None where it is a table.
    """
    if isinstance(found, Mapping):
        if "status" in found and "eval" in found:
            return "inspect_ai"
        results = found.get("results")
        if isinstance(results, Mapping) and isinstance(results.get("results"), list):
            return "promptfoo"
        if isinstance(results, list) and _names(results) >= _PROMPTFOO:  # as its library returns them
            return "promptfoo"
        if any(isinstance(found.get(key), list) for key in deepeval.RUNS) or "testRunData" in found:
            return "deepeval"
        found = as_rows(found, _DISTINCTIVE)
        return None if found is None else _of_columns(_names(found))
    if isinstance(found, list):
        return "promptfoo" if _names(found) >= _PROMPTFOO else _of_columns(_names(found))
    return _of_columns(_columns(path))


def _names(records: Sequence[Any]) -> set[str]:
    """Return the keys of the first records."""
    return {name for record in records[:20] if isinstance(record, Mapping) for name in record}


def _of_columns(names: set[str]) -> Layout | None:
    if names & {*PREDICTIONS}:
        return None
    if names & _RAGAS or ("question" in names and names & _OLD_RAGAS):
        return "ragas"
    return "deepeval" if "input" in names and names & _DEEPEVAL else None


def _columns(path: Path) -> set[str]:
    """Return the columns of a table that tell layouts apart; none of one that cannot be read."""
    try:
        table = read_table(path, {name: (name,) for name in sorted(_DISTINCTIVE)}, ())
    except DataError:
        return set()
    return set(table.rows[0].parts) if table.rows else set()


def _values(path: Path, content: bytes) -> tuple[Any, str]:
    """Return what a file holds that is no table of cells; None and the fault where it is one, or cannot be read."""
    if path.suffix.lower() in (".csv", ".tsv") or content.startswith(WORKBOOK):
        return None, "this is a table"
    try:
        return read_values(path, content).value, ""
    except DataError as error:
        return None, str(error).removeprefix(f"{path}: ").removeprefix("not readable as JSON: ")
