"""Check who imports whom: the direction between the packages of ohr, and circles between packages or modules.

A family (noise, repairs, ocr, retrievers, generators, benchmarks, ohr.chunkers, the plugins in ohr.metrics) imports the
contracts and small shared packages. The core reaches a family through the registry only. Reports and the command line
are on top.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from ohr.surface import KIT

from .source import FAMILIES, ROOT, Import, imports

SHARED = (
    *KIT,
    "child",
    "isolated",
    "messages",
    "moved",
    "parse_scores",
    "processes",
    "registry",
    "sources",
    "text_layers",
    "unfinished",
)
"""Packages of ohr that its own plugins may import; they import only each other, and the store."""

INNER = ("chunkers", "metrics", "examples")
HEAVY = (
    "augraphy", "numba", "torch", "transformers", "sentence_transformers", "faiss", "cv2", "rapidocr", "onnxruntime",
    "tesserocr", "bm25s", "matplotlib", "httpx", "rjieba", "pypdfium2", "pyarrow", "pebble", "quicktok", "scipy",
    "spacy", "tantivy", "lancedb", "tiktoken",
)  # fmt: skip
"""Libraries that are imported inside the function that uses them, never with the module."""

Exceptions = Mapping[tuple[str, str], str]

CIRCLES_TO_CUT: Exceptions = {}
"""Imports that close a circle today, with the reason; the check ignores them until they are cut."""

Arrows = Mapping[str, Mapping[str, Import]]
"""importer -> imported -> one import between them."""


def faults(root: Path = ROOT, to_cut: Exceptions = CIRCLES_TO_CUT) -> list[str]:
    """Return one line for each wrong import, each circle, and each exception that is no longer needed."""
    # the root names for type checkers what it loads later on behalf of users; nothing in ohr goes through it
    everything = [item for item in imports(root) if not (item.module == "ohr" and item.for_types)]
    wrong = [f"{item}: {reason}" for item in everything if (reason := fault(item))]
    return [*wrong, *_circles(everything, to_cut), *_unneeded(everything, to_cut)]


def fault(item: Import) -> str:
    """Return the rule that an import breaks, or nothing."""
    here, ours = package(item.module), item.target.startswith("ohr.")
    there = package(item.target) if ours else ""
    if item.at_once and item.target.split(".")[0] in HEAVY and not _wraps_a_library(item.module):
        return "imports a heavy library with the module: import it where it is used"
    if not ours or here == there:
        return ""
    if there == "cli" and here != "__main__":
        return "nothing imports the command line"
    if there == "report" and here != "cli":
        return "only the command line imports figures"
    if here == "questions" and there not in (*SHARED, "dataset", "metrics", "spec"):
        return "questions imports only the dataset, metrics and shared packages"
    if there == "testing":
        return "nothing imports the conformance suites"
    if here in FAMILIES + INNER and there not in SHARED:
        return "a family imports only the contracts and shared packages"
    if here in SHARED and there not in (*SHARED, "store"):
        return "a shared package imports only shared packages"
    if (there in FAMILIES or there == "chunkers") and item.target != "ohr.ocr.ground_truth":
        return "the core sees a family only through the registry"
    return ""


def package(module: str) -> str:
    """Name the package of ohr that a module belongs to: `engine` for `ohr.engine.run`."""
    return module.split(".")[1] if module.count(".") else ""


def _wraps_a_library(module: str) -> bool:
    """Report whether a module is only ever imported by a function that needs its library."""
    return package(module) == "report"


def _circles(items: Sequence[Import], to_cut: Exceptions) -> Iterator[str]:
    """Report circles among the packages of ohr, and within each package among its modules, one line for each.

    Imports inside functions and for type checkers count: they hide a circle from Python, not from the reader.
    """
    for parent in sorted({above for item in items for above in _parents(item.module)}):
        arrows: defaultdict[str, dict[str, Import]] = defaultdict(dict)
        for item in items:
            here, there = _child(parent, item.module), _child(parent, item.target)
            if here and there and here != there and (here, there) not in to_cut:
                arrows[here].setdefault(there, item)
        yield from _circles_of(arrows)


def _circles_of(arrows: Arrows) -> Iterator[str]:
    """Report a shortest circle through each node, each circle once."""
    seen: set[frozenset[str]] = set()
    for start in sorted(arrows):
        path = _way_back(start, arrows)
        if path and frozenset(path) not in seen:
            seen.add(frozenset(path))
            steps = [arrows[here][there] for here, there in pairwise(path)]
            places = ", ".join(f"{step.file}:{step.line}" for step in steps)
            yield f"{steps[0].file}:{steps[0].line}: imports run in a circle: {' -> '.join(path)} ({places})"


def _way_back(start: str, arrows: Arrows) -> list[str]:
    """Return a shortest path from a node to itself, or nothing; a breadth-first search."""
    paths = [[start]]
    reached: set[str] = set()
    for path in paths:
        for there in sorted(arrows.get(path[-1], ())):
            if there == start:
                return [*path, start]
            if there not in reached:
                reached.add(there)
                paths.append([*path, there])
    return []


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _child(parent: str, module: str) -> str:
    """Name the part of a package that a module belongs to; the package's own file is a part too."""
    if module == parent:
        return f"{parent}.__init__"
    rest = module.removeprefix(f"{parent}.")
    return "" if rest == module else f"{parent}.{rest.split('.')[0]}"


def _unneeded(items: Sequence[Import], to_cut: Exceptions) -> Iterator[str]:
    """Report exceptions whose import is gone."""
    for pair in to_cut:
        if not any(f"{item.module}.".startswith(f"{pair[0]}.") and item.target.startswith(pair[1]) for item in items):
            yield f"checks/layers.py: CIRCLES_TO_CUT: {pair[0]} does not import {pair[1]} any more: delete the entry"
