"""Says what a run would do: its cells, what the store has, and the work that is left."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from ohr.attribution.levels import with_trials
from ohr.calibration.calibrate import NotCalibrated, Workshop, calibrate
from ohr.engine.bases import Bases, missing_documents, missing_pages
from ohr.engine.cells import cells, search_place, searches
from ohr.engine.inputs import Inputs, limited, read_inputs
from ohr.engine.preflight import check_stages
from ohr.engine.progress import Quiet
from ohr.engine.recipe import Recipe
from ohr.engine.references import CONDITIONS
from ohr.engine.retrieve import Retrieved, retrieved_from_store, scopes, search_key
from ohr.engine.run import prompts_of
from ohr.engine.timing import recall
from ohr.engine.work import Work
from ohr.spec.model import Spec
from ohr.store import Store, open_store


@dataclass(frozen=True, slots=True)
class Count:
    """Items of one step: how many there are, and how many are left to do; what several cells share counts once."""

    total: int
    left: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do.

    Args:
        cells: number of cells by stage.
        steps: pages, documents, searches and answers. Answers are counted exactly once their hits are known; before
            that, all of them count as left.
        tokens: estimated prompt tokens of the answers that are left.
        minutes: estimated time left on this machine, None when nothing like it ran here before.
    """

    documents: int
    questions: int
    notes: tuple[str, ...]
    cells: Mapping[str, int]
    steps: Mapping[str, Count]
    tokens: int
    minutes: float | None


def plan(spec: Spec, store_folder: Path, workers: int, limit: int | None = None) -> Plan:
    """Look what the store has; runs nothing."""
    check_stages(spec)
    spec = limited(spec, limit)
    inputs, store = read_inputs(spec), open_store(store_folder)
    spec, uncalibrated = _calibrated(spec, inputs, store)
    spec, _ = with_trials(spec)
    recipe = Recipe(spec, inputs)
    pages = missing_pages(recipe, store)
    documents, keys = missing_documents(recipe, store, {})
    bases = Bases(recipe, store, keys)
    found = {search_place(search): retrieved_from_store(bases, search) for search in searches(spec)}
    absent = {task.key for task in documents}
    unbuilt = {base for (base, _), name in keys.items() if name in absent}
    answers, tokens = _answers(bases, found, unbuilt)
    read = {
        recipe.page(base, document, index)
        for base in spec.knowledge_bases
        for document in (recipe.inputs.documents if base.ocr.reads_images else ())
        for index in range(document.pages)
    }
    stages: dict[str, int] = {}
    for cell in cells(spec):
        stages[cell.stage] = stages.get(cell.stage, 0) + 1
    steps = {
        "pages to recognise": Count(len(read), len(pages)),
        "documents to build": Count(len(set(keys.values())), len(documents)),
        "searches": _searches(bases),
        "prompts to answer": answers,
    }
    if uncalibrated:
        steps["levels to calibrate"] = Count(
            sum(base.target is not None for base in spec.knowledge_bases), uncalibrated
        )
    names = (len(recipe.inputs.documents), len(recipe.inputs.questions), recipe.inputs.notes)
    return Plan(*names, stages, steps, tokens, _minutes(spec, store, steps, workers))


def _calibrated(spec: Spec, inputs: Inputs, store: Store) -> tuple[Spec, int]:
    """Calibrate with what the store has; else count the levels that are left, whose steps stand for any strength."""
    try:
        return calibrate(spec, Workshop(inputs, store, None, Quiet(), Work())), 0
    except NotCalibrated:
        return spec, sum(base.target is not None for base in spec.knowledge_bases)


def _searches(bases: Bases) -> Count:
    names = {
        search_key(bases, search, scope) for search in searches(bases.recipe.spec) for scope in scopes(bases.recipe)
    }
    return Count(len(names), sum(not bases.store.has(name) for name in names))


def _answers(
    bases: Bases, found: Mapping[tuple[str, str, str], Retrieved | None], unbuilt: Collection[str]
) -> tuple[Count, int]:
    spec, questions = bases.recipe.spec, len(bases.recipe.inputs.questions)
    if not spec.generators:
        return Count(0, 0), 0
    conditions = len(CONDITIONS)
    conditions += len(spec.knowledge_bases) * ("generation" in spec.evaluate) + len(found) * (
        "overall" in spec.evaluate
    )
    total = conditions * questions * len(spec.generators)
    known = {place: hits for place, hits in found.items() if hits is not None}
    left, tokens = total, 0
    for generator in spec.generators:
        name = bases.recipe.prompt(generator.stage)
        prompts = [prompt for _, asked in prompts_of(bases, known, name, unbuilt) for prompt in asked.values()]
        left -= len(prompts)
        total -= len(prompts)
        names = {bases.recipe.answer(generator.stage, prompt): prompt for prompt in prompts}
        missing = [prompt for name, prompt in names.items() if not bases.store.has(name)]
        left += len(missing)
        total += len(names)
        tokens += 600 * (conditions * questions - len(prompts))  # not known yet: two chunks and the instructions
        tokens += sum(len(prompt.user) for prompt in missing) // 4
    return Count(total, left), tokens


def _minutes(spec: Spec, store: Store, steps: Mapping[str, Count], workers: int) -> float | None:
    rates = [recall(store, base.ocr) for base in spec.knowledge_bases if base.ocr.reads_images]
    answers = [recall(store, generator.stage) for generator in spec.generators]
    pages, prompts = steps["pages to recognise"].left, steps["prompts to answer"].left
    if (pages and None in rates) or (prompts and None in answers):
        return None
    seconds = pages * max((rate or 0.0 for rate in rates), default=0.0) / workers
    seconds += prompts * sum(rate or 0.0 for rate in answers) / max(len(answers), 1)
    return seconds / 60
