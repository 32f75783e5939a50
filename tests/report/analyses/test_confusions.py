"""The words that an engine confused, of a run's texts."""

from collections.abc import Mapping

import pyarrow
import pyarrow.parquet
import pytest

from ohr.report.analyses import confusions
from ohr.results.run import Run
from ohr.results.tables.schema import schema


@pytest.fixture
def run(tmp_path):
    """Write the texts of a clean and an OCR condition, page by page."""

    def made(clean: str, read: str):
        tables: Mapping[str, list[dict[str, object]]] = {"texts": [], "pages": []}
        for condition, kind, text in (("clean", "none", clean), ("ocr", "semantic", read)):
            about = {"kb": condition, "condition": condition, "replicate": 0, "document": "law/lease", "page": 0}
            tables["texts"].append({**about, "text": text})
            tables["pages"].append({**about, "noise_type": kind})
        for name, rows in tables.items():
            pyarrow.parquet.write_table(
                pyarrow.Table.from_pylist(rows, schema=schema(name)), tmp_path / f"{name}.parquet"
            )
        return [(row["truth"], row["read"]) for row in confusions(Run(tmp_path))]

    return made


def test_a_word_that_a_line_cuts_is_no_confusion(run):
    clean = "The repair will cost six million and is due in February"
    assert run(clean, "The repair will cost six mil-\nlion and is due in Febru-\nary") == []


def test_marks_that_an_engine_leaves_out_are_no_confusion_and_vowel_signs_are(run):
    assert run("«दिल्ली» in February", "दिल्ली। in February") == []
    assert run("किताबे here", "किताबों here") == [("किताबे", "किताबों")]


def test_a_word_that_was_misread_is_one(run):
    assert run("due in February of each year", "due in Fcbruary of each year") == [("february", "fcbruary")]


def test_words_that_are_joined_where_a_list_ends_are_no_confusion():
    from ohr.report.analyses import _confused

    truth = ["sales", "fy15", "2nd", "half", "rose"]
    assert list(_confused(truth, ["sales", "fy152nd", "half", "rose", "2nd"])) == []
    assert [pair for pair, _ in _confused(truth, ["sales", "fyl5", "2nd", "half", "rose"])] == [("fy15", "fyl5")]
