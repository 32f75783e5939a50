"""Which knowledge bases and documents a folder of OHRBench has."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.files.ohrbench_json import by_form, document_files, other_form
from ohr.messages.faults import Fault

TRUTH = "gt"
"""Name of the knowledge base that is the ground truth."""


def base_names(root: Path) -> list[str]:
    """Name the knowledge bases under `root`, ground truth first.

    Raises:
        DataError: there is no ground truth, so that nothing can be evaluated.
    """
    folder = root / "retrieval_base"
    if not (folder / TRUTH).is_dir():
        raise DataError(f"{folder / TRUTH}: no such folder; OHRBench has retrieval_base/gt/<domain>/<document>.json")
    others = sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != TRUTH)
    return [TRUTH, *(name for name in others if not name.startswith("."))]


def base_files(root: Path, domains: Sequence[str] | None) -> dict[str, dict[str, Path]]:
    """List the files of each knowledge base by document, without reading one; ground truth first.

    A file that is named in another Unicode form is the ground truth's document; the engine that reads it tells.
    """
    found: dict[str, dict[str, Path]] = {}
    names: Mapping[str, Sequence[str]] = {}
    for base in base_names(root):
        files = document_files(root / "retrieval_base" / base)
        kept = {name: path for name, path in files.items() if domains is None or name.split("/")[0] in domains}
        found[base] = {other_form(name, names) or name: path for name, path in kept.items()}
        names = names or by_form(found[base])
    return found


def compare(base: str, truth: Mapping[str, tuple[Page, ...]], here: Mapping[str, tuple[Page, ...]]) -> Iterator[Fault]:
    """Tell what a knowledge base has beyond the ground truth; what it lacks is told by whatever reads it."""
    for name in here:
        if name not in truth:
            yield Fault("document", f"of {base} without ground truth, indexed all the same", name)
