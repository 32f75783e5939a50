import xml.etree.ElementTree as ElementTree
from itertools import pairwise, product
from math import nan

import pytest
from PIL import Image

from ohr.errors import SpecError
from ohr.report.figures.choices import Wanted
from ohr.report.figures.curves_figure import performance
from ohr.report.figures.drawing import draw
from ohr.report.figures.picture import DPI
from ohr.report.figures.plots import Plots
from ohr.results.run import Run
from ohr.results.tables.table_files import Tables

pytest.importorskip("matplotlib")

WIDTH = 7.0
STAGES = ("retrieval", "generation", "overall")
GROUPS = ("text", "multimodal", "reading_order", "all")


@pytest.fixture(scope="module")
def whole(tables, tmp_path_factory):
    """A run with everything that a figure can show."""
    places = list(product(STAGES, GROUPS))
    rows = [tables.clean(stage, group=group) for stage, group in places]
    for level in (0.1, 0.3, 0.6):
        for noise, kind in (("formatting", "formatting"), ("scan", "semantic")):
            rows += [tables.row(s, noise, kind, level, level, 0.8 - level / 2, group=g) for s, g in places]
    doses = [tables.dose(level=0.3, replicate=number, r_noise=0.28 + number / 50) for number in range(3)]
    return tables.write(tmp_path_factory.mktemp("whole"), rows, doses)


@pytest.fixture(scope="module")
def files(whole):
    return draw(Run(whole), Wanted(x="evidence_loss"))


def odd_cases(tables):
    """Return rows that a figure must survive."""
    many = product(range(6), range(3), range(2), (0.1, 0.4))
    return {
        "one point": [tables.row(noise="scan", noise_type="semantic")],
        "clean only": [tables.clean()],
        "no noise at all": [tables.clean(kb_r_noise=0, mean=0.0, low=0, high=0, floor=nan, ceiling=nan)],
        "no intervals": [tables.row(level=x, x=x, low=nan, high=nan, documents=3) for x in (0.1, 0.2)],
        "a hole in the band": [
            tables.row(level=x, x=x, low=0.5 if x != 0.2 else nan, high=0.7 if x != 0.2 else nan)
            for x in (0.1, 0.2, 0.3, 0.4)
        ],
        "generation only": [tables.row("generation"), tables.clean("generation")],
        "a panel missing": [tables.row(group="text"), tables.row("generation")],
        "several chunkers": [tables.row("overall", chunker=chunker) for chunker in ("tokens", "page")],
        "long names": [tables.row(noise="scan of " + 30 * "very " + "old paper", retriever="r" * 90)],
        "signs of mathtext": [tables.row(noise="_cost_$5^{", retriever="a$\\b$c_d")],
        "many long names": [tables.row(noise=f"{n}-" + "w" * 50, level=n, x=n / 20) for n in range(14)],
        "many of everything": [
            tables.row("overall", f"n{n}", "semantic", x, x, 0.5, retriever=f"r{r}", generator=f"g{g}")
            for n, r, g, x in many
        ],
    }


OFTEN = ("one point", "no noise at all", "no intervals", "a hole in the band", "a panel missing")
OFTEN += ("signs of mathtext", "many long names", "many of everything")
RARE = ("clean only", "generation only", "several chunkers", "long names")  # the former have much of these
CASES = [*OFTEN, *(pytest.param(case, marks=pytest.mark.acceptance) for case in RARE)]


def test_a_figure_is_as_wide_as_a_page(files):
    svg, png = files
    with Image.open(png) as image:
        image.load()
        assert image.width == WIDTH * 200
        assert 0.6 * image.width < image.height < 1.2 * image.width
    root = ElementTree.parse(svg).getroot()
    assert root.get("width") == f"{WIDTH * 72:g}pt"


def test_the_same_run_gives_the_same_bytes_whatever_the_readers_settings(bands):
    import matplotlib

    wanted = Wanted(x="r_noise", columns=("all",))
    first = [file.read_bytes() for file in draw(Run(bands), wanted)]
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30}):
        assert [file.read_bytes() for file in draw(Run(bands), wanted)] == first
        assert matplotlib.rcParams["lines.linewidth"] == 9


def test_an_svg_says_no_date_and_needs_no_font(files):
    text = files[0].read_text()
    assert "dc:date" not in text
    assert "<text" not in text


@pytest.mark.parametrize("case", CASES)
def test_odd_runs_are_drawn_with_ink_inside_the_page_only(tables, tmp_path, monkeypatch, case):
    monkeypatch.setitem(DPI, "paper", 72)
    folder = tables.write(tmp_path, odd_cases(tables)[case])
    (file,) = draw(Run(folder), Wanted(x="r_noise"), ["png"])
    assert tables.size(file)


