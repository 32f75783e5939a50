"""The tables that were published for FCMBench, and the counts of a copy of V1.1 beside the published ones."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.contracts import Published, Tally
from ohr.files.below import files_below
from ohr.files.images import SUFFIXES

from ..published import published_numbers
from .capture_items import TASKS, Item
from .item_files import SPLITS, Split, find_questions, image_folder, read_items

IMAGES = 5_198
"""Images of the full set."""
TASK_SIZES: dict[Split, tuple[int, ...]] = {
    "full": (830, 5030, 3327, 1239, 1442, 1614, 324),
    "small": (85, 519, 339, 117, 141, 150, 29),
}
"""Questions by task, in the order of TASKS. Source: arXiv:2601.00150, V1.1, and the small set itself."""
CAPTURED = {
    "Normal Captures": 1219,
    "Off-axis Viewpoints": 1306,
    "Uneven Illumination": 1301,
    "Specular Reflections": 1272,
    "Out-of-focus": 1306,
    "Small ROIs": 1223,
    "Secondary Captures": 891,
    "Cluttered Background": 1162,
    "Overlaid Watermarks": 1081,
    "Cropped Captures": 853,
    "Multi-doc Images": 2192,
}
"""Questions of the full set by capture condition."""


def published() -> tuple[Published, ...]:
    """Return the scores under the names of ohr's aggregates; those of V1.0 have a warning.

    The published protocol shows a model the pictures of a question, so the scores are of the stage `generation`.
    """
    return published_numbers(__package__, _about)


def _about(table: Mapping[str, Any], row: Mapping[str, str], column: str) -> Mapping[str, Any]:  # noqa: ARG001 # its contract
    overall = table.get("overall", "overall")
    return {
        "stage": "generation",
        "metric": overall if column.startswith("overall") else column,
        "group": table.get("group", "all"),
        "setting": table["small"] if column == "overall_small" else table["setting"],
        "warning": table.get("warning", ""),
    }


def tallies(root: Path) -> Iterator[Tally]:
    """Count the images of a copy, and the questions of each set by task; those of the full set by capture condition.

    The small set has no published counts of capture conditions.
    """
    held = {split: _items(root, split) for split in SPLITS}
    yield Tally("images", _images(root, held), IMAGES)
    for split, items in held.items():
        sizes: dict[str, int] = dict(zip(TASKS, TASK_SIZES[split], strict=True))
        yield Tally(f"{split}: questions", None if items is None else len(items), sum(sizes.values()))
        yield from _counted(split, None if items is None else [item.task for item in items], sizes)
    whole = held["full"]
    yield from _counted("full", None if whole is None else [item.robustness for item in whole], CAPTURED)


def _counted(split: Split, values: Sequence[str] | None, sizes: Mapping[str, int]) -> Iterator[Tally]:
    counts = Counter(values or ())
    return (Tally(f"{split}: {name}", None if values is None else counts[name], size) for name, size in sizes.items())


def _items(root: Path, split: Split) -> list[Item] | None:
    """Read one set of questions; None where a copy lacks it."""
    path = find_questions(root, split)
    return None if path is None else read_items(path)


def _images(root: Path, held: Mapping[Split, list[Item] | None]) -> int | None:
    """Count the images that are there; questions of the small set name some of them only."""
    named = {image for items in held.values() for item in items or () for image in item.images}
    folder = image_folder(root, sorted(named))
    if folder is None:
        return None
    if held["full"]:
        return sum((folder / image).is_file() for image in named)
    return len(files_below(folder, *SUFFIXES))
