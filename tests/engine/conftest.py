import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ohr.engine.run import Finished, run
from ohr.registry import load_file
from ohr.spec.read import read_spec

PLUGINS = Path(__file__).parents[1] / "plugins.py"


@dataclass
class Home:
    """A folder with a store and runs; `run` reads a spec and runs it in this process, or with `workers`."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def write(self, text: str, name: str = "spec.yaml") -> Path:
        path = self.folder / name
        path.write_text(f"plugins: [{PLUGINS}]\nreplicates: 1\n{text}")
        return path

    def run(self, text: str, *overrides: str, workers: int | None = None) -> Finished:
        return self.run_file(self.write(text), *overrides, workers=workers)

    def run_file(self, path: Path, *overrides: str, workers: int | None = None) -> Finished:
        spec = read_spec(path, overrides, trust_plugins=True)
        executor = None if workers else _plugin("InProcess")()
        return run(spec, store=self.store, runs=self.folder / "runs", workers=workers, executor=executor)

    def log(self, name: str) -> Counter[str]:
        """Count the lines of a log."""
        path = self.folder / name
        return Counter(path.read_text().splitlines()) if path.exists() else Counter()


def _plugin(name: str) -> Any:
    (stage, *_) = load_file(PLUGINS)
    return getattr(sys.modules[stage.__module__], name)


@pytest.fixture
def home(tmp_path) -> Home:
    return Home(tmp_path)


def rows(finished, **wanted):
    """Pick the rows of a run by the values of their columns."""
    return [row for row in finished.results.rows if all(row[name] == value for name, value in wanted.items())]


def values(finished, **wanted):
    """Give question to value of the picked rows."""
    return {row["question_id"]: row["value"] for row in rows(finished, **wanted)}
