"""Tags of a run, and the prices that it is shown with: both may change after it, as they change none of its results."""

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ohr.errors import DataError
from ohr.prices import Price, Prices
from ohr.results.folder.run_folder import PRICES, TAGS
from ohr.results.folder.whole_files import read_json, write_json

_LONGEST = 1_000  # letters of a tag: it is printed in a table


def read_tags(folder: Path) -> dict[str, str]:
    """Read the tags of a run; none where it has no file of them.

    Raises:
        DataError: the file is damaged.
    """
    path = folder / TAGS
    tags = read_json(path, absent={})
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
        write_json(folder / TAGS, tags)
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


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices by name, and their currency, which may be nothing."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""


def read_prices(folder: Path) -> PriceList:
    """Read the prices of a run; none where it has no file of them.

    Raises:
        DataError: the file is damaged.
    """
    path = folder / PRICES
    listed = read_json(path, absent={"prices": {}, "currency": ""})
    try:
        return PriceList(TypeAdapter(Prices).validate_python(listed["prices"]), str(listed["currency"]))
    except (ValidationError, KeyError, TypeError):
        raise DataError(f"{path}: holds no prices as ohr writes them; run the spec again, which writes it") from None


def write_prices(folder: Path, given: PriceList) -> bool:
    """Write the prices of a run in place of those that it had; returns whether they are others.

    Raises:
        DataError: the file cannot be written.
    """
    try:
        before: PriceList | None = read_prices(folder)
    except DataError:
        before = None
    if before == given or not (given.prices or before is None or before.prices):
        return False
    if given.prices:
        prices = {name: price.model_dump(by_alias=True, exclude_none=True) for name, price in given.prices.items()}
        write_json(folder / PRICES, {"currency": given.currency, "prices": prices})
        return True
    try:
        (folder / PRICES).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{folder / PRICES}: cannot be written: {error.strerror or error}") from None
    return True
