"""The modules of ohr and their imports, read from the source without running it."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FAMILIES = ("noise", "repairs", "ocr", "retrievers", "generators", "agents", "systems", "benchmarks")
"""Top-level folders that are installed inside `ohr`: `noise/a.py` is the module `ohr.noise.a`."""

FOLDERS = ("ohr", *FAMILIES, "checks", "samples", "speed", "studies", "tests")
"""All folders with Python files of the project, those of the documentation apart."""


@dataclass(frozen=True)
class Import:
    """One import: `module` imports `target`.

    Args:
        at_once: it runs when the module is imported, not in a function.
        for_types: only a checker of types reads it.
    """

    file: str
    line: int
    module: str
    target: str
    at_once: bool
    for_types: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.module} imports {self.target}"


def files(root: Path = ROOT) -> Iterator[Path]:
    """List the Python files of the project, by folder and name."""
    return (file for folder in FOLDERS for file in sorted((root / folder).rglob("*.py")))


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Return the file of each module of ohr, by the name under which it is imported."""
    files = [file for folder in ("ohr", *FAMILIES) for file in sorted((root / folder).rglob("*.py"))]
    return {_name(file.relative_to(root)): file for file in files}


def _name(file: Path) -> str:
    parts = file.with_suffix("").parts
    whole = parts if parts[0] == "ohr" else ("ohr", *parts)
    return ".".join(whole[:-1] if whole[-1] == "__init__" else whole)


def imports(root: Path = ROOT) -> Iterator[Import]:
    """List the imports of every module, those inside functions and those for type checkers too."""
    known = modules(root)
    for module, file in known.items():
        package = module if file.stem == "__init__" else module.rpartition(".")[0]
        for node, at_once, for_types in _walk(ast.parse(file.read_text(encoding="utf-8")), True, False):
            for target in _targets(node, package, known):
                yield Import(str(file.relative_to(root)), node.lineno, module, target, at_once, for_types)


def _walk(node: ast.AST, at_once: bool, for_types: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_once, for_types
        else:
            only_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
            later = only_types or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(child, at_once and not later, for_types or only_types)


def _targets(node: ast.Import | ast.ImportFrom, package: str, known: Collection[str]) -> list[str]:
    """Name the imported modules; `from ohr.text import edits` imports `ohr.text.edits`, as that is a module."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    start = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
    base = ".".join([*start, *([node.module] if node.module else [])])
    inner = [f"{base}.{name.name}" for name in node.names]
    if base == "ohr" or node.module is None:  # the root and `from . import x` export nothing but modules
        return inner
    return sorted({target if target in known else base for target in inner})
