from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from ohr.benchmarks.page_corpus import PageCorpus


def png(shade: int = 255, size: tuple[int, int] = (6, 4)) -> bytes:
    content = BytesIO()
    Image.new("RGB", size, (shade, shade, shade)).save(content, "PNG")
    return content.getvalue()


def page(number: int, document: str = "lease", index: int = 0, text: str = "It began in 1964.", **more) -> dict:
    image = {"bytes": png(number), "path": f"{number}.png"}
    known = {"corpus_id": number, "image": image, "doc_id": document, "markdown": text, "page_number_in_doc": index}
    return known | more


def query(number: int, text: str = "When?", language: str = "english", **more) -> dict:
    return {"query_id": number, "query": text, "language": language, **more}


def judged(query: int, page: int, score: float = 1) -> dict:
    return {"query_id": query, "corpus_id": page, "score": score}


class PageSet:
    """A data set that a test puts together: two documents, the first of two pages."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.corpus = [page(0), page(1, index=1, text="It ends in 2034."), page(2, "bylaw", text="Sleep.")]
        self.queries = [query(0, answer="1964")]
        self.qrels = [judged(0, 0)]
        self.documents: list[dict] | None = None

    def write(self, name: str, rows: list[dict], file: str = "test-00000-of-00001", **how) -> Path:
        path = self.root / name / f"{file}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.Table.from_pylist(rows), path, **how)
        return path

    def save(self) -> Path:
        self.write("corpus", self.corpus)
        self.write("queries", self.queries)
        self.write("qrels", self.qrels)
        if self.documents is not None:
            self.write("documents_metadata", self.documents)
        return self.root

    def benchmark(self, **fields) -> PageCorpus:
        return PageCorpus(root=self.save(), **fields)


@pytest.fixture
def pages(tmp_path) -> PageSet:
    return PageSet(tmp_path / "harbour set")
