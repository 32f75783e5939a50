"""Content of the tables that people bring: CSV, workbooks, JSON, JSON Lines, YAML and Parquet."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ohr import extras
from ohr.errors import DataError
from ohr.files.json_input import Number, lines, parse_json

if TYPE_CHECKING:
    import pyarrow

Line = tuple[str, list[str]]
"""The place of a row, for messages, and its cells."""

WORKBOOK = b"PK\x03\x04"
"""First bytes of a workbook, which is an archive."""

_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"
_LARGEST_CELL = 2**31 - 1  # Python's own limit is 131,072 characters, less than a long passage has
_FORMULA_TEXT = re.compile(r'="(.*)"', re.DOTALL)
"""How spreadsheets write a text that looks like a number, such as ="00123"."""
_NO_VALUE = ("nan", "NaN", "NaT", "<NA>", "#N/A")
_NOT_WESTERN = re.compile(
    r"(?!([–—•…·])\1)[^\x00-\x7f\xa0]{4}|(?<![A-Za-z])[À-ÖØ-öø-ÿ]{2,3}(?![A-Za-z])"
    "|[a-zß-öø-ÿ][À-ÖØ-ÞŠŽŒŸ]|[A-Za-zÀ-ÿ](?:[¡-¬®-¶¸-¿‚„ƒˆ‰‹][A-Za-zÀ-ÿ]|[¡¤¦¨¬¯¶¸¼¾¿]|±(?! ?[0-9]))"
    "|(?<![0-9])[¤¦¨¯¶¸¼¾][A-Za-z]|[¤¦¨¯±¶¸¼½¾][À-ÿ]|[‚ƒ†‡ˆ‰].{1,2}[‚ƒ†‡ˆ‰]"
)
"""Other alphabets, when they are read as Windows-1252.

