"""A session: what every phase of a run shares."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ohr.dataset.inputs import Inputs
from ohr.engine.executors.aside import Aside
from ohr.engine.executors.base import Executor
from ohr.engine.ledger import Ledger
from ohr.engine.progress import Progress, Quiet
from ohr.engine.scheduler import Scheduler
from ohr.engine.worker import Setup
from ohr.models.given_up import ask_again
from ohr.models.reach import servers_of, without_connection
from ohr.models.tries import Policy
from ohr.spec.model import Spec
from ohr.store import Store
from ohr.work.step import Context

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Session:
    """The store, the executor and the accounts of one run.

    Args:
        inputs: documents and questions of the run.
        executor: None where nothing may run, as in a plan.
    """

    inputs: Inputs
    store: Store
    executor: Executor | None
    ledger: Ledger = field(default_factory=Ledger)
    progress: Progress = field(default_factory=Quiet)

    @property
    def context(self) -> Context:
        """Context of the steps, to read their outputs in this process."""
        return Context(self.store, self.inputs)

    @contextmanager
    def started(self, spec: Spec) -> Iterator["Session"]:
        """Look for the servers of a spec, and start the executor; it is stopped at the end, whatever happens."""
        if self.executor is None:
            yield self
            return
        ask_again()
        for line in without_connection(servers_of(spec.stages())):
            _log.warning("%s. What needs it and is not in the store fails unless it answers by then", line)
        limits = spec.limits
        memory = None if limits.memory_gb is None else int(limits.memory_gb * 2**30)
        inputs = replace(self.inputs, notes=(), noises=())
        self.executor.start(Setup(self.store.url, inputs, spec.plugin_files, limits.seconds, memory))
        try:
            yield self
        finally:
            self.executor.stop()

    def scheduler(self, spec: Spec, *, asks_again: bool = False) -> Scheduler:
        """Return a scheduler for this session; it may ask again what earlier runs have under way."""
        if self.executor is None:
            raise ValueError("a session without an executor runs nothing")
        aside, limits = Aside(replace(self.context, asks_again=asks_again), self.progress), spec.limits
        everything = self.store, self.executor, self.ledger, self.progress, aside
        return Scheduler(*everything, policy=Policy(spec.retries), seconds=limits.seconds)
