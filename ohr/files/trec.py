"""Runs and judgments of retrieval as TREC and BEIR have them: a line for each document, fields between blanks."""

import codecs
import csv
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
from ohr.files.json_input import parse_json
from ohr.messages.wording import counted, keys_of, named, shortened

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
    """The lines of a file as columns; `separator` is what its fields are between."""

    path: Path
    layout: Layout
    content: bytes = field(repr=False)
    separator: bytes = _BLANK

    @cached_property
    def table(self) -> "pyarrow.Table":
        """A row for each line of the layout: a dictionary column for each text, and one of numbers."""
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

    Blank lines, a header, and lines that begin with `#` and do not fit the layout are left out. What cannot be read,
    holds nothing, or has a line of another layout is refused; `other` is one for which it could be mistaken.
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


Codes = NDArray[np.int32]
"""Array of codes of names."""
Floats = NDArray[np.float64]
"""Array of scores."""

RUN = Layout("a run", {6: ("topic", "Q0", "document", "rank", "score", "tag")}, "score", most=6)
"""Layout of a run: https://trec.nist.gov, `trec_eval`'s README; fields after the tag are ignored, as there."""
QRELS = Layout(
    "a file of qrels", {4: ("topic", "iteration", "document", "grade"), 3: ("topic", "document", "grade")}, "grade"
)
"""Layouts of judgments: TREC's, and BEIR's with a header."""
DOCUMENTS = Layout("a map of topics", {2: ("topic", "document"), 3: ("topic", "document", "domain")}, "", (b"\t", b" "))
"""Layouts of a map from topics to the documents that they are about."""


_MOST = 1_000_000
"""Largest grade: trec_eval takes memory for each grade up to the largest, and gives 0 where there is none left."""


@dataclass(frozen=True, eq=False)
class Judgments:
    """Which documents are relevant to a topic, from grade 1 on.

    Args:
        grades: topic to document to grade, in the order of the file.
        notes: what to know of the file.
    """

    path: Path
    grades: Mapping[str, Mapping[str, int]]
    notes: Sequence[str]

    @cached_property
    def without_relevant(self) -> list[str]:
        """Topics of which no document is relevant."""
        return [topic for topic, grades in self.grades.items() if max(grades.values()) < 1]


@dataclass(frozen=True, eq=False)
class RankedRun:
    """The documents that a retriever found, with their scores: lines by topic, the best first.

    Args:
        tag: the run's name in the file.
        topics: names of the topics, in the order of the file.
        documents: names of the documents.
        starts: (topics + 1,) line at which each topic begins.
        document: (lines,) code of each line's document.
        score: (lines,) its score.
        tied: how many topics have documents with one score.
        notes: what to know of the file.
    """

    path: Path
    tag: str
    topics: Sequence[str]
    documents: Sequence[str]
    starts: NDArray[np.intp]
    document: Codes
    score: Floats
    tied: int
    notes: Sequence[str]

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The place of each topic."""
        return {topic: place for place, topic in enumerate(self.topics)}

    def scores(self, topics: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the scores of some topics: topic to document to score; without those that the run does not have."""
        made = {}
        for topic in topics:
            place = self.place.get(topic)
            if place is not None:
                lines = slice(self.starts[place], self.starts[place + 1])
                names = [self.documents[code] for code in self.document[lines].tolist()]
                made[topic] = dict(zip(names, self.score[lines].tolist(), strict=True))
        return made


def read_qrels(path: Path) -> Judgments:
    """Read judgments: `topic iteration document grade`, or BEIR's `query-id corpus-id score` under a header.

    Raises:
        DataError: the file cannot be read, is a run, has a grade that is no whole number, or two for one document.
    """
    lines = read_lines(path, QRELS, other=RUN)
    (topic, topics), (document, documents) = lines.codes("topic"), lines.codes("document")
    grade = lines.table["grade"].to_numpy()
    wrong = ~np.isfinite(grade) | (grade != np.trunc(grade)) | (np.abs(grade) > _MOST)
    lines.refuse(wrong, "grade", f"must be a whole number, at most {_MOST:,}")
    again, notes = _repeated(topic, document, len(documents)), []
    differ = [rows for rows in again if grade[rows[0]] != grade[rows[1]]]
    if differ:
        raise DataError(f"{_twice(lines, differ)} with another grade: leave one of them out")
    if again:
        notes.append(f"{path.name}: {counted(len(again), 'line')} repeated with the same grade, counted once")
    if negative := int((grade < 0).sum()):
        notes.append(f"{path.name}: {counted(negative, 'grade')} below 0: not relevant, as 0")
    grades: dict[str, dict[str, int]] = {name: {} for name in topics}
    for place, code, value in zip(topic.tolist(), document.tolist(), grade.astype(int).tolist(), strict=True):
        grades[topics[place]][documents[code]] = value
    return Judgments(path, grades, tuple(notes))


