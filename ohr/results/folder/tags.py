"""Tags of runs: words that people add to find and sort them; they change nothing of a run."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ohr.errors import DataError
from ohr.results.folder.run_folder import TAGS
from ohr.results.folder.whole_files import replaced

_LONGEST = 1_000  # letters of a tag: it is printed in a table


def read_tags(folder: Path) -> dict[str, str]:
    """Read the tags of a run; none where it has no file of them.

    Raises:
        DataError: the file is damaged.
    """
    path = folder / TAGS
    try:
        tags = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(tags, dict) or not all(isinstance(value, str) for value in tags.values()):
        raise DataError(f"{path}: is not a mapping of tags to text")
    return tags


def change_tags(folder: Path, changes: Mapping[str, str]) -> dict[str, str]:
    """Add tags to a run, or replace them; one that gets no text is removed. Returns all its tags.

    Raises:
        DataError: the file is damaged, or cannot be written.
    """
    with _alone(folder):
        tags = {key: value for key, value in (read_tags(folder) | dict(changes)).items() if value}
        _write(folder, tags)
    return tags


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time change what is in a folder; the system frees the lock of one that dies."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a disk that knows no locks
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _write(folder: Path, tags: Mapping[str, str]) -> None:
    with replaced(folder / TAGS) as new:
        new.write_text(json.dumps(tags, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def parse_tags(words: Sequence[str]) -> dict[str, str]:
    """Read `key=value` words.

    Raises:
        DataError: a word has no `=`, an empty key, characters that cannot be printed, or is too long.
    """
    tags = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key.strip() or not word.isprintable() or len(word) > _LONGEST:
            raise DataError(f"write a tag as key=value, in one line of at most {_LONGEST:,} letters (got {word!r})")
        tags[key.strip()] = value.strip()
    return tags
