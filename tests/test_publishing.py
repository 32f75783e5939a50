"""Files that are published beside the code: citation, the page of PyPI, image and workflows."""

import re
import tomllib
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from ruamel.yaml import YAML

import ohr

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> Any:
    return YAML(typ="safe").load(ROOT / name)


def test_every_place_names_the_same_version():
    assert {ohr.__version__, read("CITATION.cff")["version"]} == {PROJECT["version"]}
    assert (ROOT / "docs" / "release-notes" / f"{PROJECT['version']}.md").is_file()


def test_the_citation_names_ohr_and_the_paper_of_the_readme():
    citation, readme = read("CITATION.cff"), (ROOT / "README.md").read_text(encoding="utf-8")
    assert citation["type"] == "software" and citation["license"] == PROJECT["license"]
    (paper,) = citation["references"]
    assert paper["title"] in readme
    named = re.search(r"author +=\s*\{(.*?)\}", readme, re.DOTALL)
    assert named is not None
    authors = [f"{author['family-names']}, {author['given-names']}" for author in paper["authors"]]
    assert " and ".join(authors) == " ".join(named[1].split())


TEXT = "![a [b] c](docs/a.png) [the spec](docs/spec.md#x), [`ohr`](ohr), [out](https://a.b/c), [here](#here)"


def test_the_page_of_pypi_leads_into_the_repository_where_it_is_known():
    page = run_path(str(ROOT / "setup.py"))["readme_for_pypi"](TEXT, "https://host/ohr", "v1")
    assert page == (
        "![a [b] c](https://host/ohr/raw/v1/docs/a.png) [the spec](https://host/ohr/blob/v1/docs/spec.md#x), "
        "[`ohr`](https://host/ohr/blob/v1/ohr), [out](https://a.b/c), [here](#here)"
    )


def test_the_page_of_pypi_has_no_link_that_leads_nowhere():
    convert = run_path(str(ROOT / "setup.py"))["readme_for_pypi"]
    assert convert(TEXT, "", "v1") == " the spec, `ohr`, [out](https://a.b/c), [here](#here)"
    page = convert((ROOT / "README.md").read_text(encoding="utf-8"), "", "v1")
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)|(?:src|href)=\"(?!https?:|#)", page) == []


def test_the_image_and_the_workflow_install_the_torch_of_the_constraints():
    torch = re.search(r"^torch==\S+", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert torch is not None
    for name in ("Dockerfile", ".github/workflows/ci.yml", "Makefile"):
        assert set(re.findall(r"\btorch==[\d.]+", (ROOT / name).read_text())) == {torch[0]}, name


def test_the_workflow_runs_what_a_checkout_runs_on_each_python_that_is_promised():
    job = read(".github/workflows/ci.yml")["jobs"]["run"]
    assert [step["run"] for step in job["steps"] if "run" in step][-1] == ".ci/run"
    promised = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3" in line]
    assert job["strategy"]["matrix"]["python"] == promised


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")))
def test_issue_forms_have_fields_with_names_of_their_own(name):
    form = read(f".github/ISSUE_TEMPLATE/{name}")
    names = [field["id"] for field in form.get("body", ()) if field["type"] != "markdown"]
    assert len(set(names)) == len(names)
    assert name == "config.yml" or names
    assert name != "bug.yml" or {"version", "manifest", "spec"} <= set(names)


def test_all_is_all_or_the_documentation_says_what_is_left_out():
    extras = PROJECT["optional-dependencies"]
    included = set(re.findall(r"[\w.]+", re.sub(r"ohr\[|\]", "", ",".join(extras["all"]))))
    (row,) = re.findall(r"^\| `all` .*$", (ROOT / "docs" / "install.md").read_text(encoding="utf-8"), re.MULTILINE)
    left_out = set(re.findall(r"`(\w+)`", row)) - {"all"}
    assert included | left_out == extras.keys() - {"all", "demo", "dev", "docs", "mini"}
    assert not included & left_out
