"""Builds a set of questions: ground truth, candidates, verification, review, files."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from ohr.builder.build_session import Answering, BuildSession, Cost, Judging, Writing, cost_of, spent
from ohr.builder.build_settings import Job, Settings, check_models
from ohr.builder.publish import check_places, check_target, publish
from ohr.builder.write_files import TOO_WEAK, Built, Sources, write_files
from ohr.contracts import AnyOcr
from ohr.dataset.inputs import Inputs
from ohr.dataset.inputs import Truth as TruthOnDemand
from ohr.engine.executors.base import Executor
from ohr.engine.ledger import Ledger
from ohr.engine.progress import Progress
from ohr.engine.session import Session
from ohr.errors import DataError
from ohr.files.below import files_below
from ohr.files.digests import remembered
from ohr.keys import installed
from ohr.messages.wording import counted, named
from ohr.questions.candidate_rules import RULES
from ohr.questions.human_review import FILE as DECISIONS
from ohr.questions.human_review import agreements, read_decisions, reviewed_by, with_review
from ohr.questions.imports import read_candidates
from ohr.questions.judging.judge_prompts import prompts_bound
from ohr.questions.judging.model_rules import model_rules
from ohr.questions.page_truth import Survey, Truth, survey, with_silver
from ohr.questions.verification import Funnel, verify
from ohr.questions.writing.write_questions import asked_for, join, plan_writing, write
from ohr.runner.prompt_sizes import size_of
from ohr.store import open_store
from ohr.text_layers.looks import Look, looks

_PHASE = "looking at PDFs"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The work of a build before it is begun: pages, and the most that its models are asked."""

    survey: Survey
    pages: int
    costs: tuple[Cost, ...]
    notes: tuple[str, ...]


def build(
    job: Job,
    *,
    store: Path | str,
    executor: Executor,
    progress: Progress,
    complete: Callable[[Built, Path], object] = lambda built, folder: None,  # noqa: ARG005
) -> Built:
    """Build a set of questions from a folder of documents; what the store has is neither read nor asked again.

    Args:
        complete: adds files for readers, such as figures, to the folder that it is given.

    Raises:
        DataError: there is no usable page, no candidate, or the folder may not be written into.
        SpecError, PluginError: the settings cannot be run.
        TooManyFailures: more items failed than the settings allow; what is done is kept.
    """
    _check(job)
    settings = job.settings
    with _engine(job, store, executor, progress) as (survey, engine):
        truth = ground_truth(survey, settings, engine)
        sources = _imported(job.imported, truth) if job.imported else _written(settings, truth, engine)
        engine.refuse_failing()
        funnel = _verified(settings, sources, truth, engine)
        engine.refuse_failing()
        prices, warnings = settings.file.prices, tuple(engine.session.ledger.warnings)
    reviewed, decided = reviewed_by(job.out / DECISIONS, funnel.survivors)
    funnel = with_review(funnel, reviewed)
    built = Built(
        job.out,
        truth,
        sources,
        funnel,
        reviewed,
        tuple(agreements(decided)),
        tuple(spent(engine.usage, prices)),
        tuple(spent(engine.usage, prices, now=True)),
        (*truth.notes, *sources.notes, *decided.notes(), *warnings),
        settings.file.questions.total,
    )

    def write_all(folder: Path) -> None:
        write_files(job, built, folder)
        complete(built, folder)

    return replace(built, file_notes=tuple(publish(job.out, write_all, force=job.force)))


def estimate(job: Job, *, progress: Progress) -> Estimate:
    """Look at the documents, and bound what a build asks; nothing is read or asked."""
    check_places(job.folder, job.out)
    check_models(job.settings, writes=job.imported is None)
    settings, prices = job.settings, job.settings.file.prices
    survey = surveyed(job.folder, settings, progress)
    truth = with_silver(survey, pending=settings.silver is not None)
    unread = sum(len(pages) for pages in survey.wanted.values())
    costs: list[Cost] = []
    notes = list(truth.notes)
    if job.imported:
        candidates = len(read_candidates(job.imported, truth.texts).candidates)
    else:
        assert settings.writer is not None
        wanted = settings.file.questions
        plan = plan_writing(truth.usable, wanted, settings.file.seed)
        prompts, joined = [assignment.prompt for assignment in plan.assignments], asked_for(wanted)[1]
        size = size_of(settings.writer.stage, prompts)
        costs.append(cost_of(settings.writer, "writing", len(prompts), size, prices))
        if joined and prompts:
            each = max(size_of(settings.writer.stage, [prompt]) for prompt in prompts)
            costs.append(cost_of(settings.writer, "writing on two pages", joined, joined * each, prices))
        candidates = sum(each.asked.questions for each in plan.assignments) + joined
        notes += plan.notes
    costs += _bounds_of_rules(settings, candidates, truth)
    if settings.silver and unread:
        notes.append(
            f"{counted(unread, 'page')} to be read by {settings.silver.kind}: questions about them are not counted here"
        )
    pages = sum(len(pages) for pages in truth.usable.values())
    return Estimate(survey, pages, tuple(costs), tuple(notes))


def _check(job: Job) -> None:
    """Refuse what would make a build fail, before anything is spent."""
    check_places(job.folder, job.out)
    check_target(job.out, force=job.force)
    check_models(job.settings, writes=job.imported is None)
    if (job.out / DECISIONS).exists():
        read_decisions(job.out / DECISIONS)


