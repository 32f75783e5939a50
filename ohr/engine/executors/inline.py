"""The inline executor: every call runs at once in this process, without limits. For tests and debuggers."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ohr.engine import worker
from ohr.engine.worker import Setup


class Inline:
    """Runs each call when it is submitted."""

    def start(self, setup: Setup) -> None:
        """Set this process up as a worker, without limits."""
        worker.prepare(setup, limited=False)

    def capacity(self, *, alone: bool) -> int:  # noqa: ARG002 # the same for all
        """One call at a time."""
        return 1

    def submit(
        self,
        call: Callable[[Any], Any],
        given: Any,
        *,
        alone: bool = False,  # noqa: ARG002 # one process does everything
        seconds: float | None,  # noqa: ARG002 # a call cannot be killed here
    ) -> Future[Any]:
        """Run the call."""
        future: Future[Any] = Future()
        try:
            future.set_result(call(given))
        except Exception as error:
            future.set_exception(error)
        return future

    def stop(self) -> None:
        """Free loaded models."""
        worker.close()
