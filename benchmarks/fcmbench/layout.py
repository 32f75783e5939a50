"""Where FCMBench's files are: in a copy of its repository, in a fetched folder, or in the sample."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal

from ohr.errors import DataError

SAMPLE = Path(__file__).parent / "sample"
"""The shipped sample, which `root: sample` names."""
ITEMS, REPLIES, CANNED, TEXTS, IMAGES = "items.jsonl", "replies.jsonl", "canned.jsonl", "texts.json", "images"

Split = Literal["small", "full"]
SPLITS: tuple[Split, ...] = ("small", "full")
_PUBLISHED = "FCMBench_v1.1_testset_{split}.jsonl"
_OLD = "FCMBench_v1.0_testset_*.jsonl"
_BELOW = "vision_language"
"""Folder of the published repository that has the questions of this track."""
_DEPTH = ("*/", "*/*/")
"""Folders in which images are looked for, below the root: an archive may have a folder or two of its own."""
_ENOUGH = 20  # images by which their folder is found; a copy may lack some


def question_file(root: Path, split: Split | None = None) -> Path:
    """Return the file of questions of a copy.

    Args:
        root: of the copy.
        split: None for the small set where there is one, else the full one.

    Raises:
        DataError: there is none.
    """
    wanted = SPLITS if split is None else (split,)
    found = next((path for one in wanted if (path := find_questions(root, one)) is not None), None)
    if found is not None:
        return found
    if not root.is_dir():
        raise DataError(f"{root}: no such folder")
    names = " or ".join(_PUBLISHED.format(split=one) for one in wanted)
    old = any(old for folder in _folders(root) for old in folder.glob(_OLD))
    hint = "; the questions of V1.0 are others, and their scores cannot be compared" if old else ""
    raise DataError(f"{root}: has no {names}, nor has {root / _BELOW}{hint}")


def find_questions(root: Path, split: Split) -> Path | None:
    """Return the file of one set of questions; None where a copy lacks it."""
    names = [_PUBLISHED.format(split=split), *([ITEMS] if split == "small" else [])]
    paths = (folder / name for folder in _folders(root) for name in names)
    return next((path for path in paths if path.is_file()), None)


def _folders(root: Path) -> tuple[Path, ...]:
    return root, root / _BELOW


def image_folder(root: Path, images: Iterable[str]) -> Path | None:
    """Return the folder below which images are; None where none of them is found.

    Args:
        root: of the copy.
        images: paths of images, as items name them.
    """
    return _image_folder(root, tuple(islice(images, _ENOUGH)))


@lru_cache(maxsize=8)
def _image_folder(root: Path, images: tuple[str, ...]) -> Path | None:
    candidates = [root / IMAGES, root, *(path for depth in _DEPTH for path in sorted(root.glob(depth)))]
    return next((path for path in candidates if any((path / image).is_file() for image in images)), None)
