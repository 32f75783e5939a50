"""Runs a spec: compile, execute, tabulate."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ohr.attribution.levels import Trial, with_trials
from ohr.calibration.calibrate import calibrate
from ohr.engine.executors.base import Executor
from ohr.engine.executors.local import Local
from ohr.engine.ledger import Ledger
from ohr.engine.progress import Progress, Quiet
from ohr.engine.session import Session
from ohr.graph.compile import compile_graph
from ohr.graph.graph import BasePart, CellPart, Graph
from ohr.graph.keys import Keys
from ohr.inputs import limited, read_inputs
from ohr.results.folder import RunFolder, find_finished
from ohr.results.tables import Tables
from ohr.spec.model import Spec
from ohr.steps.pages import RenderPage
from ohr.store import open_store
from ohr.study.asking import Asking, by_generator
from ohr.study.preflight import check_stages
from ohr.study.tabulate import Tabulator


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended: where its results are, and what was done for them."""

    folder: Path
    ledger: Ledger
    fresh: bool = True
    """False when an earlier run of the same spec had the results already."""


def run(
    spec: Spec,
    *,
    store: Path | str,
    runs: Path,
    workers: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Finished:
    """Do what the store does not have yet, score everything, and write the results.

    Args:
        store: folder or fsspec URL of the store.
        runs: folder under which the run gets a folder of its own.
        workers: processes of the local executor; by default one per core.
        limit: use only this many documents, instead of the spec's own limit.
        executor: where steps run; by default processes on this machine.

    Raises:
        SpecError: the spec cannot be run as it is (a language nobody reads, nothing left to ask).
        PluginError: a stage cannot run here (missing extra, model or file).
        StoreError: the store cannot be read or written.
        TooManyFailures: more items failed than the spec allows.
    """
    check_stages(spec)
    spec = limited(spec, limit)
    inputs = read_inputs(spec)
    session = Session(
        inputs, open_store(store), executor or Local(workers), Ledger(spec.max_failures), progress or Quiet()
    )
    with session.started(spec):
        spec = calibrate(spec, session)
        spec, trials = with_trials(spec)
        keys = Keys(spec, inputs)
        known = find_finished(runs, spec.name, keys.run())
        if known and not session.ledger.calls.total():
            return Finished(known, session.ledger, fresh=False)
        return _run(session, keys, trials, runs)


def calibrated(spec: Spec, *, store: Path | str, workers: int | None, limit: int | None, progress: Progress) -> Spec:
    """Return a spec in which every level with a target has its strength; measures what the store does not have.

    Raises: as `run`, and SpecError for a target that cannot be reached.
    """
    check_stages(spec)
    spec = limited(spec, limit)
    session = Session(read_inputs(spec), open_store(store), Local(workers), Ledger(spec.max_failures), progress)
    with session.started(spec):
        return calibrate(spec, session)


def _run(session: Session, keys: Keys, trials: Mapping[str, Trial], runs: Path) -> Finished:
    graph = compile_graph(keys)
    with RunFolder.start(runs, keys, session) as folder:
        tables = Tables(folder.path)
        tabulator = _execute(session, keys, graph, tables)
        tables.close()
        _remove_images(session, graph)
        session.store.pin(keys.run(), graph.steps)
        return Finished(folder.finish(tabulator.doses, trials), session.ledger)


def _execute(session: Session, keys: Keys, graph: Graph, tables: Tables) -> Tabulator:
    """Run every step, and write each part's tables as soon as it is settled, in the order of the parts."""
    scheduler = session.scheduler(keys.spec)
    tabulator = Tabulator(keys, session.store, scheduler, session.ledger, tables)
    scheduler.add(graph, graph.goals)
    asked = by_generator(graph.parts, keys.spec.generators)
    first = Asking(session, scheduler, keys, keys.spec.generators[0]) if keys.spec.generators else None
    for part in graph.parts:
        if isinstance(part, CellPart) and part.cell.generator is not None:
            if first and part.cell.generator is first.generator:  # its prompts go out while pages are still read
                scheduler.settle(part.keys)
                first.take(part)
            continue
        scheduler.settle(part.keys)
        if isinstance(part, BasePart):
            tabulator.base(part)
        else:
            tabulator.retrieval(part)
    for generator in keys.spec.generators:
        asking = first if first and generator is first.generator else Asking(session, scheduler, keys, generator)
        parts = asked[generator.name]
        for part in parts:
            scheduler.settle(part.keys)
            asking.take(part)
        asking.send()
        for part in parts:
            for batch, answers, scores in asking.settle(part):
                tabulator.answers(part.cell, batch, answers, scores)
    return tabulator


def _remove_images(session: Session, graph: Graph) -> None:
    """Remove rendered pages: they are large, and quickly made again."""
    session.store.discard([step.key for step in graph.steps.values() if isinstance(step.work, RenderPage)])
