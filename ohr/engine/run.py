"""Runs a spec: knowledge bases, retrieval, answers, scores, results."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ohr.attribution.costs import shares
from ohr.attribution.levels import Trial, with_trials
from ohr.calibration.calibrate import Workshop, calibrate
from ohr.contracts import Completion, Page, Prompt, Question
from ohr.engine.answer import Answered, ask
from ohr.engine.bases import Bases, build_bases, document_texts
from ohr.engine.cells import Cell, search_place, searches
from ohr.engine.damage import Damage, damages
from ohr.engine.executors.local import Executor, LocalExecutor
from ohr.engine.inputs import limited, read_inputs
from ohr.engine.page_rows import edit_rows, page_row, seen_pages
from ohr.engine.preflight import check_stages
from ohr.engine.progress import Progress, Quiet
from ohr.engine.prompting import make_prompt
from ohr.engine.recipe import Recipe
from ohr.engine.references import CONDITIONS, pages_shown, passages
from ohr.engine.retrieve import Retrieved, retrieve
from ohr.engine.score import Row, Scorer, failed_questions
from ohr.engine.shown import Shown
from ohr.engine.timing import remember
from ohr.engine.work import Work
from ohr.keys import key
from ohr.metrics.dose import by_page, dose, own_passages, undefined_dose
from ohr.models.hub import STORE_VARIABLE
from ohr.ocr.ground_truth import GroundTruth
from ohr.results.folder import Attributed, Results, find_finished, write_results
from ohr.spec.model import KnowledgeBase, Named, Spec
from ohr.spec.sweep import shown
from ohr.store import Store
from ohr.text.chinese import HAS_HAN


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended: where its results are, and what was done for them."""

    folder: Path
    work: Work
    results: Results | None
    """None when an earlier run of the same spec had them already."""


@dataclass
class _Gathered:
    """Rows and records as they come."""

    rows: list[Row] = field(default_factory=list)
    hits: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    doses: list[Row] = field(default_factory=list)
    pages: list[Row] = field(default_factory=list)
    edits: list[Row] = field(default_factory=list)


