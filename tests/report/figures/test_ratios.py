"""The share of each protocol number that is left: a panel for each number of each pipeline."""

from itertools import pairwise
from math import nan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ohr.report.figures.panels import NothingToDraw
from ohr.results.run import Run

pytest.importorskip("matplotlib")

CHUNKERS = ("tokens-128", "tokens-2048", "tokens-8192")


def write(folder, **changed):
    rows = [
        {
            "stage": "overall", "condition": condition, "chunker": chunker, "retriever": "a_long_name",
            "generator": "canned", "name": "accuracy", "ratio": 0.5, "ratio_low": nan, "ratio_high": nan,
            "documents": 3, "ratio_of": "clean", **changed,
        }
        for chunker in CHUNKERS
        for condition in ("blur", "scan")
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), folder / "aggregates.parquet")
    return folder


def test_titles_of_panels_beside_each_other_do_not_overlap(tmp_path):
    from ohr.report.figures.choices import Wanted
    from ohr.report.figures.other_figures import ratios

    figure = ratios(Run(write(tmp_path)), Wanted())
    figure.canvas.draw()
    titles = [axes.title if axes.get_title() else axes._left_title for axes in figure.axes]
    assert [title.get_text().split("\n")[0] for title in titles] == list(CHUNKERS)
    boxes = [title.get_window_extent() for title in titles]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert all(box.y1 <= figure.bbox.y1 for box in boxes)


def test_without_a_ratio_there_is_nothing_to_draw(tmp_path):
    from ohr.report.figures.choices import Wanted
    from ohr.report.figures.other_figures import ratios

    with pytest.raises(NothingToDraw, match="no protocol number is compared with clean pages"):
        ratios(Run(write(tmp_path, ratio=nan)), Wanted())