Accented letters in a row or in a word without others, capitals after small letters, and signs in or at words.
"""
_SHOWN = re.compile(r"(#,##)?(0+)(?:\.(0+))?(%?)(?:_.*)?")
"""Number formats that change which digits are seen."""


class Grid(NamedTuple):
    """The rows of one sheet, or of a CSV file as one separator divides it.

    Attributes:
        name: of the sheet; "" for CSV.
        rows: the rows that are not blank.
        fault: why the rest cannot be read; "" where all was read.
    """

    name: str
    rows: Sequence[Line]
    fault: str = ""


def text_of_file(path: Path, content: bytes, *, guess: bool) -> tuple[str, list[str]]:
    """Decode a text file in UTF-8 or UTF-16; returns the text, and a note where its encoding is a guess.

    Args:
        path: for messages.
        content: of the file.
        guess: read it as Windows-1252, as spreadsheets write, where it is neither and could be that.

    Raises:
        DataError: it cannot be decoded.
    """
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    half = len(content) // 4
    little, big = content[1::2].count(0) > half, content[::2].count(0) > half
    form = "utf-16" if marked else "utf-16-le" if little else "utf-16-be" if big else "utf-8-sig"
    try:
        return content.decode(form), []
    except UnicodeDecodeError:
        try:
            text = content.decode("cp1252") if guess and form == "utf-8-sig" else ""
        except UnicodeDecodeError:
            text = ""
        if not text or _NOT_WESTERN.search(text):
            raise DataError(f"{path}: cannot be read: it is not UTF-8 text; save it as UTF-8") from None
        return text, [f"{path.name}: is not UTF-8; read as Windows-1252: save it as UTF-8 if letters are wrong"]


def csv_grids(path: Path, text: str) -> list[Grid]:
    """Divide a CSV file by each separator that it may have; `sep=;` in its first line says which it has."""
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(f"{path}:{line}: holds a NUL character: write the table again")
    first, _, rest = text.partition("\n")
    named = re.fullmatch(r'"?sep=(.)"?\s*', first, re.IGNORECASE)
    if named:
        return [_divided(path, "\n" + rest, named[1])]
    return [_divided(path, text, separator) for separator in ",;\t|\x1f" if separator in text or separator == "\x1f"]


def _divided(path: Path, text: str, separator: str) -> Grid:
    csv.field_size_limit(_LARGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[Line] = []
    try:
        for row in reader:
            cells = [_plain(cell) for cell in row]
            if any(cell.strip() for cell in cells):
                rows.append((f"{path}:{reader.line_num}", cells))
    except csv.Error as error:
        hint = "write a quotation mark inside a cell twice"
        return Grid("", rows, f"{path}:{reader.line_num}: not readable as CSV: {error}; {hint}")
    return Grid("", rows)


def _plain(cell: str) -> str:
    formula = _FORMULA_TEXT.fullmatch(cell.strip())
    cell = formula[1].replace('""', '"') if formula else cell
    return "" if cell.strip() in _NO_VALUE else cell


def workbook_grids(path: Path, content: bytes) -> list[Grid]:
    """Read the sheets of a workbook that are not hidden, with each merged cell's value in its whole area.

    Raises:
        DataError: it is no workbook, or a formula has no value.
    """
    openpyxl = extras.load("openpyxl", "spreadsheets")
    if content.startswith(_OLD_WORKBOOK):
        raise DataError(f"{path}: is a workbook of an old form, or has a password: save it as .xlsx or CSV")
    try:
        values, formulas = (openpyxl.load_workbook(io.BytesIO(content), data_only=plain) for plain in (True, False))
    except Exception as error:  # each damage to an archive of XML has an error of its own
        raise DataError(f"{path}: not readable as a workbook ({error}): save it again as .xlsx or CSV") from None
    sheets = [sheet for sheet in values.worksheets if sheet.sheet_state == "visible"]
    return [Grid(sheet.title, list(_sheet_rows(path, sheet, formulas[sheet.title]))) for sheet in sheets]


def _sheet_rows(path: Path, sheet: Any, formulas: Any) -> Iterator[Line]:
    merged = {
        (row, column): (area.min_row, area.min_col)
        for area in sheet.merged_cells.ranges
        for row in range(area.min_row, area.max_row + 1)
        for column in range(area.min_col, area.max_col + 1)
    }
    for number, row in enumerate(sheet.iter_rows(), start=1):
        where, cells = f"{path}, sheet {sheet.title}, row {number}", []
        for column, own in enumerate(row, start=1):
            cell = sheet.cell(*merged.get((number, column), (number, column))) if merged else own
            formula = formulas.cell(cell.row, cell.column).value if cell.value is None else None
            if isinstance(formula, str) and formula.startswith("=") and not _FORMULA_TEXT.fullmatch(formula):
                raise DataError(f"{where}: {formula!r} has no value: open and save the file in a spreadsheet program")
            if cell.data_type == "e" and cell.value not in _NO_VALUE:
                raise DataError(f"{where}: a cell has the error {cell.value}")
            cells.append(_plain(formula or _shown(cell.value, cell.number_format)))
        if any(cell.strip() for cell in cells):
            yield where, cells


def _shown(value: Any, form: str) -> str:
    """Write a cell as the spreadsheet shows it: 1 and not 1.0, 12% and not 0.12; a date as 1964-05-03."""
    if value is None or isinstance(value, str | bool):
        return "" if value is None else str(value).upper() if isinstance(value, bool) else value
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat()
    if not isinstance(value, int | float):
        return str(value)
    if shown := _SHOWN.fullmatch(form):
        thousands, whole, decimals, percent = shown.groups()
        digits, sign = len(decimals or ""), "," if thousands else ""
        text = f"{100 * value if percent else value:{sign}.{digits}f}{percent}"
        return text if thousands else text.zfill(len(whole) + (digits + 1 if digits else 0) + len(percent))
    return f"{value:.15g}"


PARQUET = b"PAR1"
"""First bytes of a file of Parquet."""
PARQUET_SUFFIXES = (".parquet", ".pq")
"""Suffixes of files of Parquet."""
_MOST = 5_000_000  # rows: a few bytes of a hostile file can stand for billions


def parquet_rows(path: Path, content: bytes) -> list[dict[str, Any]]:
    """Read all rows; nested columns are lists and mappings, and dates and decimals are texts."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(pyarrow.BufferReader(content))
        names, number = file.schema_arrow.names, file.metadata.num_rows
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(f"{path}: has the column {twice[0]!r} twice: rename one of them")
        if number > _MOST:
            raise DataError(f"{path}: says that it has {number:,} rows; a table has at most {_MOST:,}")
        table = file.read(use_threads=False)  # threads abort some processes that end soon
        columns = [_values(table[name]) for name in names]
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: not readable as Parquet ({reason}): write the file again") from None
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _values(column: "pyarrow.ChunkedArray") -> list[Any]:
    import pyarrow

    if pyarrow.types.is_float32(column.type) or pyarrow.types.is_float16(column.type):  # 0.1 is 0.1 in its own type
        spelled = (str(each) for each in column.to_numpy())
        return [
            float(each) if valid else None for each, valid in zip(spelled, column.is_valid().to_pylist(), strict=True)
        ]
    try:
        values = column.to_pylist()
    except ValueError:  # Python has no time of nanoseconds
        values = column.cast(pyarrow.string()).to_pylist()
    return [_json_value(value) for value in values]


def _json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _json_value(each) for name, each in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(each, tuple) for each in value):  # a column of the type map
            return {str(name): _json_value(each) for name, each in value}
        return [_json_value(each) for each in value]
    if isinstance(value, bytes):  # some programs do not mark columns of text as such
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat()
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


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
    if content.startswith(PARQUET) or suffix in PARQUET_SUFFIXES:
        rows = parquet_rows(path, content)
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
