"""A small copy of the benchmark in the published layout, to be broken by tests."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image


@dataclass
class Copy:
    """A folder with records of one document of three pages."""

    root: Path

    def record(self, number: int = 0, **changes: Any) -> dict[str, Any]:
        """A record without faults, but for the changes."""
        return {
            "question_id": f"test-{number}",
            "doc_id": "report",
            "doc_type": "Company Research",
            "question": "What is the margin?",
            "evidence": {"table": [2, 2], "plain_text": [3]},
            "python_solution": "def solution():\n    return 3 / 4 * 100",
            "ground_truth": 75.0,
            "source_id": "s",
            "pages_num": 3,
            "images": [f"images/report/page_{page}.png" for page in (1, 2, 3)],
            "texts": "texts/report.json",
            **changes,
        }

    def files(self) -> None:
        """Write page images and texts."""
        for page in (1, 2, 3):
            path = self.root / f"images/report/page_{page}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("L", (4, 6), page).save(path)
        self.put("texts/report.json", ["one", "two", "three"])

    def put(self, name: str, value: object) -> None:
        """Write a value as JSON, or text or bytes as they are."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, bytes):
            path.write_bytes(value)
        else:
            path.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), "utf-8")

    def write(self, *records: Any) -> Path:
        """Write the records with their files."""
        self.files()
        self.put("test.json", list(records))
        return self.root


@pytest.fixture
def copy(tmp_path) -> Copy:
    """An empty folder."""
    return Copy(tmp_path)
