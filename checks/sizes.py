"""Check that files and functions stay short: what is longer needs a reason here.

Tests are left out: a long list of cases is no sign of a muddle.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from .source import ROOT, files

MOST_IN_A_FILE = 500
MOST_IN_A_FUNCTION = 40
"""Lines without the docstring, which may be as long as its reader needs."""

LONG = {
    "ohr/cli/noise_apply.py:apply": "typer reads a command's options from its signature",
    "ohr/cli/noise_preview.py:preview": "typer reads a command's options from its signature",
    "ohr/cli/export.py:export": "typer reads a command's options from its signature",
    "ohr/cli/show.py:show": "typer reads a command's options from its signature",
    "ohr/cli/compare.py:compare": "typer reads a command's options from its signature",
    "ohr/cli/score.py:hits": "typer reads a command's options from its signature",
    "ohr/cli/check.py:check": "typer reads a command's options from its signature",
    "ohr/noise_files/apply.py:apply": "until it takes a session in place of its arguments",
    "speed/ohrbench_retrieval.py:ours": "timed from top to bottom, as a user runs it",
}
"""File, or file:function, with the reason why it may be longer. Delete an entry when it is short enough."""


def faults(root: Path = ROOT, long: Mapping[str, str] = LONG) -> list[str]:
    """Return one line for each file or function that is too long, and for each exception that is no longer needed."""
    too_long = {
        name: fault for file in files(root) if root / "tests" not in file.parents for name, fault in _of(file, root)
    }
    return [
        *(fault for name, fault in too_long.items() if name not in long),
        *(
            f"checks/sizes.py: LONG: {name} is short, or gone: delete the entry"
            for name in long
            if name not in too_long
        ),
    ]


def _of(file: Path, root: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each thing in a file that is too long, and the line that reports it."""
    name, text = str(file.relative_to(root)), file.read_text(encoding="utf-8")
    if (lines := len(text.splitlines())) > MOST_IN_A_FILE:
        yield name, f"{name}:1: the file has {lines} lines, more than {MOST_IN_A_FILE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (lines := _length(node)) > MOST_IN_A_FUNCTION:
            report = f"{name}:{node.lineno}: {node.name} has {lines} lines, more than {MOST_IN_A_FUNCTION}"
            yield f"{name}:{node.name}", report


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    docstring = _lines(first) if ast.get_docstring(node) is not None else 0
    return _lines(node) - docstring


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1
