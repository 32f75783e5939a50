import json
from pathlib import Path

import pytest

from ohr.benchmarks.mini import Mini


def write_base(folder: Path, texts: dict[str, list[str]]) -> Path:
    """Write a knowledge base in OHRBench's layout."""
    for document, pages in texts.items():
        path = folder / f"{document}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([{"page_idx": i, "text": text} for i, text in enumerate(pages)]), encoding="utf-8")
    return folder


@pytest.fixture
def base():
    """Write a knowledge base."""
    return write_base


@pytest.fixture
def keys() -> dict[str, object]:
    """The benchmark's keys in a spec."""
    return {"kind": "mini", "languages": ["en"], "domains": ["law", "manual", "finance"], "max_pages": 1}


@pytest.fixture
def mini(keys) -> Mini:
    return Mini(**keys)


@pytest.fixture
def texts(mini) -> dict[str, list[str]]:
    """The benchmark's ground truth by document."""
    return {document.name: [page.text for page in mini.pages(document)] for document in mini.documents()}
