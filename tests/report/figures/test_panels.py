"""From the tables of a run to the panels, curves and marks of its figures, and how these look."""

from math import isnan, nan

import pytest

from ohr.errors import DataError
from ohr.report.figures.panels import (
    Curve,
    Panel,
    System,
    bounds,
    counts,
    metric_rows,
    panels,
    read_panels,
)
from ohr.report.figures.style import HUES, INK, MARKERS, paler, style_of
from ohr.results.run import Run

NAMES = ("retrieval", "formatting", "tokens", "bm25", "", "lcs", "all")
"""The curve that `row` makes a level of."""


@pytest.fixture
def arranged(tables):
    def arrange(*rows, doses=(), axis="r_noise", metric=None, criticals=None):
        drawn, points = {}, tables.points(*rows)
        for dose in doses:
            drawn.setdefault(dose["condition"], []).append(dose[axis])
        return panels(points, drawn, axis, metric_rows(points, tables.headline, metric), criticals or {}, {})

    return arrange


# --- marks and curves -------------------------------------------------------------------------------------


def test_scores_are_given_in_percent_against_the_noise_of_the_whole_knowledge_base(arranged, tables):
    (panel,) = arranged(tables.row(x=0.25, mean=0.5))
    (mark,) = panel.marks
    assert (mark.x, mark.mean, *mark.interval) == pytest.approx((0.25, 50, 40, 60))
    assert (mark.bound("floor"), mark.bound("ceiling")) == pytest.approx((20, 90))
    assert (mark.point.n, mark.point.documents) == (90, 17)
    (panel,) = arranged(tables.row(x=0.25), axis="evidence_loss")
    assert panel.marks[0].x == 0.125


def test_points_are_in_order_of_noise_and_those_without_a_place_are_left_out(arranged, tables):
    (panel,) = arranged(*(tables.row(level=level, x=x) for level, x in ((0.6, 0.4), (0.1, 0.1), (0.3, 0.2))))
    assert [mark.x for mark in panel.curves[0].marks] == [0.1, 0.2, 0.4]
    for hole in ("mean", "kb_r_noise"):
        (panel,) = arranged(tables.row(), tables.row(level=0.6, x=0.4) | {hole: nan})
        assert [mark.x for mark in panel.marks] == [0.2]


def test_formatting_starts_at_the_clean_text_of_its_retriever_and_semantic_noise_at_its_own_lowest_level(
    arranged, tables
):
    scan = tables.row(noise="scan", noise_type="semantic", x=0.2)
    (panel,) = arranged(tables.clean(mean=0.8), tables.row(x=0.2, mean=0.6), tables.row(retriever="dense"), scan)
    curves = {(curve.noise, curve.system.retriever): curve.marks for curve in panel.curves}
    assert [(mark.x, mark.mean) for mark in curves["formatting", "bm25"]] == [(0, 80), (0.2, 60)]
    assert [mark.x for mark in curves["scan", "bm25"]] == [0.2]
    assert {name: len(marks) for name, marks in curves.items()} == {
        ("ground_truth", "bm25"): 1, ("formatting", "bm25"): 2, ("formatting", "dense"): 1, ("scan", "bm25"): 1
    }  # fmt: skip


def test_a_chunker_is_named_where_there_are_several(arranged, tables):
    (panel,) = arranged(tables.row())
    assert (panel.systems, panel.systems[0].search) == ([System("", "bm25", "")], "bm25")
    (panel,) = arranged(tables.row(chunker="tokens"), tables.row(chunker="page"))
    assert [system.search for system in panel.systems] == ["tokens + bm25", "page + bm25"]


def test_a_curve_with_a_critical_value_has_a_wider_band_of_all_levels(arranged, tables):
    rows = [tables.row(level=x, x=x, df=9.0, interval="logit") for x in (0.1, 0.2)]
    (panel,) = arranged(*rows, criticals={NAMES: 3.0})
    (curve,) = panel.curves
    for mark, (low, high) in zip(curve.marks, curve.joint, strict=True):
        assert 0 < low < mark.interval[0] < mark.interval[1] < high < 100
    assert curve.has_joint


@pytest.mark.parametrize(
    ("changed", "criticals"),
    [
        ({"df": 9.0, "interval": "logit"}, {}),
        ({"df": 9.0, "interval": "logit"}, {NAMES: nan}),
        ({"low": nan, "high": nan, "documents": 1, "n": 1}, {NAMES: 3.0}),
    ],
)
def test_without_a_critical_value_or_an_interval_no_band_of_all_levels_is_made_up(arranged, tables, changed, criticals):
    (panel,) = arranged(tables.row(**changed), criticals=criticals)
    assert not panel.curves[0].has_joint


