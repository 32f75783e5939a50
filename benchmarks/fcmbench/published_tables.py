"""The tables that were published for FCMBench, shipped as they were printed in `published/`."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ohr.contracts import Published
from ohr.files.printed import PrintedTables

from .items import TASKS

_LABELS = ("system", "kind")
_OVERALL = ("overall", "overall_small")

_PRINTED = PrintedTables(__package__)
rows = _PRINTED.rows


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """Read the tables in the order of `tables.yaml`: scores in [0, 1] under the names of ohr's aggregates.

    The published protocol shows a model the pictures of a question, so the scores are of the stage `generation`. Those
    of V1.0 have a warning.
    """
    return tuple(number for table in _PRINTED.tables for number in _numbers(table))


def _numbers(table: Mapping[str, Any]) -> Iterator[Published]:
    names = {column: column for column in TASKS} | dict.fromkeys(_OVERALL, table.get("overall", "overall"))
    for row in rows(table["file"]):
        for column, printed in row.items():
            if column in _LABELS or not printed:
                continue
            yield Published(
                system=row["system"],
                stage="generation",
                metric=names[column],
                group=table.get("group", "all"),
                value=round(float(printed) / 100, 6),
                setting=table["small"] if column == "overall_small" else table["setting"],
                table=f"{table['table']}, {table['source']}, {table['date']}",
                main=bool(table.get("main")),
                warning=table.get("warning", ""),
            )
