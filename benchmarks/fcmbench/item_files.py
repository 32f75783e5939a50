"""FCMBench's files: where they are in a copy, a fetched folder or the sample, how items are read, and the fetch."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NoReturn
from urllib.error import URLError
from urllib.request import urlopen

from ohr.errors import DataError
from ohr.files import hub
from ohr.files.json_input import parse_json
from ohr.messages.wording import counted, keys_of, quoted

from .capture_items import LABELS, PLACEHOLDER, SUBTASKS, Item

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
    splits = SPLITS if split is None else (split,)
    path = next((path for each in splits if (path := find_questions(root, each)) is not None), None)
    if path is not None:
        return path
    if not root.is_dir():
        raise DataError(f"{root}: no such folder")
    names = " or ".join(_PUBLISHED.format(split=each) for each in splits)
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


_FIELDS = ("id", "images", "question", "task", "subtask", "robustness")
_MOST_FAULTS = 10
"""Faults that one message lists; nobody reads more at once."""


def read_items(path: Path, images: Path | None = None) -> list[Item]:
    """Read a file of items, such as `FCMBench_v1.1_testset_small.jsonl`.

    The gold, `response`, may be absent or empty, as in the full set.

    Args:
        path: the file.
        images: the folder of images; where it is given, each image of an item must be there.

    Raises:
        DataError: the file or the folder is missing, or items are wrong: the first faults are listed by line.
    """
    if images is not None and not images.is_dir():
        raise DataError(f"{images}: no such folder of images")
    items: list[Item] = []
    faults: list[str] = []
    lines: dict[str, int] = {}
    image_fault = cache(partial(_image_fault, images=images))  # items share their images
    for number, record in _records(path, faults):
        wrong = list(_field_faults(record)) or list(_faults(record, image_fault, lines))
        faults += [f"{path}:{number}: {fault}" for fault in wrong]
        if not wrong:
            lines[record["id"]] = number
            items.append(_item(record, number))
    if faults:
        more = len(faults) - _MOST_FAULTS
        rest = [f"and {counted(more, 'more fault')}"] if more > 0 else []
        raise DataError("\n".join((*faults[:_MOST_FAULTS], *rest)))
    if not items:
        raise DataError(f"{path}: has no item")
    return items


def _records(path: Path, faults: list[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Read the lines that hold a JSON object; report the others."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise DataError(f"{path}: is no file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    foreign: list[int] = []
    place = 0
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        if not _is_utf8(line):
            place = place if foreign else len(faults)
            foreign.append(number)
            continue
        try:
            record = parse_json(line)
        except ValueError as error:
            faults.append(f"{path}:{number}: not readable as JSON: {error}")
        else:
            if isinstance(record, dict):
                yield number, record
            else:
                faults.append(f"{path}:{number}: must be a JSON object (got {quoted(record)})")
    if foreign:  # one sentence, as all lines of a file in another encoding are
        more = f", like {counted(len(foreign) - 1, 'more line')}" if foreign[1:] else ""
        faults.insert(place, f"{path}:{foreign[0]}: is not UTF-8 text{more}; save the file as UTF-8")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in line  # UTF-16 has them; JSON has none


def _field_faults(record: Mapping[str, Any]) -> Iterator[str]:
    """Report fields that are missing or of the wrong type."""
    if lacking := [name for name in _FIELDS if name not in record]:
        hint = "; `prompt` is the question's name in V1.0" if "question" in lacking and "prompt" in record else ""
        yield f"lacks {', '.join(lacking)}{hint}; it has {keys_of(record)}"
    for name in _FIELDS:
        value = record.get(name, "-")
        if name != "images" and not (isinstance(value, str) and value.strip()):
            yield f"{name} must be a text (got {quoted(value)})"
    images = record.get("images", ["-"])
    if not (isinstance(images, list) and images and all(isinstance(each, str) and each for each in images)):
        yield f"images must be a list of paths (got {quoted(images)})"
    if not isinstance(record.get("response"), str | None):
        yield f"response must be JSON written as a text (got {quoted(record['response'])})"


def _faults(record: Mapping[str, Any], image_fault: Callable[[str], str], lines: Mapping[str, int]) -> Iterator[str]:
    """Report what is wrong with a record whose fields have the right types."""
    if record["id"] in lines:
        yield f"the id {quoted(record['id'])} is that of line {lines[record['id']]}, too"
    yield from _label_faults(record)
    places = len(PLACEHOLDER.findall(record["question"]))
    if places != len(record["images"]):
        of_images = counted(len(record["images"]), "image")
        yield f"{counted(places, 'placeholder')} in the question, but {of_images}"
    for image in record["images"]:
        if fault := image_fault(image):
            yield fault
    if record.get("response"):
        try:
            json.loads(record["response"], parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            yield f"response is not JSON (got {quoted(record['response'])})"


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads though they are no JSON."""
    raise ValueError(f"{name} is no JSON")


