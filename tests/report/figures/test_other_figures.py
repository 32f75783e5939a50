"""Figures that only some runs have: drawn where a run has what they show, for any names and numbers."""

import xml.etree.ElementTree as ElementTree
from itertools import pairwise, product
from math import nan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ohr.report.figures.choices import Wanted, save
from ohr.report.figures.drawing import draw
from ohr.report.figures.other_figures import decomposition
from ohr.report.figures.panels import NothingToDraw
from ohr.report.figures.picture import DPI
from ohr.report.figures.plots import Plots
from ohr.results.run import Run
from ohr.results.tables.table_files import Tables

pytest.importorskip("matplotlib")

WIDTH = 7.0

PARTS = ("total", "index_alone", "reading_alone", "gain_of_repairing_index", "gain_of_repairing_reading", "overlap")


def losses(condition="scan-0.3", stage="retrieval", retriever="bm25", generator=None, **other):
    """Return the rows of one condition and pipeline."""
    metric = "lcs" if stage == "retrieval" else "f1"
    about = {"stage": stage, "condition": condition, "chunker": "tokens", "retriever": retriever, "metric": metric}
    numbers = {"low": -0.1, "high": 0.3, "se": 0.1, "df": 9.0, "n": 90, "failed": 0, "documents": 17, "note": ""}
    return [
        {**about, "generator": generator, "evidence_source": "all", "quantity": part, "value": 0.1, **numbers, **other}
        for part in PARTS
    ]


CASES = {
    "one block": losses(),
    "both stages": [*losses(), *losses(stage="overall", generator="extractive")],
    "points only": losses(low=nan, high=nan, se=nan, df=nan, documents=3),
    "a loss of nothing": losses(value=0.0, low=0.0, high=0.0),
    "undefined": losses(value=nan, low=nan, high=nan),
    "signs of mathtext": losses("_cost_$5^{", retriever="a$\\b$c_d"),
    "long names": losses("scan of " + 30 * "very " + "old paper", retriever="r" * 90),
    "right to left": losses("\u05e1\u05e8\u05d9\u05e7\u05d4", retriever="<script>"),
    "many of everything": [
        row for n, r, g in product(range(5), range(2), range(5)) for row in losses(f"n{n}", "overall", f"r{r}", f"g{g}")
    ],
    "more than a page holds": [row for n in range(62) for row in losses(f"n{n}")],
}


def drawn(tables, folder, rows):
    tables.write(folder, [tables.row()])
    with Tables(folder, ("decomposition",)) as made:
        made.append_rows("decomposition", rows)
    return save(decomposition(Run(folder), Wanted()), folder / "decomposition", ["svg", "png"], force=False, own=True)


OFTEN = [case for case in CASES if case != "many of everything"]  # "more than a page holds" has more of the same


@pytest.mark.parametrize("case", [*OFTEN, pytest.param("many of everything", marks=pytest.mark.acceptance)])
def test_losses_are_drawn_with_ink_inside_the_page_only(tables, tmp_path, monkeypatch, case):
    monkeypatch.setitem(DPI, "paper", 72)
    svg, png = drawn(tables, tmp_path, CASES[case])
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    width, height = tables.size(png)
    assert width >= WIDTH * 72 and height < 40 * 72


def test_the_same_run_gives_the_same_bytes(tables, tmp_path):
    first = [file.read_bytes() for file in drawn(tables, tmp_path, CASES["one block"])]
    assert [file.read_bytes() for file in draw(Run(tmp_path)) if file.stem == "decomposition"] == first


def test_a_run_without_losses_by_stage_has_no_such_figure(tables, tmp_path):
    folder = tables.write(tmp_path, [tables.row()])
    assert {file.stem for file in draw(Run(folder))} == {"comparison"}
    with pytest.raises(NothingToDraw, match="no losses by stage; ask for them with `decompose: true`"):
        Plots(Run(folder)).decomposition()


def test_a_slide_is_16_to_9_and_holds_a_metric_that_was_asked_for(tables, tmp_path):
    drawn(tables, tmp_path, [*CASES["both stages"], *losses(metric="mrr")])
    figure = Plots(Run(tmp_path)).decomposition(metric="mrr", style="slides")
    assert tuple(figure.get_size_inches()) == pytest.approx((40 / 3, 7.5))
    assert [axes.get_xlabel() for axes in figure.axes] == ["loss of mrr (points)"]


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
