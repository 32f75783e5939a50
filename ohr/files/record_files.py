"""Files of records: JSON, JSON Lines, YAML and Parquet, and each form in which pandas writes a table as JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ohr.errors import DataError
from ohr.files import parquet
from ohr.files.grids import text_of_file
from ohr.files.json_input import Number, lines, parse_json

YAML_SUFFIXES = (".yaml", ".yml")
"""Suffixes of files of YAML."""
LINES_SUFFIXES = (".jsonl", ".ndjson")
"""Suffixes of JSON Lines."""


class Held(NamedTuple):
    """The content of a file, the place of each record where it is a list of them, and what to know of the file."""

    value: Any
    places: Sequence[str] | None
    notes: list[str]


def read_values(path: Path, content: bytes) -> Held:
    """Read a file by its suffix, Parquet under any; any other suffix is read as JSON.

    Raises:
        DataError: it is not what its suffix says.
    """
    suffix = path.suffix.lower()
    if content.startswith(parquet.PARQUET) or suffix in parquet.SUFFIXES:
        rows = parquet.parquet_rows(path, content)
        return Held(rows, [f"{path}: row {place}" for place in range(1, len(rows) + 1)], [])
    text, notes = text_of_file(path, content, guess=False)
    as_what = "" if suffix in (".json", *LINES_SUFFIXES, *YAML_SUFFIXES) else f"{path.suffix or 'it'} is read as JSON: "
    if suffix in LINES_SUFFIXES:
        places = [(f"{path}:{number}", line) for number, line in lines(text)]
        return Held([_json(line, where) for where, line in places], [where for where, _ in places], notes)
    return Held(_yaml(text, path) if suffix in YAML_SUFFIXES else _json(text, str(path), as_what), None, notes)


def as_rows(found: Mapping[str, Any], known: set[str]) -> list[Any] | None:
    """Return the rows of a table as a mapping, None where it is not known to be one.

    It is pandas' `split`, `columns`, `index` or `table`, a list for each column, or the only list of records.

    Args:
        found: what a file holds.
        known: names of columns, of which the table has one; case does not count.
    """
    columns, data, values = found.get("columns"), found.get("data"), list(found.values())
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        if all(len(row) == len(columns) for row in data):
            return [dict(zip(map(str, columns), row, strict=True)) for row in data]
        return None
    wanted = {name.casefold() for name in known}
    has_columns = any(str(name).casefold() in wanted for name in found)
    if values and all(isinstance(each, Mapping) for each in values):
        if has_columns:
            return [{name: cells.get(place) for name, cells in found.items()} for place in _each(values)]
        return values if any(name.casefold() in wanted for name in _each(values)) else None
    listed = [each for each in values if isinstance(each, list)]
    is_even = len(listed) == len(values) > 0 and len({len(each) for each in listed}) == 1
    if has_columns and is_even and (listed[1:] or not any(isinstance(each, Mapping) for each in listed[0])):
        return [dict(zip(found, cells, strict=True)) for cells in zip(*listed, strict=True)]
    records = [each for each in listed if each and all(isinstance(one, Mapping) for one in each)]
    return records[0] if len(records) == 1 else None


def _each(mappings: Sequence[Mapping[str, Any]]) -> dict[str, None]:
    """Return the keys of all mappings, each once, in order."""
    return dict.fromkeys(name for each in mappings for name in each)


def _json(text: str, where: str, as_what: str = "") -> Any:
    try:
        return parse_json(text.encode(), unique=True, spelled=True)
    except ValueError as error:
        by_line = "; if each line is an entry, let its name end with .jsonl" if "Extra data" in str(error) else ""
        raise DataError(f"{where}: {as_what}not readable as JSON: {error}{by_line}") from None


def _yaml(text: str, path: Path) -> Any:
    """Read YAML; numbers that are not whole, and dates, stay as they are written."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import SafeConstructor
    from ruamel.yaml.error import YAMLError

    class Spelled(SafeConstructor):
        """Constructs what JSON has, too."""

    def number(maker: SafeConstructor, node: Any) -> Any:
        try:
            return Number(node.value)
        except ValueError:  # .inf, or minutes with seconds
            return maker.construct_yaml_float(node)

    Spelled.add_constructor("tag:yaml.org,2002:float", number)
    Spelled.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)
    reader = YAML(typ="safe", pure=True)
    reader.Constructor = Spelled
    try:
        return reader.load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not readable as YAML: {' '.join(str(error).split())[:200]}") from None
