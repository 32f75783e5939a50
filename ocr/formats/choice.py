"""Which format results have: the one that a spec names, or the one that the files of their folder show."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, ValidationError, ValidationInfo, WithJsonSchema

from ohr.contracts import OcrFormat
from ohr.errors import PluginError
from ohr.files.below import folders_in
from ohr.files.names import printable
from ohr.keys import identity
from ohr.registry import Nested, Registry, choices

from .find import ending_of, parsed
from .values import Unreadable

_LOOKED_AT = 8
"""Files of each ending that are looked at, spread over the folder: a few strays cost a message, not the choice."""
_LARGEST = 200_000_000
"""Bytes of a file that is looked at: it is read as a whole."""


def _by_name(value: Any, info: ValidationInfo) -> Any:
    registry = (info.context or {}).get("registry") or Registry()
    if isinstance(value, str):
        if value not in (known := registry.names("ocr_format")):
            raise ValueError(choices(value, known))
        value = {"kind": value}
    return Nested("ocr_format")(value, info)


def _name(format: OcrFormat) -> Any:
    keys = format.model_dump(mode="json")
    return keys if len(keys) > 1 else format.kind


FormatField = Annotated[
    OcrFormat,
    BeforeValidator(_by_name),
    PlainSerializer(_name),
    WithJsonSchema({"type": "string", "enum": list(Registry().names("ocr_format"))}),
]
"""A field that holds a format, by its name in YAML, or by a mapping where it has keys of its own."""


def reader_identity(format: OcrFormat) -> dict[str, object]:
    """Return what identifies a reader in stored results beside its name: nothing of a first version that is ohr's."""
    _, version, fields, *code = identity(format)
    own = {"fields": fields} if len(fields) > 1 else {}
    return ({"reader": version} if version > 1 else {}) | own | (code[0] if code else {})


def formats_shown(root: Path, registry: Registry) -> tuple[dict[OcrFormat, str], dict[str, str]]:
    """Return the formats that the files of a folder may have, each with such a file, and files that fit none.

    The latter have the reason why they cannot be read, "" where they can.

    Formats that all files fit count alone, and a general one where no file fits any other.
    """
    formats, fits, unfit = list(_known(registry)), dict[str, list[OcrFormat]](), dict[str, str]()
    for path, ending in _samples(root, formats):
        name = printable(path.relative_to(root).as_posix())
        try:
            content = _looked_at(path, ending)
        except Unreadable as error:
            unfit[name] = str(error)
            continue
        fitting = [format for format in formats if ending_of(format, path.name) and _fits(format, content)]
        if fitting:
            fits[name] = fitting
        else:
            unfit[name] = ""
    own = {name: [format for format in fitting if not format.is_general] for name, fitting in fits.items()}
    fits = {name: fitting for name, fitting in own.items() if fitting} or fits
    first = {format: name for name, fitting in reversed(fits.items()) for format in fitting}
    shared = [format for format in first if all(format in fitting for fitting in fits.values())]
    return {format: first[format] for format in sorted(shared or first, key=lambda each: each.kind)}, unfit


def _known(registry: Registry) -> Iterator[OcrFormat]:
    for name in registry.names("ocr_format"):
        try:
            format: Any = registry.load("ocr_format", name)()
        except (PluginError, ValidationError):  # somebody else's, which cannot be used without being named
            continue
        yield format


def _samples(root: Path, formats: Sequence[OcrFormat]) -> Iterator[tuple[Path, str]]:
    """List some files of each ending, spread over a folder, with the longest ending that a format knows."""
    groups: dict[str, list[Path]] = defaultdict(list)
    for folder, files in folders_in(root):
        for file in files:
            known = [(format, ending_of(format, file)) for format in formats]
            if endings := [format.endings[ending[0]] for format, ending in known if ending]:
                groups[max(endings, key=len)].append(folder / file)
    for ending, paths in groups.items():
        step = max(len(paths) / _LOOKED_AT, 1)
        yield from ((paths[int(place * step)], ending) for place in range(min(len(paths), _LOOKED_AT)))


def _looked_at(path: Path, ending: str) -> Any:
    try:
        if not path.is_file():
            raise Unreadable("no file that can be read")
        if ending.endswith(".jsonl"):
            with path.open("rb") as opened:
                lines = iter(lambda: opened.readline(_LARGEST), b"")
                return parsed(next((line for line in lines if line.strip()), b""), ending)
        if (size := path.stat().st_size) > _LARGEST:
            raise Unreadable(f"too large to look at ({size:,} bytes)")
        return parsed(path.read_bytes(), ending)
    except OSError as error:
        raise Unreadable(f"not readable ({error.strerror})") from None


def _fits(format: OcrFormat, content: Any) -> bool:
    try:
        return format.fits(content)
    except Exception:  # content of another system may raise anything
        return False
