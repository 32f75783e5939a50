import json
import subprocess
import sys
import sysconfig

import pytest

from ohr.registry import Registry

NEEDY = """\
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, Retriever


class Needy(Retriever):
    '''Needs a library that nobody has.'''

    kind: Literal["needy"] = "needy"

    def check(self) -> None:
        extras.require("no_such_library_ohr", "dense")

    def index(self, chunks: Sequence[Chunk]) -> Index:
        raise NotImplementedError

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        raise NotImplementedError
"""


def all_of(family: str) -> str:
    return ", ".join(Registry().names(family))


@pytest.fixture
def edited(home):
    """Replace a part of `small.yaml`."""

    def edit(old: str, new: str) -> None:
        text = (home / "small.yaml").read_text()
        assert old in text
        (home / "small.yaml").write_text(text.replace(old, new))

    return edit


@pytest.fixture
def needy(home, edited):
    """Let `small.yaml` use a plugin file whose library is missing."""
    (home / "needy.py").write_text(NEEDY)
    edited("kind: bm25", "kind: needy")
    edited("name: small\n", "name: small\nplugins: [./needy.py]\n")


def refused(result, *lines: str) -> None:
    assert result.stderr.splitlines() == list(lines)
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_right_spec_is_reported_in_a_line(ohr):
    result = ohr("check", "small.yaml")
    first = result.stdout.splitlines()[0]
    assert first.startswith(
        "small.yaml is valid: 3 knowledge bases, 12 cells (3 page, 3 retrieval, 3 generation, 3 overall), 4 documents, "
    )
    assert result.exit_code == 0


def test_a_right_spec_as_json(ohr):
    report = json.loads(ohr("check", "small.yaml", "--json").stdout)
    assert report.keys() == {
        "valid",
        "faults",
        "knowledge_bases",
        "cells",
        "documents",
        "documents_asked",
        "questions",
        "servers",
        "warnings",
        "misplaced_evidence",
    }
    assert (report["valid"], report["faults"], report["knowledge_bases"], report["documents"]) == (True, [], 3, 4)
    assert report["cells"] == {"page": 3, "retrieval": 3, "generation": 3, "overall": 3}


def test_a_limit_is_that_of_a_run(ohr):
    report = json.loads(ohr("check", "small.yaml", "--limit", "2", "--json").stdout)
    assert report["documents"] == 2
    assert report["questions"] == json.loads(ohr("plan", "small.yaml", "--limit", "2", "--json").stdout)["questions"]
    assert "limited to 2 of 4 documents" in report["warnings"]


def test_faults_as_json_end_with_2(ohr, edited):
    edited("top_k: 2", "topk: 2")
    result = ohr("check", "small.yaml", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {
        "valid": False,
        "faults": [
            "small.yaml:10: retrievers.0.topk: unknown key. Choose one of: kind, top_k, tokenizer, language, "
            "k1, b, delta, variant. Did you mean 'top_k'?"
        ],
    }


def test_all_faults_come_at_once_in_the_order_of_the_file(ohr, edited):
    edited("replicates: 1", "replicates: one")
    edited("kind: page", "kind: pages")
    edited("top_k: 2", "top_k: two")
    refused(
        ohr("check", "small.yaml"),
        "small.yaml:2: replicates: must be a whole number (got 'one')",
        f"small.yaml:8: chunker.kind: Choose one of: {all_of('chunker')}. Did you mean 'page'? (got 'pages')",
        "small.yaml:10: retrievers.0.top_k: must be a whole number (got 'two')",
    )


def test_a_missing_extra_stops_a_run_before_anything_is_spent(ohr, needy, home):
    refused(
        ohr("run", "small.yaml", "--trust-plugins"),
        "retriever needy: no_such_library_ohr is not installed: pip install 'ohr[dense]'",
    )
    assert not (home / ".ohr").exists()


def test_a_missing_language_pack(ohr):
    folder = f"{sysconfig.get_paths()['data']}/share/tessdata"
    result = ohr("check", "small.yaml", "--set", "knowledge_bases.0.ocr={kind: tesseract, languages: [eng, chi_sim]}")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"ocr tesseract: no language pack 'chi_sim' in {folder}. Put chi_sim.traineddata ")


