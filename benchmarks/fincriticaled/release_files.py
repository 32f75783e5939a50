"""FinCriticalED's files: pages with their images and gold facts, and predictions.

The layout is that of https://huggingface.co/datasets/TheFinAI/FinCriticalED and of the published code: a table
`raw_input_859.csv` or `raw_input.csv`, in the folder or in its `data`; beside it `gold_annotation_html/gold_{i}.txt`;
and `results/{model}_zero-shot/pred_{i}.txt`. `i` is the number of the row, from 0. A part of a table needs a column
`id`, which then is `i`. The columns are detected: the data set's own description names others. A cell with an image is
a path, or the image itself in base64.
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files.digests import input_digest
from ohr.files.images import image_of, read_image
from ohr.files.json_input import whole_number
from ohr.files.names import is_file
from ohr.messages.faults import Fault
from ohr.messages.wording import counted, quoted

from .csv_rows import Row, Table, open_table
from .facts import TYPES, refuse_deep, strip_entity_tags

IMAGE_COLUMNS = ("image_path", "image", "data.image")
"""Columns that may have the image; the first one of the table is used."""

_BASE64 = ("data:", "iVBORw0KGgo", "/9j/", "R0lGOD", "SUkq", "TU0AK", "UklGR")
"""How a data URI starts, and PNG, JPEG, GIF, TIFF and WebP in base64."""


def _is_there(table: Path, cell: str) -> bool:
    """Report whether a cell of a table holds an image, or names a file that exists."""
    return cell.startswith(_BASE64) or is_file(_image_path(table, cell))


def _image_path(table: Path, cell: str) -> Path:
    """Return the path of an image: relative to the table's folder if it is there, else to the one above."""
    beside = table.parent / cell
    return beside if is_file(beside) else table.parent.parent / cell


def _decoded(cell: str, where: str) -> Image:
    """Decode an image in base64, with or without the beginning of a data URI."""
    try:
        content = base64.b64decode("".join(cell.partition(",")[2].split() or cell.split()), validate=True)
    except binascii.Error as error:
        raise DataError(f"{where}: the image is damaged base64: {error}") from None
    return image_of(content, f"{where}: the image")


Version = Literal["859", "500"]
"""The data set's number of pages: 859 with five types of facts, or 500 with numbers and dates (arXiv v1)."""

TABLES = ("raw_input_859.csv", "raw_input.csv")
HTML_COLUMN = "matched_html"
DOMAIN = "filings"
KIND_COLUMNS = ("document_type", "doc_type")
"""Columns that may name the type of a page's document, such as `sec_filings`; the published files have none."""