@contextmanager
def _engine(
    job: Job, store: Path | str, executor: Executor, progress: Progress
) -> Iterator[tuple[Survey, BuildSession]]:
    """Look at the documents, and start the engine that reads them and asks models."""
    with remembered(Path(store)):
        opened = open_store(store)
        survey = surveyed(job.folder, job.settings, progress)
        spec = job.settings.spec(survey.benchmark)
        inputs = Inputs(survey.benchmark, survey.documents, (), TruthOnDemand(survey.benchmark, survey.documents), ())
        session = Session(inputs, opened, executor, Ledger(spec.max_failures), progress)
        with session.started(spec):
            yield survey, BuildSession(spec, session)


def surveyed(folder: Path, settings: Settings, progress: Progress) -> Survey:
    """Decide where the ground truth of each page comes from."""
    total = len(files_below(folder, ".pdf"))
    done = 0

    def look(path: Path) -> Sequence[Look]:
        nonlocal done
        progress.update(_PHASE, done, total)
        done += 1
        return looks(path)

    file = settings.file
    found = survey(folder, settings.corrected, language=file.language, dpi=file.dpi, look=look)
    progress.update(_PHASE, total, total)
    return found


def ground_truth(survey: Survey, settings: Settings, engine: BuildSession) -> Truth:
    """Complete the ground truth with the engine of the settings, if there is one; refuse one without a usable page."""
    if settings.silver is None or not survey.wanted:
        truth = with_silver(survey)
    else:
        read = engine.read_pages({name: list(pages) for name, pages in survey.wanted.items()})
        truth = with_silver(survey, read, _version(settings.silver))
    if not truth.usable:
        counts = named([f"{count} {name.replace('_', ' ')}" for name, count in truth.removed.most_common()])
        scans = truth.removed["unread"] and not settings.silver
        advice = "; give scans an engine: `silver: {kind: tesseract}` in the build's file" if scans else ""
        raise DataError("\n  ".join([f"no page can be asked about: {counts or 'there is none'}{advice}", *truth.notes]))
    return truth


def _version(engine: AnyOcr) -> str:
    """Name an engine with the versions of its packages."""
    versions = [f"{name} {version}" for name, version in installed(type(engine).packages).items()]
    return f"{engine.kind} ({', '.join(versions)})" if versions else engine.kind


def _imported(path: Path, truth: Truth) -> Sources:
    brought = read_candidates(path, truth.texts, Counter(page.document for page in truth.missing))
    return Sources(brought.candidates, brought.notes, brought.repairs)


def _written(settings: Settings, truth: Truth, engine: BuildSession) -> Sources:
    """Have questions written on one page each, then on two, from those that no rule removes."""
    assert settings.writer is not None  # it was checked
    model, wanted, seed = engine.model(settings.writer, Writing), settings.file.questions, settings.file.seed
    single = write(model, truth.usable, wanted, seed)
    usable = verify(single.candidates, truth.texts).survivors
    joined = join(model, usable, truth.usable, wanted, seed)
    candidates = {each.id: each for each in (*single.candidates, *joined.candidates)}
    asked = sum(each.asked.questions for each in (*single.assignments, *joined.assignments))
    faults = Counter(single.fault_counts) + Counter(joined.fault_counts)
    notes = (*single.notes, *joined.notes)
    return Sources(tuple(candidates.values()), notes, (), asked, tuple(faults.most_common()))


def _verified(settings: Settings, sources: Sources, truth: Truth, engine: BuildSession) -> Funnel:
    """Run all rules, first those without a model."""
    if not sources.candidates:
        faults = named([f"{count} {fault}" for fault, count in sources.faults]) or named(list(sources.notes))
        advice = f"; {TOO_WEAK}" if sources.faults and not sources.faults[0][0].startswith("no reply") else ""
        raise DataError(f"none of {counted(sources.asked, 'question')} was written: {faults}{advice}")
    judges = [engine.model(each, Judging) for each in settings.judges]
    answerers = [engine.model(each, Answering, settings.file.sampling_temperature) for each in settings.answerers]
    rules = model_rules(judges, answerers, settings.file.verification)
    return verify(sources.candidates, truth.texts, (*RULES, *rules))


_CHARACTERS = 1500
"""Characters of a question, its answer and evidence, for a bound: 99% of OHRBench's in three domains have 1,147."""
_PER_TOKEN = {"en": 3, "zh": 1}
"""Characters of a token at least."""


def _bounds_of_rules(settings: Settings, candidates: int, truth: Truth) -> Iterator[Cost]:
    """Bound what the rules that ask models ask, by model."""
    judges, answerers = settings.judges, settings.answerers
    rules = prompts_bound(candidates, settings.file.verification, len(judges), len(answerers), _CHARACTERS)
    size = min(_PER_TOKEN.get(document.language, 3) for document in truth.documents) if truth.documents else 1
    for rule, most in rules.items():
        models = answerers if rule.startswith("answer") else judges
        each = ceil(most.prompts / max(candidates, 1) / len(models))  # the largest part
        for model in models:
            tokens = candidates * each * (most.characters // max(most.prompts, 1)) // size
            yield cost_of(model, rule.replace("_", " "), candidates * each, tokens, settings.file.prices)
