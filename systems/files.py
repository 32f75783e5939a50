"""A system that answers offline: its documents are handed over as files, and its answers are read from files."""

import json
import logging
from ast import literal_eval
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from ohr.contracts import Context, SystemReply
from ohr.contracts.system import SPLIT, System
from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import ANSWERS, IDS, PREDICTIONS, answer_text, id_of
from ohr.files.handed_over import DIGEST, QUESTIONS, digest, plain
from ohr.files.json_input import lines, text_of
from ohr.files.tables import read_table
from ohr.messages.wording import counted, named, quoted

from .replies import as_contexts

_log = logging.getLogger(__name__)
_ANSWERS = ("answers.jsonl", "answers.csv", "answers.json")
_NAMES = IDS | {
    "question": ("question", "user_input", "input", "query"),
    "answer": (*ANSWERS, *PREDICTIONS, "actual_output"),
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context"),
    "tokens_in": ("tokens_in",),
    "tokens_out": ("tokens_out",),
    "seconds": ("seconds",),
    **{part: (part,) for part in SPLIT},
    "version": ("version",),
    "error": ("error",),
}
"""Fields of our own, of RAGAS, DeepEval, and promptfoo's outputs."""


class Files(System, kind="files"):
    """Reads answers that were given offline: `ohr hand-over` writes the documents and questions of each condition."""

    folder: Annotated[Path, Field(description="Where `ohr hand-over` writes, and the answers are read.")]

    def identity(self) -> Mapping[str, object]:
        """Identify the answers by their content: those that are put right are read again."""
        paths = sorted(path for name in _ANSWERS for path in self.folder.glob(f"*/{name}"))
        content = {f"{path.parent.name}/{path.name}": sha256(path.read_bytes()).hexdigest() for path in paths}
        return {**super().identity(), "folder": content}

    def ingest(self, folder: Path, name: str) -> Any:
        """Look whether the documents are those that were handed over, and read the answers once."""
        home = self.folder / name[: -len("-12345678")]  # the end of a name tells conditions of several runs apart
        if not home.is_dir():
            raise DataError(f"{home} is not there: `ohr hand-over` writes it, and README.md there says what to return")
        if not (home / DIGEST).is_file() or (home / DIGEST).read_text("utf-8").strip() != digest(folder):
            raise DataError(
                f"{home}: the study has other documents than those that were handed over: run `ohr hand-over` again, "
                "with --force, and answer the questions from the new ones"
            )
        answers = _answers(home, _stamp(home))
        for warning in answers.warnings:
            _log.warning("system files: %s", warning)
        return {"condition": home.name}

    def ask(self, question: str, handle: Any) -> SystemReply:
        """Return the answer in the file."""
        home = self.folder / handle["condition"]
        answers = _answers(home, _stamp(home))
        reply = answers.replies.get(plain(question))
        if isinstance(reply, SystemReply):
            return reply
        if reply is None and plain(question) not in answers.ids:
            raise DataError(f"{home / QUESTIONS} does not have this question: run `ohr hand-over` again, with --force")
        raise DataError(reply or f"{answers.file} has no answer to question {answers.ids[plain(question)]!r}")


class Answers(NamedTuple):
    """A file of answers.

    Args:
        ids: of the questions that were handed over, by their plain text.
        replies: by the plain text of their question; a text says why there is none.
    """

    file: Path
    ids: Mapping[str, str]
    replies: Mapping[str, SystemReply | str]
    warnings: Sequence[str]


def _stamp(home: Path) -> tuple[tuple[str, int, int], ...]:
    stats = [(name, (home / name).stat()) for name in (*_ANSWERS, QUESTIONS) if (home / name).is_file()]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


