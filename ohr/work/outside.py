"""The loop of work outside: questions to an agent or a system, several at once, each kept as soon as it ends."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

from ohr.work.step import Context, Ready, Report, missing


class Outside(Protocol):
    """Somebody who is asked; questions are named by the keys of their outputs."""

    def begin(self, output: str) -> None:
        """Begin a question."""
        ...

    def ended(self) -> Mapping[str, Any]:
        """Wait, and return the questions that have ended meanwhile, if any: what is kept, or why there is nothing."""
        ...


def ask_missing(outside: Outside, ready: Ready, context: Context, report: Report, in_flight: int) -> None:
    """Ask the questions whose outputs are missing; one that fails is noted, and the others continue.

    Args:
        in_flight: most questions at once.
    """
    waiting, under_way = deque(missing(ready.outputs, ready, context.store)), 0
    most = 1 if ready.alone else in_flight
    while waiting or under_way:
        while waiting and under_way < most:
            outside.begin(waiting.popleft())
            under_way += 1
        if not (results := outside.ended()):
            continue
        under_way -= len(results)
        context.watch.restart()
        report.errors |= {output: why for output, why in results.items() if isinstance(why, str)}
        if kept := {output: value for output, value in results.items() if not isinstance(value, str)}:
            context.store.put_many(kept)  # at once, whatever it costs: what was asked may have been paid for