def test_an_interval_is_within_0_and_100_as_scores_are_or_missing(arranged, tables):
    (panel,) = arranged(tables.row(mean=0.95, low=0.8, high=1.1), tables.row(level=0.6, mean=0.05, low=-0.1, high=0.2))
    assert [mark.interval for mark in panel.marks] == [pytest.approx((80, 100)), pytest.approx((0, 20))]
    (panel,) = arranged(tables.row(low=nan, high=nan, documents=3))
    assert isnan(panel.marks[0].interval[0]) and not panel.marks[0].has_interval


@pytest.mark.parametrize(("documents", "few"), [(4, True), (9, True), (10, False)])
def test_few_documents_are_fewer_than_ten(arranged, tables, documents, few):
    (panel,) = arranged(tables.row(documents=documents))
    assert panel.marks[0].few is few


@pytest.mark.parametrize(("drawn", "span"), [((0.22, 0.17, 0.21), (0.17, 0.22)), ((0.200001,), (0.2, 0.2))])
def test_replicates_span_a_range_of_noise_and_a_single_draw_has_none(arranged, tables, drawn, span):
    doses = [tables.dose(replicate=number, r_noise=x) for number, x in enumerate(drawn)]
    (panel,) = arranged(tables.row(x=0.2), doses=doses)
    assert (panel.marks[0].least, panel.marks[0].most) == span


# --- rows and columns -------------------------------------------------------------------------------------


def test_panels_follow_the_rows_and_columns_of_the_paper(arranged, tables):
    stages, groups = ("overall", "generation", "retrieval"), ("all", "reading_order", "table", "multimodal", "text")
    rows = [tables.row(stage, group=group) for stage in stages for group in groups]
    assert [(panel.stage, panel.group) for panel in arranged(*rows)] == [
        (stage, group)
        for stage in ("retrieval", "generation", "overall")
        for group in ("text", "multimodal", "reading_order", "all")
    ]


def test_pages_found_have_a_row_where_a_retriever_looks_at_them(arranged, tables):
    text = [tables.row(metric=metric) for metric in ("lcs", "hit@2", "mrr")]
    assert [panel.metric for panel in arranged(*text)] == ["lcs"]
    seen = [tables.row(metric=metric, retriever="colqwen", chunker=None) for metric in ("lcs", "hit@2", "mrr")]
    made = arranged(*text, *seen)
    assert [(panel.stage, panel.metric) for panel in made] == [("retrieval", "lcs"), ("pages found", "hit@2")]
    assert [system.retriever for system in made[1].systems] == ["bm25", "colqwen"]
    deeper = [tables.row(metric=metric, retriever="colqwen", chunker=None) for metric in ("lcs", "hit@5", "mrr")]
    assert arranged(*text, *deeper)[1].metric == "mrr"


@pytest.mark.parametrize(
    ("means", "shown"), [({"hit@5": 0.1, "lcs": 0.5, "mrr": 0.2}, ("lcs", 50)), ({"own": 0.1, "mrr": 0.2}, ("own", 10))]
)
def test_the_published_metric_is_shown_or_where_a_run_lacks_it_its_first(arranged, tables, means, shown):
    (panel,) = arranged(*(tables.row(metric=metric, mean=mean) for metric, mean in means.items()))
    assert (panel.metric, *(mark.mean for mark in panel.marks)) == shown


def test_an_asked_for_metric_has_the_rows_of_the_stages_that_know_it(arranged, tables):
    rows = [tables.row(metric="mrr"), tables.row(), tables.row("overall"), tables.row("overall", metric="mrr")]
    assert [(panel.stage, panel.metric) for panel in arranged(*rows, metric="f1")] == [("overall", "f1")]
    assert [panel.stage for panel in arranged(*rows, metric="mrr")] == ["retrieval", "overall"]
    with pytest.raises(DataError, match="this run has no metric 'ndcg'; choose one of: mrr, lcs, f1"):
        arranged(*rows, metric="ndcg")


def test_only_the_asked_for_columns_are_read(tmp_path, tables):
    folder = tables.write(tmp_path, [tables.row(group=group) for group in ("text", "multimodal", "all")])
    assert [panel.group for panel in read_panels(Run(folder), "r_noise", columns=("all", "text"))] == ["text", "all"]


# --- floors, ceilings and counts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("floors", "bound"), [((0.2, 0.21), [((), (20.5,))]), ((0.3, 0.1), [((0.1, 0.2), (30, 10))]), ((nan, nan), [])]
)
def test_a_floor_that_hardly_moves_is_level_and_one_that_moves_is_followed(arranged, tables, floors, bound):
    (panel,) = arranged(*(tables.row(x=x, floor=floor) for x, floor in zip((0.1, 0.2), floors, strict=True)))
    assert [(floor.x, pytest.approx(floor.y)) for floor in bounds(panel, "floor")] == bound


