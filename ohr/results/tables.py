"""Tables of a run, written as rows come."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS

Row = Mapping[str, Any]

SCHEMAS = {
    "scores": (
        "question_id document domain evidence_source answer_form task_type multi_page:bool kb noise noise_type knob "
        "knob_value replicate:int64 chunker retriever generator stage status metric value:double"
    ),
    "hits": "question_id kb chunker retriever rank:int64 score:double document page:int64 start:int64 end:int64 text",
    "answers": (
        "question_id stage kb chunker retriever generator answer reply tokens_in:int64 tokens_out:int64 "
        "seconds:double finish truncated:bool error"
    ),
    "pages": " ".join(
        [
            "kb noise noise_type knob knob_value replicate:int64 document domain page:int64 sources",
            "edit_distance:double edit_distance_content:double empty:bool redundant:int64",
            *(f"commands_{kind}:int64" for kind in KINDS),
            *(f"{count}:int64" for count in COUNTS),
        ]
    ),
    "edits": "kb noise knob_value replicate:int64 document page:int64 rule edits:int64",
    "texts": "kb replicate:int64 document page:int64 text error",
}


class Tables:
    def __init__(self, folder: Path) -> None:
        import pyarrow
        from pyarrow import parquet

        self._schemas = {}
        self._writers = {}
        for name, columns in SCHEMAS.items():
            fields = [column.partition(":")[::2] for column in columns.split()]
            schema = pyarrow.schema([(n, pyarrow.type_for_alias(kind or "string")) for n, kind in fields])
            self._schemas[name] = schema
            self._writers[name] = parquet.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd")

    def append(self, name: str, rows: Iterable[Row]) -> None:
        import pyarrow

        rows = [dict(row) for row in rows]
        if rows:
            self._writers[name].write_table(pyarrow.Table.from_pylist(rows, self._schemas[name]))

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()
