"""A small data set in BEIR's layout, of which tests change one thing."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ohr.benchmarks.beir import Beir


def lines(records):
    return "".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records)


@dataclass
class DataSet:
    """Records, or lines as they are in the files."""

    root: Path
    corpus: list = field(default_factory=list)
    queries: list = field(default_factory=list)
    judgments: str = "query-id\tcorpus-id\tscore\nq1\td1\t1\n"

    def write(self) -> Path:
        (self.root / "qrels").mkdir(parents=True, exist_ok=True)
        (self.root / "corpus.jsonl").write_text(lines(self.corpus), encoding="utf-8")
        (self.root / "queries.jsonl").write_text(lines(self.queries), encoding="utf-8")
        (self.root / "qrels/test.tsv").write_text(self.judgments, encoding="utf-8", newline="")
        return self.root

    def read(self, **fields) -> Beir:
        return Beir(root=self.write(), **fields)


@pytest.fixture
def data_set(tmp_path) -> DataSet:
    corpus = [
        {"_id": "d1", "title": "Berth fees", "text": "A night costs 14 crowns."},
        {"_id": "d2", "title": "", "text": "The ferry leaves at noon."},
        {"_id": "d3", "text": "Ice is made in the ice house."},
    ]
    queries = [{"_id": "q1", "text": "What does a berth cost?"}, {"_id": "q2", "text": "When does the ferry leave?"}]
    return DataSet(tmp_path / "port", corpus, queries)
