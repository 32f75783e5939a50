"""The page of engines has the rows that the kept studies give."""

from pathlib import Path

import pytest

from studies import parser_rows

PAGE = Path(__file__).parents[1] / "docs" / "seven-engines.md"


@pytest.mark.acceptance  # scores 250 pages in two versions
def test_the_page_has_the_rows_of_the_kept_studies():
    values, page = parser_rows.all_values(), PAGE.read_text(encoding="utf-8").splitlines()
    rows = [*parser_rows.engine_rows(values), *parser_rows.correlation_rows(values)]
    assert len(rows) == 21 and [row for row in rows if row not in page] == []


def test_tests_pass_on_the_page_that_they_were_written_from():
    row = "| Harbor dues for vessels | 412 | 1999 |"
    page = f"The harbor master of the quay counts 412 dues for all vessels.\n\n| dues | a | b |\n|---|---|---|\n{row}\n"
    pages = {"one": page, "two": page}
    tests = parser_rows.tests(pages)["one"]
    passed = {test.type: parser_rows.run(test, page).passed for test in tests}
    assert passed == {"baseline": True, "present": True, "table": True}
    assert not any(parser_rows.run(test, "").passed for test in tests)
