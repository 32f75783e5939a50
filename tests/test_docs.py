"""The docs are true: their specs are read, their code runs, their links lead somewhere, their commands exist."""

import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from ohr.cli.app import app
from ohr.cli.later import Later
from ohr.contracts import FAMILIES
from ohr.examples.service import Service
from ohr.registry import Registry
from ohr.results.tables.read_table import read_rows
from ohr.results.tables.schema import DERIVED, MEASURED
from ohr.spec.file_keys import SpecFile
from ohr.spec.model import Spec
from ohr.spec.read import read_spec
from ohr.steps.answers.prompt_templates import read_prompt
from ohr.testing import check_system
from ohr.treatments import KnowledgeBaseEntry

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>\S[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"# ([\w.-]+\.(?:py|yaml))\n")
_TITLE = re.compile(r'title="([\w.-]+)"')
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_COMMAND = re.compile(r"`ohr ([^`]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block; `info` is what follows its fence, `name` the file that it or its first line names."""

    page: Path
    line: int
    info: str
    text: str

    @property
    def name(self) -> str | None:
        found = _TITLE.search(self.info) or _NAME.match(self.text)
        return found[1] if found else None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    content = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(content):
        text = re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        yield Block(page, content.count("\n", 0, found.start()) + 1, found["info"].strip(), text)


def prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


BLOCKS = [block for page in PAGES for block in blocks(page)]
OHR = get_command(app)


@cache
def below(command: Any) -> dict[str, Any]:
    """Return the commands below one, each with its options, by name."""
    return {
        word: listed.load() if isinstance(listed, Later) else listed
        for word, listed in getattr(command, "commands", {}).items()
    }


TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PROMPTS = [block for block in BLOCKS if block.info == "yaml prompt"]
SPECS = [block for block in BLOCKS if block.info == "yaml"]
QUESTIONS = ROOT / "docs" / "questions.md"
SYSTEMS = ROOT / "docs" / "add-a-system.md"
WITH_PYTHON = sorted(
    {block.page for block in BLOCKS if block.info == "python"}
    - {ROOT / "docs" / "results.md", QUESTIONS, SYSTEMS, *TUTORIALS}
)
COMMANDS = [
    (str(block), line.split("#")[0].strip())
    for block in BLOCKS
    if block.info in ("sh", "sh fragment")
    for line in block.text.splitlines()
    if line.startswith("ohr ")
] + [(page.name, f"ohr {found}") for page in PAGES for found in _COMMAND.findall(prose(page))]
TARGETS = [
    (page, target)
    for page in PAGES
    for target in _LINK.findall(prose(page))
    if not target.startswith(("http", "mailto"))
]


def write_named(page: Path, folder: Path) -> None:
    """Write the files that a page's blocks are said to be."""
    for block in blocks(page):
        if block.name:
            (folder / block.name).write_text(block.text, encoding="utf-8")


def execute(page: Path, folder: Path) -> None:
    """Run a page's Python from top to bottom in `folder`: files are imported, and their tests called."""
    write_named(page, folder)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in (block for block in blocks(page) if block.info == "python"):
        if block.name:
            names = {**names, **vars(import_module(Path(block.name).stem))}
        else:
            # lines are counted from the page's start, so that an error shows where it is
            exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
        call_tests(names)


def command(line: str) -> None:
    """Run a command as a shell would."""
    words = shlex.split(line, comments=True)
    if words:
        assert words[0] == "ohr", line
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, f"{line}\n{done.output}"


def call_tests(names: Mapping[str, object]) -> None:
    for test in [value for name, value in names.items() if name.startswith("test_")]:
        assert callable(test)
        test()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, from which modules can be imported while the test lasts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (tmp_path / f"{name}.py").is_file():
            del sys.modules[name]


@pytest.mark.parametrize("block", SPECS, ids=str)
def test_a_spec_in_the_docs_is_valid(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("os.environ", {**os.environ, **dict.fromkeys(_VARIABLE.findall(block.text), str(tmp_path))})
    write_named(block.page, tmp_path)
    path = tmp_path / (block.name or "spec.yaml")
    path.write_text(block.text, encoding="utf-8")
    assert isinstance(read_spec(path, trust_plugins=True), Spec)


@pytest.mark.acceptance  # the pages' Python and specs are tested by themselves
@pytest.mark.parametrize(
    "block", [block for block in SPECS if block.page.stem.startswith("add-") and block.page != SYSTEMS], ids=str
)
def test_a_walk_ends_in_a_run(block: Block, folder: Path):
    write_named(block.page, folder)
    done = CliRunner().invoke(
        app, ["run", str(block.name), "--no-figures", "--trust-plugins", "--workers", "1", "--limit", "1"]
    )
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "page",
    [  # each but one is a study of its own, of 15 seconds and more
        pytest.param(page, id=page.stem, marks=() if page.stem == "intervals" else pytest.mark.acceptance)
        for page in TUTORIALS
    ],
)
def test_a_tutorial_runs_from_top_to_bottom(page: Path, folder: Path):
    walk(page, folder)


@pytest.mark.acceptance
def test_questions_that_a_team_has_become_a_set_and_a_run(folder: Path):
    walk(QUESTIONS, folder)
    assert len(json.loads((folder / "ours" / "qas_v2.json").read_text(encoding="utf-8"))) == 4
    (run,) = (folder / "runs" / "ours").glob("*-*")
    assert {row["metric"] for row in read_rows(run / "scores.parquet")} >= {"lcs", "f1"}


@pytest.mark.acceptance
def test_the_walk_of_a_system_runs_against_the_service(folder: Path):
    with Service(folder / "collections") as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page = folder / "page.md"
        page.write_text(SYSTEMS.read_text(encoding="utf-8").replace(":8700", f":{server.server_address[1]}"))
        walk(page, folder)
        server.shutdown()
    for name, retriever in (("service", "service"), ("offline", "ours")):
        (run,) = (folder / "runs" / name).glob("*-*")
        scores = read_rows(run / "scores.parquet")
        values: dict[str, list[float]] = {"0.25": [], "0.75": [], "": []}
        for row in scores:
            if (row["stage"], row["metric"], row["retriever"]) == ("retrieval", "lcs", retriever):
                values["" if row["knob_value"] is None else str(row["knob_value"])].append(row["value"])
        clean, noisy = (sum(values[level]) / len(values[level]) for level in ("", "0.75"))
        assert clean > noisy > 0


@pytest.mark.parametrize(
    "example", sorted((ROOT / "docs" / "examples" / "systems").glob("*.py")), ids=lambda path: path.stem
)
def test_an_example_of_a_system_is_shown_as_it_is(example: Path):
    shown = {block.name: block.text for block in blocks(SYSTEMS)}
    assert shown.get(example.name, example.read_text(encoding="utf-8")) == example.read_text(encoding="utf-8")
    assert f"(examples/systems/{example.name})" in SYSTEMS.read_text(encoding="utf-8") or example.name in shown


def test_the_spec_of_a_python_class_is_valid(folder: Path):
    write_named(SYSTEMS, folder)
    (system,) = read_spec(folder / "blur.yaml", trust_plugins=True).systems
    assert system.name == "llama_index"


def test_the_class_of_coroutines_keeps_every_promise(folder: Path):
    write_named(SYSTEMS, folder)
    system = {"file": folder / "async_rag.py", "class": "Rag", "documents": "text"}
    check_system(Registry().load("system", "python").model_validate(system))


def walk(page: Path, folder: Path) -> None:
    """Run a page's Python and commands from top to bottom in `folder`."""
    write_named(page, folder)
    for block in blocks(page):
        if block.info == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), {"__name__": "__main__"})
        for line in block.text.splitlines() if block.info == "sh" else ():
            command(line)


