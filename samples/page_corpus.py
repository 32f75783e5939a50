"""Builds the sample of page_corpus: pages of mini as Parquet files in the layout of ViDoRe V3, from its `source/`.

`python -m samples.page_corpus` writes `benchmarks/page_corpus/sample/`. The columns and their types are those that the
hub shows for the sets of ViDoRe V3; the images are drawn small.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from ohr.benchmarks.mini import Mini

from . import BENCHMARKS, folder_to_write, read_yaml, small_png

SOURCE, SAMPLE = BENCHMARKS / "page_corpus/source", BENCHMARKS / "page_corpus/sample"
DPI, GRAYS = 112, 4
"""Resolution and grays of an image: twelve pages take half a megabyte, and Tesseract still reads them."""
LANGUAGES = ("english", "french")

_COLUMNS = {
    "corpus": "corpus_id image doc_id markdown page_number_in_doc",
    "queries": (
        "query_id query language query_types query_format content_type raw_answers query_generator "
        "query_generation_pipeline source_type query_type_for_generation answer"
    ),
    "qrels": "query_id corpus_id score content_type bounding_boxes",
    "documents_metadata": "file_name doc_id url doc_type doc_language doc_year visual_types page_number license",
}
_LISTS = ("query_types", "content_type", "raw_answers", "visual_types")
_NUMBERS = ("corpus_id", "query_id", "score", "page_number_in_doc", "doc_year", "page_number")


def tables() -> dict[str, Any]:
    """Return the table of each configuration."""
    import pyarrow

    source = read_yaml(SOURCE / "queries.yaml")
    corpus = list(_corpus(source["documents"]))
    queries = list(_queries(source["queries"]))
    numbers = {f"{row['doc_id']} {row['page_number_in_doc']}": row["corpus_id"] for row in corpus}
    rows = {
        "corpus": corpus,
        "queries": queries,
        "qrels": list(_judgments(source["queries"], numbers)),
        "documents_metadata": list(_documents(source["documents"])),
    }
    return {name: pyarrow.Table.from_pylist(found, _schema(name)) for name, found in rows.items()}


def write(into: Path) -> None:
    """Write each table to its file."""
    from pyarrow import parquet

    for name, table in tables().items():
        path = into / name / "test-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        # statistics would hold whole images, and a small file needs no dictionaries
        parquet.write_table(
            table, path, compression="zstd", row_group_size=5, write_statistics=False, use_dictionary=False
        )


def _schema(name: str) -> Any:
    import pyarrow as pa

    number, text = pa.int64(), pa.string()
    texts, image = pa.list_(text), pa.struct([("bytes", pa.binary()), ("path", text)])
    boxes = pa.list_(pa.struct([(side, number) for side in ("annotator", "x1", "x2", "y1", "y2")]))
    others = {
        "image": image,
        "bounding_boxes": boxes,
        **dict.fromkeys(_LISTS, texts),
        **dict.fromkeys(_NUMBERS, number),
    }
    return pa.schema([(column, others.get(column, text)) for column in _COLUMNS[name].split()])


def _corpus(documents: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    from PIL import Image

    mini, numbers = Mini(dpi=DPI), count()
    named = {document.name: document for document in mini.documents()}
    for about in documents:
        document = named[about["mini"]]
        for page in mini.pages(document)[: about["pages"]]:
            gray = Image.fromarray(mini.page_image(document, page.index)).convert("L").convert("RGB")
            yield {
                "corpus_id": next(numbers),
                "image": {"bytes": small_png(gray, GRAYS, bits=4), "path": f"{about['doc_id']}_{page.index}.png"},
                "doc_id": about["doc_id"],
                "markdown": page.text,
                "page_number_in_doc": page.index,
            }


def _queries(queries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for place, language in enumerate(LANGUAGES):
        for number, about in enumerate(queries):
            yield {
                "query_id": place * len(queries) + number,
                "query": about[language],
                "language": language,
                "query_types": about["types"],
                "query_format": about["format"],
                "content_type": about["content"],
                "raw_answers": [about["answer"]],
                "query_generator": "human",
                "query_type_for_generation": about["types"][0],
                "answer": about["answer"],
            }


def _judgments(queries: Sequence[Mapping[str, Any]], numbers: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    for number, about in enumerate([about for _ in LANGUAGES for about in queries]):
        for page, grade in about["pages"].items():
            yield {
                "query_id": number,
                "corpus_id": numbers[page],
                "score": grade,
                "content_type": about["content"],
                "bounding_boxes": [],
            }


def _documents(documents: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for about in documents:
        yield {
            "file_name": f"{about['doc_id']}.pdf",
            "doc_id": about["doc_id"],
            "doc_type": about["type"],
            "doc_language": "english",
            "doc_year": about["year"],
            "visual_types": about["visual_types"],
            "page_number": about["pages"],
            "license": "Apache-2.0",
        }


if __name__ == "__main__":
    write(folder_to_write(__doc__, sys.argv[1:], SAMPLE))
