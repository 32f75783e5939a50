"""The tables that were published for OHRBench, shipped as they were printed in `published/`."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ohr.contracts import Published
from ohr.files.printed import PrintedTables

METRICS = {"retrieval": "lcs", "generation": "f1", "overall": "f1"}
"""The metric of a column of scores, by stage."""
_AS_PRINTED = ("edit_distance", "redundant_commands")
"""Columns that are not in percent."""
_LABELS = ("stage", "system", "kind", "generator")

_PRINTED = PrintedTables(__package__)
rows = _PRINTED.rows


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """Read all tables, in the order of `tables.yaml`; shares are in [0, 1]."""
    return tuple(number for table in _PRINTED.tables for number in _numbers(table))


def _numbers(table: Mapping[str, Any]) -> Iterator[Published]:
    for row in rows(table["file"]):
        stage = row["stage"]
        setting = table["setting"][stage].format(**row)
        for column, printed in row.items():
            if column in _LABELS or not printed:
                continue
            yield Published(
                system=row["system"],
                # the distance of the text is repeated in the line of each stage, but is the score of none
                stage="page" if column == "edit_distance" else stage,
                metric=column if column in _AS_PRINTED or stage == "page" else METRICS[stage],
                group="all" if column in _AS_PRINTED or stage == "page" else column,
                value=float(printed) if column in _AS_PRINTED else round(float(printed) / 100, 4),
                setting=setting,
                table=f"{table['table']}, {table['source']}, {table['date']}",
                main=bool(table.get("main")),
            )
