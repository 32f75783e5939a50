"""The API reference: every public name of what a plugin may import is on a page."""

import ast
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ohr.surface import KIT

ROOT = Path(__file__).parents[1]
PAGES = "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "api").glob("*.md")))
DIRECTIVES = dict(re.findall(r"^::: (\S+)\n((?:    .*\n?)*)", PAGES, re.MULTILINE))
PUBLIC = (*KIT, "testing")


def files_of(package: str) -> list[Path]:
    spec = find_spec(f"ohr.{package}")
    assert spec is not None and spec.origin is not None
    files = sorted(Path(spec.origin).parent.rglob("*.py")) if spec.submodule_search_locations else [Path(spec.origin)]
    return [file for file in files if "inside" not in file.parts]  # what runs in the process of a sandboxed program


def public_names(file: Path) -> Iterator[tuple[str, bool]]:
    """Yield the public names that a module defines, and whether each has a docstring; variables of types are none."""
    body = ast.parse(file.read_bytes()).body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names, documented = [node.name], ast.get_docstring(node) is not None
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not re.search(
            r"\b(TypeVar|ParamSpec)\(", ast.unparse(node)
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            documented = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        else:
            continue
        yield from ((name, documented) for name in names if not name.startswith("_"))


def on_a_page(module: str, name: str) -> bool:
    if {module, f"{module}.{name}"} & DIRECTIVES.keys():
        return True
    parents = [module[: dot.start()] for dot in re.finditer(r"\.", module)]
    return any("show_submodules: true" in DIRECTIVES.get(parent, "") for parent in parents)


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_on_a_page(package):
    absent, undocumented = [], []
    for file in files_of(package):
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for name, documented in public_names(file):
            absent += [] if on_a_page(module, name) else [f"{module}.{name}"]
            undocumented += [] if documented else [f"{module}.{name}"]
    assert absent == []
    assert undocumented == [], "without a docstring, the reference leaves a name out"


def test_a_module_without_a_directive_is_noticed():
    assert not on_a_page("ohr.contracts.brand_new", "Thing")
    assert on_a_page("ohr.text.brand_new", "thing")


def test_plugins_md_names_the_same_packages():
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    table = text.partition("## What a plugin may import")[2].partition("\n## ")[0]
    assert set(re.findall(r"`ohr\.(\w+)`", table)) >= set(PUBLIC)
