"""The table that was published for the TableQuest of finqa-tablequest-bench, shipped as printed in `published/`."""

import csv
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ohr.contracts import Published


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """Read the accuracies, as shares in [0, 1], in the order of the file."""
    about = _about()
    return tuple(
        Published(
            system=row["system"],
            stage="overall",
            metric=table["metric"],
            group="all",
            value=float(row["accuracy"]),
            setting=table["setting"].format(**row),
            table=f"{table['table']}, {about['source']}, {about['date']}",
            main=True,
        )
        for table in about["tables"]
        for row in rows(table["file"])
    )


def rows(file: str) -> list[dict[str, str]]:
    """Read one table as it was printed."""
    return list(csv.DictReader(_read(file).splitlines()))


def remarks() -> Sequence[str]:
    """List what to know before comparing with the table."""
    return [f"{table['table']}: {remark}" for table in _about()["tables"] for remark in table["remarks"]]


def _about() -> Mapping[str, Any]:
    from ruamel.yaml import YAML

    about: Mapping[str, Any] = YAML(typ="safe", pure=True).load(_read("tables.yaml"))
    return about


def _read(name: str) -> str:
    return files("ohr.benchmarks.finqa_tablequest").joinpath("published", name).read_text(encoding="utf-8")
