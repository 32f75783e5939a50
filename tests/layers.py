"""Checks the direction of imports by reading the source: prints what is wrong and exits with 1.

Families (noise, retrievers, generators, benchmarks, ohr.ocr, ohr.chunkers, ohr.metrics' plugins) stand on the contracts
and on small shared rooms; the core sees families through the registry only; figures and the command line are on top.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = ("contracts", "errors", "extras", "files", "keys", "markup", "messages", "models", "registry", "seeds", "text")
"""Rooms of ohr that a family may use; they use only each other, and the store."""

OUTER = ("noise", "retrievers", "generators", "benchmarks")
INNER = ("ocr", "chunkers", "metrics", "examples")
HEAVY = (
    "augraphy", "numba", "torch", "transformers", "sentence_transformers", "faiss", "cv2", "rapidocr", "onnxruntime",
    "tesserocr", "bm25s", "matplotlib", "httpx", "jieba", "pypdfium2", "pyarrow", "pebble", "quicktok", "scipy",
)  # fmt: skip
"""Libraries that are imported where they are used, never with the module."""


@dataclass(frozen=True)
class Import:
    """One import: from which module of ohr, of what, and whether it runs with the module."""

    file: Path
    line: int
    module: str
    target: str
    at_once: bool

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.module} imports {self.target}"


def imports(root: Path = ROOT) -> Iterator[Import]:
    """List the imports of every module of ohr."""
    for folder in ("ohr", *OUTER):
        for file in sorted((root / folder).rglob("*.py")):
            yield from _of(file, root)


def _of(file: Path, root: Path) -> Iterator[Import]:
    parts = file.relative_to(root).with_suffix("").parts
    whole = parts if parts[0] == "ohr" else ("ohr", *parts)
    module = ".".join(whole[:-1] if whole[-1] == "__init__" else whole)
    package = whole[:-1]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node, at_once in _walk(tree, True):
        for target in _targets(node, package):
            yield Import(file, node.lineno, module, target, at_once)


def _walk(node: ast.AST, at_once: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_once
        elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(child, at_once and not inside)


def _targets(node: ast.Import | ast.ImportFrom, package: tuple[str, ...]) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    start = package[: len(package) - node.level + 1] if node.level else ()
    base = ".".join([*start, *([node.module] if node.module else [])])
    if base == "ohr" or node.module is None:  # `from ohr import edits`, `from . import spans`
        return [f"{base}.{name.name}" for name in node.names]
    return [base]


def room(module: str) -> str:
    """Name the room of ohr that a module stands in: `ohr.study.run` is in `engine`."""
    return module.split(".")[1] if module.count(".") else ""


def fault(found: Import) -> str:
    """Say what is wrong with an import; nothing when it is right."""
    here, ours = room(found.module), found.target.startswith("ohr.")
    there = room(found.target) if ours else ""
    if found.at_once and found.target.split(".")[0] in HEAVY and not _is_shop_window(found.module):
        return "imports a heavy library with the module: import it where it is used"
    if not ours or here == there:
        return ""
    if there == "cli":
        return "nothing imports the command line"
    if there == "report" and here != "cli":
        return "only the command line imports figures"
    if there == "testing":
        return "nothing imports the conformance suites"
    if here in OUTER + INNER and there not in SHARED:
        return "a family imports only the contracts and shared rooms"
    if here in SHARED and there not in (*SHARED, "store"):
        return "a shared room imports only shared rooms"
    if there in OUTER or (there in ("ocr", "chunkers") and found.target != "ohr.ocr.ground_truth"):
        return "the core sees a family only through the registry"
    return ""


def _is_shop_window(module: str) -> bool:
    """Tell whether a module is a room of its own around one library, imported only where it is needed."""
    return room(module) in ("report",) or module.endswith(".build")


def faults(root: Path = ROOT) -> list[str]:
    """List all wrong imports, a line each."""
    return [f"{found}: {told}" for found in imports(root) if (told := fault(found))]


if __name__ == "__main__":
    wrong = faults()
    print("\n".join(wrong) or "imports: all in the right direction")
    sys.exit(bool(wrong))
