"""Scores a file of answers in any layout: finds out which questions its rows answer, and what they retrieved."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ohr.contracts import Benchmark, Question
from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import AnswerRow
from ohr.files.foreign_answers.layouts import Layout, read_foreign
from ohr.messages.wording import counted, named, shortened
from ohr.report.leaderboard.answers import AnswerScore, Stage, score_answers, survey_answers
from ohr.report.leaderboard.file_benchmark import FILE, FileBenchmark, folded, ids_of


@dataclass(frozen=True, slots=True)
class Given:
    """Answers and contexts of a file, by question id.

    Args:
        answers: those of rows for no question are under the row's id or question.
        errors: why an answer failed.
        contexts: what was retrieved; None where no row says so.
        notes: what to know of it.
    """

    answers: Mapping[str, str]
    errors: Mapping[str, str]
    contexts: Mapping[str, Sequence[str]] | None
    notes: Sequence[str] = ()


def score_file(
    path: Path,
    benchmark: Callable[[], Benchmark],
    *,
    is_named: bool,
    name: str | None = None,
    stage: Stage | None = None,
    layout: Layout | None = None,
    column: str | None = None,
    pick: str | None = None,
) -> AnswerScore:
    """Score a file of answers.

    Args:
        path: the file.
        benchmark: makes the one that was chosen, or the default one.
        is_named: it was chosen; otherwise a file with accepted answers of its own is its own benchmark.
        name: of the system; by default the file's.
        stage: as in `score_answers`.
        layout: of the file; None to find out.
        column: of the answers, where two could be them.
        pick: the system or the epoch, where the file has several.

    Raises:
        DataError: the file cannot be read, or its rows do not belong to questions in one way.
    """
    answered = read_foreign(path, layout, column, pick, whole=not is_named)
    name = name or path.stem
    if answered is None:
        if pick is not None:
            raise DataError(f"{path}: --pick is for files of several systems or epochs, which this is not")
        answers, notes = survey_answers(path, column)
        scored = score_answers(benchmark(), answers, name, stage)
        return replace(scored, warnings=[*notes, *scored.warnings])
    if not is_named and any(row.references for row in answered.rows):
        made: Benchmark = FileBenchmark.of(answered.rows)
        given = by_question(
            [replace(row, id=name) for row, name in zip(answered.rows, ids_of(answered.rows), strict=True)]
        )
    else:
        made = benchmark()
        made.check()
        questions = [question for question in made.questions() if question.asked]
        given = matched(answered.rows, questions)
        if not is_named and given.answers.keys().isdisjoint(question.id for question in questions):
            raise DataError(
                f"{path}: has neither accepted answers nor answers to questions of {made.kind}: name the benchmark "
                "with --benchmark"
            )
    scored = score_answers(made, given.answers, name, stage, errors=given.errors, contexts=given.contexts)
    notes = [*answered.notes, *given.notes]
    if given.contexts is not None and scored.retrieval is None:
        notes.append(_unscored(made))
    layout_said = f"{answered.layout}, {counted(len(answered.rows), 'row')}"
    return replace(scored, layout=layout_said, warnings=[*notes, *scored.warnings])


def _unscored(benchmark: Benchmark) -> str:
    """Return why contexts have no scores."""
    has_nothing = (
        "the file has no reference contexts" if benchmark.kind == FILE else "no page of the benchmark has text"
    )
    return f"what was retrieved is not scored: {has_nothing}"


def matched(rows: Sequence[AnswerRow], questions: Sequence[Question]) -> Given:
    """Find the question of each row: that with its id, else that with its text.

    Raises:
        DataError: several questions have a row's text, a row has the id of one and the text of another, or two rows
            belong to one question.
    """
    texts: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        texts[folded(question.text)].append(question.id)
    known, belong, unclear, crossed, other = {q.id for q in questions}, [], [], [], 0
    for row in rows:
        same = texts.get(folded(row.question), []) if row.question else []
        if row.id in known:
            crossed += [row.where] if same and row.id not in same else []
            other += bool(row.question) and not same
            belong.append(replace(row, id=row.id))
        elif len(same) > 1:
            unclear.append(row.where)
        else:
            belong.append(replace(row, id=same[0] if same else row.id or shortened(row.question)))
    if unclear:
        raise DataError(
            f"{counted(len(unclear), 'row')} with the text of several questions, so that each needs a question_id: "
            f"{named(unclear)}"
        )
    if crossed:
        raise DataError(
            f"{counted(len(crossed), 'row')} with the id of one question and the text of another: {named(crossed)}"
        )
    notes = [f"{counted(other, 'row')} with a question's id and another text: the id counts"] if other else []
    return replace(by_question(belong), notes=notes)


def by_question(rows: Sequence[AnswerRow]) -> Given:
    """Take rows by the id that they have now.

    Raises:
        DataError: two have one.
    """
    if twice := [name for name, count in Counter(row.id for row in rows).items() if count > 1]:
        raise DataError(
            f"{counted(len(twice), 'question')} answered twice: {named([shortened(name) for name in twice])}"
        )
    # an answer that failed says nothing of what was retrieved
    contexts = {row.id: row.contexts or () for row in rows if row.contexts is not None or not row.error}
    some = any(row.contexts is not None for row in rows)
    return Given(
        {row.id: row.answer for row in rows},
        {row.id: row.error for row in rows if row.error},
        contexts if some else None,
    )