@pytest.fixture(scope="module")
def bands(tables, tmp_path_factory):
    """A run with one noise, a wide interval in a small group, and critical values of its curves."""
    folder = tmp_path_factory.mktemp("bands")
    about = {"df": 9.0, "interval": "logit"}
    rows = [tables.row(level=x, x=x, mean=0.3, low=0.25, high=0.35, ceiling=0.4, **about) for x in (0.1, 0.2, 0.4)]
    rows += [tables.row(level=x, x=x, mean=0.3, low=0.01, high=0.94, group="text", **about) for x in (0.1, 0.2, 0.4)]
    tables.write(folder, rows)
    names = ("stage", "noise", "noise_type", "chunker", "retriever", "generator", "metric", "group")
    curves = [{name: rows[place][name] for name in names} for place in (0, -1)]
    numbers = {"quantity": "critical", "axis": "", "other": None, "value": 3.5, "interval": "", "note": ""}
    numbers |= dict.fromkeys(("low", "high", "se", "df", "from", "to", "range_low", "range_high"), nan) | {
        "n": 9,
        "documents": 9,
        "levels": 4,
    }
    with Tables(folder, ("curves",)) as made:
        made.append_rows("curves", [{**about, **numbers} for about in curves])
    return folder


@pytest.fixture(scope="module")
def drawn(bands):
    """Its curves with the bands that hold at all levels, where they are drawn by themselves, and without them."""
    return {joint: Plots(Run(bands)).performance(joint=joint) for joint in (None, False)}


@pytest.mark.parametrize("joint", [None, False])
def test_no_band_is_cut_at_the_axis(drawn, joint):
    for axes in drawn[joint].axes:
        low, high = axes.get_ylim()
        assert low <= axes.dataLim.y0 and axes.dataLim.y1 <= high
        assert low > -5 and high < 105


def test_the_axis_is_as_high_as_the_intervals_and_no_higher(bands):
    (axes,) = Plots(Run(bands)).performance(columns=["all"], joint=False).axes
    assert axes.get_ylim() == pytest.approx((-1.2, 41.2))


def test_bands_of_all_levels_are_lines_that_the_legend_explains(drawn):
    lines = {joint: len(drawn[joint].axes[0].lines) for joint in drawn}
    assert lines[None] == lines[False] + 2
    texts = {joint: {text.get_text() for legend in drawn[joint].legends for text in legend.texts} for joint in drawn}
    assert texts[None] - texts[False] == {"95% band of all levels together"}


def test_a_slide_is_16_to_9_with_a_column_for_each_stage(whole):
    figure = Plots(Run(whole)).performance(style="slides")
    assert tuple(figure.get_size_inches()) == pytest.approx((40 / 3, 7.5))
    assert len(figure.axes) == 3
    assert figure.axes[0].yaxis.get_ticklabels()[0].get_size() > 14
    assert [axes.texts[-1].get_text() for axes in figure.axes] == [
        "Retrieval: LCS (%)", "Generation: F1 (%)", "Overall: F1 (%)"
    ]  # fmt: skip


def test_a_narrow_page_has_the_column_of_all_questions_or_says_that_there_are_too_many(whole):
    figure = Plots(Run(whole)).performance(width=3.3, metric="lcs")
    assert figure.get_figwidth() == pytest.approx(3.3)
    assert len(figure.axes) == 1
    with pytest.raises(SpecError, match=r"3.3 inches are too narrow for 4 columns: choose fewer of them"):
        Plots(Run(whole)).performance(width=3.3, columns=GROUPS)


def test_a_notebook_shows_a_figure_in_its_own_style_and_no_list_of_figures_holds_it(drawn):
    import matplotlib
    from matplotlib._pylab_helpers import Gcf

    first = drawn[None]._repr_png_()
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "savefig.dpi": 20}):
        assert drawn[None]._repr_png_() == first
    assert first.startswith(b"\x89PNG")
    assert not Gcf.get_all_fig_managers()


@pytest.mark.parametrize(("count", "angle"), [(4, 12), (16, 90)])
def test_many_conditions_are_named_upright_without_an_overlap(tables, tmp_path, count, angle):
    rows = [tables.clean(), *(tables.row(noise=f"condition {n}", level=None, x=n / 20) for n in range(count - 1))]
    names = ["ground_truth", *(f"condition {n}" for n in range(count - 1))]
    doses = [tables.dose(name, None) for name in names]
    figure = performance(Run(tables.write(tmp_path, rows, doses)), "condition", Wanted("condition"))
    labels = figure.axes[0].get_xticklabels()
    assert {label.get_rotation() for label in labels} == {float(angle)}
    boxes = sorted((label.get_window_extent().x0, label.get_window_extent().x1) for label in labels)
    assert angle == 12 or all(first[1] <= second[0] for first, second in pairwise(boxes))
