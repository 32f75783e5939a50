"""Reading a finished run from Python."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohr.report.figures.plots import Plots
from ohr.results.derived.frames import Library, frame
from ohr.results.folder.run_folder import read_finished
from ohr.results.tables.read_table import read_columns

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """A finished run.

    Args:
        folder: where it is.
        manifest: what it says of itself: spec, versions, noise, warnings, failures.
    """

    folder: Path
    manifest: dict[str, Any]

    @property
    def plot(self) -> Plots:
        """Its figures, as in `run.plot.performance()`."""
        return Plots(self.folder)

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
        return frame(self.folder, table, library, **equal)

    def table(self, name: str, columns: Sequence[str] | None = None, **equal: Any) -> "pyarrow.Table":
        """Read a table as it is stored, such as `scores`, `answers` or `texts`.

        Args:
            name: of the table (docs/results.md lists them).
            columns: those to read; all.
            equal: rows to read, by the value of a column, as in `stage="retrieval"`.

        Raises:
            DataError: there is no such table, or it is damaged.
        """
        return read_columns(self.folder / f"{name}.parquet", columns, **equal)


def load_run(folder: Path | str) -> LoadedRun:
    """Read a finished run.

    Raises:
        DataError: there is no run in the folder, it is not finished, or it is damaged.
    """
    place = Path(folder)
    return LoadedRun(place, read_finished(place))
