"""Scores a file of answers to a benchmark's questions, and places it among published ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from ohr.contracts import Benchmark, Published, Question
from ohr.dataset.inputs import read_inputs
from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import ANSWERS, IDS, PREDICTIONS, answer_text, id_of
from ohr.files.grid_files import as_rows
from ohr.files.tables import read_table
from ohr.graph.cache_keys import Keys
from ohr.messages.wording import keys_of, named, shortened
from ohr.metrics.cases import Replies, case_of
from ohr.metrics.question_scores import answer_scores
from ohr.report.leaderboard.context_scores import ContextScore, as_cell, score_contexts
from ohr.report.leaderboard.standings import (
    Leaderboard,
    Row,
    asked,
    column,
    fairly_ranked,
    leaderboards,
    protocol_boards,
    published_on,
)
from ohr.results.derived.aggregates import aggregated
from ohr.results.derived.means import Breakdown, breakdown, macro_over_domains
from ohr.results.score_arrays import CellScores, Questions
from ohr.results.tables.groups import ALL, TRAITS
from ohr.spec.model import Spec
from ohr.statistics.estimate import Estimate
from ohr.steps.answers.prompt_templates import answer_of

Stage = Literal["generation", "overall"]

_NAMES = IDS | {"prediction": PREDICTIONS, "answer": ANSWERS}
"""Names under which an answers file may hold a question's id and the answer; the first part that is there counts."""


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The scores of a file of answers.

    Args:
        scores: means by metric; questions without an answer are in them as 0, unless they are left out.
        macro: the mean over domains, each with the same weight, by metric.
        given: answers in the file that belong to a question.
        missing: ids of the questions without an answer.
        left_out: those of them that the protocol does not count, so that they have no score.
        unknown: ids in the file that are no question.
        blank: answers without any text; the reference code leaves them out of its mean, here they score 0.
        aggregates: the protocol's numbers that are more than a mean: unit and value.
        failures: scores that a metric could not give, with the reason; they are 0.
        undefined: ids of answered questions without a score: nothing of the accepted answers is left to compare.
        layout: whose layout the file has, and how many rows; "" for ids and answers alone.
        errors: answers that failed where the file was made, with the reason; they are scored 0.
        retrieval: the scores of what was retrieved; None where the file does not say what, or nothing to compare it
            with is known.
    """

    name: str
    benchmark: str
    stage: Stage
    protocol: str
    scores: Mapping[str, Breakdown]
    macro: Mapping[str, float]
    given: int
    missing: Sequence[str]
    left_out: Sequence[str]
    unknown: Sequence[str]
    blank: int
    leaderboards: Sequence[Leaderboard]
    warnings: Sequence[str]
    aggregates: Mapping[str, tuple[str, Estimate]]
    failures: Sequence[str]
    layout: str = ""
    errors: Sequence[str] = ()
    retrieval: ContextScore | None = None
    undefined: Sequence[str] = ()


def read_answers(path: Path, column: str | None = None) -> dict[str, str]:
    """Read answers by question id; `survey_answers` also returns what to know of the file."""
    return survey_answers(path, column)[0]


def survey_answers(path: Path, column: str | None = None) -> tuple[dict[str, str], Sequence[str]]:
    """Read answers by question id from a table of any form; returns them, and notes about the file.

    JSON: a mapping of id to answer, a list of records, or the results file of OHRBench's own code (records under
    `results`, each with `id` and its answer in `log.generated_text`). A record names its parts `question_id` (or `id`,
    `qid`) and `prediction` (or `predicted_answer`, `generated_text`), which never is an accepted answer; without any of
    them `answer` (or `response`, `reply`, `output`). Tables have them as columns. A null is an empty answer.

    Args:
        path: the file.
        column: name of the answers; where it is not given, several that could be it and differ are refused.

    Raises:
        DataError: the file is not readable, a record has no id or no answer, two columns could be the answer, or an id
            is listed twice.
    """
    names = _NAMES if column is None else IDS | {"answer": (column,)}
    hint = "name the one to score with --column"
    table = read_table(
        path, names, () if column is None else ("answer",), records=lambda found: _records(found, path), hint=hint
    )
    if table.rows and not any(part in row.parts for row in table.rows for part in IDS):
        ids = ", ".join(name for names in IDS.values() for name in names)
        raise DataError(
            f"{table.rows[0].where}: has none of {ids} (it has {keys_of(table.columns)}); the program that wrote the "
            "file is named with --from"
        )
    part = "prediction" if any("prediction" in row.parts for row in table.rows) else "answer"
    notes = list(table.notes)
    if part == "prediction" and any("answer" in row.parts for row in table.rows):
        notes.append(f"{path.name}: its predictions are scored, not its answers; --column names others")
    if table.unused:
        notes.append(f"{path.name}: not used: {named(table.unused)}")
    found: dict[str, str] = {}
    for where, parts in table.rows:
        name = id_of(parts.get("question id", parts.get("id")), where, table.columns)
        if part not in parts:
            wanted = (column,) if column else ("answer", *PREDICTIONS, *ANSWERS[1:])
            raise DataError(f"{where}: has none of {', '.join(wanted)} (it has {keys_of(table.columns)})")
        if name in found:
            raise DataError(f"{where}: question {name[:60]!r} is answered twice")
        found[name] = answer_text(parts[part], where).strip()
    if not found:
        raise DataError(f"{path}: holds no answer")
    return found, notes


def score_answers(
    benchmark: Benchmark,
    answers: Mapping[str, str],
    name: str,
    stage: Stage | None = None,
    *,
    errors: Mapping[str, str] = MappingProxyType({}),
    contexts: Mapping[str, Sequence[str]] | None = None,
) -> AnswerScore:
    """Score answers by the benchmark's protocol, against the accepted answer that each matches best.

    Args:
        answers: question id to answer.
        name: of the system that gave them.
        stage: which published scores they are compared with: answers from the question's own pages (`generation`) or
            from retrieved passages (`overall`); None for `generation` where nothing else is published, else `overall`.
        errors: why an answer failed, by question id: it scores 0, as one that is missing.
        contexts: what was retrieved, by question id; None where that is not known.
    """
    published, keys = published_on(benchmark), _ready(name, benchmark)
    stage = stage or _stage(published)
    questions, protocol = [q for q in keys.inputs.questions if q.asked], benchmark.scoring
    known = {q: answer for q, answer in _of_questions(answers, questions, benchmark).items() if q not in errors}
    cases = {q.id: case_of(q, (contexts or {}).get(q.id, ()), known[q.id]) for q in questions if q.id in known}
    made = answer_scores(questions, known, keys.rules, stage, name, (), Replies(cases))
    cell, about = as_cell(made), Questions.of(questions, keys.inputs.without_text)
    scores, totals = {name: breakdown(about, cell, name) for name in protocol.answer}, _totals(benchmark, cell, about)
    headline, values = scores[protocol.answer[0]], cell.only([protocol.answer[0]]).values[0]
    without = [name for name, value in zip(about.ids, values, strict=True) if isnan(value)]
    own = Row(name, f"protocol {protocol.name}; {asked(headline)}", _by_column(scores, headline, totals))
    return AnswerScore(
        name=name,
        benchmark=benchmark.kind,
        stage=stage,
        protocol=protocol.name,
        scores=scores,
        macro={metric: macro_over_domains(found) for metric, found in scores.items()},
        given=len(known),
        missing=[q.id for q in questions if q.id not in answers],
        left_out=[name for name in without if name not in known],
        undefined=[name for name in without if name in known],
        unknown=sorted(set(answers) - {q.id for q in questions}),
        blank=sum(not answer for answer in known.values()),
        aggregates=totals,
        failures=[f"{each.metric} of {each.question}: {each.reason}" for each in made.failures],
        errors=[f"{q.id}: {shortened(errors[q.id])}" for q in questions if q.id in errors],
        retrieval=None if contexts is None else score_contexts(keys, questions, about, contexts),
        leaderboards=fairly_ranked(_boards(published, stage, own, headline), benchmark, len(questions)),
        warnings=keys.inputs.warnings,
    )


def _totals(benchmark: Benchmark, cell: CellScores, about: Questions) -> dict[str, tuple[str, Estimate]]:
    """Return the protocol's numbers that are more than a mean, as far as their metrics are here: unit and value."""
    values, failed = (
        dict(zip(cell.metrics, cell.values, strict=True)),
        dict(zip(cell.metrics, cell.failed, strict=True)),
    )
    numbers = [one for one in benchmark.aggregates() if all(part.metric in values for part in one.parts)]
    return {one.name: (one.unit, aggregated(one, values, failed, about)) for one in numbers}


