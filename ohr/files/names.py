"""Names of documents: their Unicode forms, and which of them can be written to results."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from unicodedata import normalize
from urllib.parse import quote

_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters, which no SVG may hold and a terminal obeys; bytes that are not UTF-8; noncharacters."""

UNWRITABLE = "name has control characters or is not UTF-8"
"""The fault of a file with such a name."""


def is_writable(name: str) -> bool:
    """Report whether a file's name can be written to tables, figures and a terminal."""
    return _UNWRITABLE.search(name) is None


def is_file(path: Path) -> bool:
    """Report whether a path that people have written is a file; one that no system allows is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False


def printable(name: str) -> str:
    """Replace what cannot be written in a name."""
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", name)


def quoted_id(name: str) -> str:
    """Write an id of other data as a part of a document's name; `urllib.parse.unquote` reverses it.

    Letters and digits of ASCII and `_.-~` stay, all else is percent-quoted: names have slashes between their parts,
    and go into tables, file names and addresses.
    """
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")


def composed(name: str) -> str:
    """Return a name in the one Unicode form (NFC) in which names are compared."""
    return name if name.isascii() else normalize("NFC", name)


def other_form(name: str, names: Mapping[str, Sequence[str]]) -> str | None:
    """Return the one name that differs from `name` in its Unicode form only; None where `name` itself is there.

    Args:
        name: as it is written somewhere.
        names: the names that there are, by their composed form; names that differ in their form are distinct.
    """
    found = names.get(composed(name), ())
    return found[0] if name not in found and len(found) == 1 else None


def by_form(names: Iterable[str]) -> dict[str, list[str]]:
    """Group names by their composed form."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[composed(name)].append(name)
    return found