def test_a_language_that_the_engine_does_not_read(ohr):
    sets = ("--set", "benchmark={kind: mini}", "--set", "knowledge_bases.0.ocr={kind: tesseract}")
    result = ohr("check", "small.yaml", *sets)
    assert result.exit_code == 2
    assert result.stderr.startswith("ocr tesseract: no language pack for zh (")
    assert result.stderr.endswith("or leave those documents out with `languages: [en]` under `benchmark`\n")


def test_what_the_machine_and_the_data_lack_is_reported_together(ohr, needy):
    sets = ("--set", "benchmark={kind: mini}", "--set", "knowledge_bases.0.ocr={kind: tesseract}")
    result = ohr("check", "small.yaml", "--trust-plugins", *sets)
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["retriever needy", "ocr tesseract"]


def test_an_override_is_taken(ohr):
    result = ohr("check", "small.yaml", "--set", "evaluate=[retrieval]", "--set", "chunker.kind=sentence")
    assert "6 cells (3 page, 3 retrieval)" in result.stdout


def test_a_dense_spec_is_checked_without_torch(home):
    code = (
        "import sys\n"
        "from ohr.cli.app import app\n"
        "app(['check', 'small.yaml', '--set', 'retrievers.0.kind=dense'], standalone_mode=False)\n"
        "sys.exit(' '.join({'torch', 'transformers', 'faiss', 'cv2', 'matplotlib'} & sys.modules.keys()) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fault_of_the_documents_is_reported_once(ohr, home):
    (home / "docs").mkdir()
    (home / "docs" / "a.pdf").touch()
    (home / "docs" / "a.png").touch()
    (home / "asked.csv").write_text("question,answers\nWhy?,Because\n")
    (home / "own.yaml").write_text(
        "benchmark: {kind: folder, root: docs, questions: asked.csv}\n"
        "knowledge_bases: [{ocr: {kind: tesseract}}]\nretrievers: [{kind: bm25}]\nevaluate: [retrieval]\n"
    )
    assert ohr("check", "own.yaml").stderr.count("two documents are named") == 1


ASKING = """\
benchmark: {kind: mini, domains: [law], languages: [en], max_pages: 1}
knowledge_bases: [{name: ground_truth}]
evaluate: [generation]
generators: [{kind: openai, base_url: "http://127.0.0.1:9/v1", model: m, retries: 0, api_key_env: NAME}]
"""


@pytest.mark.parametrize("command", ["check", "plan", "run"])
def test_a_variable_that_is_no_api_key_needs_leave(ohr, home, monkeypatch, command):
    monkeypatch.setenv("OHR_TEST_PASSWORD", "sesame-sesame")
    (home / "asking.yaml").write_text(ASKING.replace("NAME", "OHR_TEST_PASSWORD"))
    result = ohr(command, "asking.yaml")
    assert result.exit_code == 2 and "add --allow-env OHR_TEST_PASSWORD" in result.stderr
    assert not (home / "runs").exists()


@pytest.mark.parametrize("name", ["OHR_TEST_API_KEY", "OHR_TEST_PASSWORD"])
def test_a_check_says_what_a_spec_sends_away(ohr, home, monkeypatch, name):
    monkeypatch.setenv(name, "sesame-sesame")
    (home / "asking.yaml").write_text(ASKING.replace("NAME", name))
    words = ("check", "asking.yaml", "--allow-env", "OHR_TEST_PASSWORD")
    assert f"  generator openai sends {name} to 127.0.0.1:9\n" in ohr(*words).stdout
    assert json.loads(ohr(*words, "--json").stdout)["warnings"][0] == f"generator openai sends {name} to 127.0.0.1:9"


def test_a_run_says_what_it_sends_before_it_begins(ohr, home, monkeypatch):
    monkeypatch.setenv("OHR_TEST_API_KEY", "sesame-sesame")
    (home / "asking.yaml").write_text(ASKING.replace("NAME", "OHR_TEST_API_KEY") + "sample: 1\n")
    result = ohr("run", "asking.yaml", "--executor", "inline", "--no-figures", "--no-report")
    assert result.stderr.splitlines()[0] == "generator openai sends OHR_TEST_API_KEY to 127.0.0.1:9"
    assert "sesame" not in result.output + "".join(path.read_text() for path in home.rglob("manifest.json"))


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_the_value_of_a_variable_in_a_path_is_in_no_message(ohr, home, monkeypatch, json_too):
    monkeypatch.setenv("OHR_TEST_ROOT", "sesame-sesame")
    (home / "own.yaml").write_text(
        "benchmark: {kind: folder, root: '${OHR_TEST_ROOT}/docs', questions: '${OHR_TEST_ROOT}/asked.csv'}\n"
        "knowledge_bases: [{ocr: {kind: precomputed, root: '${OHR_TEST_ROOT}'}}]\n"
        "retrievers: [{kind: bm25}]\nevaluate: [retrieval]\n"
    )
    result = ohr("check", "own.yaml", *json_too)
    assert result.exit_code == 2
    assert "${OHR_TEST_ROOT}/docs: no such folder" in result.output and "sesame" not in result.output


def test_a_plugin_file_that_imports_what_is_private_is_warned_of(ohr, home, edited):
    (home / "own.py").write_text(
        "from ohr.messages.wording import counted\nfrom ohr.retrievers.lexical.bm25 import BM25\n\n\n"
        "class Own(BM25, kind='own'):\n    'BM25 under another name.'\n"
    )
    edited("kind: bm25", "kind: own")
    edited("name: small\n", "name: small\nplugins: [./own.py]\n")
    result = ohr("check", "small.yaml", "--trust-plugins")
    assert (
        "  own.py:1: ohr.messages.wording is private and may change; use what is below ohr in contracts"
        in result.stdout
    )
    assert "bm25" not in result.stdout


SERVED = """\
name: served
benchmark: {kind: mini, languages: [en]}
knowledge_bases: [{name: clean}]
generators: [{kind: openai, base_url: "http://127.0.0.1:9/v1", model: m}]
retrievers: [{kind: bm25}]
evaluate: [overall]
"""


def test_servers_are_asked_only_where_that_is_wanted(ohr, home):
    (home / "served.yaml").write_text(SERVED)
    result = ohr("check", "served.yaml")
    assert result.exit_code == 0
    assert "not asked: http://127.0.0.1:9; --servers sends each one request without work" in result.stdout
    assert json.loads(ohr("check", "served.yaml", "--json").stdout)["servers"] == {"http://127.0.0.1:9": "not asked"}
    asked = ohr("check", "served.yaml", "--servers")
    assert asked.exit_code == 2
    refused(
        asked,
        "cannot reach http://127.0.0.1:9: Connection refused; start it, for example with `vllm serve m --port 9`",
    )


def test_a_server_that_answers_is_named(ohr, home, chat_server):
    (home / "served.yaml").write_text(SERVED.replace("http://127.0.0.1:9/v1", chat_server.url))
    place = chat_server.url.removesuffix("/v1")
    assert f"{place} answers" in ohr("check", "served.yaml", "--servers").stdout
    assert json.loads(ohr("check", "served.yaml", "--servers", "--json").stdout)["servers"] == {place: "answers"}


def test_results_are_checked_without_clean_text(tmp_path, ohr):
    results = tmp_path / "ocr/law"
    results.mkdir(parents=True)
    (results / "glaze_supply_agreement.json").write_text('[{"page_idx": 0, "text": "Salt"}]')
    read = "ocr: {kind: precomputed, root: ocr}"
    bases = f"knowledge_bases: [{{name: a, {read}}}, {{name: b, {read}, text_noise: {{kind: formatting}}}}]"
    rest = "name: a\nbenchmark: {kind: mini}\nreplicates: 1\nretrievers: [{kind: bm25}]\nevaluate: [retrieval]\n"
    (tmp_path / "spec.yaml").write_text(f"{rest}{bases}\n")
    assert ohr("check", tmp_path / "spec.yaml").exit_code == 0
    assert ohr("plan", tmp_path / "spec.yaml").exit_code == 0
