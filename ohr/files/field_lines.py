"""Lines of fields between tabs or blanks, read as columns; what is wrong in one is reported with its number."""

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohr.errors import DataError
from ohr.messages.wording import counted, shortened

if TYPE_CHECKING:
    import pyarrow

_GZIP = b"\x1f\x8b"
_BLANK, _TAB = b" ", b"\t"
_NUMBER = re.compile(rb"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?)\s*", re.IGNORECASE)
_NAME = re.compile(rb"(?:query|topic|q|corpus|doc|document)(?:[-_ ]?(?:id|no))?", re.IGNORECASE)
"""Names of columns in a header."""
_BLANKS = re.compile(rb"[ \t]+")


class Layout(NamedTuple):
    """Fields of the lines of a file.

    Attributes:
        thing: what such a file is called.
        fields: names of the fields by how many there are; messages name the first.
        number: the field that is a number; all others are text, as all are where it is "".
        separators: what the fields may be between; a blank is any number of blanks and tabs.
        most: fields after these are left out; 0 where they are a mistake.
    """

    thing: str
    fields: Mapping[int, Sequence[str]]
    number: str
    separators: Sequence[bytes] = (_BLANK, _TAB)
    most: int = 0

    def part(self, parts: Sequence[bytes], name: str) -> bytes:
        """Return the part of a line that is this field."""
        return parts[self.fields[len(parts)].index(name)]

    def fits(self, parts: Sequence[bytes]) -> bool:
        """Report whether a line has these fields, with a number where one belongs."""
        numbered = len(parts) in self.fields and self.number
        return bool(_NUMBER.fullmatch(self.part(parts, self.number))) if numbered else len(parts) in self.fields

    def is_header(self, parts: Sequence[bytes]) -> bool:
        """Report whether a line names the columns."""
        named = [bool(_NAME.fullmatch(part.strip())) for part in parts]
        if not self.number:
            return all(named[:2])
        return any(named) and len(parts) in self.fields and not self.fits(parts)


