"""Published tables that a benchmark's package ships as they were printed."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class PrintedTables:
    """The tables in a package's folder `published`: CSV files, and `tables.yaml` with what is known of them.

    Args:
        package: name of the package.
    """

    package: str

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """The content of `tables.yaml`; `tables` lists the tables, all else is about every one of them."""
        from ruamel.yaml import YAML

        about: Mapping[str, Any] = YAML(typ="safe", pure=True).load(self._read("tables.yaml"))
        return about

    @property
    def tables(self) -> Sequence[Mapping[str, Any]]:
        """The tables in their order, each with what is about every one of them."""
        shared = {name: value for name, value in self.about.items() if name != "tables"}
        return [{**shared, **table} for table in self.about["tables"]]

    def rows(self, file: str) -> list[dict[str, str]]:
        """Read one table as it was printed."""
        return list(csv.DictReader(self._read(file).splitlines()))

    def _read(self, name: str) -> str:
        return files(self.package).joinpath("published", name).read_text(encoding="utf-8")