def _label_faults(record: Mapping[str, Any]) -> Iterator[str]:
    subtask, task, label = record["subtask"], record["task"], record["robustness"]
    if subtask not in SUBTASKS:
        near = get_close_matches(subtask, SUBTASKS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"allowed are {', '.join(SUBTASKS)}"
        yield f"unknown subtask {quoted(subtask)}; {hint}"
    elif task != SUBTASKS[subtask]:
        yield f"the task of {subtask} is {SUBTASKS[subtask]} (got {quoted(task)})"
    if label not in LABELS:
        yield f"unknown robustness {quoted(label)}; allowed are {', '.join(LABELS)}"


def _image_fault(image: str, images: Path | None) -> str:
    path = PurePosixPath(image)
    if path.is_absolute() or ".." in path.parts or "\0" in image:
        return f"an image must be below the folder of images (got {quoted(image)})"
    if images is not None and not (images / path).is_file():
        return f"no image {quoted(image)} in {images}"
    return ""


def _item(record: Mapping[str, Any], line: int) -> Item:
    return Item(
        id=record["id"],
        images=tuple(record["images"]),
        question=record["question"],
        gold=record.get("response") or None,
        task=record["task"],
        subtask=record["subtask"],
        robustness=record["robustness"],
        line=line,
    )


REPOSITORY = "QFIN/FCMBench-Data"
_VERSION = "FCMBench_v1.1_"  # the data set has other versions and tracks, too
QUESTIONS = "FCMBench_v1.1_testset_small.jsonl"
COMMIT = "0cbbba5bbf6c3e7aaf9b91b7019137acc4856a4c"
"""Commit of github.com/QFIN-tech/FCMBench whose small set is taken."""
_ADDRESS = f"https://raw.githubusercontent.com/QFIN-tech/FCMBench/{COMMIT}/vision_language/{QUESTIONS}"
_SECONDS = 60


def fetch(
    folder: Path,
    revision: str | None = None,
    *,
    repository: str = REPOSITORY,
    endpoint: str | None = None,
    address: str = _ADDRESS,
) -> Sequence[str]:
    """Download images and questions of V1.1 into a folder, check and unpack them; returns lines to print.

    Args:
        address: of the small set's questions; all else is as for `ohr.files.hub.fetch`.

    Raises:
        MissingExtra: huggingface_hub is not installed.
        DataError: a server cannot be reached, or a file is damaged.
    """
    fetched = hub.fetch(repository, folder, revision, wanted=_is_wanted, endpoint=endpoint)
    lines = [fetched.line]
    path = find_questions(folder, "small")
    if path is None:
        path = folder / QUESTIONS
        _download(address, path)
        lines.append(f"{QUESTIONS} from {address}")
    return [*lines, f"{counted(len(read_items(path)), 'question')} with answers", f"root: {folder}"]


def _is_wanted(name: str) -> bool:
    return PurePosixPath(name).name.startswith(_VERSION)


def _download(address: str, path: Path) -> None:
    try:
        with urlopen(address, timeout=_SECONDS) as reply:
            content = reply.read()
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"{address}: cannot be fetched ({reason}); run the same command again") from None
    part = path.with_name(f".{path.name}.part")  # a killed fetch leaves no half file under its name
    part.write_bytes(content)
    part.replace(path)
