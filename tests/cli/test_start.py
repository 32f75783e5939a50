import json
import subprocess
import sys

import pytest

import ohr as package
from ohr.cli.app import COMMANDS
from ohr.cli.later import Later

NEVER = ["pandas", "pyarrow", "scipy", "matplotlib", "PIL", "torch", "rich"]


def imported_by(*words, cwd=None):
    """Return the names of the modules that are there when a command ends."""
    code = (
        f"import sys\nfrom ohr.cli import main\nsys.argv[1:] = {words}\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code or 0, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=cwd)
    status, *names = done.stderr.splitlines()[-1].split()
    assert status == "0", done.stderr
    return set(names)


def test_help_is_printed_without_any_command():
    names = imported_by("--help")
    assert names & {"numpy", "pydantic", "ohr.contracts", *NEVER} == set()
    assert {name for name in names if name.startswith("ohr.cli.")} == {
        "ohr.cli.app",
        "ohr.cli.later",
        "ohr.cli.display",
        "ohr.cli.display.console",
    }


def test_a_check_imports_the_plugins_that_the_spec_names(home):
    names = imported_by("check", "small.yaml", cwd=home)
    assert names & {"scipy", "asyncio", "httpx", "ohr.results.run", "ohr.runner.power", *NEVER} == set()
    modules = [
        name.removeprefix("ohr.") for name in names if name.startswith(("ohr.retrievers.", "ohr.ocr.", "ohr.noise."))
    ]
    named = {"noise.formatting", "ocr.ground_truth", "retrievers.lexical", "retrievers.scores"}
    assert {".".join(name.split(".")[:2]) for name in modules} == named


def test_an_empty_list_of_runs_and_the_progress_of_one_need_no_numpy(home, finished):
    for words, folder in ((["runs"], home), (["status", "small"], finished[0])):
        assert imported_by(*words, cwd=folder) & {"numpy", "ohr.contracts", *NEVER} == set()


@pytest.mark.parametrize("words", [("plugins",), ("schema",), ("plugins", "retrievers", "--json")])
def test_lists_of_plugins_import_none_of_ohrs_own(words):
    names = imported_by(*words)
    assert names & {"scipy", *NEVER} == set()
    assert [
        name for name in names if name.startswith(("ohr.retrievers", "ohr.ocr", "ohr.noise", "ohr.benchmarks"))
    ] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_the_first_sentence_of_its_own_help(name):
    listed = Later(name, COMMANDS[name])
    own = listed.load()
    assert own.name == name
    assert not own.hidden
    assert own.get_short_help_str(200) == listed.get_short_help_str(200) == COMMANDS[name]


def test_help_names_every_command(ohr):
    result = ohr("--help")
    commands = result.stdout.partition("Commands:\n")[2].splitlines()
    assert result.exit_code == 0
    single = [
        "demo",
        "init",
        "run",
        "check",
        "plan",
        "hand-over",
        "plot",
        "runs",
        "status",
        "show",
        "compare",
        "report",
        "view",
        "serve",
        "export",
    ]
    single += ["schema", "new"]
    assert [line.split()[0] for line in commands] == [*single, "plugins", "noise", "score", "data", "cache"]
    assert not any(line.endswith("...") for line in commands)


def test_the_version_is_printed(ohr):
    assert ohr("--version").stdout == f"{package.__version__}\n"


def test_benchmarks_are_listed(ohr):
    (mini,) = [about for about in json.loads(ohr("data", "list", "--json").stdout) if about["kind"] == "mini"]
    assert mini["languages"] == ["en", "zh"]
    assert mini["pages"] > mini["documents"] > 0
    assert mini["questions"] > 0


def test_benchmarks_are_listed_in_words(ohr):
    header, *lines = ohr("data", "list").stdout.splitlines()
    assert header.split() == ["benchmark", "documents", "pages", "questions", "languages"]
    assert any(line.startswith("mini") and line.endswith("en, zh") for line in lines)
