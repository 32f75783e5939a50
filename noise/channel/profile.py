"""What is known of one engine's errors: a small JSON file that a person can read."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ohr.errors import DataError

VERSION = 1
OPERATIONS = ("delete", "garble", "respace", "rewrite", "move")
"""What happens to a lost run: gone; misread; its letters kept but cut into other words; other text; read elsewhere."""

SIZES = ("single", "few", "many", "lines")
"""Runs of 1 word, 2 to 9, 10 and more, and whole lines."""

ALL = 1e9
"""Severity of pages of which all words are lost."""

Histogram = tuple[tuple[float, float], ...]
"""(value, count), ascending by value."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fit(_Part):
    """What the profile was fitted on."""

    engine: str
    documents: int
    pages: int
    words: int
    lost: int
    note: str = ""


class Group(_Part):
    """Severity of the pages of a group of documents.

    Args:
        pages: how many pages it rests on.
        mean: mean share of a page's words that is lost.
        quantiles: of that share over pages, at equal steps of probability from 0 to 1.
        slopes: effect of each feature of a page (FEATURES) on its normal score.
        intercept: added to the effects of the features.
        unexplained: share of the variance of the normal score that the features do not say.
        document_share: share of the unexplained that belongs to the document, in [0, 1].
    """

    pages: int
    mean: float
    quantiles: tuple[float, ...]
    slopes: Mapping[str, float]
    intercept: float
    unexplained: float
    document_share: float


class Level(_Part):
    """How the words of a page are lost, given how many are; one of several ways in which such pages lose them.

    Args:
        upto: largest severity that belongs here: the share of a page's words that is lost over what its content lets
            expect (`Profile.usual`). Pages of which all is lost have levels of their own, ALL.
        pages: how many pages it rests on.
        lines: by kind of line, for each of LINE_BINS: chance that a run of wholly lost lines begins.
        next_lines: the same: chance that the run goes on with the line.
        units: chance that a whole formula or table cell is lost in a line that is not.
        words: by class, chance that a run begins at a word that is neither.
        word_runs: lengths of such runs.
        lengths: factor of that chance in lines of each of LINE_BINS.
        spread: how much that chance differs (1 / shape of a gamma distribution with mean 1): between lines, stretches
            of a line and different words of a page; and between pages, of each class, of lines and of units.
        operations: by size, share of each of OPERATIONS.
        insertions: chance that words are added before a word that begins a line, and before another; `inserted` how
            many, `repeated` the share that repeats.
    """

    upto: float
    pages: int
    lines: Mapping[str, tuple[float, ...]]
    next_lines: Mapping[str, tuple[float, ...]]
    units: Mapping[str, float]
    words: Mapping[str, float]
    lengths: tuple[float, ...]
    word_runs: Histogram
    spread: Mapping[str, float]
    operations: Mapping[str, Mapping[str, float]]
    insertions: tuple[float, float]
    inserted: Histogram
    repeated: float


class Confusion(_Part):
    """`read` was read for `true` behind a character of class `after`; `share` of the chances to do so."""

    after: Literal["start", "letter", "digit", "mark"]
    true: str
    read: str
    count: int
    share: float


class Profile(_Part):
    """A fitted channel.

    Args:
        features: mean and standard deviation of each of FEATURES.
        groups: by the first part of a document's name; the one named by the empty string is all documents.
        usual: by class, for each of LINE_BINS: share of words that is lost.
        silent: of the pages of which all words are lost, the share on which nothing was read.
        misread: share of the characters that change in a misread word, at equal steps of probability.
        spurious: words that are often read where there is none.
    """

    version: Literal[1] = 1
    fit: Fit
    features: Mapping[str, tuple[float, float]]
    groups: Mapping[str, Group]
    usual: Mapping[str, tuple[float, ...]]
    silent: float
    levels: tuple[Level, ...]
    misread: tuple[float, ...]
    confusions: tuple[Confusion, ...]
    spurious: tuple[str, ...]

    def dumps(self) -> str:
        """Give the JSON: short lists on one line."""
        return _pretty(self.model_dump(mode="json")) + "\n"


def choose(levels: Sequence[Level], severity: float, draw: float) -> Level:
    """Give one of the levels for a severity, each as likely as it has pages."""
    upto = next((level.upto for level in levels if severity <= level.upto), levels[-1].upto)
    fitting = [level for level in levels if level.upto == upto]
    aim = draw * sum(level.pages for level in fitting)
    for level in fitting:
        aim -= level.pages
        if aim < 0:
            return level
    return fitting[-1]


@lru_cache(maxsize=8)
def load(path: Path, stamp: object = None) -> Profile:  # noqa: ARG001 # a changed file is read again
    """Read a profile.

    Raises:
        DataError: the file is not readable, or is no profile of this version.
    """
    try:
        return Profile.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not readable: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise DataError(f"{path}: not a channel profile of version {VERSION}: {where}: {first['msg']}") from None


def _pretty(value: Any, indent: int = 0) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= 118 or not isinstance(value, dict | list) or not value:
        return flat
    pad = " " * (indent + 1)
    if isinstance(value, list) and not any(isinstance(item, dict) for item in value):
        return flat
    if isinstance(value, list):
        return "[\n" + ",\n".join(pad + _pretty(item, indent + 1) for item in value) + "\n" + " " * indent + "]"
    rows = (f"{pad}{json.dumps(name)}: {_pretty(item, indent + 1)}" for name, item in value.items())
    return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"
