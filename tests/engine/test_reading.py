"""Pages and documents as OCR engines get them: batches, whole documents, markup, and what is kept of a page."""

import pytest

from ohr.errors import SpecError
from ohr.results.tables.read_table import read_rows

from .conftest import warnings

SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: read, ocr: {OCR}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


def texts(finished):
    rows = read_rows(finished.folder / "texts.parquet")
    return {(row["document"], row["page"]): row["text"] for row in rows if row["kb"] == "read"}


def readings(finished):
    return read_rows(finished.folder / "readings.parquet")


def spec(ocr):
    return SPEC.replace("OCR", ocr)


def test_pages_after_the_last_result_of_an_engine_fail_one_by_one(home):
    finished = home.run(spec("kind: marked, stops_after: 2, log: batches"))
    assert len(texts(finished)) == 8
    failed = [failure.reason for failure in finished.ledger.failures]
    assert failed == []  # what is left of a batch is asked again, without the pages that were read


def test_a_document_is_read_as_a_whole_even_where_some_of_its_pages_are_wanted(home):
    finished = home.run(spec("kind: whole, log: reads"))
    assert (home.folder / "reads").read_text().count(": 2 pages") == 4
    assert texts(finished)["law/0", 1].endswith("2 of 2")
    assert {row["seconds"] for row in readings(finished)} == {1.5}


def test_a_document_with_another_number_of_results_fails_as_a_whole(home):
    finished = home.run(spec("kind: whole, pages: 3"))
    assert {failure.reason for failure in finished.ledger.failures} == {"the engine returned 3 results for 2 pages"}
    assert len(finished.ledger.failures) == 8


def test_one_page_of_a_document_fails_alone(home):
    finished = home.run(spec("kind: whole, bad: value"))
    assert [failure.item for failure in finished.ledger.failures] == ["read: law/0 page 2"]


def test_pages_are_read_in_batches_over_documents_and_another_markup_reads_none_again(home):
    plain = home.run(spec("kind: marked, log: batches"))
    latex = home.run(spec("kind: marked, log: batches, markup: ohrbench"))
    assert (home.folder / "batches").read_text().split() == ["3", "3", "2"]
    assert len(texts(plain)) == 8
    before, after = texts(plain)["law/0", 0], texts(latex)["law/0", 0]
    assert before.startswith("Annals\n\n## Title\n\n[law/0 page 0]") and "<td>Ada</td>" in before
    assert after.startswith("## Title\n\n[law/0") and "\\begin{tabular}" in after and "<td>" not in after


def test_a_page_that_was_cut_is_kept_and_counted(home):
    finished = home.run(spec("kind: marked, finish: length"))
    assert "read: 8 pages cut at the longest reply, kept as far as they go" in warnings(finished)
    assert {row["finish"] for row in readings(finished)} == {"length"}
    assert {row["tokens_out"] for row in readings(finished)} == {7}
    assert any("read by several: 2 pages by fin" in line for line in warnings(finished))


def test_an_unknown_markup_is_refused(home):
    with pytest.raises(SpecError, match="must be as_is or ohrbench"):
        home.run(spec("kind: marked, markup: ohrbnch"))
