import json
import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pypdfium2
import pytest


@pytest.fixture(scope="session")
def naive():
    """The plain second implementation; test folders are no packages, so it is loaded by its path."""
    pytest.importorskip("nltk")
    pytest.importorskip("rank_bm25")
    spec = spec_from_file_location("ohrbench_naive", Path(__file__).with_name("naive.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The real benchmark's folder."""
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    return Path(os.environ["OHRBENCH_DATA"])


class Folder:
    """A benchmark folder that a test fills."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[dict[str, object]] = []
        self.document("gt", "law/lease", "The lease began in 1964.", "Rent is due in May.")
        self.question("q1")

    def document(self, base: str, name: str, *texts: object) -> Path:
        return self.file(base, name, [{"page_idx": index, "text": text} for index, text in enumerate(texts)])

    def file(self, base: str, name: str, content: object) -> Path:
        path = self.root / "retrieval_base" / base / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def pdf(self, name: str) -> None:
        """Write a PDF with one page of 72 x 144 points."""
        path = self.root / "pdfs" / f"{name}.pdf"
        path.parent.mkdir(parents=True, exist_ok=True)
        made = pypdfium2.PdfDocument.new()
        made.new_page(72, 144)
        made.save(path)

    def question(self, name: object, file: str = "qas.json", **other: object) -> None:
        self.asked.append(
            {
                "ID": name,
                "doc_name": "law/lease",
                "questions": "When did the lease begin?",
                "answers": "1964",
                "doc_type": "law",
                "answer_form": "Numeric",
                "evidence_source": "text",
                "evidence_context": "began in 1964",
                "evidence_page_no": 0,
                **other,
            }
        )
        (self.root / file).write_text(json.dumps(self.asked), encoding="utf-8")


@pytest.fixture
def folder(tmp_path) -> Folder:
    return Folder(tmp_path)
