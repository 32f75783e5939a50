"""Progress bars on stderr, for a person who watches."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ohr.engine.progress import Progress, Quiet

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import Task


@contextmanager
def bars() -> Iterator[Progress]:
    """Show steps while they run, all in one display; show nothing when stderr is not a terminal."""
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_DISABLE", "1")  # the bars of libraries
        yield Quiet()
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
