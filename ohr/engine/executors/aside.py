"""Work that waits for hours at a server: each call in a thread of the run's own process, beside the workers."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import count
from threading import Lock, Thread

from ohr.engine.progress import Progress
from ohr.engine.worker import Job, Result, run_some
from ohr.messages.wording import counted
from ohr.work.step import Context

_PHASE = "replies in batches"


class Aside:
    """Runs calls that wait; they end with the process, and the server continues.

    Args:
        context: of the steps; no time limit holds.
    """

    def __init__(self, context: Context, progress: Progress) -> None:
        self._context, self._progress = context, progress
        self._numbers, self._lock = count(), Lock()
        self._said: dict[int, tuple[int, int, int]] = {}

    def submit(self, jobs: Sequence[Job]) -> Future[list[Result]]:
        """Start a call."""
        future, number = Future[list[Result]](), next(self._numbers)
        context = replace(self._context, say=partial(self._say, number))

        def run() -> None:
            try:
                results = list(run_some(jobs, context, lambda _: None))
            except BaseException as error:  # such as a store that cannot be used; the scheduler raises it
                future.set_exception(error)
            else:
                future.set_result(results)

        Thread(target=run, name=f"ohr-aside-{number}", daemon=True).start()
        return future

    def left(self) -> Iterator[str]:
        """Report that batches continue at their servers, where there are any: the run is about to end."""
        with self._lock:
            files = sum(files for files, _, _ in self._said.values())
        if files:
            verb = "continues" if files == 1 else "continue"
            command = "the same command, without --fresh," if self._context.asks_again else "the same command"
            yield f"{counted(files, 'batch', 'batches')} {verb} at the server; {command} waits for the replies"

    def _say(self, number: int, *numbers: int) -> None:
        with self._lock:
            self._said[number] = (numbers[0], numbers[1], numbers[2])
            files, there, total = (sum(column) for column in zip(*self._said.values(), strict=True))
            self._progress.update(_PHASE, there, total, counted(files, "batch", "batches"))