def test_a_shared_bound_is_given_once_and_belongs_to_nobody(arranged, tables):
    (panel,) = arranged(tables.row(), tables.row(retriever="dense", ceiling=0.7))
    (floor,) = bounds(panel, "floor")
    assert floor.system is None
    assert [ceiling.system for ceiling in bounds(panel, "ceiling")] == panel.systems


def test_a_bound_that_depends_on_the_generator_belongs_to_the_generator(arranged, tables):
    rows = [
        tables.row("overall", retriever=retriever, generator=generator, ceiling=ceiling)
        for retriever in ("bm25", "dense")
        for generator, ceiling in (("small", 0.5), ("large", 0.7))
    ]
    (panel,) = arranged(*rows)
    assert [bound.system for bound in bounds(panel, "ceiling")] == [System("", "", "small"), System("", "", "large")]


@pytest.mark.parametrize(
    ("first", "second", "short", "said"),
    [
        ({}, {}, False, "n = 90 questions, 17 docs"),
        ({}, {"n": 80, "documents": 15}, False, "n = 80–90 questions, 15–17 docs"),
        ({}, {"failed": 2}, False, "n = 90 (≤ 2 failed), 17 docs"),
        ({"n": 1, "documents": 1}, {"n": 1, "documents": 1}, False, "n = 1 question, 1 doc"),
        ({"n": 1, "documents": 1}, {"n": 1, "documents": 1}, True, "n = 1, 1 doc"),
    ],
)
def test_a_panel_counts_its_questions_and_documents(arranged, tables, first, second, short, said):
    (panel,) = arranged(tables.row(**first), tables.row(level=0.6, **second))
    assert counts([mark.point for mark in panel.marks], short=short) == said


# --- runs that cannot be drawn ----------------------------------------------------------------------------


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: (folder / "summary.parquet").unlink(), "{}/summary.parquet: cannot be read: no such file"),
        (lambda folder: cut(folder / "summary.parquet"), "{}/summary.parquet: cannot be read: "),
        (lambda folder: cut(folder / "doses.parquet"), "{}/doses.parquet: cannot be read: "),
        (
            lambda folder: (folder / "doses.parquet").replace(folder / "summary.parquet"),
            "{}/summary.parquet: has no column ",
        ),
    ],
)
def test_a_table_that_is_missing_damaged_or_of_something_else_is_refused_in_a_sentence(tmp_path, tables, harm, said):
    harm(tables.write(tmp_path, [tables.row()]))
    with pytest.raises(DataError) as error:
        read_panels(Run(tmp_path), "r_noise")
    assert str(error.value).startswith(said.format(tmp_path)) and "\n" not in str(error.value)


@pytest.mark.parametrize("rows", [[], ["page"]])
def test_a_run_that_only_read_pages_has_nothing_to_draw(tmp_path, tables, rows):
    with pytest.raises(DataError) as error:
        read_panels(Run(tables.write(tmp_path, [tables.row(stage) for stage in rows])), "r_noise")
    assert str(error.value) == (
        f"{tmp_path / 'summary.parquet'}: nothing to draw: no score of retrieval, generation, overall with its r_noise"
    )


# --- colors and markers -----------------------------------------------------------------------------------


def styled(*curves):
    curves = tuple(Curve(noise, kind, system, ()) for noise, kind, system in curves)
    return style_of([Panel("overall", "all", "f1", curves)])


def of(retriever="bm25", generator="small", noise="formatting", kind="formatting"):
    return noise, kind, System("", retriever, generator)


def test_a_retriever_has_one_hue_and_a_generator_one_tone():
    style = styled(of("bm25", "small"), of("bm25", "large"), of("dense", "small"), of("dense", "large"))
    assert style.color(System("", "bm25", "small")) == HUES[0]
    assert style.color(System("", "dense", "small")) == HUES[1]
    assert style.color(System("", "dense", "large")) == paler(HUES[1], 0.45)
    assert styled(of(retriever="")).color(System("", "", "small")) == INK  # without a retriever


def test_clean_text_needs_no_marker_and_formatting_noises_come_first():
    style = styled(of(noise="ground_truth", kind="none"), of(noise="scan", kind="semantic"), of(), of(noise="tables"))
    assert style.markers == {"scan": MARKERS[0], "formatting": MARKERS[1], "tables": MARKERS[2]}
    assert style.noises == ["formatting", "tables", "scan"]


@pytest.mark.parametrize("count", [7, 13])
def test_palettes_begin_again_when_they_end(count):
    style = styled(*(of(f"retriever {i}", noise=f"noise {i}") for i in range(count)))
    assert style.hues[f"retriever {len(HUES)}"] == HUES[0]
    assert len(style.markers) == count


@pytest.mark.parametrize("count", [2, 3, 5])
def test_tones_differ_and_never_vanish(count):
    tones = styled(*(of(generator=str(i)) for i in range(count))).tones
    assert len(set(tones.values())) == count
    assert max(tones.values()) <= 0.6
