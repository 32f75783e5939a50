"""Somebody else's package of plugins: built, installed beside ohr, and used from YAML without any flag."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ohr.results.tables.read_table import read_rows

pytestmark = pytest.mark.acceptance  # builds and installs a package
PACKAGE = Path(__file__).parent / "plugin_package"
SPEC = """\
name: foreign
replicates: 1
limit: 2
benchmark: {kind: mini, languages: [en], domains: [law], max_pages: 1}
knowledge_bases:
  - name: ground_truth
  - {name: case, text_noise: {kind: acme_case, rate: [0.2, 1.0]}}
chunker: {kind: page}
retrievers: [{kind: acme_trigrams, top_k: 1}]
generators: [{kind: extractive}]
metrics: [{kind: acme_first_word}]
"""
CONFORMS = """\
from acme_ohr.case import LostCase
from acme_ohr.first_word import FirstWord
from acme_ohr.trigrams import Trigrams

from ohr.testing import check_metric, check_retriever, check_text_noise

check_retriever(Trigrams())
check_text_noise(LostCase())
check_metric(FirstWord())
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package is installed in."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Run:
    """Run Python in a folder of its own, with the package installed."""
    home = tmp_path_factory.mktemp("home")
    source = tmp_path_factory.mktemp("source")
    for file in PACKAGE.rglob("*.*"):  # building writes beside the sources
        if file.suffix in (".py", ".toml"):
            (source / file.relative_to(PACKAGE)).parent.mkdir(parents=True, exist_ok=True)
            (source / file.relative_to(PACKAGE)).write_bytes(file.read_bytes())
    alone = ("--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check")
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, words)]
        return subprocess.run(command, cwd=home, env=environment, check=False, capture_output=True, text=True)

    installed = run("-m", "pip", "install", *alone, "--target", site, source)
    assert installed.returncode == 0, installed.stderr
    (home / "foreign.yaml").write_text(SPEC)
    return run


def ohr(python: Run, *words: str) -> str:
    done = python("-c", "from ohr.cli import main; main()", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_plugins_are_listed(python: Run):
    listed = {(about["family"], about["kind"]) for about in json.loads(ohr(python, "plugins", "--json"))}
    assert {("retriever", "acme_trigrams"), ("text_noise", "acme_case"), ("metric", "acme_first_word")} <= listed


def test_its_plugins_keep_their_contracts(python: Run):
    done = python("-c", CONFORMS)
    assert done.returncode == 0, done.stderr


def test_its_plugins_make_a_curve(python: Run, tmp_path: Path):
    done = ohr(python, "run", "foreign.yaml", "--no-figures", "--workers", "1", "--runs", str(tmp_path))
    assert "acme_first_word" in done
    (folder,) = (tmp_path / "foreign").glob("*-*")
    rows = read_rows(folder / "summary.parquet", evidence_source="all")
    assert {row["retriever"] for row in rows if row["stage"] == "retrieval"} == {"acme_trigrams"}
    assert {row["knob_value"] for row in rows if row["noise"] == "case"} == {"0.2", "1"}
    scored = {row["stage"] for row in rows if row["metric"] == "acme_first_word"}
    assert scored == {"generation", "overall"}


def test_the_schema_completes_its_plugins(python: Run):
    assert "retriever.acme_trigrams" in json.loads(ohr(python, "schema"))["$defs"]


def test_an_edit_of_an_installed_plugin_gives_new_numbers(python: Run, site: Path, tmp_path: Path):
    def hits() -> dict[str, str]:
        ohr(python, "run", "foreign.yaml", "--no-figures", "--workers", "1", "--runs", str(tmp_path))
        folder = max((tmp_path / "foreign").glob("*-*"))
        rows = [row for row in read_rows(folder / "summary.parquet") if row["evidence_source"] == "all"]
        return {row["knob_value"]: row["mean"] for row in rows if row["metric"] == "lcs"}

    before = hits()
    assert hits() == before
    plugin = site / "acme_ohr" / "trigrams.py"
    source = plugin.read_text()
    edited = source.replace("-hit.score", "hit.score")  # worst first
    assert edited != source
    plugin.write_text(edited)
    try:
        assert hits() != before
    finally:
        plugin.write_text(source)