_OF_859 = set(TYPES) - {"number"}
_OF_500 = {"date"}
_MISSPELLED = "financialconcept"
"""The tag as the project's page has it; the code reads `financialconcepts`."""
_OPENING_TAG = re.compile(rf"<({'|'.join((*TYPES, *_OF_500, _MISSPELLED))})[\s>]", re.IGNORECASE)
_DATE_TAG = re.compile(r"<(/?)date(?=[\s>])", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\w+")
_SAME_PAGE = 0.5
"""Share of common words below which two texts are of different pages; versions of one page differ in entities only."""

_PREDICTION = re.compile(r"pred_(\d+)\.txt")
_GOLD = re.compile(r"gold_(\d+)\.txt")


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A page of the data set.

    Args:
        index: its number, which the names of its files have.
        html: its HTML without tags of facts, for the lexical metrics.
        tagged: its HTML with them.
        kind: the type of its document, in letters, digits and `_`; empty where the table does not say.
        row: of the table, without the image.
        file: name of its gold file.
    """

    index: int
    html: str
    tagged: str
    kind: str
    row: Row = field(repr=False)
    file: str

    @property
    def domain(self) -> str:
        """The type of its document, or a name for those of which the table does not say it."""
        return self.kind or DOMAIN

    @property
    def name(self) -> str:
        """The name of the document that it is."""
        return f"{self.domain}/{self.index}"


@dataclass(frozen=True)
class DataSet:
    """The pages of a folder.

    Args:
        pages: by index.
        version: the published version that the tags are of.
        table: that the pages are listed in.
        image_column: None where the table has no images.
        faults: what is left out, or may be wrong.
    """

    pages: tuple[GoldPage, ...]
    version: Version
    table: Table = field(repr=False)
    image_column: str | None
    faults: tuple[Fault, ...]

    @cached_property
    def by_name(self) -> Mapping[str, GoldPage]:
        """The pages by the name of their document."""
        return {page.name: page for page in self.pages}

    def image(self, page: GoldPage) -> Image:
        """Read a page's image, (H, W, 3) RGB.

        Raises:
            DataError: there is none, or it cannot be read; the message names the line of the table.
        """
        where = f"{self.table.path}:{page.row.line}"
        if self.image_column is None:
            raise DataError(f"{where}: the table has no image: none of the columns {', '.join(IMAGE_COLUMNS)}")
        cell = self._cell(page)
        if cell.startswith(_BASE64):
            return _decoded(cell, where)
        if not _is_there(self.table.path, cell):
            raise DataError(f"{where}: no such image file (got {quoted(cell)})")
        return read_image(_image_path(self.table.path, cell))

    def image_digest(self, page: GoldPage) -> str | None:
        """Hash a page's image; None where there is none."""
        cell = self._cell(page) if self.image_column else ""
        if cell.startswith(_BASE64):
            return sha256(cell.encode()).hexdigest()
        return input_digest(_image_path(self.table.path, cell)) if cell and _is_there(self.table.path, cell) else None

    def _cell(self, page: GoldPage) -> str:
        return self.table.again(page.row).cells[str(self.image_column)]


def read_data_set(root: Path) -> DataSet:
    """Read the pages of a folder in the published layout; images are only looked for, and missing ones reported.

    Pages without a gold file are left out. Pages whose gold file has no tagged fact are kept, and counted in `faults`:
    they have lexical scores, and no facts to find.

    Raises:
        DataError: the table or the gold files are missing or damaged, an index repeats, or the files are of several
            versions; the message names file and line.
    """
    path = find_table(root)
    gold = gold_folder(path)
    table = open_table(path, (HTML_COLUMN,))
    column = next((name for name in IMAGE_COLUMNS if name in table.columns), None)
    files = _numbered(gold, _GOLD)
    pages, faults = _pages(table, column, files, by_row="id" not in table.columns)
    if "id" in table.columns and _of_other_pages(pages):
        by_row, those = _pages(table, column, files, by_row=True)
        if not _of_other_pages(by_row):
            pages, faults = by_row, [*those, Fault("table", "whose rows, not ids, number the gold files", path.name)]
    if not pages:
        raise DataError(f"{path}: no row has a gold file in {gold}")
    if table.encoding != "utf-8":
        faults.insert(0, Fault("table", "not in UTF-8, read as latin-1", path.name))
    faults += [
        Fault("gold file", "without a row in the table, left out", files[index].name)
        for index in sorted(files.keys() - {page.index for page in pages})
    ]
    version, faults_of_tags = _version(pages, gold)
    if version == "500":
        pages = [replace(page, tagged=_DATE_TAG.sub(r"<\1temporal", page.tagged)) for page in pages]
    return DataSet(tuple(pages), version, table, column, (*faults, *faults_of_tags))


def gold_folder(table: Path) -> Path:
    """Return the folder of the gold files beside a table.

    Raises:
        DataError: there is none.
    """
    gold = table.parent / "gold_annotation_html"
    if not gold.is_dir():
        raise DataError(f"{gold}: no such folder; it has the gold facts, a file gold_0.txt for page 0")
    return gold


def read_predictions(folder: Path) -> dict[int, str]:
    """Read the files `pred_{i}.txt` of a folder, by index; other files are ignored.

    Raises:
        DataError: there is no such folder, or two files have one index.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; it has the predictions, a file pred_0.txt for page 0")
    return {index: read_text(path)[0] for index, path in sorted(_numbered(folder, _PREDICTION).items())}


def read_text(path: Path) -> tuple[str, str]:
    """Read a text file and return its text and encoding: by its byte order mark, else UTF-8, else latin-1.

    Raises:
        DataError: it is no file.
    """
    if not path.is_file():  # a pipe would be waited for
        raise DataError(f"{path}: is no file")
    content = path.read_bytes()
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text, encoding = content.decode("latin-1"), "latin-1"
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding


def table_in(root: Path) -> Path | None:
    """Return the table of a folder, or of its folder `data`; None where there is none."""
    paths = (folder / name for folder in (root, root / "data") for name in TABLES)
    return next((path for path in paths if path.is_file()), None)


def find_table(root: Path) -> Path:
    """Return the table of a folder.

    Raises:
        DataError: there is none.
    """
    if table := table_in(root):
        return table
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; download TheFinAI/FinCriticalED")
    raise DataError(f"{root}: no {' or '.join(TABLES)} here or in its folder data; download TheFinAI/FinCriticalED")


def _numbered(folder: Path, name: re.Pattern[str]) -> dict[int, Path]:
    """Return the files of a folder by the number in their names."""
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        if match := name.fullmatch(path.name):
            if other := found.get(int(match[1])):
                raise DataError(f"{path}: page {int(match[1])} is in {other.name}, too; keep one of the files")
            found[int(match[1])] = path
    return found


def _pages(
    table: Table, column: str | None, files: dict[int, Path], *, by_row: bool
) -> tuple[list[GoldPage], list[Fault]]:
    """Return the pages of a table that have a gold file, and their faults; check that indices differ.

    Args:
        column: that has the images.
        files: gold files by index.
        by_row: the number of a row is its page's index, as in the published code; else its id is.
    """
    lines: dict[int, int] = {}
    pages: list[GoldPage] = []
    faults: list[Fault] = []
    for number, row in enumerate(table.rows()):
        where = f"{table.path}:{row.line}"
        index = number if by_row else whole_number(row.cells["id"])
        if index is None:
            raise DataError(f"{where}: id must be a whole number from 0 on (got {quoted(row.cells['id'])})")
        if index in lines:
            raise DataError(f"{where}: the id {index} repeats that of line {lines[index]}")
        lines[index] = row.line
        if index not in files:
            faults.append(Fault("page", "without a gold file, left out", str(index)))
            continue
        if column is not None and not _is_there(table.path, row.cells[column]):
            faults.append(Fault("page", "without an image file", str(index)))
        pages.append(_page(index, row, files[index], faults))
    return pages, faults


def _page(index: int, row: Row, gold: Path, faults: list[Fault]) -> GoldPage:
    tagged, encoding = read_text(gold)
    if encoding == "latin-1":
        faults.append(Fault("gold file", "not in UTF-8, read as latin-1", gold.name))
    refuse_deep(tagged, gold)
    html = row.cells[HTML_COLUMN]
    if not html.strip():
        html = strip_entity_tags(tagged)
        faults.append(Fault("page", f"without {HTML_COLUMN}, for which the gold file is used", str(index)))
    kind = next((cell for name in KIND_COLUMNS if (cell := row.cells.get(name))), "")
    return GoldPage(index, html, tagged, _kind(kind), Row(row.line, row.offset, {}), gold.name)


def _kind(cell: str) -> str:
    """Return a type of documents as a name of folders: `sec_filings` for `SEC filings`."""
    return "_".join(_WORD.findall(cell.lower()))


def _version(pages: Sequence[GoldPage], gold: Path) -> tuple[Version, list[Fault]]:
    """Return the version that the tags are of, and pages that have none, wrong ones, or another page's text.

    Raises:
        DataError: there are tags of both versions, or most gold files are of other pages than the table's.
    """
    first: dict[Version, int] = {}
    faults = []
    for page in pages:
        tags = {tag.lower() for tag in _OPENING_TAG.findall(page.tagged)}
        for version, own in (("859", _OF_859), ("500", _OF_500)):
            if tags & own:
                first.setdefault(version, page.index)  # type: ignore[arg-type]
        if not tags & {*TYPES, *_OF_500}:
            faults.append(Fault("page", "without a tagged fact", str(page.index)))
        if _MISSPELLED in tags:
            faults.append(Fault("page", f"with the tag <{_MISSPELLED}>, which no version reads", str(page.index)))
        if not _is_same_page(page):
            faults.append(Fault("page", "with another text in the gold file than in the table", str(page.index)))
    if len(first) == 2:
        raise DataError(
            f"{gold}: two versions are mixed: gold_{first['500']}.txt has the tags of 500 pages (date), "
            f"gold_{first['859']}.txt those of 859 (temporal, monetaryunit, ...); keep the files of one version"
        )
    if _of_other_pages(pages):
        others = sum(not _is_same_page(page) for page in pages)
        raise DataError(
            f"{gold}: {counted(others, 'gold file')} of {len(pages)} have another text than their row in the table: "
            "they are of another version, or the table lacks rows and has no column id"
        )
    return "500" if "500" in first else "859", faults


def _of_other_pages(pages: Sequence[GoldPage]) -> bool:
    """Report whether most gold files are of other pages than their rows; true where there is none."""
    return 2 * sum(map(_is_same_page, pages)) < max(len(pages), 1)


def _is_same_page(page: GoldPage) -> bool:
    """Report whether a page's two texts have most of their words in common; an empty one is not compared."""
    mine, its = (set(_WORD.findall(_ANY_TAG.sub(" ", text))) for text in (page.html, page.tagged))
    return not mine or not its or len(mine & its) >= _SAME_PAGE * len(mine | its)
