"""Work of a worker process: a batch of steps, one after the other, each within its limits."""

import gc
import locale
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any, NoReturn

from ohr.contracts import Stage
from ohr.dataset.inputs import Inputs
from ohr.errors import InputsGone, OhrError, PromptError, StoreError
from ohr.messages.blame import fault_of
from ohr.models.resident import holding
from ohr.processes import lives
from ohr.store import open_store
from ohr.work.step import Context, Ready, Report, Work
from ohr.work.time_limit import Watch


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings that each worker receives once, when it starts.

    Args:
        store: URL of the store; None where calls need no store.
        inputs: of the run.
        plugin_files: loaded before any work.
        seconds: longest time for one item; None for no limit.
        memory: most bytes of data of one worker; None for no limit.
    """

    store: str | None = None
    inputs: Inputs | None = None
    plugin_files: tuple[Path, ...] = ()
    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A step that is ready to run."""

    work: Work
    ready: Ready


@dataclass
class _Worker:
    """This process as a worker."""

    context: Context | None = None
    seconds: float | None = None
    home: Path = Path()
    stage: Stage | None = None
    scope: ExitStack = field(default_factory=ExitStack)

    def hold(self, stage: Stage | None) -> None:
        """Open a stage, after the one that was open is closed; work without a stage leaves it open."""
        if stage is None or stage == self.stage:
            return
        self.release()
        self.scope.enter_context(holding())
        self.stage = stage

    def release(self) -> None:
        """Close the stage that is open."""
        self.stage = None
        self.scope.close()


_this = _Worker()


def prepare(setup: Setup, *, limited: bool = True) -> None:
    """Set this process up for a run.

    Args:
        limited: apply the run's time limit; it ends the process.
    """
    from ohr.registry import load_file

    for path in setup.plugin_files:
        load_file(path)
    _this.home, _this.seconds = Path.cwd(), setup.seconds if limited else None
    if setup.store is not None and setup.inputs is not None:
        _this.context = Context(open_store(setup.store), setup.inputs, Watch(_this.seconds))


def close() -> None:
    """Free what this process holds for a run."""
    _this.release()
    _this.context = None


Result = Report | InputsGone | str
"""A report, the inputs that were gone, or the reason of a failure."""


def run_jobs(jobs: Sequence[Job]) -> list[Result]:
    """Run steps; returns what each did, or why it failed. An error comes back as text: many cannot be unpickled."""
    results, values = list[Result](), dict[str, Any]()
    for some in [jobs] if jobs[0].work.window else [[job] for job in jobs]:
        results += _run(some)
        if isinstance(done := results[-1], Report):
            values |= done.values
            done.values = {}
        if len(values) >= _AT_ONCE or some[-1] is jobs[-1]:
            _store(values)
            values = {}
    return results


_AT_ONCE = 64
"""Values of short steps that are written together: a transaction for each costs as much as the step."""


def _store(values: Mapping[str, Any]) -> None:
    assert _this.context is not None, "the worker was not prepared"
    if values:
        _this.context.store.put_many(values)


def _run(jobs: Sequence[Job]) -> Sequence[Result]:
    """Run steps of one kind and stage in one call, in this process as a worker."""
    assert _this.context is not None, "the worker was not prepared"
    try:
        return run_some(jobs, _this.context, _this.hold)
    finally:
        _restore()


def run_some(jobs: Sequence[Job], context: Context, hold: Callable[[Stage | None], None]) -> Sequence[Result]:
    """Run steps of one kind and stage in one call.

    Args:
        hold: opens their stage.
    """
    work, began = jobs[0].work, perf_counter()
    try:
        with context.watch:
            hold(work.stage)
            ready = [(job.work, job.ready) for job in jobs]
            reports = work.run_together(ready, context) if work.window else [work.run(jobs[0].ready, context)]
    except InputsGone as gone:
        return [gone] * len(jobs)
    except (StoreError, PromptError):
        raise
    except (Exception, SystemExit) as error:  # a plugin may raise anything: its item fails, the run continues
        held: list[object] = [getattr(work, field.name) for field in fields(work)] if is_dataclass(work) else []
        return [fault_of(error, *(part for part in held if isinstance(part, Stage)))] * len(jobs)
    for report in reports:
        report.seconds = report.seconds or (perf_counter() - began) / len(jobs)
    return reports


def reason(error: BaseException) -> str:
    """Put an exception in one sentence."""
    return str(error) if isinstance(error, OhrError) else f"{type(error).__name__}: {error}"


def _restore() -> None:
    """Undo changes by a plugin that would affect later items."""
    with suppress(OSError):
        os.chdir(_this.home)
    with suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "C.UTF-8" if sys.platform != "darwin" else "en_US.UTF-8")


def begin(setup: Setup, folder: Path, run: tuple[str, int, str]) -> None:
    """Set up a worker process of a pool: its own process group, no output but stderr, its limits.

    Args:
        folder: where it notes its number for the guard, in a temporary folder of the run's process.
        run: names that process.
    """
    gc.set_threshold(100_000, 20, 20)  # as in the command: by default collections take a tenth of the time
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it stops the pool
    with suppress(OSError):
        os.setpgid(0, 0)  # what an engine starts belongs to the group, and ends with the worker
    os.dup2(2, 1)  # an engine that prints must not write into the run's output
    exit_now = os._exit

    def exit_nonzero(status: int) -> NoReturn:
        _clear(run, folder)
        exit_now(status or 1)  # the pool takes status 0 for a worker that was asked to end, and waits for its call

    os._exit = exit_nonzero
    with suppress(FileNotFoundError):  # the run was killed, and another worker has removed its folder
        (folder / f"worker-{os.getpid()}").touch()
    Thread(target=_follow, args=(run, folder), daemon=True).start()
    if setup.memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (setup.memory, setup.memory))
    prepare(setup)


def _clear(run: tuple[str, int, str], folder: Path) -> None:
    """Remove the temporary folder of a run's process that was killed."""
    if lives(*run) is False:
        shutil.rmtree(folder.parent, ignore_errors=True)


def _follow(run: tuple[str, int, str], folder: Path) -> None:
    """End this worker and its own processes when the run is gone; its parent, which forks workers, outlives the run."""
    import psutil

    while lives(*run) is not False:
        Event().wait(1.0)
    _clear(run, folder)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            process.kill()
    os.killpg(0, signal.SIGKILL)
