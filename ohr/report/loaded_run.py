"""Reading a finished run from Python."""

from functools import cached_property
from pathlib import Path
from typing import Any

from ohr.report.figures.plots import Plots
from ohr.results.derived.frames import Library, frame
from ohr.results.run import Run


class LoadedRun(Run):
    """A finished run, with its figures and data frames."""

    @cached_property
    def plot(self) -> Plots:
        """Its figures, as in `run.plot.performance()`."""
        return Plots(self)

    def frame(self, table: str, library: Library = "pandas", **equal: Any) -> Any:
        """Return a table as a tidy data frame, as in `run.frame("scores", stage="retrieval", metric="lcs")`.

        Names are categorical and in the order of the run, and what is undefined is missing; `scores` has the question's
        traits, the condition's level and engine, and the knowledge base's r_noise.

        Args:
            table: any table of the run (docs/results.md lists them), or `losses`: each condition's paired loss against
                clean text.
            library: `pandas`, `polars`, or `arrow`.
            equal: rows to return, by the value of a column.

        Raises:
            DataError: there is no such table or column, or the table is damaged.
            MissingExtra: the library is not installed.
        """
        return frame(self, table, library, **equal)


def load_run(folder: Path | str) -> LoadedRun:
    """Read a finished run.

    Raises:
        DataError: there is no run in the folder, it is not finished, or it is damaged.
    """
    return LoadedRun.finished(folder)
