"""Tables of a run as data frames, with the names, types and order that an analysis needs."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ohr import extras
from ohr.errors import DataError
from ohr.registry import choices
from ohr.results.derived.costs import Cost, read_costs
from ohr.results.derived.losses import Loss, read_losses
from ohr.results.run import Run
from ohr.results.tables.groups import GROUPS
from ohr.results.tables.read_table import names_of, refuse_absent
from ohr.results.tables.schema import STATISTICS

if TYPE_CHECKING:
    import pyarrow

Library = Literal["pandas", "polars", "arrow"]
LIBRARIES = ("pandas", "polars", "arrow")

LOSSES, COSTS = "losses", "costs"
"""The views that have no file of their own: the paired losses against clean text, and money beside quality."""

_TEXTS = {"text", "answer", "reply", "error", "reason", "item", "prompt_sha256"}
"""Columns whose values hardly repeat; all other text is categorical."""


def frame(run: Run, table: str, library: Library = "pandas", **equal: Any) -> Any:
    """Return a table of a run as a tidy data frame.

    The columns are those of the file (docs/results.md lists them), and where there is a condition, `level` (its level
    as a number, missing where it is none) and `engine` (the OCR engine); in `scores` also the `r_noise` of the
    knowledge base. Names are categorical, in the order of the run. A part that does not exist, and a number that is
    undefined, are missing values.

    Args:
        run: to read.
        table: `summary`, `scores`, `questions`, or any other table; `losses` for the paired losses against clean text,
            `costs` for money by condition and pipeline, where the spec has prices.
        library: `pandas`, `polars`, or `arrow` for a `pyarrow.Table`.
        equal: rows to return, by the value of a column, as in `stage="retrieval"`; None for a missing value.

    Raises:
        DataError: there is no such table, column or library, or the table is damaged.
        MissingExtra: the library is not installed.
    """
    if library not in LIBRARIES:
        raise DataError(f"no frames of {library!r}: {choices(library, LIBRARIES)}")
    if library != "arrow":
        extras.require(library, library)
    made = tidy(run, table, **equal)
    if library == "arrow":
        return made
    if library == "pandas":
        return _pandas(made)
    import polars

    return polars.from_arrow(made)


def tidy(run: Run, table: str, **equal: Any) -> "pyarrow.Table":
    """Return a table as `frame` does, in Arrow's form.

    Raises:
        DataError: there is no such table or column, or the table is damaged.
    """
    tables = tables_of(run)
    if table not in tables:
        hint = "Write `measure: [dose, pages]` in the spec" if table == STATISTICS else choices(table, tables)
        raise DataError(f"{run.folder}: has no table {table!r}. {hint}")
    if table in (LOSSES, COSTS):
        losses = (loss for group in GROUPS for loss in read_losses(run, group, every_metric=True))
        read, found = {}, _made(Loss, list(losses)) if table == LOSSES else _made(Cost, read_costs(run))
    else:
        known = names_of(run.path(table))
        read = {name: value for name, value in equal.items() if name in known}
        found = run.table(table, **read)
    found = _with_condition(run, found)
    if table == "scores":
        found = _with_dose(run, found)
    return _typed(_only(run.folder / table, found, {name: equal[name] for name in equal.keys() - read.keys()}))


def tables_of(run: Run) -> list[str]:
    """List the tables of a run that have a frame."""
    derived = [LOSSES, *([COSTS] if run.price_list.prices else [])]
    return sorted([*(path.stem for path in run.folder.glob("*.parquet")), *derived])


def _made(kind: type[Loss | Cost], rows: Sequence[Loss | Cost]) -> "pyarrow.Table":
    import pyarrow

    kinds = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64()}
    form = pyarrow.schema([(field.name, kinds[field.type]) for field in fields(kind)])  # type: ignore[index]
    held = [{name: None if value == "" else value for name, value in asdict(row).items()} for row in rows]
    names = ["knob_value" if name == "level" else name for name in form.names]
    return pyarrow.Table.from_pylist(held, form).rename_columns(names)


def _with_condition(run: Run, found: "pyarrow.Table") -> "pyarrow.Table":
    """Add the level as a number after its text, and the OCR engine."""
    import pyarrow

    if "knob_value" in found.column_names:
        place = found.column_names.index("knob_value") + 1
        levels = _mapped(found["knob_value"], _number, pyarrow.float64())
        found = found.add_column(place, "level", levels)
    if "condition" in found.column_names:
        engines = run.engines
        place = found.column_names.index("condition") + 1
        found = found.add_column(place, "engine", _mapped(found["condition"], engines.get, pyarrow.string()))
    return found


def _with_dose(run: Run, found: "pyarrow.Table") -> "pyarrow.Table":
    import pyarrow

    doses = run.table("doses", ["kb", "r_noise"]).to_pylist()
    known = {row["kb"]: row["r_noise"] for row in doses}
    return found.append_column("r_noise", _mapped(found["kb"], known.get, pyarrow.float64()))


def _mapped(column: Any, function: Any, kind: Any) -> Any:
    import pyarrow

    whole = column.combine_chunks().dictionary_encode() if column.type.equals(pyarrow.string()) else column
    codes = whole.unify_dictionaries().combine_chunks() if isinstance(whole, pyarrow.ChunkedArray) else whole
    values = pyarrow.array([function(name) for name in codes.dictionary.to_pylist()], kind)
    return values.take(codes.indices)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _only(path: Path, found: "pyarrow.Table", equal: dict[str, Any]) -> "pyarrow.Table":
    import pyarrow.compute as pc

    refuse_absent(path, found.column_names, equal)
    for name, value in equal.items():
        kept = pc.is_null(found[name]) if value is None else pc.fill_null(pc.equal(found[name], value), False)
        found = found.filter(kept)
    return found


def _typed(found: "pyarrow.Table") -> "pyarrow.Table":
    """Make names categorical, in the order of their first rows; free text plain; and undefined numbers missing."""
    import pyarrow
    import pyarrow.compute as pc

    columns = []
    for name, column in zip(found.column_names, found.columns, strict=True):
        text = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        if text == pyarrow.string():
            column = column.cast(pyarrow.string())
            column = column if name in _TEXTS else column.dictionary_encode().unify_dictionaries()
        elif text == pyarrow.float64():
            column = pc.if_else(pc.fill_null(pc.is_nan(column), False), None, column)
        columns.append(column)
    return pyarrow.table(columns, names=found.column_names)


def _pandas(found: "pyarrow.Table") -> Any:
    """Convert to pandas: counts that may be missing are `Int64`, and truth values `boolean`."""
    import pandas  # type: ignore[import-untyped]
    import pyarrow

    made = found.to_pandas(split_blocks=True)
    nullable = {pyarrow.int64(): "Int64", pyarrow.bool_(): "boolean"}
    for name, column in zip(found.column_names, found.columns, strict=True):
        if column.type in nullable and column.null_count:
            made[name] = pandas.array(column.to_pylist(), dtype=nullable[column.type])
    return made