@dataclass(frozen=True)
class Lines:
    """The lines of a file as columns.

    Args:
        path: of the file.
        layout: of its lines.
        content: its bytes.
        separator: what its fields are between.
    """

    path: Path
    layout: Layout
    content: bytes = field(repr=False)
    separator: bytes = _BLANK

    @cached_property
    def table(self) -> "pyarrow.Table":
        """A row for each line of the layout: a dictionary column for each text, and one of numbers.

        Raises:
            DataError: a line has another layout, or is not UTF-8.
        """
        import pyarrow
        from pyarrow import csv

        names = self.layout.fields[len(self.first[1])]
        text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        types = {name: pyarrow.float64() if name == self.layout.number else text for name in names}

        def read(content: bytes) -> "pyarrow.Table":
            return csv.read_csv(
                pyarrow.BufferReader(content),
                csv.ReadOptions(use_threads=False, column_names=names),  # threads abort some processes that end soon
                csv.ParseOptions(delimiter=self.separator.decode(), quote_char=False),
                csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
            )

        try:
            return read(self._plain())
        except pyarrow.ArrowInvalid as error:
            fault = self._fault()
            if not fault and self.layout.most:  # some lines have further fields
                return read(self._joined())
            raise DataError(fault or f"{self.path}: cannot be read: {error}") from None

    def codes(self, name: str) -> tuple[NDArray[np.int32], list[str]]:
        """Return a text column as codes, in the order of first occurrence, and the texts; none may be empty."""
        column = self.table[name].unify_dictionaries().combine_chunks()
        codes, texts = column.indices.to_numpy(), column.dictionary.to_pylist()
        if "" in texts:
            self.refuse(codes == texts.index(""), name, "must not be empty")
        return codes, texts

    def refuse(self, wrong: NDArray[np.bool_], name: str, must: str) -> None:
        """Raise DataError where a field is wrong; it names the first line, and says how many there are."""
        rows = np.flatnonzero(wrong)
        if rows.size:
            number, parts = next(islice(self._rows(), int(rows[0]), None))
            value = self.layout.part(parts, name).decode()
            more = f" ({rows.size:,} such lines)" if rows.size > 1 else ""
            raise DataError(f"{self.path}:{number}: the {name} {must} (got {shortened(value)!r}){more}")

    def number(self, row: int) -> int:
        """Return the number of a row's line in the file."""
        return next(islice(self._rows(), row, None))[0]

    @cached_property
    def first(self) -> tuple[int, list[bytes]]:
        """The number and the parts of the first line; number 0 where there is none."""
        return next(self._rows(), (0, []))

    def _rows(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the number and the parts of each line that is not blank, a comment or the header."""
        begun = False
        for number, line in enumerate(io.BytesIO(self.content), start=1):
            line = line.strip(b"\r\n")
            parts = _BLANKS.split(line.strip(b" \t")) if self.separator == _BLANK else line.split(self.separator)
            if not line.strip() or (line.startswith(b"#") and not self.layout.fits(parts)):
                continue
            parts = parts[: self.layout.most or None]
            if begun or not self.layout.is_header(parts):
                yield number, parts
            begun = True

    def _plain(self) -> bytes:
        """Return the content with one separator between the fields, and nothing but its rows."""
        odd = [b"\n#", *((_TAB, b"  ", b" \n", b" \r", b"\n ") if self.separator == _BLANK else ())]
        is_plain = (
            self.first[0] == 1 and self.content[:1] not in b"# " and not any(sign in self.content for sign in odd)
        )
        return self.content if is_plain else self._joined()

    def _joined(self) -> bytes:
        return b"\n".join(self.separator.join(parts) for _, parts in self._rows())

    def _fault(self) -> str:
        """Return what is wrong with the first line that is; "" where nothing is."""
        most = len(self.first[1])
        for number, parts in self._rows():
            where = f"{self.path}:{number}"
            if len(parts) != most:
                return f"{where}: has {counted(len(parts), 'field')}, and line {self.first[0]} has {most}"
            try:
                texts = [part.decode() for part in parts]
            except UnicodeDecodeError:
                return f"{where}: is not UTF-8 text; save the file as UTF-8"
            if not self.layout.fits(parts):
                value = texts[self.layout.fields[most].index(self.layout.number)]
                return f"{where}: the {self.layout.number} must be a number (got {shortened(value)!r})"
        return ""


def read_lines(path: Path, layout: Layout, other: Layout | None = None) -> Lines:
    """Read a file, also one that gzip packed, whose fields are between tabs, or between any blanks.

    Blank lines, a header, and lines that begin with `#` and do not fit the layout are left out.

    Args:
        path: the file, UTF-8.
        layout: what it must hold.
        other: a layout for which the file could be mistaken.

    Raises:
        DataError: it cannot be read, holds nothing, or has a line of another layout.
    """
    content = _content(path)
    divided = [Lines(path, layout, content, separator) for separator in layout.separators]
    if not divided[0].first[0]:
        raise DataError(f"{path}: has no line of {layout.thing}")
    fitting = [lines for lines in divided if len(lines.first[1]) in layout.fields]
    if not fitting:
        raise DataError(_mistaken(max(divided, key=lambda lines: len(lines.first[1])), other))
    # what divides a line into fewer fields leaves blanks in them; and tabs alone are faster to read than any blanks
    tabs_first = layout.most or b" " not in content  # where more fields are left out, blanks always give enough
    fitting.sort(key=lambda lines: (len(lines.first[1]), tabs_first and lines.separator == _BLANK))
    faults = []
    for lines in fitting:
        try:
            if lines.table.num_rows:
                return lines
        except DataError as error:
            faults.append(error)
    raise faults[0]


def _mistaken(lines: Lines, other: Layout | None) -> str:
    """Return what is wrong with a file whose first line has another number of fields."""
    number, parts = lines.first
    layout = lines.layout
    forms = " or ".join(f"{count} ({' '.join(names)})" for count, names in layout.fields.items())
    message = f"{lines.path}:{number}: has {counted(len(parts), 'field')}; {layout.thing} has {forms}"
    return f"{message}. It looks like {other.thing}" if other and other.fits(parts) else message


def _content(path: Path) -> bytes:
    """Read a file, unpacked, without a byte order mark."""
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content[:1000]:
        raise DataError(f"{path}: is not UTF-8 text; save it as UTF-8")
    return content.removeprefix(codecs.BOM_UTF8)
