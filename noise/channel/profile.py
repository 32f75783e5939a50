"""A profile, the channel as fitted to one engine: a JSON file without any text of the pages of the fit."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ohr.errors import DataError

VERSION = 5
OPERATIONS = ("delete", "garble", "respace", "rewrite", "move")
"""Fates of a lost run: gone; misread; its letters kept but cut into other words; other text; read elsewhere."""

RUNS = ("single", "few", "many")
"""Runs of 1 word, 2 to 9, and 10 and more."""

FROM = (2, 10)
"""Words from which on a run is one of few, and of many: 10 is where the acceptance table draws the line too."""

LEAST_GROUP = (5, 30)
"""Fewest documents and pages of a group: with fewer, its donors would repeat the accidents of single documents."""

LONGEST_CONFUSION = 2
"""Characters of a confusion: longer ones are rare."""

Chance = Annotated[float, Field(ge=0, le=1)]
Few = Annotated[str, Field(max_length=LONGEST_CONFUSION)]


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
    """The fit: the engine, and numbers of documents, pages, words, and words lost."""

    engine: str
    documents: int
    pages: int
    words: int
    lost: int
    note: str = ""


class Donor(_Part):
    """A document of the fit: its group, and a pattern for each page that has words (see `Pattern.dumps`)."""

    group: str
    pages: Annotated[tuple[str, ...], Field(min_length=1)]


class Reading(_Part):
    """How the engine garbles the words it does not lose outright, and what it adds.

    Args:
        operations: by length of the run (RUNS), share of each of OPERATIONS.
        misread: share of the characters that change in a misread word, at equal steps of probability.
    """

    operations: Annotated[Mapping[str, Annotated[Mapping[str, Chance], _has(*OPERATIONS)]], _has(*RUNS)]
    misread: Annotated[tuple[Chance, ...], Field(min_length=1)]


class Confusion(NamedTuple):
    """`read` was read for `true` behind a character of class `after`, in `share` of the places with both."""

    after: Literal["start", "letter", "digit", "mark"]
    true: Few
    read: Few
    share: Chance


class Profile(_Part):
    """A fitted channel.

    Args:
        severity: by feature of a page (FEATURES): its effect on the logit of the share of words that is lost.
        reading: what is read in place of lost words.
        confusions: characters that are read for others, the most frequent first.
        donors: documents whose losses are taken over.
    """

    version: Literal[5] = 5
    fit: Fit
    severity: Mapping[str, Annotated[float, Field(ge=-1000, le=1000)]]
    reading: Reading
    confusions: tuple[Confusion, ...]
    donors: Annotated[tuple[Donor, ...], Field(min_length=1)]

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups with enough documents and pages, which is the first part of the documents' names."""
        documents = Counter(donor.group for donor in self.donors)
        pages = Counter(donor.group for donor in self.donors for _ in donor.pages)
        least = LEAST_GROUP
        return tuple(name for name in sorted(documents) if documents[name] >= least[0] and pages[name] >= least[1])

    def dumps(self) -> str:
        """Return the JSON, with an item of a list on each line."""
        rows = [f'"{name}": {_lines(value)}' for name, value in self.model_dump(mode="json").items()]
        return "{\n" + ",\n".join(rows) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "[\n " + ",\n ".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n]"


def load(path: Path) -> Profile:
    """Read a profile.

    Raises:
        DataError: the file is not readable, or is not a profile of this version.
    """
    try:
        return Profile.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not readable: {error}") from None
    except ValidationError as error:
        faults = error.errors()
        for fault in faults:
            if fault["loc"] == ("version",) and isinstance(fault["input"], int):
                again = f"ohr reads version {VERSION}. Fit it again with `ohr noise fit`"
                raise DataError(f"{path}: a channel profile of version {fault['input']}; {again}") from None
        where = ".".join(map(str, faults[0]["loc"])) or "the file"
        raise DataError(f"{path}: not a channel profile: {where}: {faults[0]['msg']}") from None
