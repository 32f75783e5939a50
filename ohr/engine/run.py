"""Runs a spec: knowledge bases, retrieval, answers, scores, results."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ohr.attribution import costs
from ohr.attribution.costs import MEASURED as ATTRIBUTION
from ohr.attribution.levels import Trial, with_trials
from ohr.calibration.calibrate import Workshop, calibrate
from ohr.contracts import Prompt, Question
from ohr.engine.answer import Answered, ask
from ohr.engine.bases import Bases, build_bases, document_texts
from ohr.engine.cells import Cell, search_place, searches
from ohr.engine.columns import (
    answer_columns,
    edit_columns,
    failure_columns,
    hit_columns,
    page_columns,
    page_sources,
    question_columns,
    score_columns,
    text_columns,
)
from ohr.engine.damage import Damage, damages
from ohr.engine.executors.local import Executor, LocalExecutor
from ohr.engine.inputs import limited, read_inputs
from ohr.engine.manifest import at_end, at_start
from ohr.engine.preflight import check_stages
from ohr.engine.progress import Progress, Quiet
from ohr.engine.prompting import make_prompt
from ohr.engine.recipe import Recipe
from ohr.engine.references import CONDITIONS, pages_shown, passages
from ohr.engine.retrieve import Retrieved, retrieve
from ohr.engine.score import (
    Rules,
    Scores,
    answer_scores,
    condition_of,
    constant_scores,
    failed_questions,
    kb_scores,
    retrieval_scores,
)
from ohr.engine.shown import Shown
from ohr.engine.timing import remember
from ohr.engine.work import Work
from ohr.keys import key
from ohr.metrics.dose import by_page, own_passages
from ohr.metrics.floors import OtherPages
from ohr.metrics.ranking import PageId
from ohr.models.hub import STORE_VARIABLE
from ohr.ocr.ground_truth import GroundTruth
from ohr.results.folder import RunFolder, find_finished
from ohr.results.means import Counts, derive
from ohr.results.reading import read_rows
from ohr.results.tables import MEASURED as TABLES
from ohr.results.tables import Tables
from ohr.spec.model import KnowledgeBase, Spec
from ohr.store import Store


@dataclass(frozen=True, slots=True)
class Results:
    """The tables of a run, as rows read from its folder."""

    folder: Path
    recipe: Recipe

    def __getattr__(self, name: str) -> list[dict[str, Any]]:
        """Read a table; `rows` are the scores."""
        path = self.folder / f"{'scores' if name == 'rows' else name}.parquet"
        if name.startswith("_") or not path.is_file():
            raise AttributeError(name)
        return read_rows(path)


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended: where its results are, and what was done for them."""

    folder: Path
    work: Work
    results: Results | None
    """None when an earlier run of the same spec had them already."""


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
    known = find_finished(runs, recipe.spec.name, recipe.run())
    if known and not work.calls.total() and not work.failures:
        return Finished(known, work, None)
    damage = damages(bases, executor, progress, work)
    folder = RunFolder.start(runs, recipe.spec.name, recipe.run(), at_start(recipe))
    try:
        with work.timed("scores"), progress.step("scores", len(recipe.spec.knowledge_bases)) as advance:
            _write(folder.path, bases, trials, (damage, found, answered), work, advance)
        return Finished(
            folder.finish(at_end(recipe, work, read_rows(folder.path / "doses.parquet"))),
            work,
            Results(folder.path, recipe),
        )
    except BaseException as error:
        folder.stop(f"{type(error).__name__}: {error}")
        raise


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


Made = tuple[Mapping[tuple[str, str], Damage], Mapping[tuple[str, str, str], Retrieved], Answers]


