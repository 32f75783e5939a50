"""Commands run as a user types them, in a folder of their own, on one page of mini's law documents."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from ohr.cli.app import app

SPEC = """\
name: small
replicates: 1
benchmark: {kind: mini, domains: [law], languages: [en], max_pages: 1}
knowledge_bases:
  - name: ground_truth
  - name: formatting
    text_noise: {kind: formatting, rate: [0.1, 0.6]}
chunker: {kind: page}
retrievers:
  - {kind: bm25, top_k: 2}
generators:
  - {kind: extractive}
questions: {evidence_source: [table, formula]}
"""

Ohr = Callable[..., Result]


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """An empty working folder with `small.yaml` in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SPEC)
    return tmp_path


def command(*words: str) -> Result:
    """Run a command; what it raises by mistake fails the test."""
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def ohr(home) -> Ohr:
    """Run commands in a folder with nothing but `small.yaml`."""
    return command


@pytest.fixture(scope="session")
def finished(shared, tmp_path_factory) -> tuple[Path, SimpleNamespace]:
    """A folder in which `small.yaml` was run once, and what the command said; tests leave it as it is."""

    def fill(home: Path) -> None:
        (home / "small.yaml").write_text(SPEC)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(home)
            done = command("run", "small.yaml", "--executor", "inline")
        said = {name: getattr(done, name) for name in ("exit_code", "stdout", "stderr")}
        (home / "said.json").write_text(json.dumps(said))

    home = tmp_path_factory.mktemp("finished")
    shutil.copytree(shared("finished", fill), home, dirs_exist_ok=True)
    return home, SimpleNamespace(**json.loads((home / "said.json").read_text()))


@pytest.fixture
def there(finished, monkeypatch) -> Path:
    """Go to the folder in which `small.yaml` was run."""
    monkeypatch.chdir(finished[0])
    return finished[0]


@pytest.fixture
def ohr_here(there) -> Ohr:
    """Run commands where `small.yaml` was run before."""
    return command
