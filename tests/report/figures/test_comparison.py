"""Conditions side by side: a row each, its score and its loss, and no interval where there is none."""

from itertools import product
from math import nan

import pytest

from ohr.errors import DataError, SpecError
from ohr.report.figures.choices import Wanted
from ohr.report.figures.conditions_figure import MOST, read_sections
from ohr.report.figures.drawing import draw
from ohr.report.figures.plots import Plots
from ohr.results.run import Run

pytest.importorskip("matplotlib")

STAGES = ("retrieval", "overall")
STYLES = ("paper", "slides")


def engine(tables, name, stage="retrieval", mean=0.6, clean=0.8, **other):
    """The row of an engine, paired with the clean text."""
    lost = clean - mean
    paired = {"pairs": 80, "clean_mean": clean, "lost": lost, "lost_low": lost - 0.05, "lost_high": lost + 0.05}
    paired |= {"lost_inner_low": lost - 0.04, "lost_inner_high": lost + 0.04, "verdict": "worse"}
    return tables.row(stage, name, "semantic", None, 0.2, mean, **{**paired, **other})


def run_of(tables, folder, names=("tesseract", "rapidocr"), retrievers=("bm25", "dense"), margin=0.02, **other):
    """A run of engines."""
    rows = [
        row
        for stage in STAGES
        for retriever in retrievers
        for row in (
            tables.clean(stage, retriever=retriever, **other),
            *(engine(tables, name, stage, retriever=retriever, **other) for name in names),
        )
    ]
    tables.write(folder, rows)
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"spec": {}', f'"spec": {{"margin": {margin}}}'))
    return folder


@pytest.fixture(scope="module")
def engines(tables, tmp_path_factory):
    return run_of(tables, tmp_path_factory.mktemp("engines"))


@pytest.fixture(scope="module")
def figure(engines):
    return Plots(Run(engines)).comparison()


def test_each_stage_has_scores_at_the_left_and_losses_at_the_right(figure):
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "LCS (%)", "← gain   loss to noise (points) →", "F1 (%)", "← gain   loss to noise (points) →"
    ]  # fmt: skip
    left, right, *_ = figure.axes
    assert left.get_position().x1 < right.get_position().x0
    assert left.get_ylim() == right.get_ylim()


def test_a_row_is_a_condition_in_a_system_with_the_same_order_in_each(figure):
    left, right, *_ = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["ground_truth", "tesseract", "rapidocr"] * 2
    assert [text.get_text() for text in left.texts] == ["bm25", "dense"]
    assert not right.yaxis.get_tick_params()["labelleft"]


def test_scores_and_paired_losses_are_where_the_table_says(figure):
    left, right, *_ = figure.axes
    assert sorted(line.get_xdata()[0] for line in left.lines if line.get_marker() == "o") == pytest.approx([60] * 4)
    assert sorted(line.get_xdata()[0] for line in right.lines if line.get_marker() == "o") == pytest.approx([20] * 4)
    spans = [segment[:, 0].tolist() for held in right.collections for segment in held.get_segments()]
    assert spans == [pytest.approx([15, 25])] * 4


def test_the_right_axes_hold_zero_the_margin_and_every_interval(figure):
    low, high = figure.axes[1].get_xlim()
    assert low < -2 and high > 25
    (band,) = figure.axes[1].patches
    assert (band.get_x(), band.get_width()) == pytest.approx((-2, 4))


def test_without_a_clean_side_there_are_scores_only(tables, tmp_path):
    rows = [tables.row(noise=name, level=None) for name in ("tesseract", "rapidocr")]
    (axes,) = Plots(Run(tables.write(tmp_path, rows))).comparison().axes
    assert axes.get_xlabel() == "LCS (%)"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["tesseract", "rapidocr"]


def test_one_question_has_points_and_no_interval(tables, tmp_path):
    ends = ("low", "high", "lost_low", "lost_high")
    folder = run_of(tables, tmp_path, ["tesseract"], ["bm25"], n=1, documents=1, **dict.fromkeys(ends, nan))
    figure = Plots(Run(folder)).comparison()
    assert [len(axes.collections) for axes in figure.axes] == [0] * 4
    assert "fewer than 10 documents (no interval below 5)" in [text.get_text() for text in figure.legends[0].texts]
    assert "n = 1, 1 doc" in [text.get_text() for text in figure.texts]
    with pytest.raises(SpecError, match="too narrow"):
        Plots(Run(folder)).comparison(width=2)


def test_a_metric_and_groups_can_be_chosen(engines):
    (section,) = read_sections(Run(engines), "all", "f1")
    assert (section.title, section.metric, len(section.rows)) == ("Overall", "f1", 6)
    with pytest.raises(DataError, match="no metric 'rouge'; choose one of: lcs, f1"):
        Plots(Run(engines)).comparison(metric="rouge")
    with pytest.raises(DataError, match="nothing to draw"):
        Plots(Run(engines)).comparison(columns=["text"])


def test_of_very_many_rows_the_first_are_drawn_which_the_title_says(tables, tmp_path):
    rows = [engine(tables, f"engine {number}") for number in range(MOST + 5)]
    (section,) = read_sections(Run(tables.write(tmp_path, rows)), "all", None)
    assert len(section.rows) == MOST
    assert section.title == "Retrieval (the first 60 of 65 rows)"


CASES = {
    "two engines": {},
    "odd names": {"names": ["$x_1^{", "<script>", "\u05de\u05e0\u05d5\u05e2", "n" * 80]},
    "many": {"names": [f"engine {number}" for number in range(12)], "retrievers": ["bm25", "dense", "hybrid"]},
    "no margin": {"margin": 0},
    "all zero": {"mean": 0.0, "low": 0.0, "high": 0.0, "lost": 0.0, "lost_low": nan, "lost_high": nan, "margin": 0},
}


OFTEN = [("many", "slides"), ("odd names", "paper"), ("all zero", "paper")]
RARE = [pytest.param(*drawn, marks=pytest.mark.acceptance) for drawn in product(CASES, STYLES) if drawn not in OFTEN]


@pytest.mark.parametrize(("case", "style"), [*OFTEN, *RARE])
def test_any_run_is_drawn_with_ink_inside_the_page_only(tables, tmp_path, case, style):
    folder = run_of(tables, tmp_path, **CASES[case])
    (file,) = (path for path in draw(Run(folder), Wanted(style=style), ["png"]) if path.stem.startswith("comparison"))
    assert tables.size(file) == (1920, 1080) or style != "slides"
