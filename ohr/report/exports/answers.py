"""The answers of a run in the layouts of other programs, a file for each pipeline and knowledge base."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import AnswerRow
from ohr.files.foreign_answers.layouts import Layout, written
from ohr.results.folder.replace import filled
from ohr.results.page_texts import safe_name
from ohr.results.run import Row, Run

STAGES = ("overall", "generation")
_PIPELINE = ("chunker", "retriever", "generator")
_PLACE = ("kb", "condition", *_PIPELINE)


class Exported(NamedTuple):
    """How many files and answers were written, and how many of these have failed."""

    files: int
    answers: int
    failed: int


def export_answers(run: Run, out: Path, layout: Layout, *, force: bool = False) -> Exported:
    """Write the answers of a run.

    Args:
        run: to export.
        out: a folder that does not exist yet, is empty, or was left unfinished.
        layout: of the files.
        force: keep a folder with other files as `<name>.bak-<time>`.

    Raises:
        DataError: the run has no answers, a table is damaged, or the folder has files or cannot be written.
    """
    questions = {row["question_id"]: row for row in run.rows("questions")}
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in run.rows("answers", ["question_id", "stage", *_PLACE, "answer", "error"]):
        row["error"] = run.reason(row)
        if row["stage"] in STAGES:
            groups[row["stage"], *(row[name] for name in _PLACE)].append(row)
    if not groups:
        raise DataError(f"{run.folder}: has no answers to export")
    about = {"command": f"export --answers --as {layout}", "run": str(run.folder.resolve())}
    count = failed = 0
    with filled(out, "--answers", about, force=force):
        names = _names(list(groups))
        for place, answers in groups.items():
            hits = _contexts(run, place) if place[0] == "overall" else {}
            nothing = () if hits else None  # a question without hits beside others
            asked = [(row, row["question_id"]) for row in answers]
            rows = [
                _row(row, questions[name], hits.get(name, None if row["error"] else nothing)) for row, name in asked
            ]
            text, suffix = written(layout, rows, _about(run, place))
            (out / f"{names[place]}{suffix}").write_bytes(text.encode("utf-8", "replace"))
            count, failed = count + len(rows), failed + sum(bool(row.error) for row in rows)
    return Exported(len(groups), count, failed)


def read_back(run: Run) -> str:
    """Return the options of `ohr score answers` that name a run's benchmark, so that a file has the run's scores.

    Fields of the benchmark that have their defaults are left out.
    """
    import json
    from shlex import quote

    from ohr.contracts import yaml_keys
    from ohr.registry import Registry

    keys = dict(run.manifest["spec"]["benchmark"])
    kind = str(keys.pop("kind"))
    fields = yaml_keys(Registry().load("benchmark", kind))
    root = [f"--root {quote(str(keys.pop('root')))}"] if "root" in keys else []
    own = {name: value for name, value in keys.items() if name in fields and value != fields[name].default}
    options = [f"--set {quote(f'{name}={json.dumps(value, ensure_ascii=False)}')}" for name, value in own.items()]
    return " ".join([f"--benchmark {quote(kind)}", *root, *options])


def _about(run: Run, place: Sequence[Any]) -> dict[str, str]:
    """Return where answers are from."""
    names = ("stage", "knowledge_base", "condition", *_PIPELINE)
    return {"run": run.id, **{name: value for name, value in zip(names, place, strict=True) if value}}


def _row(answer: Row, question: Row, contexts: Sequence[str] | None) -> AnswerRow:
    return AnswerRow(
        where="",
        question=question["text"],
        id=question["question_id"],
        answer="" if answer["error"] else answer["answer"] or "",
        contexts=None if contexts is None else tuple(contexts),
        references=tuple(question["answers"]),
        evidence=tuple(question["evidence"]),
        document=question["document"],
        error=answer["error"] or "",
    )


def _contexts(run: Run, place: Sequence[Any]) -> Mapping[str, list[str]]:
    """Return the retrieved texts of each question, best first, of those that were searched.

    An agent is the retriever of what it has found.
    """
    _, base, _, chunker, retriever, generator = place
    rows = run.rows("hits", ["question_id", "rank", "text"], kb=base, chunker=chunker, retriever=retriever or generator)
    found: dict[str, list[str]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["rank"]):
        found[row["question_id"]].append(row["text"])
    return found


def _names(places: Sequence[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
    """Name the file of each place, by the stage where it is not `overall`, the knowledge base and the pipeline."""

    def parts(place: tuple[Any, ...]) -> Iterator[str]:
        stage, base, _, *pipeline = place
        yield from (safe_name(part) for part in (base, *pipeline) if part)
        if stage != "overall":
            yield stage

    names = {place: "--".join(parts(place)) for place in places}
    taken = list(names.values())
    digests = {place: sha256(repr(place).encode("utf-8", "replace")).hexdigest()[:8] for place in places}
    return {place: name if taken.count(name) == 1 else f"{name}-{digests[place]}" for place, name in names.items()}
