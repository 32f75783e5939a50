"""Models that read pages: several workers share one copy."""

import pytest

from ohr.results.tables.read_table import read_rows

from .conftest import PLUGINS

COUNTED = '''\
"""A document model that logs each time that it is loaded, and in which process."""

import os
from pathlib import Path
from typing import Literal

from ohr.ocr.transformers_ocr import TransformersOcr


class Counted(TransformersOcr):
    """Logs its loads."""

    kind: Literal["counted"] = "counted"
    log: Path

    def _load(self):
        with self.log.open("a") as log:
            log.write(f"{os.getpid()}\\n")
        return super()._load()
'''

SPEC = """\
plugins: [{PLUGINS}, ./counted.py]
replicates: 1
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: read, ocr: {kind: counted, model: MODEL, log: ./loads, max_tokens: 4, batch_size: 2}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


@pytest.mark.acceptance
def test_two_workers_load_one_copy_of_a_model(home, tiny_document_model):
    (home.folder / "counted.py").write_text(COUNTED)
    path = home.folder / "spec.yaml"
    path.write_text(SPEC.replace("{PLUGINS}", str(PLUGINS)).replace("MODEL", str(tiny_document_model)))
    finished = home.run_file(path, workers=2)
    assert [failure.reason for failure in finished.ledger.failures] == []
    pages = [row for row in read_rows(finished.folder / "readings.parquet") if row["kb"] == "read"]
    assert len(pages) == 8
    assert {row["tokens_out"] for row in pages} <= {1, 2, 3, 4}
    assert len((home.folder / "loads").read_text().split()) == 1
