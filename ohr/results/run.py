"""A run that was scored: its manifest, its choices and its tables, read when they are first asked for."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ohr.errors import DataError
from ohr.results.folder.manifest_choices import Choices
from ohr.results.folder.run_folder import Status, headlines, read_finished, read_manifest, run_id, status
from ohr.results.folder.tags_and_prices import PriceList, read_prices, read_tags
from ohr.results.tables.read_table import read_columns, read_rows
from ohr.treatments import recorded_engine

if TYPE_CHECKING:
    import pyarrow

_STEP = ("condition", "kb", "chunker", "agent", "role", "query", "pages", "attempt", "shared")
"""Columns that tell the shared steps of agents apart."""

Row = Mapping[str, Any]
"""A row of a table, by column."""


class Run:
    """The folder of a run, for everything that comes after its scores.

    Args:
        folder: where the run is.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    @classmethod
    def finished(cls, folder: Path | str) -> Self:
        """Open a run that is finished and whole.

        Raises:
            DataError: there is no run in the folder, it is not finished, or it is damaged.
        """
        run = cls(folder)
        run.__dict__["manifest"] = read_finished(run.folder)
        return run

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"

    # --- the manifest -----------------------------------------------------------------------------------------

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest: what the run says of itself: spec, versions, noise, warnings, failures.

        Raises:
            DataError: there is no run in the folder, or its manifest is damaged or of an earlier version.
        """
        return read_manifest(self.folder)

    @cached_property
    def choices(self) -> Choices:
        """The choices that its statistics depend on; the defaults where it has no manifest of this version."""
        try:
            return Choices.of(self.manifest)
        except DataError:
            return Choices()

    @property
    def reference(self) -> str:
        """Name of what its conditions are compared with, in words."""
        return "the plain scan" if self.choices.plain else "clean text"

    @property
    def name(self) -> str:
        """Name of its spec."""
        return str(self.manifest.get("name") or self.folder.parent.name)

    @property
    def id(self) -> str:
        """Name and folder that it began in, `<name>/<time>-<start of the key>`."""
        return run_id(self.manifest)

    @property
    def status(self) -> Status:
        """Whether it is running, stopped, interrupted or finished now."""
        return status(self.manifest)

    @property
    def store(self) -> str:
        """Folder or URL of the store that it used; "" where it does not say."""
        url = str(self.manifest.get("store") or "")
        return str((self.folder / url).resolve()) if url and "://" not in url else url

    @property
    def tags(self) -> dict[str, str]:
        """Its tags, which may change."""
        return read_tags(self.folder)

    @cached_property
    def price_list(self) -> PriceList:
        """The prices that it is shown with, which may change.

        Raises:
            DataError: their file is damaged.
        """
        return read_prices(self.folder)

    @cached_property
    def headlines(self) -> dict[str, str]:
        """Each stage's headline metric, by the protocol that the run was scored by.

        Raises:
            DataError: the manifest does not name them.
        """
        return headlines(self.manifest)

    @cached_property
    def page_headline(self) -> dict[str, tuple[str, ...]]:
        """The headline metric of the stage `page`, where the protocol scores pages; else nothing."""
        scored = self.manifest.get("protocol", {}).get("page")
        return {"page": (scored[0],)} if scored else {}

    @cached_property
    def shown_metrics(self) -> dict[str, tuple[str, ...]]:
        """The metrics that every table of scores shows: each stage's headline, and then the spec's own.

        Raises:
            DataError: as `headlines`.
        """
        own = [entry["name"] for entry in self.manifest["spec"].get("metrics", ())]
        return {stage: tuple(dict.fromkeys((name, *own))) for stage, name in self.headlines.items()}

    @cached_property
    def engines(self) -> Mapping[str, str]:
        """The kind of each condition's OCR engine; a condition that the manifest does not describe has none."""
        bases = self.manifest["spec"].get("knowledge_bases", ())
        engines = {base["condition"]: recorded_engine(base) for base in bases if "condition" in base}
        return {condition: engine["kind"] for condition, engine in engines.items() if engine}

    @cached_property
    def agent_labels(self) -> dict[str, str]:
        """The name of each agent with what it looks at, as noise reaches it there and nowhere else."""
        agents = self.manifest.get("agents", {})
        return {
            name: f"{name} [{' and '.join(sorted(about['reads'], reverse=True))}]" for name, about in agents.items()
        }

    # --- tables -----------------------------------------------------------------------------------------------

    def path(self, table: str) -> Path:
        """Return the file of a table, which need not exist."""
        return self.folder / f"{table}.parquet"

    def has(self, table: str) -> bool:
        """Report whether the run has a table."""
        return self.path(table).is_file()

    def table(self, name: str, /, columns: Sequence[str] | None = None, **equal: Any) -> "pyarrow.Table":
        """Read a table as it is stored, such as `scores`, `answers` or `texts`.

        Args:
            name: of the table (docs/results.md lists them).
            columns: those to read; all.
            equal: rows to read, by the value of a column, as in `stage="retrieval"`.

        Raises:
            DataError: there is no such table, or it is damaged.
        """
        return read_columns(self.path(name), columns, **equal)

    def rows(self, name: str, /, columns: Sequence[str] | None = None, **equal: Any) -> list[dict[str, Any]]:
        """Read rows of a table as plain Python values; arguments and errors are those of `table`."""
        return read_rows(self.path(name), columns, **equal)

    def rows_if_any(self, name: str, /, columns: Sequence[str] | None = None, **equal: Any) -> list[dict[str, Any]]:
        """Read rows of a table that not every run has: none where it is missing."""
        return self.rows(name, columns, **equal) if self.has(name) else []

    def different_steps(self, columns: Sequence[str], **equal: Any) -> Iterable[Row]:
        """Read the steps of agents, with further columns than those that tell them apart.

        A shared step, such as the summary of a page, is there for every question; it is listed once for each knowledge
        base. None where the run has no agents.
        """
        rows = self.rows_if_any("steps", [*_STEP, *columns], **equal)
        names = [tuple(str(row[name]) for name in _STEP) if row["shared"] else place for place, row in enumerate(rows)]
        return dict(zip(names, rows, strict=True)).values()

    def reason(self, answer: Row) -> str | None:
        """Return why an answer failed; None where it did not.

        Those of agents and systems are in the table of failures, under the question's id.
        """
        if not answer["error"]:
            return None
        item = f"{answer['generator']} on {answer['kb']}: {answer['question_id']}"
        return self._reasons.get(item, str(answer["error"]))

    @cached_property
    def _reasons(self) -> dict[str, str]:
        rows = [row for stage in ("agent", "system") for row in self.rows_if_any("failures", stage=stage)]
        return {row["item"]: row["reason"] for row in rows}

    def once(self, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Leave out rows of conditions that were only run a second time: tables show each condition once."""
        repeats = self.choices.repeats
        return [row for row in rows if row["condition"] not in repeats]
