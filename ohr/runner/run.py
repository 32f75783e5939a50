"""Runs a spec: compile, execute, tabulate."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from ohr.dataset.inputs import limited, read_inputs
from ohr.engine.ledger import Ledger
from ohr.engine.progress import Progress
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.errors import Terminated
from ohr.files.digests import remembered
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import drawn_once, not_swapped, undosed, unreached
from ohr.graph.compile import compile_graph
from ohr.graph.graph import Graph
from ohr.messages.variables import Formatter, hidden
from ohr.results.folder.run_folder import RunFolder, find_finished
from ohr.results.folder.tags_and_prices import PriceList, write_prices
from ohr.results.tables.read_table import read_rows
from ohr.runner.attribution import with_trials
from ohr.runner.calibration.calibrate import calibrate
from ohr.runner.events import EVENTS, EventLog
from ohr.runner.fresh import asks_again, check_fresh, forget
from ohr.runner.manifest import begun, ended
from ohr.runner.pace import remember
from ohr.runner.preflight import check_stages
from ohr.runner.preregistration import register
from ohr.runner.run_options import RunOptions
from ohr.runner.tabulate import Tabulator
from ohr.spec.model import Spec
from ohr.spec.servers import left_at_servers, sent_singly
from ohr.steps.documents.page_images import RenderPage
from ohr.text.recent import forget as forget_texts

_log = logging.getLogger(__name__)
LOG = "run.log"
"""Name of the log of messages in a run's folder."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended: its folder and its ledger."""

    folder: Path
    ledger: Ledger
    fresh: bool = True
    """False when an earlier run of the same spec had the results already."""
    repriced: bool = False
    """That run was shown with other prices before."""


def run(spec: Spec, options: RunOptions | None = None, **named: Any) -> Finished:
    """Run the steps whose results the store lacks, score everything, and write the results.

    Args:
        named: options by name, in place of those in `options`, as in `run(spec, workers=4)`.

    Raises:
        SpecError: the spec cannot be run as it is (a language nobody reads, nothing left to ask).
        PluginError: a stage cannot run here (missing extra, model or file).
        StoreError: the store cannot be read or written.
        TooManyFailures: more items failed than the spec allows.
    """
    options = replace(options or RunOptions(), **named)
    if options.fresh:
        check_fresh(options.fresh)
    check_stages(spec)
    spec, runs = limited(spec, options.limit), Path(options.runs)
    with remembered(Path(options.store), verify=options.verify):
        keys = Keys(spec, read_inputs(spec))
        known = None if options.fresh else find_finished(runs, spec.name, keys.run)
        prices = PriceList(spec.prices, spec.currency)
        if known:
            return Finished(known, Ledger(spec.max_failures), fresh=False, repriced=write_prices(known, prices))
        session = options.session(spec, keys.inputs)
        ledger = session.ledger
        folder = RunFolder.start(runs, spec.name, keys.run, begun(keys, options.store))
        with _recorded(folder, session.progress) as events:
            session = replace(session, progress=events)
            ledger.listen(lambda failure: events.write("failure", **failure.as_row()))
            for line in keys.inputs.warnings:
                _log.info("warning: %s", line)
            with session.started(spec):
                _study(session, keys, folder, options.fresh)
            write_prices(folder.path, prices)
            _log.info("finished: %d failed", len(ledger.failures))
            return Finished(folder.path, ledger)


def calibrated(spec: Spec, options: RunOptions) -> Spec:
    """Return a spec in which every level with a target has its strength; measures only what the store lacks.

    Raises: as `run`, and SpecError for a target that cannot be reached.
    """
    check_stages(spec)
    spec = limited(spec, options.limit)
    session = options.session(spec, read_inputs(spec))
    with session.started(spec):
        return calibrate(spec, session)


@contextmanager
def _recorded(folder: RunFolder, shown: Progress) -> Iterator[EventLog]:
    """Log a run into its folder; a run that does not end well is noted as stopped, with the reason."""
    handler = logging.FileHandler(folder.path / LOG, encoding="utf-8")
    handler.setFormatter(Formatter())
    root = logging.getLogger("ohr")
    root.addHandler(handler)
    events = EventLog(folder.path, shown)
    try:
        with _staying():
            yield events
        events.write("finished")
    except BaseException as error:
        said = [hidden(str(error))] if str(error) else []
        wanted: dict[type, str] = {KeyboardInterrupt: "by the user (Ctrl-C)", Terminated: "by SIGTERM"}
        reason = ": ".join([wanted.get(type(error), type(error).__name__), *said])
        events.write("stopped", reason=reason)
        folder.stop(reason)
        raise
    finally:
        events.close()
        root.removeHandler(handler)
        handler.close()


@contextmanager
def _staying() -> Iterator[None]:
    """Turn `os._exit` by a plugin in this process into a SystemExit, which fails its item and not the run."""
    exit_now, here = os._exit, os.getpid()

    def exit_here(status: int) -> NoReturn:
        if os.getpid() != here:  # a forked child
            exit_now(status)
        raise SystemExit(f"os._exit({status}) was called")

    os._exit = exit_here
    try:
        yield
    finally:
        os._exit = exit_now


def _study(session: Session, keys: Keys, folder: RunFolder, fresh: str | None) -> None:
    """Calibrate, expand attribution, execute the graph, and finish the folder."""
    spec = calibrate(keys.spec, session)
    spec, trials = with_trials(spec)
    compiled = replace(keys, spec=spec)
    graph = compile_graph(compiled)
    _log.info("%d steps, %d parts", len(set(map(id, graph.steps.values()))), len(graph.parts))
    stale = forget(graph, session.store, fresh) if fresh else set[str]()
    if fresh:
        _log.info("made again: %d steps of %s and after", len(stale), fresh)
    waiting = left_at_servers(spec, session.store.pins)
    for line in (*sent_singly(spec), *waiting, *not_swapped(spec), *unreached(spec), *undosed(spec), *drawn_once(spec)):
        session.ledger.warn(line)
    session.store.pin(keys.run, graph.steps)
    registered = register(keys, graph, session.store)
    scheduler = session.scheduler(compiled.spec, asks_again=asks_again(fresh))
    tabulator = Tabulator(session, compiled, scheduler, folder.path, trials)
    scheduler.add(graph, graph.goals, stale, asks_again=asks_again(fresh))
    execute(graph, scheduler, tabulator)
    forget_texts()
    session.store.pin(keys.run, scheduler.asked_for)
    rendered = [step.key for step in graph.steps.values() if isinstance(step.work, RenderPage)]
    if left := session.store.has_many(rendered):  # a run that finds everything writes nothing: a store may be read-only
        session.store.discard(left)
    remember(session.store, session.ledger, spec.benchmark.kind)
    with session.ledger.timed("summary"):
        tabulator.close()
    manifest = ended(compiled, session.ledger, read_rows(folder.path / "doses.parquet"))
    folder.finish(manifest | ({"hypotheses": registered} if registered else {}), growing=(EVENTS, LOG))


def execute(graph: Graph, scheduler: Scheduler, tabulator: Tabulator) -> None:
    """Run every step, and write each part's tables as soon as it is settled, in the order of the tables."""
    for part in tabulator.in_order(graph.parts):
        scheduler.settle(part.keys)
        tabulator.write(part)
