"""Writing figures to files: the same run gives the same bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohr.errors import SpecError
from ohr.results.folder.replace import written

if TYPE_CHECKING:
    from ohr.report.figures.picture import Picture

USUAL = ("svg", "png")
_DATES: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
"""Formats, and the metadata that leave out when a file was written."""


def check_formats(formats: Sequence[str]) -> None:
    """Refuse an unknown format.

    Raises:
        SpecError: one is not known.
    """
    for name in formats:
        if name not in _DATES:
            raise SpecError(f"there is no format {name!r}; choose one of: {', '.join(_DATES)}")


def save(picture: "Picture", stem: Path, formats: Sequence[str], *, force: bool, own: bool) -> list[Path]:
    """Write a figure in each format, each whole or not at all, as `written` does; returns the files."""
    files = []
    for name in dict.fromkeys(formats):
        file = stem.with_name(f"{stem.name}.{name}")
        with written(file, "--out", force=force, own=own) as new:
            picture.savefig(new, format=name, metadata=_DATES[name])
        files.append(file)
    return files