def run(
    spec: Spec,
    *,
    store: Path,
    runs: Path,
    workers: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Finished:
    """Do what the store does not have yet, score everything, and write the results.

    Args:
        store: folder of the content-addressed store.
        runs: folder under which the run gets a folder of its own.
        workers: processes for OCR and noise; by default one per core.
        limit: use only this many documents, instead of the spec's own limit.
        executor: where tasks run; by default processes on this machine.

    Raises:
        SpecError: the spec cannot be run as it is (a language nobody reads, nothing left to ask).
        PluginError: a stage cannot run here (missing extra, model or file).
        TooManyFailures: more items failed than the spec allows.
    """
    check_stages(spec)
    spec = limited(spec, limit)
    inputs = read_inputs(spec)
    (runs / spec.name).mkdir(parents=True, exist_ok=True)  # folders that cannot be written are told before the work
    Store(store).put(key("probe"), None)
    work = Work(spec.max_failures)
    progress = progress or Quiet()
    executor = executor or LocalExecutor(workers or os.cpu_count() or 1, spec.plugin_files)
    with _store_for_models(store):
        spec = calibrate(spec, Workshop(inputs, Store(store), executor, progress, work))
        spec, trials = with_trials(spec)
        return _run(Recipe(spec, inputs), trials, Store(store), runs, executor, progress, work)


def calibrated(spec: Spec, *, store: Path, workers: int, limit: int | None, progress: Progress) -> Spec:
    """Give a spec in which every level with a target has its strength; measures what the store does not have.

    Raises: as `run`, and SpecError for a target that cannot be reached.
    """
    check_stages(spec)
    spec = limited(spec, limit)
    executor = LocalExecutor(workers, spec.plugin_files)
    with _store_for_models(store):
        return calibrate(spec, Workshop(read_inputs(spec), Store(store), executor, progress, Work(spec.max_failures)))


def _run(
    recipe: Recipe,
    trials: Mapping[str, Trial],
    store: Store,
    runs: Path,
    executor: Executor,
    progress: Progress,
    work: Work,
) -> Finished:
    bases = build_bases(recipe, store, executor, progress, work)
    found = {search_place(search): retrieve(bases, search, progress, work) for search in searches(recipe.spec)}
    answered = _answers(bases, found, progress, work)
    remember(store, recipe.spec, work)
    known = find_finished(runs, recipe) if not work.calls.total() and not work.failures else None
    if known:
        return Finished(known, work, None)
    damage = damages(bases, executor, progress, work)
    with work.timed("scores"), progress.step("scores", len(recipe.spec.knowledge_bases)) as advance:
        gathered = _scored(bases, damage, found, answered, advance)
    results = _results(recipe, gathered, trials, work)
    return Finished(write_results(runs, results), work, results)


def _results(recipe: Recipe, gathered: "_Gathered", trials: Mapping[str, Trial], work: Work) -> Results:
    """Set the rows of attribution's own levels apart from those that the spec names."""

    def named(rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if row["kb"] not in trials]

    attributed = None
    if trials:
        apart = [row for row in gathered.rows if row["kb"] in trials]
        doses = [row for row in gathered.doses if row["kb"] in trials]
        attributed = Attributed(shares(recipe.spec, gathered.rows, trials), apart, doses)
    rows, doses = named(gathered.rows), named(gathered.doses)
    hits, answers = named(gathered.hits), named(gathered.answers)
    return Results(recipe, rows, hits, answers, doses, named(gathered.pages), named(gathered.edits), work, attributed)


Answers = Mapping[tuple[str, str, str, str, str], Mapping[str, Answered]]
"""(stage, base, chunker, retriever, generator) to the answers by question; "" where a stage has no such part."""


def _answers(bases: Bases, found: Mapping[tuple[str, str, str], Retrieved], progress: Progress, work: Work) -> Answers:
    recipe = bases.recipe
    answers = {}
    for generator in recipe.spec.generators:
        for place, prompts in prompts_of(bases, found, recipe.prompt(generator.stage)):
            label = " / ".join(part for part in place if part)
            answers[(*place, generator.name)] = ask(recipe, bases.store, generator, prompts, label, progress, work)
    return answers


def prompts_of(
    bases: Bases,
    found: Mapping[tuple[str, str, str], Retrieved],
    name: str | Path,
    unbuilt: Collection[str] = (),
) -> Iterator[tuple[tuple[str, str, str, str], dict[str, Prompt]]]:
    """Give the prompts of every condition, by question: references, generation, overall.

    Args:
        name: the prompt's name or file.
        unbuilt: knowledge bases that are not there yet; they have no prompts.
    """
    spec, inputs = bases.recipe.spec, bases.recipe.inputs
    asked = partial(make_prompt, spec.benchmark.scoring, prompt=name)
    if not {"generation", "overall"} & set(spec.evaluate):
        return
    show = Shown(bases.recipe)
    for condition in CONDITIONS:
        base = _reference_base(condition)
        prompts = {
            q.id: asked(
                q.text,
                passages(condition, q, inputs, spec.seed),
                show.images(base, pages_shown(condition, q, inputs, spec.seed)),
            )
            for q in inputs.questions
        }
        yield ("reference", condition, "", ""), prompts
    if "generation" in spec.evaluate:
        for base in (base for base in spec.knowledge_bases if base.name not in unbuilt):
            pages = by_page(document_texts(bases, base))
            yield (
                ("generation", base.name, "", ""),
                {q.id: asked(q.text, own_passages(q, pages), show.own(base, q)) for q in inputs.questions},
            )
    if "overall" in spec.evaluate:
        named = {base.name: base for base in spec.knowledge_bases}
        for (base_name, chunker, retriever), retrieved in found.items():
            prompts = {
                q.id: asked(
                    q.text,
                    [hit.chunk.text for hit in retrieved.hits[q.id]],
                    show.found(named[base_name], retrieved.hits[q.id]),
                )
                for q in inputs.questions
                if q.id in retrieved.hits
            }
            yield ("overall", base_name, chunker, retriever), prompts


def _reference_base(condition: str) -> KnowledgeBase:
    return KnowledgeBase(condition, condition, (), GroundTruth(), ())


def _scored(
    bases: Bases,
    damage: Mapping[tuple[str, str], Damage],
    found: Mapping[tuple[str, str, str], Retrieved],
    answers: Answers,
    advance: Any,
) -> _Gathered:
    recipe, gathered = bases.recipe, _Gathered()
    protocol = recipe.spec.benchmark.scoring
    further = tuple(named.name for named in recipe.spec.metrics)
    scorer = Scorer(recipe.inputs, recipe.metrics, protocol, recipe.spec.seed, further)
    for base in recipe.spec.knowledge_bases:
        pages: dict[str, list[Page]] = {d.name: bases.pages(base, d) for d in recipe.inputs.documents}
        failed = failed_questions(recipe.inputs.questions, pages)
        _score_base(bases, base, damage, pages, failed, scorer, gathered)
        for search in (item for item in searches(recipe.spec) if item[0] is base):
            cell = Cell("retrieval", *search)
            retrieved = found[search_place(search)]
            if "retrieval" in recipe.spec.evaluate:
                gathered.rows += scorer.retrieval_rows(cell, retrieved, failed)
            gathered.hits += _hit_records(cell, retrieved)
            _score_answers("overall", *search, answers, scorer, failed, gathered, recipe.spec)
        _score_answers("generation", base, None, None, answers, scorer, failed, gathered, recipe.spec)
        advance(1)
    _score_references(recipe, answers, scorer, gathered)
    return gathered


def _score_base(
    bases: Bases,
    base: KnowledgeBase,
    damage: Mapping[tuple[str, str], Damage],
    pages: Mapping[str, Sequence[Page]],
    failed: set[str],
    scorer: Scorer,
    gathered: _Gathered,
) -> None:
    inputs = bases.recipe.inputs
    # noise without an engine that reads it has no text that could be damaged, and what is absent has none either
    mine = [damage[base.name, document.name] for document in inputs.documents if (base.name, document.name) in damage]
    doses = {name: told for found in mine for name, told in found.questions.items()}
    questions = [doses.get(question.id) or undefined_dose(question) for question in inputs.questions]
    seen = seen_pages(bases, base, [page for found in mine for page in found.pages])
    gathered.rows += scorer.kb_rows(base, questions, failed)
    gathered.pages += [page_row(base, page) for page in seen]
    gathered.edits += [row for page in seen for row in edit_rows(base, page)]
    made = dose(questions, [page.dose for page in seen])
    edits, aimed = map(sum, zip(*(bases.edits(base, document) for document in inputs.documents), strict=True))
    length = sum(len(page.text.split()) for found in inputs.truth.values() for page in found)
    gathered.doses.append(
        {
            "kb": base.name,
            "noise": base.noise,
            "knob": base.knob,
            "knob_value": None if base.knob_value is None else shown(base.knob_value),
            "replicate": base.replicate,
            **{name: getattr(made, name) for name in type(made).__slots__},
            "edits": edits,
            "edits_aimed": aimed,
            "edits_per_100_words": 100 * edits / length if length else 0.0,
            "failed_pages": sum(page.error is not None for found in pages.values() for page in found),
        }
    )


def _score_answers(
    stage: str,
    base: KnowledgeBase,
    chunker: Named[Any] | None,
    retriever: Named[Any] | None,
    answers: Answers,
    scorer: Scorer,
    failed: set[str],
    gathered: _Gathered,
    spec: Spec,
) -> None:
    for generator in spec.generators:
        place = (stage, base.name, chunker.name if chunker else "", retriever.name if retriever else "", generator.name)
        if place in answers:
            cell = Cell(stage, base, chunker, retriever, generator)
            gathered.rows += scorer.answer_rows(cell, answers[place], failed)
            gathered.answers += _answer_records(cell, answers[place])


def _score_references(recipe: Recipe, answers: Answers, scorer: Scorer, gathered: _Gathered) -> None:
    for generator in recipe.spec.generators:
        for condition in CONDITIONS:
            place = ("reference", condition, "", "", generator.name)
            if place in answers:
                cell = Cell("reference", _reference_base(condition), generator=generator)
                gathered.rows += scorer.answer_rows(cell, answers[place], set())
                gathered.answers += _answer_records(cell, answers[place])
    if answers:
        cell = Cell("reference", _reference_base("constant"))
        gathered.rows += _constant_rows(recipe.inputs.questions, scorer, cell)


def _constant_rows(questions: Sequence[Question], scorer: Scorer, cell: Cell) -> list[Row]:
    """Score the one word, yes or no, that would do best as the answer to everything."""
    best: list[Row] = []
    for english, chinese in (("yes", "是"), ("no", "否")):
        words = {q.id: chinese if HAS_HAN.search(q.text) else english for q in questions}
        answers = {name: Answered(Prompt("", (), "", ""), Completion(word), word) for name, word in words.items()}
        rows = list(scorer.answer_rows(cell, answers, set()))
        if not best or _headline(rows, scorer) > _headline(best, scorer):
            best = rows
    return best


def _headline(rows: Sequence[Row], scorer: Scorer) -> float:
    return float(sum(row["value"] for row in rows if row["metric"] == scorer.protocol.answer[0]))


def _hit_records(cell: Cell, retrieved: Retrieved) -> Iterator[Row]:
    for question, hits in retrieved.hits.items():
        for rank, hit in enumerate(hits, start=1):
            yield {
                "question_id": question,
                **_names(cell),
                "rank": rank,
                "score": hit.score,
                "document": hit.chunk.document,
                "page": hit.chunk.pages[0],
                "start": hit.chunk.start,
                "end": hit.chunk.end,
                "text": hit.chunk.text,
            }


def _answer_records(cell: Cell, answered: Mapping[str, Answered]) -> Iterator[Row]:
    for question, given in answered.items():
        completion = given.completion
        yield {
            "question_id": question,
            "stage": cell.stage,
            **_names(cell),
            "generator": cell.generator.name if cell.generator else None,
            "answer": given.answer,
            "reply": completion.text,
            "tokens_in": completion.tokens_in,
            "tokens_out": completion.tokens_out,
            "seconds": completion.seconds,
            "finish": completion.finish,
            "truncated": completion.truncated,
            "error": completion.error,
        }


def _names(cell: Cell) -> Row:
    return {
        "kb": cell.base.name,
        "chunker": cell.chunker.name if cell.chunker else None,
        "retriever": cell.retriever.name if cell.retriever else None,
    }


@contextmanager
def _store_for_models(store: Path) -> Iterator[None]:
    """Let stages keep converted models in this run's store."""
    before = os.environ.get(STORE_VARIABLE)
    os.environ[STORE_VARIABLE] = str(store)
    try:
        yield
    finally:
        if before is None:
            del os.environ[STORE_VARIABLE]
        else:
            os.environ[STORE_VARIABLE] = before
