"""Fetches the public data sets of BEIR from the hub, and puts their files where `layout` looks for them.

On the hub a data set is two repositories (seen in 2025): `BeIR/NAME` with `corpus` and `queries`, as `.jsonl.gz` in
older commits and as folders of Parquet files in newer ones, and `BeIR/NAME-qrels` with a `.tsv` for each split.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from filecmp import cmp
from pathlib import Path

from ohr.errors import DataError
from ohr.files import hub
from ohr.messages.wording import counted, named

from .data_set import splits

DOCUMENTS_AND_QUERIES = {
    "arguana": (8_674, 1_406),
    "climate-fever": (5_416_593, 1_535),
    "dbpedia-entity": (4_635_922, 400),
    "fever": (5_416_568, 6_666),
    "fiqa": (57_638, 648),
    "hotpotqa": (5_233_329, 7_405),
    "msmarco": (8_841_823, 6_980),
    "nfcorpus": (3_633, 323),
    "nq": (2_681_468, 3_452),
    "quora": (522_931, 10_000),
    "scidocs": (25_657, 1_000),
    "scifact": (5_183, 300),
    "trec-covid": (171_332, 50),
    "webis-touche2020": (382_545, 49),
}
"""By name on the hub: documents, and queries of the split that is evaluated (`test`; of msmarco `validation`).

From Table 1 of Thakur et al. (2021), arXiv:2104.08663, in which CQADupStack, of twelve data sets, and those that are
not public are listed too.
"""

_PARTS = ("corpus", "queries")


def fetch(folder: Path, revision: str | None, name: str, *, endpoint: str | None = None) -> Sequence[str]:
    """Download a data set as `ohr.files.hub.fetch` does, and return lines to print.

    Args:
        revision: of the repository with corpus and queries; that of the judgments is the one of an earlier fetch, or
            the newest.
    """
    if not (folder / hub.RECORD).is_file():  # nothing was fetched into this folder before
        for target in (folder / f"{part}.jsonl" for part in _PARTS):
            if target.exists():
                raise DataError(
                    f"{target}: is there already and not the hub's: move it, or name another folder with --to"
                )
    texts = hub.fetch(f"BeIR/{name}", folder, revision, wanted=_is_text, endpoint=endpoint)
    judged = hub.fetch(f"BeIR/{name}-qrels", folder / "qrels", wanted=_is_judgments, endpoint=endpoint)
    written = [_as_json_lines(folder, part) for part in _PARTS]
    return [texts.line, judged.line, *filter(None, written), f"splits: {', '.join(splits(folder))}", f"root: {folder}"]


def _is_text(name: str) -> bool:
    return name in {f"{part}.jsonl.gz" for part in _PARTS} or (
        name.endswith(".parquet") and name.split("/")[0] in _PARTS
    )


def _is_judgments(name: str) -> bool:
    return name.endswith(".tsv") and "/" not in name


def _as_json_lines(folder: Path, part: str) -> str:
    """Write the Parquet files of a part as JSON Lines; return a line to print, empty where there are none.

    A file that is there and differs is kept as `<name>.bak-<time>`.
    """
    shards = sorted((folder / part).glob("*.parquet"))
    if not shards:
        if not (folder / f"{part}.jsonl.gz").is_file():
            raise DataError(f"{folder}: the hub has no {part}.jsonl.gz and no {part}/*.parquet of this data set")
        return ""
    import pyarrow.parquet

    target, rows = folder / f"{part}.jsonl", 0
    unfinished = target.with_name(f".{target.name}.part")
    with unfinished.open("w", encoding="utf-8") as out:
        for shard in shards:
            for batch in pyarrow.parquet.ParquetFile(shard).iter_batches():
                for row in batch.to_pylist():
                    out.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
                    rows += 1
    if target.is_file() and not cmp(target, unfinished, shallow=False):
        target.rename(target.with_name(f"{target.name}.bak-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"))
    unfinished.replace(target)
    return f"{target.name}: {counted(rows, 'row')} of {named([shard.name for shard in shards])}"
