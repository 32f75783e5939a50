"""Where a page corpus has its parts: a folder of Parquet files for each configuration, as the hub lays them out."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ohr.errors import DataError
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


def _of_split(folder: Path, wanted: str | None) -> tuple[Path, ...]:
    splits: dict[str, list[Path]] = defaultdict(list)
    parts: dict[str, int] = {}
    for path in sorted(folder.rglob("*.parquet")):
        numbered, inside = _NUMBERED.match(path.stem), path.relative_to(folder).parts
        split = inside[0] if len(inside) > 1 else numbered[1] if numbered else path.stem
        splits[split].append(path)
        parts[split] = int(numbered[2]) if numbered else 1
    if not splits:
        raise DataError(f"{folder}: has no Parquet file; there is {_content(folder)}")
    default = _TEST if _TEST in splits else next(iter(splits)) if len(splits) == 1 else None
    split = wanted or default
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
        wanted = "; ".join(f"the {part} ({' or '.join(known[part])})" for part in lacking)
        raise DataError(f"{path}: has no column for {wanted}; its columns are {', '.join(there) or 'none'}")
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
