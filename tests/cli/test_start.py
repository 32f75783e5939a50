import json
import subprocess
import sys

import ohr as package


def test_the_command_line_starts_without_heavy_libraries():
    heavy = "{'numpy', 'pydantic', 'rich', 'pyarrow', 'matplotlib', 'torch', 'ohr.contracts'}"
    code = f"import sys, ohr.cli; sys.exit(' '.join({heavy} & sys.modules.keys()) or None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


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