@lru_cache(maxsize=4)
def _answers(home: Path, stamp: tuple[tuple[str, int, int], ...]) -> Answers:
    """Read the answers of a condition.

    Args:
        stamp: of its files: those that change are read again.

    Raises:
        DataError: there is no such file, two of them, or one that leaves an answer open.
    """
    there = [name for name, _, _ in stamp if name in _ANSWERS]
    if len(there) != 1:
        listed = f"there are {' and '.join(there)}: leave one" if there else "there is no answers.jsonl or answers.csv"
        raise DataError(f"{home}: {listed}; README.md there says what it holds")
    file = home / there[0]
    records = [json.loads(line) for _, line in lines((home / QUESTIONS).read_text("utf-8"))]
    texts = {str(record["id"]): plain(record["question"]) for record in records}
    ids = {text: name for name, text in texts.items()}
    table = read_table(file, _NAMES, ("answer",), records=_records, hint="remove or rename one of them")
    replies, unknown = dict[str, SystemReply | str](), list[str]()
    for where, parts in table.rows:
        text = _question(parts, where, texts, ids)
        if text not in ids:
            unknown.append(text)
            continue
        reply = _reply(parts, where, ids[text])
        if text in replies and replies[text] != reply:
            raise DataError(f"{where}: question {ids[text]!r} has another answer further up: leave one of them out")
        replies[text] = reply
    warnings = [*table.notes]
    if unknown:
        warnings.append(
            f"{file}: {counted(len(unknown), 'answer')} to no question that was asked, left out: "
            f"{named([quoted(each) for each in unknown])}"
        )
    if missing := [name for text, name in ids.items() if text not in replies]:
        warnings.append(f"{file}: {counted(len(missing), 'question')} without an answer: {named(missing)}")
    return Answers(file, ids, replies, warnings)


def _question(parts: Mapping[str, Any], where: str, texts: Mapping[str, str], ids: Mapping[str, str]) -> str:
    """Return the plain text of a row's question, or what it gives in its place.

    Raises:
        DataError: it names no question, or two.
    """
    given_id, question = parts.get("question id", parts.get("id")), parts.get("question")
    name = None if given_id is None else id_of(given_id, where)
    asked = None if question is None else plain(text_of(question))
    by_id = None if name is None else texts.get(name)
    if by_id and asked in ids and asked != by_id:
        raise DataError(f"{where}: its id {name!r} and its question belong to two questions: correct one of them")
    given = by_id or asked or name
    if given is None:
        raise DataError(f"{where}: has neither the id of a question (question_id, id) nor its text (question)")
    return given


def _reply(parts: Mapping[str, Any], where: str, name: str) -> SystemReply | str:
    """Return the reply in a row, or why there is none."""
    if parts.get("answer") is None:
        reason = parts.get("error")
        said = f"there was an error: {str(reason)[:200]}" if reason else "it is blank; write what the system said"
        return f"{where}: no answer to question {name!r}: {said}"
    contexts = _contexts(parts.get("contexts"), where)
    names = ("tokens_in", "tokens_out", "seconds", *SPLIT)
    tokens_in, tokens_out, seconds, *split = [_number(parts.get(part), part, where) for part in names]
    return SystemReply(
        answer_text(parts["answer"], where),
        contexts,
        int(tokens_in or 0),
        int(tokens_out or 0),
        seconds,
        "" if (version := parts.get("version")) is None else str(version),
        *split,
    )


def _number(value: Any, part: str, where: str) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise DataError(f"{where}: `{part}` must be a number (got {quoted(value)})") from None


def _contexts(value: Any, where: str) -> tuple[Context, ...] | None:
    """Return contexts: a list, or a cell that holds one as JSON or as Python writes it."""
    if isinstance(value, str):
        try:
            value = _listed(value.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise DataError(f"{where}: `contexts` must be a list of texts as JSON (got {quoted(value)})") from None
    try:
        return None if value is None else as_contexts(value)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def _listed(cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError:
        return literal_eval(cell)  # as pandas writes the lists of RAGAS


def _records(read: Any) -> Any:
    """Return the records of a JSON file; promptfoo's have their question in `vars`, and the answer in `response`."""
    while isinstance(read, Mapping) and "results" in read:
        read = read["results"]
    return [_flat(record) for record in read] if isinstance(read, list) else read


def _flat(record: Any) -> Any:
    if not isinstance(record, Mapping) or not isinstance(record.get("vars"), Mapping):
        return record
    response = record.get("response")
    output = response.get("output") if isinstance(response, Mapping) else None
    metadata = response.get("metadata") if isinstance(response, Mapping) else None
    contexts = metadata.get("contexts") if isinstance(metadata, Mapping) else None
    asked = {
        name: value for name, value in record["vars"].items() if name in ("id", "question_id", *_NAMES["question"])
    }
    return {**asked, "answer": output, "error": record.get("error"), "contexts": contexts}