def _boards(published: Sequence[Published], stage: Stage, own: Row, headline: Breakdown) -> list[Leaderboard]:
    """Place the own row into the published tables of a stage."""
    groups = {by: list(headline[by]) for by in ("evidence_source", "domain")}
    return leaderboards(published, stage, [own], groups) + protocol_boards(published, stage, [own])


def _ready(name: str, benchmark: Benchmark) -> Keys:
    """Read a benchmark, and check it and the metrics of its answers."""
    spec = Spec(name, 0, benchmark, (), (), (), (), (), resolved={})
    benchmark.check()
    keys = Keys(spec, read_inputs(spec))
    for metric in keys.answer_metrics.values():
        metric.check()
    return keys


def _of_questions(answers: Mapping[str, str], questions: Sequence[Question], benchmark: Benchmark) -> dict[str, str]:
    """Return the answers to the benchmark's questions as the protocol takes them; refuse a file that has none."""
    known = {q.id: answer_of(answers[q.id], benchmark.scoring) for q in questions if q.id in answers}
    if not known:
        raise DataError(
            f"no answer is to a question of benchmark {benchmark.kind} (an answer is to {next(iter(answers))!r}, "
            f"a question is {questions[0].id!r}): another is named with --benchmark"
        )
    return known


def _by_column(
    scores: Mapping[str, Breakdown], headline: Breakdown, totals: Mapping[str, tuple[str, Estimate]]
) -> dict[str, float]:
    """Return means and aggregates by the columns of published tables."""
    means = {group: est.mean for by in ("evidence_source", "domain") for group, est in headline[by].items()}
    means |= {column(metric, ALL): found["evidence_source"][ALL].mean for metric, found in scores.items()}
    means |= {
        column(metric, f"{trait}={group}"): estimate.mean
        for metric, found in scores.items()
        for trait in list(found)[len(TRAITS) :]
        for group, estimate in found[trait].items()
        if group != ALL
    }
    return means | {column(total, ALL): estimate.mean for total, (_, estimate) in totals.items()}


def _stage(published: Sequence[Published]) -> Stage:
    """Return the stage whose published scores answers are compared with."""
    stages = {number.stage for number in published if number.main}
    return "generation" if "generation" in stages and "overall" not in stages else "overall"


def _records(found: Any, path: Path) -> Any:
    """Return a list of records with ids and answers, of each form that a JSON file may have."""
    if isinstance(found, Mapping) and not isinstance(found.get("results"), list):
        rows = as_rows(found, {name for names in IDS.values() for name in names})
        return rows if rows is not None else [{"question_id": name, "answer": answer} for name, answer in found.items()]
    listed = found["results"] if isinstance(found, Mapping) else found
    if not isinstance(listed, list):
        raise DataError(f"{path}: must be a list of answers, or a mapping of question ids to answers")
    return [
        {**each, **each["log"]} if isinstance(each, Mapping) and isinstance(each.get("log"), Mapping) else each
        for each in listed
    ]
