"""Progress on stderr: bars for a person who watches, a line now and then for a log."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from ohr.cli.display.console import report

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Display
    from rich.progress import Task, TaskID

    from ohr.engine.progress import Progress


_SILENCE = 30.0  # seconds between two lines of a log: a short run writes none, an hour a page or two


_SLOW = ("reading pages", "reading documents", "answering", "running agents", "asking systems", "replies in batches")
"""Phases that take nearly all of the time of a run that has them, in the order of its work."""


def pace(rate: float) -> str:
    """Return items a second in words; seconds for each item where they are few."""
    return f"{1 / rate:,.0f} s each" if 0 < rate < _FEW else f"{rate:.1f}/s"


_FEW = 0.05  # items a second that would be printed as 0.0


@contextmanager
def bars() -> Iterator["Progress"]:
    """Show steps while they run, all in one display; in lines when stderr is not a terminal."""
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_DISABLE", "1")  # the bars of libraries
        yield Lines()
        return
    with _display() as display:
        yield Bars(display)


class Bars:
    """A bar for every phase that is under way and has something to do."""

    def __init__(self, display: "Display") -> None:
        self._display = display
        self._bars: dict[str, TaskID] = {}

    def update(self, phase: str, done: int, total: int, detail: str = "") -> None:
        """Show a phase; its bar goes when it ends."""
        shown = f"{phase} ({detail})" if detail else phase
        if phase not in self._bars and done < total:
            self._bars[phase] = self._display.add_task(shown, total=total, phase=phase)
        if phase in self._bars:
            self._display.update(self._bars[phase], completed=done, total=total, description=shown)
            if done >= total:
                self._display.remove_task(self._bars.pop(phase))


class Lines:
    """Prints how far each phase is whenever `silence` seconds have passed without a line."""

    def __init__(self, silence: float = _SILENCE) -> None:
        """Begin the silence."""
        self._silence = silence
        self._printed = monotonic()
        self._begun: dict[str, tuple[float, int]] = {}

    def update(self, phase: str, done: int, total: int, detail: str = "") -> None:
        """Print a line if it is time for one."""
        now = monotonic()
        since, before = self._begun.setdefault(phase, (now, done))
        if now - self._printed >= self._silence:
            self._printed = now
            rate = (done - before) / max(now - since, 1e-9)
            report(f"{phase}: {done:,} of {total:,} ({detail or pace(rate)})")


def _place(task: "Task") -> int:
    phase = task.fields.get("phase")
    return _SLOW.index(phase) if phase in _SLOW else len(_SLOW)


def _display() -> "Display":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Display
    from rich.text import Text

    class Rate(ProgressColumn):
        """Items a second."""

        def render(self, task: "Task") -> Text:
            return Text(pace(task.speed) if task.speed else "")

    class Left(TimeRemainingColumn):
        """Time left; none of a phase that waits for slow work, whose own pace says nothing."""

        def render(self, task: "Task") -> Text:
            waits = _place(task) == len(_SLOW) and any(_place(other) < len(_SLOW) for other in display.tasks)
            return Text() if waits else super().render(task)

    class SlowFirst(Display):
        """Bars of what the run waits for above those that wait for it."""

        def get_renderables(self) -> Iterable["RenderableType"]:
            yield self.make_tasks_table(sorted(self.tasks, key=_place))

    display = SlowFirst(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        Left(compact=True),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )
    return display
