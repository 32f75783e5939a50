"""The Parquet files of a page corpus: where its parts are, as the hub lays them out; images, and known data sets."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from ohr.contracts import Image, Tally
from ohr.errors import DataError
from ohr.files import hub
from ohr.files.below import files_below
from ohr.files.changes import State, state_of
from ohr.files.images import image_of
from ohr.files.json_input import mapping_in
from ohr.messages.wording import counted, named

if TYPE_CHECKING:
    from pyarrow import DataType, Table
    from pyarrow.parquet import ParquetFile

SAMPLE = Path(__file__).parent / "sample"
"""The shipped sample, which `root: sample` names."""

NAMES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "corpus": {
        "id": ("corpus_id", "id", "_id"),
        "image": ("image",),
        "text": ("markdown", "text"),
        "document": ("doc_id",),
        "page number": ("page_number_in_doc", "page_number", "page"),
    },
    "queries": {
        "id": ("query_id", "id", "_id"),
        "text": ("query", "text"),
        "answer": ("answer", "gold_answer"),
        "answers": ("raw_answers", "written_answers", "answers"),
        "language": ("language",),
        "query_type": ("query_types",),
        "query_format": ("query_format",),
        "content_type": ("content_type",),
    },
    "qrels": {"query": ("query_id",), "page": ("corpus_id",), "grade": ("score",)},
    "documents": {"document": ("doc_id",), "language": ("doc_language", "language")},
}
"""Parts that are read of each configuration, and the names that their columns may have; `-` counts as `_`.

