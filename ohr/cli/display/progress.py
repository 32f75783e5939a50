"""Progress on stderr: bars for a person who watches, a line now and then for a log."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from ohr.cli.display.console import tell
from ohr.engine.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import Task


_SILENCE = 30.0
"""Seconds between two lines of a log: a short run writes none, an hour a page or two."""


@contextmanager
def bars() -> Iterator[Progress]:
    """Show steps while they run, all in one display; in lines when stderr is not a terminal."""
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_DISABLE", "1")  # the bars of libraries
        yield Lines()
        return
    with _display() as display:
        yield Bars(display)


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar for every step that is under way and has something to do."""

    display: "Display"

    @contextmanager
    def step(self, name: str, total: int) -> Iterator[Callable[[int], None]]:
        """Open a step; its bar goes when it ends."""
        if not total:
            yield lambda _: None
            return
        bar = self.display.add_task(name, total=total)
        try:
            yield lambda done: self.display.advance(bar, done)
        finally:
            self.display.remove_task(bar)


class Lines:
    """Tells a log how far the step under way is, whenever `silence` seconds have passed without a line."""

    def __init__(self, silence: float = _SILENCE) -> None:
        """Begin the silence."""
        self._silence = silence
        self._told = monotonic()

    @contextmanager
    def step(self, name: str, total: int) -> Iterator[Callable[[int], None]]:
        """Open a step."""
        begun, done = monotonic(), 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            now = monotonic()
            if now - self._told >= self._silence:
                self._told = now
                rate = done / max(now - begun, 1e-9)
                tell(f"{name}: {done} of {total} ({rate:.1f}/s)")

        yield advance


def _display() -> "Display":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Display
    from rich.text import Text

    class Rate(ProgressColumn):
        """Items a second."""

        def render(self, task: "Task") -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    return Display(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )
