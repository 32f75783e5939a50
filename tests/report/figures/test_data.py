from math import isnan, nan

import pytest

from ohr.errors import DataError
from ohr.report.figures.panels import System, bounds, counts, metric_rows, panels, read_panels
from ohr.results.run import Run

BM25 = System("", "bm25", "")


@pytest.fixture
def arranged(tables):
    def arrange(*rows, doses=(), axis="r_noise", metric=None, criticals=None):
        drawn, points = {}, tables.points(*rows)
        for dose in doses:
            drawn.setdefault(dose["condition"], []).append(dose[axis])
        return panels(points, drawn, axis, metric_rows(points, tables.headline, metric), criticals or {})

    return arrange


def test_scores_are_given_in_percent_against_the_noise_of_the_whole_knowledge_base(arranged, tables):
    (panel,) = arranged(tables.row(x=0.25, mean=0.5))
    (mark,) = panel.marks
    assert (mark.x, mark.mean, *mark.interval) == pytest.approx((0.25, 50, 40, 60))
    assert (mark.bound("floor"), mark.bound("ceiling")) == pytest.approx((20, 90))
    assert (mark.point.n, mark.point.documents) == (90, 17)


def test_evidence_loss_is_the_other_axis(arranged, tables):
    (panel,) = arranged(tables.row(x=0.25), axis="evidence_loss")
    assert panel.marks[0].x == 0.125


def test_points_are_in_order_of_noise(arranged, tables):
    (panel,) = arranged(*(tables.row(level=level, x=x) for level, x in ((0.6, 0.4), (0.1, 0.1), (0.3, 0.2))))
    assert [mark.x for mark in panel.curves[0].marks] == [0.1, 0.2, 0.4]


def test_formatting_starts_at_the_clean_text(arranged, tables):
    (panel,) = arranged(tables.clean(mean=0.8), tables.row(x=0.2, mean=0.6))
    curve = next(curve for curve in panel.curves if curve.noise == "formatting")
    assert [(mark.x, mark.mean) for mark in curve.marks] == [(0, 80), (0.2, 60)]


def test_pages_found_have_a_row_where_a_retriever_looks_at_them(arranged, tables):
    text = [tables.row(metric=metric) for metric in ("lcs", "hit@2", "mrr")]
    assert [panel.metric for panel in arranged(*text)] == ["lcs"]
    seen = [tables.row(metric=metric, retriever="colqwen", chunker=None) for metric in ("lcs", "hit@2", "mrr")]
    made = arranged(*text, *seen)
    assert [(panel.stage, panel.metric) for panel in made] == [("retrieval", "lcs"), ("pages found", "hit@2")]
    assert [system.retriever for system in made[1].systems] == ["bm25", "colqwen"]
    deeper = [tables.row(metric=metric, retriever="colqwen", chunker=None) for metric in ("lcs", "hit@5", "mrr")]
    assert arranged(*text, *deeper)[1].metric == "mrr"


def test_semantic_noise_starts_at_its_own_lowest_level(arranged, tables):
    (panel,) = arranged(tables.clean(), tables.row(noise="scan", noise_type="semantic", x=0.2))
    curve = next(curve for curve in panel.curves if curve.noise == "scan")
    assert [mark.x for mark in curve.marks] == [0.2]


def test_the_clean_point_of_one_retriever_is_not_that_of_another(arranged, tables):
    (panel,) = arranged(tables.clean(), tables.row(), tables.row(retriever="dense"))
    lengths = {(curve.noise, curve.system.retriever): len(curve.marks) for curve in panel.curves}
    assert lengths == {("ground_truth", "bm25"): 1, ("formatting", "bm25"): 2, ("formatting", "dense"): 1}


def test_panels_follow_the_rows_and_columns_of_the_paper(arranged, tables):
    stages, groups = ("overall", "generation", "retrieval"), ("all", "reading_order", "table", "multimodal", "text")
    rows = [tables.row(stage, group=group) for stage in stages for group in groups]
    assert [(panel.stage, panel.group) for panel in arranged(*rows)] == [
        (stage, group)
        for stage in ("retrieval", "generation", "overall")
        for group in ("text", "multimodal", "reading_order", "all")
    ]


def test_other_metrics_stay_out_beside_the_published_one(arranged, tables):
    (panel,) = arranged(tables.row(metric="hit@5", mean=0.1), tables.row(mean=0.5), tables.row(metric="mrr", mean=0.2))
    assert (panel.metric, [mark.mean for mark in panel.marks]) == ("lcs", [50])


def test_a_run_without_the_published_metric_shows_its_first(arranged, tables):
    (panel,) = arranged(tables.row(metric="own", mean=0.1), tables.row(metric="mrr", mean=0.2))
    assert (panel.metric, len(panel.marks)) == ("own", 1)


def test_an_asked_for_metric_has_the_rows_of_the_stages_that_know_it(arranged, tables):
    rows = [tables.row(metric="mrr"), tables.row(), tables.row("overall"), tables.row("overall", metric="mrr")]
    assert [(panel.stage, panel.metric) for panel in arranged(*rows, metric="f1")] == [("overall", "f1")]
    assert [panel.stage for panel in arranged(*rows, metric="mrr")] == ["retrieval", "overall"]
    with pytest.raises(DataError, match="this run has no metric 'ndcg'; choose one of: mrr, lcs, f1"):
        arranged(*rows, metric="ndcg")


def test_only_the_asked_for_columns_are_read(tmp_path, tables):
    folder = tables.write(tmp_path, [tables.row(group=group) for group in ("text", "multimodal", "all")])
    assert [panel.group for panel in read_panels(Run(folder), "r_noise", columns=("all", "text"))] == ["text", "all"]


NAMES = ("retrieval", "formatting", "tokens", "bm25", "", "lcs", "all")
"""The curve that `row` makes a level of."""


def test_a_curve_with_a_critical_value_has_a_wider_band_of_all_levels(arranged, tables):
    rows = [tables.row(level=x, x=x, df=9.0, interval="logit") for x in (0.1, 0.2)]
    (panel,) = arranged(*rows, criticals={NAMES: 3.0})
    (curve,) = panel.curves
    for mark, (low, high) in zip(curve.marks, curve.joint, strict=True):
        assert 0 < low < mark.interval[0] < mark.interval[1] < high < 100
    assert curve.has_joint


@pytest.mark.parametrize("criticals", [{}, {NAMES: nan}])
def test_without_a_critical_value_no_band_of_all_levels_is_made_up(arranged, tables, criticals):
    (panel,) = arranged(tables.row(df=9.0, interval="logit"), criticals=criticals)
    assert not panel.curves[0].has_joint


def test_one_document_has_no_band_at_all(arranged, tables):
    (panel,) = arranged(tables.row(low=nan, high=nan, documents=1, n=1), criticals={NAMES: 3.0})
    assert not panel.curves[0].has_joint and not panel.marks[0].has_interval


def test_an_interval_is_within_0_and_100_as_scores_are(arranged, tables):
    (panel,) = arranged(tables.row(mean=0.95, low=0.8, high=1.1), tables.row(level=0.6, mean=0.05, low=-0.1, high=0.2))
    assert [mark.interval for mark in panel.marks] == [pytest.approx((80, 100)), pytest.approx((0, 20))]


def test_a_single_chunker_goes_without_saying(arranged, tables):
    (panel,) = arranged(tables.row())
    assert panel.systems == [BM25]
    assert panel.systems[0].search == "bm25"


def test_several_chunkers_are_several_curves(arranged, tables):
    (panel,) = arranged(tables.row(chunker="tokens"), tables.row(chunker="page"))
    assert [system.search for system in panel.systems] == ["tokens + bm25", "page + bm25"]


def test_a_missing_interval_is_missing(arranged, tables):
    (panel,) = arranged(tables.row(low=nan, high=nan, documents=3))
    assert isnan(panel.marks[0].interval[0])
    assert not panel.marks[0].has_interval


@pytest.mark.parametrize(("documents", "few"), [(4, True), (9, True), (10, False)])
def test_few_documents_are_fewer_than_ten(arranged, tables, documents, few):
    (panel,) = arranged(tables.row(documents=documents))
    assert panel.marks[0].few is few


