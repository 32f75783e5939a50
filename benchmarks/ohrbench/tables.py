"""The tables that were published for OHRBench, shipped as they were printed in `published/`."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ohr.contracts import Published

METRICS = {"retrieval": "lcs", "generation": "f1", "overall": "f1"}
"""The metric of a column of scores, by stage."""
_AS_PRINTED = ("edit_distance", "redundant_commands")
"""Columns that are not in percent."""
_LABELS = ("stage", "system", "kind", "generator")


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """Read all tables, in the order of `tables.yaml`; shares are in [0, 1]."""
    from ruamel.yaml import YAML

    about = YAML(typ="safe", pure=True).load(_read("tables.yaml"))
    return tuple(
        number
        for table in about["tables"]
        for number in _numbers({"source": about["source"], "date": about["date"], **table})
    )


def rows(file: str) -> list[dict[str, str]]:
    """Read one table as it was printed."""
    return list(csv.DictReader(_read(file).splitlines()))


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


def _read(name: str) -> str:
    return files("ohr.benchmarks.ohrbench").joinpath("published", name).read_text(encoding="utf-8")


def remarks() -> Sequence[str]:
    """List the contradictions in the tables."""
    from ruamel.yaml import YAML

    about = YAML(typ="safe", pure=True).load(_read("tables.yaml"))
    return [f"{table['table']}: {remark}" for table in about["tables"] for remark in table.get("remarks", ())]
