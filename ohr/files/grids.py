"""Cells of the tables that people bring: CSV as the spreadsheets of any country write it, and workbooks of Excel."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, NamedTuple

from ohr.errors import DataError

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
    import openpyxl

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