The names are those of the sets of ViDoRe V1 (BEIR form), V2 and V3, of their copies in MTEB's form, and of KoViDoRe V2.
"""
NEEDED = {"corpus": ("id",), "queries": ("id", "text"), "qrels": ("query", "page", "grade")}
FOLDERS = {
    "corpus": ("corpus",),
    "queries": ("queries",),
    "qrels": ("qrels",),
    "documents": ("documents_metadata", "document_metadata", "docs"),
}
"""The folders that a configuration may be in; the documents may be missing."""

_TEST = "test"
_NUMBERED = re.compile(r"(.+)-\d+-of-(\d+)")
"""The name of one of several files of a split; older ones have a hash behind it."""
_POINTER = b"version https://git-lfs"
_BUFFER = 1 << 20


class Shard(NamedTuple):
    """A Parquet file, and the names that it has for the columns that are read, by what they hold."""

    path: Path
    columns: Mapping[str, str]


def parquet_files(root: Path, split: str | None) -> dict[str, tuple[Path, ...]]:
    """List the Parquet files of one split of each configuration that is there.

    Args:
        split: None for the only one, or of several `test`.

    Raises:
        DataError: a configuration, the split or one of its files is missing; the message says what is there.
    """
    if not root.is_dir():
        raise DataError(f"{root}: no such folder")
    files = {}
    for configuration, folders in FOLDERS.items():
        folder = next((root / name for name in folders if (root / name).is_dir()), None)
        if folder is not None:
            files[configuration] = _of_split(folder, split)
        elif configuration in NEEDED:
            needed = ", ".join(NEEDED)
            raise DataError(
                f"{root}: has no folder {folders[0]}; there is {_content(root)}. A page corpus has {needed}"
            )
    return files


def _of_split(folder: Path, chosen: str | None) -> tuple[Path, ...]:
    splits: dict[str, list[Path]] = defaultdict(list)
    parts: dict[str, int] = {}
    for path in files_below(folder, ".parquet"):
        numbered, inside = _NUMBERED.match(path.stem), path.relative_to(folder).parts
        split = inside[0] if len(inside) > 1 else numbered[1] if numbered else path.stem
        splits[split].append(path)
        parts[split] = int(numbered[2]) if numbered else 1
    if not splits:
        raise DataError(f"{folder}: has no Parquet file; there is {_content(folder)}")
    default = _TEST if _TEST in splits else next(iter(splits)) if len(splits) == 1 else None
    split = chosen or default
    if split is None or split not in splits:
        fault = "has several splits" if split is None else f"has no split {split!r}"
        raise DataError(f"{folder}: {fault}: choose one of {', '.join(sorted(splits))} as `split`")
    if len(splits[split]) < parts[split]:
        there, whole = len(splits[split]), counted(parts[split], "file")
        raise DataError(f"{folder}: has {there} of {whole} of the split {split}: the download is not complete")
    return tuple(splits[split])


def _content(folder: Path) -> str:
    return named(sorted(path.name for path in folder.iterdir())) or "nothing"


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Turn whatever Arrow raises on a damaged file into a DataError."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(f"{path}: cannot be read as Parquet: {reason}") from None


def open_parquet(path: Path) -> "ParquetFile":
    """Open a Parquet file to be read piece by piece.

    Raises:
        DataError: it is no Parquet file.
    """
    from pyarrow.parquet import ParquetFile

    with faults_of(path):
        with path.open("rb") as raw:
            start = raw.read(len(_POINTER))
        if start == _POINTER:
            fetch = "`git lfs pull` in its repository, or `ohr data get page_corpus`"
            raise DataError(f"{path}: is a pointer of git-lfs, not the data: run {fetch}")
        # what is read of a column is a page at a time: its row group may have hundreds of megabytes of images
        return ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)


def shard(path: Path, configuration: str) -> Shard:
    """Find the columns of a Parquet file.

    Raises:
        DataError: one is missing; the message says which there are.
    """
    there = list(open_parquet(path).schema_arrow.names)
    plain = {name.casefold().replace("-", "_"): name for name in reversed(there)}
    known = NAMES[configuration]
    columns = {
        part: next(plain[name] for name in names if name in plain)
        for part, names in known.items()
        if any(name in plain for name in names)
    }
    lacking = [part for part in NEEDED.get(configuration, ()) if part not in columns]
    if configuration == "corpus" and not {"image", "text"} & columns.keys():
        lacking.append("image")
    if lacking:
        needed = "; ".join(f"the {part} ({' or '.join(known[part])})" for part in lacking)
        raise DataError(f"{path}: has no column for {needed}; its columns are {', '.join(there) or 'none'}")
    return Shard(path, columns)


def read_columns(read: Shard, parts: Sequence[str]) -> "Table":
    """Read those columns of a file that it has, under the names of the parts."""
    held = {read.columns[part]: part for part in parts if part in read.columns}
    with faults_of(read.path):
        table = open_parquet(read.path).read(columns=list(held))
        return table.rename_columns([held[name] for name in table.column_names])


def require_text(read: Shard, part: str, kind: "DataType") -> None:
    """Raise a DataError unless a column holds texts."""
    from pyarrow import types

    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)):
        raise DataError(f"{read.path}: the column {read.columns[part]} must hold texts, and is of the type {kind}")


def read_image_row(path: Path, column: str, row: int) -> Image:
    """Read the image of a row.

    Args:
        column: a struct with the field `bytes`, as the library `datasets` writes images, or the bytes themselves.

    Raises:
        DataError: there is none, or it is damaged.
    """
    content = _reader(path, column, state_of(path)).content(row)
    if not isinstance(content, bytes) or not content:
        raise DataError(f"{path}: row {row}: has no bytes of an image in the column {column}")
    return image_of(content, f"{path}: row {row}: the image")


class _Reader:
    """Reads a column row by row, on from the last one: pages are mostly read in their order.

    Another row costs what is before it in its row group, which in the hub's sets of images is of at most 100 rows.
    """

    def __init__(self, path: Path, column: str) -> None:
        self._path, self._lock, self._file = path, Lock(), open_parquet(path)
        about, schema = self._file.metadata, self._file.schema
        leaves = {schema.column(place).path for place in range(len(schema))}
        self._leaf = f"{column}.bytes" if f"{column}.bytes" in leaves else column
        self._starts = [0, *accumulate(about.row_group(group).num_rows for group in range(about.num_row_groups))]
        self._group, self._next = -1, 0
        self._values: Iterator[Any] = iter(())

    def content(self, row: int) -> Any:
        """Return the value of a row; of a struct, its bytes."""
        group = bisect_right(self._starts, row) - 1
        with self._lock:
            if group != self._group or row < self._next:
                self._group, self._next, self._values = group, self._starts[group], self._rows(group)
            for value in self._values:
                self._next += 1
                if self._next > row:
                    return value.get("bytes") if isinstance(value, dict) else value
        raise DataError(f"{self._path}: has no row {row}")

    def _rows(self, group: int) -> Iterator[Any]:
        with faults_of(self._path):
            batches = self._file.iter_batches(1, row_groups=[group], columns=[self._leaf], use_threads=False)
            yield from (batch.column(0)[0].as_py() for batch in batches)


@lru_cache(maxsize=2)
def _reader(path: Path, column: str, state: State) -> _Reader:  # noqa: ARG001 # the state is a key
    return _Reader(path, column)


_V3 = ("computer_science", "energy", "finance_en", "finance_fr", "hr", "industrial", "pharmaceuticals", "physics")
_V2 = ("biomedical_lectures_v2", "economics_reports_v2", "esg_reports_human_labeled_v2", "esg_reports_v2")
_V1 = (
    "arxivqa_test_subsampled_beir", "docvqa_test_subsampled_beir", "infovqa_test_subsampled_beir",
    "shiftproject_test_beir", "syntheticDocQA_artificial_intelligence_test_beir", "syntheticDocQA_energy_test_beir",
    "syntheticDocQA_government_reports_test_beir", "syntheticDocQA_healthcare_industry_test_beir",
    "tabfquad_test_subsampled_beir", "tatdqa_test_beir",
)  # fmt: skip

REPOSITORIES = {name: f"vidore/{name}" for name in (*(f"vidore_v3_{name}" for name in _V3), *_V2, *_V1)}
"""Repositories of the hub by name: the public sets of ViDoRe V3, V2 and V1."""

_ROWS = {
    "vidore_v3_computer_science": (1_360, 1_290, 6_294, 2),
    "vidore_v3_energy": (2_225, 1_848, 6_618, 41),
    "vidore_v3_finance_en": (2_942, 1_854, 8_766, 6),
    "vidore_v3_finance_fr": (2_384, 1_920, 8_808, 5),
    "vidore_v3_hr": (1_110, 1_908, 10_386, 14),
    "vidore_v3_industrial": (5_244, 1_698, 9_684, 27),
    "vidore_v3_pharmaceuticals": (2_313, 2_184, 10_392, 52),
    "vidore_v3_physics": (1_674, 1_812, 13_068, 42),
}
"""Rows of the pages, queries (in six languages), judgments and documents, as the hub counted them in October 2026."""
_COUNTED = {"corpus": "pages", "queries": "queries", "qrels": "judgments", "documents": "documents"}


def tallies(root: Path, split: str | None) -> list[Tally]:
    """Count the rows of a copy beside the published ones; none where its set is not known.

    Args:
        root: a folder that was fetched, or has the name of the set.
    """
    name = Path(str(mapping_in(root / hub.RECORD).get("repository") or root.name)).name
    if name not in _ROWS:
        return []
    files = parquet_files(root, split)
    return [
        Tally(what, sum(open_parquet(path).metadata.num_rows for path in files[part]) if part in files else None, rows)
        for (part, what), rows in zip(_COUNTED.items(), _ROWS[name], strict=True)
    ]


def fetch(repository: str, folder: Path, revision: str | None = None, *, endpoint: str | None = None) -> Sequence[str]:
    """Download the Parquet files of a set as `ohr.files.hub.fetch` does, and return lines to print."""
    wanted = (*chain(*FOLDERS.values()),)
    fetched = hub.fetch(
        repository,
        folder,
        revision,
        wanted=lambda name: name == "README.md" or (name.endswith(".parquet") and name.partition("/")[0] in wanted),
        endpoint=endpoint,
    )
    return [fetched.line, f"root: {folder}"]