@pytest.mark.parametrize("block", PROMPTS, ids=str)
def test_a_prompt_in_the_docs_is_one(block: Block, tmp_path: Path):
    (tmp_path / "prompt.yaml").write_text(block.text, encoding="utf-8")
    assert read_prompt(tmp_path / "prompt.yaml").user


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_of_the_docs_runs(page: Path, folder: Path):
    execute(page, folder)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of docs/results.md, after all its Python has run; its assertions trace a mean to its rows."""
    place = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        execute(ROOT / "docs" / "results.md", place)
    return max((place / "runs" / "small").glob("*-*"))


def test_the_reference_has_every_table_and_copy_of_a_run(traced: Path):
    """tests/test_reference.py holds the columns to the code; this holds the files to a run's."""
    page = (ROOT / "docs" / "reference" / "tables.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    tables = {path.stem for path in traced.glob("*.parquet")}
    assert tables >= {*MEASURED, *DERIVED}
    assert tables <= set(sections)
    copies = {name for name, text in sections.items() if text.startswith("\nCSV.")}
    assert copies & tables == {path.stem for path in traced.glob("*.csv")}
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert [name for name in tables if f"`{name}." not in results] == []


def test_the_page_on_the_spec_names_every_key():
    page = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    keys = [*SpecFile.model_fields, *KnowledgeBaseEntry.model_fields]
    assert [key for key in keys if f"\n| `{key}` |" not in page] == []


def test_a_link_leads_somewhere():
    for page, target in TARGETS:
        file, _, section = target.partition("#")
        there = page.parent / file if file else page
        assert there.exists(), (page, target)
        assert not section or section in anchors(there), (page, target)


@cache
def anchors(page: Path) -> set[str]:
    """Name a page's headings as hosting sites do in links."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_a_command_in_the_docs_exists():
    for place, command in COMMANDS:
        found = OHR
        words = shlex.split(command)[1:]
        while words and words[0] in getattr(found, "commands", {}):
            found = below(found)[words.pop(0)]
        names = [(*parameter.opts, *parameter.secondary_opts) for parameter in found.params]
        known = {name for group in names for name in group} | {"--help"}
        unknown = [word for word in words[:1] if hasattr(found, "commands") and not word.startswith("--")]
        options = [word for word in words if word.startswith("--") and word.split("=")[0] not in known]
        assert (unknown, options) == ([], []), (place, command)


def commands_below(command: Any, name: str = "ohr") -> Iterator[str]:
    """Yield the names of the commands that do something, such as `ohr data list`."""
    for word, other in below(command).items():
        yield from commands_below(other, f"{name} {word}")
    if not below(command):
        yield name


def test_the_page_on_commands_has_every_command_and_an_example_of_it():
    page = ROOT / "docs" / "commands.md"
    rows = re.findall(r"^\| `(ohr [^`]+)` \|", prose(page), re.MULTILINE)
    assert sorted(rows) == sorted(commands_below(OHR))
    examples = [line for block in blocks(page) for line in block.text.splitlines()]
    assert [name for name in rows if not any(f"{line} ".startswith(f"{name} ") for line in examples)] == []


def test_the_page_on_installing_has_every_extra():
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    rows = [row.partition(" |")[0] for row in page.split("\n| ")[1:]]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert sorted(set(extras) - named) == ["dev", "docs", "mini"]
    assert all(f"`{name}`" in page for name in extras)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_tables_of_plugins_name_every_kind(family: str):
    pages = ("backends.md", "engines.md", "noise/capture.md", "noise/image.md", "noise/index.md")
    tables = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in pages)
    ours = [entry.name for entry in entry_points(group=FAMILIES[family][1]) if entry.dist and entry.dist.name == "ohr"]
    assert ours
    assert [kind for kind in ours if f"\n| `{kind}` |" not in tables] == []