def _write(
    folder: Path, bases: Bases, trials: Mapping[str, Trial], made: Made, work: Work, advance: Callable[[int], None]
) -> None:
    """Score everything, and write the tables; attribution's own levels have tables of their own."""
    recipe = bases.recipe
    spec, inputs = recipe.spec, recipe.inputs
    further = tuple(named.name for named in spec.metrics)
    rules = Rules(spec.benchmark.scoring, recipe.metrics, further, spec.seed)
    counts: dict[str, Counts] = {}
    with Tables(folder, (*TABLES, *(ATTRIBUTION if trials else ()))) as tables:
        tables.append("questions", question_columns(inputs.questions))
        writer = _Writer(bases, trials, rules, tables, work, OtherPages(inputs.truth), page_sources(inputs.questions))
        for base in spec.knowledge_bases:
            counts[base.name] = writer.base(base, *made)
            advance(1)
        writer.references(made[2])
        tables.append("failures", failure_columns(work.failures))
    derive(folder, counts)
    if trials:
        levels = {condition_of(base): base for base in spec.knowledge_bases}
        costs.derive(folder, spec, levels, trials, counts)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Scores one knowledge base after the other and appends what comes of it."""

    bases: Bases
    trials: Mapping[str, Trial]
    rules: Rules
    tables: Tables
    work: Work
    others: OtherPages
    sources: Mapping[PageId, set[str]]

    @property
    def questions(self) -> Sequence[Question]:
        return self.bases.recipe.inputs.questions

    def base(
        self,
        base: KnowledgeBase,
        damage: Mapping[tuple[str, str], Damage],
        found: Mapping[tuple[str, str, str], Retrieved],
        answers: Answers,
    ) -> Counts:
        spec, inputs = self.bases.recipe.spec, self.bases.recipe.inputs
        pages = [page for document in inputs.documents for page in self.bases.pages(base, document)]
        failed = failed_questions(inputs.questions, pages)
        # noise without an engine that reads it has no text that could be damaged, and what is absent has none either
        mine = [damage[base.name, doc.name] for doc in inputs.documents if (base.name, doc.name) in damage]
        doses = {name: dose for measured in mine for name, dose in measured.questions.items()}
        self.scores(Cell("page", base), kb_scores(inputs.questions, doses, failed))
        seen = [page for measured in mine for page in measured.pages]
        tried = base.name in self.trials
        self.tables.append("attribution_pages" if tried else "pages", page_columns(base, seen, self.sources))
        if not tried:
            self.tables.append("texts", text_columns(base, pages))
            for document in inputs.documents:
                self.tables.append("edits", edit_columns(base, self.bases.edits_by_page(base, document)))
        for search in (item for item in searches(spec) if item[0] is base):
            retrieved = found[search_place(search)]
            self.retrieval(Cell("retrieval", *search), retrieved, failed)
            self.answers("overall", search, answers, failed)
        self.answers("generation", (base, None, None), answers, failed)
        edits, aimed = map(sum, zip(*(self.bases.edits(base, document) for document in inputs.documents), strict=True))
        return Counts(edits, aimed, sum(page.error is not None for page in pages))

    def retrieval(self, cell: Cell, retrieved: Retrieved, failed: set[str]) -> None:
        if "retrieval" in self.bases.recipe.spec.evaluate and cell.retriever:
            chunks = {question: [hit.chunk for hit in hits] for question, hits in retrieved.hits.items()}
            top_k = cell.retriever.stage.top_k
            self.scores(cell, retrieval_scores(self.questions, chunks, self.rules, self.others, top_k, failed))
        if cell.base.name not in self.trials:
            self.tables.append("hits", hit_columns(cell, retrieved.hits))

    def answers(self, stage: str, search: Any, answers: Answers, failed: set[str]) -> None:
        base, chunker, retriever = search
        for generator in self.bases.recipe.spec.generators:
            names = (chunker.name if chunker else "", retriever.name if retriever else "", generator.name)
            if (answered := answers.get((stage, base.name, *names))) is not None:
                self.answered(Cell(stage, base, chunker, retriever, generator), answered, failed)

    def answered(self, cell: Cell, answered: Mapping[str, Answered], failed: set[str]) -> None:
        texts = {name: None if one.completion.error else one.answer for name, one in answered.items()}
        condition = condition_of(cell.base)
        self.scores(cell, answer_scores(self.questions, texts, self.rules, cell.stage, condition, failed))
        if cell.base.name not in self.trials:
            self.tables.append("answers", answer_columns(cell, answered))

    def references(self, answers: Answers) -> None:
        for generator in self.bases.recipe.spec.generators:
            for condition in CONDITIONS:
                if (answered := answers.get(("reference", condition, "", "", generator.name))) is not None:
                    self.answered(Cell("reference", _reference_base(condition), generator=generator), answered, set())
        if answers:
            cell = Cell("reference", _reference_base("constant"))
            self.scores(cell, constant_scores(self.questions, self.rules))

    def scores(self, cell: Cell, scores: Scores) -> None:
        table = "attribution_scores" if cell.base.name in self.trials else "scores"
        self.tables.append(table, score_columns(cell, self.questions, scores))
        for failure in scores.failures:
            self.work.fail("metric", f"{failure.metric} on {cell.label}: {failure.question}", failure.reason)


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