@pytest.mark.parametrize("hole", ["mean", "kb_r_noise"])
def test_a_point_without_a_place_is_left_out(arranged, tables, hole):
    (panel,) = arranged(tables.row(), tables.row(level=0.6, x=0.4) | {hole: nan})
    assert [mark.x for mark in panel.marks] == [0.2]


def test_replicates_span_a_range_of_noise(arranged, tables):
    doses = [tables.dose(replicate=number, r_noise=x) for number, x in enumerate((0.22, 0.17, 0.21))]
    (panel,) = arranged(tables.row(), doses=doses)
    assert (panel.marks[0].least, panel.marks[0].most) == (0.17, 0.22)


def test_a_single_draw_has_no_range(arranged, tables):
    (panel,) = arranged(tables.row(x=0.2), doses=[tables.dose(r_noise=0.200001)])
    assert panel.marks[0].least == panel.marks[0].most == 0.2


def test_a_floor_that_hardly_moves_is_level(arranged, tables):
    (panel,) = arranged(*(tables.row(x=x, floor=floor) for x, floor in ((0.1, 0.2), (0.2, 0.21))))
    (floor,) = bounds(panel, "floor")
    assert (floor.x, floor.y) == ((), pytest.approx((20.5,)))


def test_a_floor_that_moves_is_followed(arranged, tables):
    (panel,) = arranged(*(tables.row(x=x, floor=floor) for x, floor in ((0.1, 0.3), (0.2, 0.1))))
    (floor,) = bounds(panel, "floor")
    assert (floor.x, floor.y) == ((0.1, 0.2), pytest.approx((30, 10)))


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


def test_no_floor_is_no_bound(arranged, tables):
    (panel,) = arranged(tables.row(floor=nan))
    assert bounds(panel, "floor") == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "n = 90 questions, 17 docs"),
        ({"n": 80, "documents": 15}, "n = 80–90 questions, 15–17 docs"),
        ({"failed": 2}, "n = 90 (≤ 2 failed), 17 docs"),
    ],
)
def test_a_panel_counts_its_questions_and_documents(arranged, tables, changed, said):
    (panel,) = arranged(tables.row(), tables.row(level=0.6, **changed))
    assert counts([mark.point for mark in panel.marks]) == said


def test_a_panel_on_one_question_says_so_in_the_singular(arranged, tables):
    (panel,) = arranged(tables.row(n=1, documents=1))
    points = [mark.point for mark in panel.marks]
    assert counts(points) == "n = 1 question, 1 doc"
    assert counts(points, short=True) == "n = 1, 1 doc"


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(DataError) as error:
        read_panels(Run(tmp_path), "r_noise")
    assert str(error.value).startswith(f"{tmp_path / 'summary.parquet'}: cannot be read: no such file")


def test_a_table_of_something_else_is_refused(tmp_path, tables):
    folder = tables.write(tmp_path, [tables.row()])
    (folder / "doses.parquet").replace(folder / "summary.parquet")
    with pytest.raises(DataError, match=r"summary.parquet: has no column .*: it is no table of this version of ohr"):
        read_panels(Run(folder), "r_noise")


@pytest.mark.parametrize("table", ["summary", "doses"])
def test_a_cut_table_is_refused_in_a_sentence(tmp_path, tables, table):
    path = tables.write(tmp_path, [tables.row()]) / f"{table}.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError) as error:
        read_panels(Run(tmp_path), "r_noise")
    assert str(error.value).startswith(f"{path}: cannot be read: ") and "\n" not in str(error.value)


@pytest.mark.parametrize("rows", [[], ["page"]])
def test_a_run_that_only_read_pages_has_nothing_to_draw(tmp_path, tables, rows):
    with pytest.raises(DataError) as error:
        read_panels(Run(tables.write(tmp_path, [tables.row(stage) for stage in rows])), "r_noise")
    assert str(error.value) == (
        f"{tmp_path / 'summary.parquet'}: nothing to draw: no score of retrieval, generation, overall with its r_noise"
    )
