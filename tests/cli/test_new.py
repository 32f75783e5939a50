import subprocess
import sys
from importlib import import_module

import pytest
from ruamel.yaml import YAML

from ohr.contracts import FAMILIES
from ohr.registry import load_file
from ohr.results.tables.read_table import read_rows
from ohr.spec.read import read_spec

QUICK = ("--executor", "inline", "--no-figures", "--no-report")


@pytest.fixture
def made(ohr, home, monkeypatch, request):
    """A folder with a new plugin of the family, called after it."""
    monkeypatch.syspath_prepend(home)
    name = f"my_{request.param}"
    result = ohr("new", request.param, name)
    assert result.exit_code == 0
    yield name, result
    for module in (name, f"test_{name}"):
        sys.modules.pop(module, None)


@pytest.mark.parametrize("made", FAMILIES, indirect=True)
def test_a_new_plugin_keeps_its_contract_by_its_own_test(made):
    module = import_module(f"test_{made[0]}")
    getattr(module, f"test_{made[0]}_keeps_the_contract")()


@pytest.mark.parametrize("made", FAMILIES, indirect=True)
def test_the_spec_that_comes_with_a_new_plugin_is_valid(made, ohr):
    result = ohr("check", f"{made[0]}.yaml", "--trust-plugins")
    assert result.exit_code == 0, result.stderr


RUN = [pytest.param(family, marks=[pytest.mark.acceptance] * (family != "retriever")) for family in FAMILIES]
"""One family shows that a run finds the plugin; the contracts of the others are tested above."""


@pytest.mark.parametrize("made", RUN, indirect=True)
def test_a_new_plugin_runs_from_the_spec_that_comes_with_it(made, ohr, home):
    result = ohr("run", f"{made[0]}.yaml", "--trust-plugins", *QUICK, "--limit", "2")
    assert result.exit_code == 0, result.stderr
    (folder,) = (home / "runs" / made[0]).glob("*-*")
    rows = read_rows(folder / "summary.parquet")
    assert {row["stage"] for row in rows} >= {"retrieval", "overall"}
    assert f"{made[0]}" in (folder / "manifest.json").read_text()


@pytest.mark.parametrize("made", FAMILIES, indirect=True)
def test_a_new_plugins_file_holds_no_other_name(made, home):
    (plugin,) = load_file(home / f"{made[0]}.py")
    assert plugin.model_fields["kind"].default == made[0]
    assert "xample" not in "".join((home / file).read_text() for file in (f"{made[0]}.py", f"test_{made[0]}.py"))


@pytest.mark.parametrize("made", ["retriever"], indirect=True)
def test_what_to_do_next_is_reported(made):
    assert made[1].stdout == (
        "wrote my_retriever.py\n"
        "wrote test_my_retriever.py\n"
        "wrote my_retriever.yaml\n"
        "\n"
        "test it:  python -m pytest test_my_retriever.py\n"
        "run it:   ohr run my_retriever.yaml --trust-plugins\n"
        "ship it:  in the pyproject.toml of a package of yours\n"
        "\n"
        '[project.entry-points."ohr.retrievers"]\n'
        'my_retriever = "your_package.my_retriever:MyRetriever"\n'
    )


@pytest.mark.parametrize("made", ["metric"], indirect=True)
def test_its_test_runs_as_it_is_reported(made, home):
    command = [sys.executable, "-m", "pytest", "-q", f"test_{made[0]}.py"]
    assert subprocess.run(command, cwd=home, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("retreiver", "x"), "no family 'retreiver'. "),
        (("retriever", "bm25"), "there is a retriever 'bm25' already: `ohr plugins show retriever bm25`\n"),
        (("retriever", "7up"), "'7up' cannot be a plugin's name: it takes lowercase letters, digits and _\n"),
        (("retriever", "../up"), "'../up' cannot be a plugin's name: it takes lowercase letters, digits and _\n"),
        (("retriever", "class"), "'class' cannot be a plugin's name: it takes lowercase letters, digits and _\n"),
    ],
)
def test_a_name_that_cannot_be_is_refused(ohr, words, message):
    result = ohr("new", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)


def test_nothing_is_written_over(ohr, home):
    (home / "mine.yaml").write_text("precious")
    result = ohr("new", "chunker", "mine")
    assert (result.exit_code, result.stderr) == (
        2,
        "mine.yaml exists: choose another name, or another folder with --in\n",
    )
    assert not (home / "mine.py").exists()


def test_a_folder_for_it_is_made(ohr, home):
    assert ohr("new", "chunker", "By-Line", "--in", "here/there").exit_code == 0
    assert sorted(path.name for path in (home / "here/there").iterdir()) == [
        "by_line.py",
        "by_line.yaml",
        "test_by_line.py",
    ]


def test_a_custom_metric_is_listed_beside_the_benchmarks(ohr, home):
    ohr("new", "metric", "holds")
    spec = YAML().load((home / "holds.yaml").read_text())
    spec["metrics"] = [{"kind": "holds"}, {"kind": "edit_distance", "name": "far"}]
    YAML().dump(dict(spec), home / "holds.yaml")
    plain = read_spec(home / "small.yaml")
    assert [named.name for named in read_spec(home / "holds.yaml", trust_plugins=True).metrics] == ["holds", "far"]
    assert plain.metrics == ()
    result = ohr("run", "holds.yaml", "--trust-plugins", *QUICK, "--limit", "1", "--details")
    assert "holds" in result.stdout
    assert " far" in result.stdout


@pytest.mark.parametrize(
    ("metrics", "evaluate", "message"),
    [
        ("[{kind: f1}]", "overall", "'f1' is one of the benchmark's own metrics: give it another `name`"),
        ("[{kind: edit_distance}]", "retrieval", "metrics score answers: `evaluate` must have generation or overall"),
        ("[{kind: edit_distnce}]", "overall", "Did you mean 'edit_distance'? (got 'edit_distnce')"),
    ],
)
def test_metrics_that_cannot_be_are_reported(ohr, home, metrics, evaluate, message):
    text = (home / "small.yaml").read_text() + f"metrics: {metrics}\nevaluate: [{evaluate}]\n"
    (home / "small.yaml").write_text(text)
    result = ohr("check", "small.yaml")
    assert result.exit_code == 2
    assert message in result.stderr
