"""The surface of ohr: what a plugin may import, which stays as it is between versions. The rest may change."""

import ast
from collections.abc import Iterator
from pathlib import Path

import ohr

KIT = (
    "contracts", "errors", "extras", "files", "keys", "markup", "models", "parts", "sandbox", "seeds", "statistics",
    "text",
)  # fmt: skip
"""Packages of ohr for plugins, those that come with ohr among them."""

PLUGINS = (
    "agents", "benchmarks", "chunkers", "generators", "metrics", "noise", "ocr", "repairs", "retrievers", "systems",
)  # fmt: skip
"""Packages of the plugins that come with ohr: a plugin may inherit from one of them, or have it as a part."""

SURFACE = (*KIT, *PLUGINS, "testing")


def private_imports(file: Path) -> list[str]:
    """Return a sentence for each import of a plugin file, in functions too, that is outside the surface."""
    public = ", ".join(name for name in SURFACE if name != "testing")
    return [
        f"{file.name}:{line}: {module} is private and may change; use what is below ohr in {public}"
        for line, module in _imports(ast.parse(file.read_bytes()))
        if module.split(".")[1] not in SURFACE
    ]


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """List the modules of ohr that code imports, with the line; what `ohr` itself exports is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "ohr":
            modules = [f"ohr.{alias.name}" for alias in node.names if alias.name not in ohr.__all__]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module or ""]
        else:
            continue
        yield from ((node.lineno, module) for module in modules if module.startswith("ohr."))
