"""The tables that were published for FCMBench, shipped as they were printed in `published/`."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ohr.contracts import Published

from .items import TASKS

_LABELS = ("system", "kind")
_OVERALL = ("overall", "overall_small")


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """Read the tables in the order of `tables.yaml`: scores in [0, 1] under the names of ohr's aggregates.

    The published protocol shows a model the pictures of a question, so the scores are of the stage `generation`. Those
    of V1.0 have a warning.
    """
    about = _about()
    return tuple(
        number
        for table in about["tables"]
        for number in _numbers({"source": about["source"], "date": about["date"], **table})
    )


def rows(file: str) -> list[dict[str, str]]:
    """Read one table as it was printed."""
    return list(csv.DictReader(_read(file).splitlines()))


def remarks() -> Sequence[str]:
    """List what a reader of the tables has to know."""
    return [f"{table['table']}: {remark}" for table in _about()["tables"] for remark in table.get("remarks", ())]


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


def _about() -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(_read("tables.yaml"))


def _read(name: str) -> str:
    return files("ohr.benchmarks.fcmbench").joinpath("published", name).read_text(encoding="utf-8")