def read_run(path: Path) -> RankedRun:
    """Read one run: `topic Q0 document rank score tag`.

    Documents are ranked by score, the highest first, whatever the ranks and the order of lines are, as trec_eval does.

    Raises:
        DataError: the file cannot be read, holds judgments or runs of several tags, has a score that is no finite
            number, or a document twice for a topic.
    """
    lines = read_lines(path, RUN, other=QRELS)
    _, tags = lines.codes("tag")
    if len(tags) > 1:
        raise DataError(f"{path}: holds {len(tags):,} runs, by their tags {named(tags)}: write each to its own file")
    (topic, topics), (document, documents) = lines.codes("topic"), lines.codes("document")
    score = lines.table["score"].to_numpy()
    lines.refuse(~np.isfinite(score), "score", "must be a finite number")
    if again := _repeated(topic, document, len(documents)):
        raise DataError(f"{_twice(lines, again)}: a run has it once, and trec_eval refuses it, too")
    order, tied, otherwise = _ranked(topic, score, _ranks(*lines.codes("rank")))
    notes = []
    if otherwise:
        notes.append(
            f"{path.name}: in {counted(otherwise, 'topic')} the ranks are in another order than the scores: ranked by "
            "score, the highest first, as trec_eval does; write distances as negative numbers"
        )
    starts = np.concatenate([[0], np.cumsum(np.bincount(topic, minlength=len(topics)))])
    return RankedRun(path, tags[0], topics, documents, starts, document[order], score[order], tied, tuple(notes))


def _ranked(topic: Codes, score: Floats, rank: Floats | None) -> tuple[NDArray[np.intp], int, int]:
    """Order lines by topic and score; returns their places, how many topics have ties, and how many other ranks."""
    with np.errstate(over="ignore"):
        single = score.astype(np.float32)  # trec_eval holds scores so: those that differ in later digits are tied
    order = np.lexsort((-single, topic))
    topics, scores = topic[order], single[order]
    same = topics[1:] == topics[:-1]
    tie = same & (scores[1:] == scores[:-1])
    above = np.zeros_like(tie) if rank is None else same & ~tie & (rank[order][1:] < rank[order][:-1])
    tied, otherwise = (len(np.unique(topics[1:][flags])) for flags in (tie, above))
    return order, tied, otherwise


def _ranks(codes: Codes, texts: Sequence[str]) -> Floats | None:
    """Return the ranks; None where some are no numbers, since trec_eval does not look at them."""
    try:
        return np.array(texts, float)[codes]
    except ValueError:
        return None


def _repeated(topic: Codes, document: Codes, documents: int) -> list[tuple[int, int]]:
    """Return the rows that repeat the topic and document of an earlier one, each after the row that it repeats."""
    pair = topic.astype(np.int64) * documents + document
    order = np.argsort(pair, kind="stable")
    again = np.flatnonzero(pair[order][1:] == pair[order][:-1])
    return sorted(zip(order[again + 1].tolist(), order[again].tolist(), strict=True))


def _twice(lines: Lines, rows: Sequence[tuple[int, int]]) -> str:
    """Return where a topic's document is listed again, and how often that happens."""
    row, first = rows[0]
    topic, document = (lines.table[name][row].as_py() for name in ("topic", "document"))
    more = f"; {len(rows):,} such lines" if len(rows) > 1 else ""
    place = f"{lines.path}:{lines.number(row)}"
    return f"{place}: document {document!r} of topic {topic!r} is listed again, after line {lines.number(first)}{more}"


def read_topic_documents(path: Path) -> dict[str, tuple[str, str]]:
    """Read which document each topic is about, and the document's domain, "" where none is given.

    The file has lines of `topic document` or `topic document domain`, between tabs or blanks, with or without a header.
    One that ends with .csv is a table with these columns, one with .json a mapping of topics to documents.

    Raises:
        DataError: the file cannot be read, or has two documents for one topic.
    """
    if path.suffix.lower() == ".json":
        return _from_json(path)
    if path.suffix.lower() == ".csv":
        return _from_csv(path)
    lines = read_lines(path, DOCUMENTS)
    names = lines.table.column_names
    columns = [[texts[code] for code in codes.tolist()] for codes, texts in map(lines.codes, names)]
    made: dict[str, tuple[str, str]] = {}
    domains = columns[2] if len(columns) > 2 else [""] * len(columns[0])
    for row, (topic, *about) in enumerate(zip(columns[0], columns[1], domains, strict=True)):
        if made.setdefault(topic, (about[0], about[1])) != (about[0], about[1]):
            raise DataError(f"{path}:{lines.number(row)}: topic {topic!r} has another document or domain above")
    return made


def _from_csv(path: Path) -> dict[str, tuple[str, str]]:
    """Read a table of topic, document and, if any, domain; names may be quoted, and a header is left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), start=1) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if rows and DOCUMENTS.is_header([name.encode() for name in rows[0][1]]):
        rows = rows[1:]
    documents: dict[str, tuple[str, str]] = {}
    for number, row in rows:
        if len(row) not in DOCUMENTS.fields or not all(row[:2]):
            raise DataError(
                f"{path}:{number}: must have a topic and a document, and may have a domain; it has {keys_of(row)}"
            )
        topic, about = row[0], (row[1], row[2] if len(row) > 2 else "")
        if documents.setdefault(topic, about) != about:
            raise DataError(f"{path}:{number}: topic {topic!r} has another document or domain above")
    if not documents:
        raise DataError(f"{path}: has no line of {DOCUMENTS.thing}")
    return documents


def _from_json(path: Path) -> dict[str, tuple[str, str]]:
    try:
        found = parse_json(path.read_bytes(), unique=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(found, Mapping) or not found or not all(isinstance(name, str) for name in found.values()):
        raise DataError(f"{path}: must be a mapping of topics to documents, both texts")
    return {topic: (document, "") for topic, document in found.items()}
