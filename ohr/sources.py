"""Sources of a plugin that does not come with ohr: the modules of its own package that it can import."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_DYNAMIC = re.compile(r"\b(import_module|__import__|pkgutil|entry_points|exec)\b")
"""Words of code that imports by a name that is made while it runs."""


def sources(root: Path, module: str) -> list[Path]:
    """List the files that decide what a module does, without other modules of its package.

    These are the module, all that it imports from its package, directly or not, in functions too, and the
    `__init__.py` of their packages; of those that are only on the way, not what they import. Where a module imports by
    a name that is not written in it, all files count.

    Args:
        root: the folder of the top-level package.
        module: dotted name below the package; "" for the package itself.
    """
    followed: dict[Path, None] = {}
    waiting, passed = [module], set[Path]()
    while waiting:
        name = waiting.pop()
        path = _file(root, name)
        if path is None or path in followed:
            continue
        followed[path] = None
        passed |= {folder / "__init__.py" for folder in path.parents if folder.is_relative_to(root)}
        text = path.read_text(encoding="utf-8", errors="replace")
        if _DYNAMIC.search(text):
            return sorted(root.rglob("*.py"))
        try:
            waiting += _imported(root, ast.parse(text), name if path.name == "__init__.py" else name.rpartition(".")[0])
        except (SyntaxError, ValueError):  # of another version of Python: it may import anything
            return sorted(root.rglob("*.py"))
    return sorted({*followed, *(path for path in passed if path.is_file())})


def _file(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split(".")) if name else root
    named = [place / "__init__.py", *([place.with_suffix(".py")] if name else [])]
    return next((path for path in named if path.is_file()), None)


def _imported(root: Path, tree: ast.Module, package: str) -> Iterator[str]:
    """Yield the modules below the package `root` that code in one of its packages imports, and some that are none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([root.name, *filter(None, above)]) if node.level else ""
            names = [(".".join(filter(None, (base, node.module))), alias.name) for alias in node.names]
        else:
            continue
        for name, part in names:
            top, _, below = name.partition(".")
            if top == root.name:  # a name in a package is a module of it, or something that the package holds
                inner = ".".join(filter(None, (below, part)))
                yield inner if part and _file(root, inner) else below
