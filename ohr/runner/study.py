"""Carries out a study: compile, execute, tabulate, and finish the run's folder."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn

from ohr.engine.progress import Progress
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.errors import Terminated
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import drawn_once, not_swapped, undosed, unreached
from ohr.graph.compile import compile_graph
from ohr.graph.graph import Graph
from ohr.messages.variables import Formatter, hidden
from ohr.results.folder.run_folder import RunFolder
from ohr.results.tables.read_table import read_rows
from ohr.runner.attribution import with_trials
from ohr.runner.calibration.calibrate import calibrate
from ohr.runner.events import EVENTS, EventLog
from ohr.runner.fresh import asks_again, forget
from ohr.runner.manifest import ended
from ohr.runner.pace import remember
from ohr.runner.preregistration import register
from ohr.runner.tabulate import Tabulator
from ohr.spec.servers import left_at_servers, sent_singly
from ohr.steps.documents.page_images import RenderPage
from ohr.text.recent import forget as forget_texts

_log = logging.getLogger(__name__)
LOG = "run.log"
"""Name of the log of messages in a run's folder."""


@contextmanager
def recorded(folder: RunFolder, shown: Progress) -> Iterator[EventLog]:
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


def study(session: Session, keys: Keys, folder: RunFolder, fresh: str | None) -> None:
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
