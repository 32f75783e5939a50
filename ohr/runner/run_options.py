"""Options of a run: one object, from the command or the call to the engine."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ohr.dataset.inputs import Inputs
from ohr.engine.ledger import Ledger
from ohr.engine.progress import Progress, Quiet
from ohr.spec.model import Spec
from ohr.store import open_store

if TYPE_CHECKING:
    from ohr.engine.executors.base import Executor
    from ohr.engine.session import Session


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """How a spec is run.

    Args:
        store: folder or fsspec URL of the store.
        runs: folder under which the run gets a folder of its own.
        workers: processes of the local executor; by default one per core.
        limit: use only this many documents, instead of the spec's own limit.
        progress: what shows the progress; by default nothing does.
        executor: where steps run; by default processes on this machine.
        fresh: a stage of `ohr.runner.fresh.STAGES` whose results are made again.
        verify: read input files and models again, whose sizes and times are as they were.
    """

    store: Path | str = ".ohr"
    runs: Path | str = Path("runs")
    workers: int | None = None
    limit: int | None = None
    progress: Progress | None = None
    executor: "Executor | None" = None
    fresh: str | None = None
    verify: bool = False

    def session(self, spec: Spec, inputs: Inputs) -> "Session":
        """Return a session that is not started; opens the store."""
        from ohr.engine.executors.local import Local
        from ohr.engine.session import Session

        executor = self.executor or Local(self.workers)
        return Session(inputs, open_store(self.store), executor, Ledger(spec.max_failures), self.progress or Quiet())
