"""What is known of one engine's errors: a JSON file that holds no text of the pages it was fitted on."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from ohr.errors import DataError

VERSION = 4
OPERATIONS = ("delete", "garble", "respace", "rewrite", "move")
"""What happens to a lost run: gone; misread; its letters kept but cut into other words; other text; read elsewhere."""

SIZES = ("single", "few", "many", "lines", "cell", "cells", "rows")
"""Runs of 1 word, 2 to 9, 10 and more, and whole lines; in tables, of 1 word, 2 to 9, and more, whole rows too."""

MANY = 10
"""Words from which on a run is one of many."""

Histogram = tuple[tuple[PositiveInt, PositiveInt], ...]
"""(value, count), ascending by value."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _has(*names: str) -> Any:
    """Check that a mapping has these keys."""

    def check(given: Mapping[str, Any]) -> Mapping[str, Any]:
        absent = [name for name in names if name not in given]
        if absent:
            raise ValueError(f"has no {absent[0]!r}")
        return given

    return AfterValidator(check)


class Fit(_Part):
    """What the profile was fitted on."""

    engine: str
    documents: int
    pages: int
    words: int
    lost: int
    note: str = ""


class Group(_Part):
    """Documents whose names begin alike, or all.

    Args:
        pages: how many pages it rests on.
        lost: mean share of a page's words that is lost.
        weights: by feature of a page (FEATURES): its effect on the logit of the share of words lost.
        strength: added to the rate's logit for words of lines that are not lost whole (see `ohr.workbench.strengths`).
    """

    pages: int
    lost: float
    weights: Mapping[str, float]
    strength: float = 0.0


class Donor(_Part):
    """A document of the fit: its group, and a pattern for each page that has words (see `Pattern.dumps`)."""

    group: str
    pages: Annotated[tuple[str, ...], Field(min_length=1)]


class Reading(_Part):
    """What is read in place of what is lost.

    Args:
        operations: by size of the run, share of each of OPERATIONS.
        silent: of the pages of which all words are lost, the share on which nothing was read.
        insertions: chance that words are added before a word that begins a line, and before another; `inserted` how
            many, `repeated` the share that repeats, `spurious` words that are often read where there is none.
        misread: share of the characters that change in a misread word, at equal steps of probability.
    """

    operations: Annotated[Mapping[str, Annotated[Mapping[str, float], _has(*OPERATIONS)]], _has(*SIZES)]
    silent: float
    insertions: tuple[float, float]
    inserted: Histogram
    repeated: float
    spurious: tuple[str, ...]
    misread: Annotated[tuple[float, ...], Field(min_length=1)]


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
        lines: by look of a line (LOOKS): its effect on the logit of the chance that the line is lost whole.
        groups: by the first part of a document's name; the one named by the empty string is all documents.
        kinds: strengths of formulas' and tables' lines, which take the place of the group's there.
        reading: what is read instead.
        confusions: characters that are read for others.
        donors: documents whose losses are taken over.
    """

    version: Literal[4] = 4
    fit: Fit
    lines: Mapping[str, float]
    groups: Annotated[Mapping[str, Group], _has("")]
    kinds: Mapping[Literal["formula", "table"], float] = {}
    reading: Reading
    confusions: tuple[Confusion, ...]
    donors: Annotated[tuple[Donor, ...], Field(min_length=1)]

    def strengthened(self, groups: Mapping[str, float], kinds: Mapping[str, float]) -> "Profile":
        """Give the profile with these strengths; a group that is not named has that of all, or 0."""
        all_ = groups.get("", 0.0)
        made = {name: one.model_copy(update={"strength": groups.get(name, all_)}) for name, one in self.groups.items()}
        return self.model_copy(update={"groups": made, "kinds": dict(kinds)})

    def dumps(self) -> str:
        """Give the JSON: short lists on one line."""
        return _pretty(self.model_dump(mode="json")) + "\n"


def load(path: Path) -> Profile:
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
