"""One estimator for every mean, interval and dose, against the same numbers computed one by one."""

from math import isnan, nan

import numpy as np
import pytest

from ohr.errors import DataError
from ohr.results.derived.derive import derive
from ohr.results.derived.doses import Counts
from ohr.results.derived.means import breakdown, macro_over_domains
from ohr.results.run import Run
from ohr.results.score_arrays import Questions, ScoreTable
from ohr.results.tables.read_table import read_rows
from ohr.results.tables.schema import STATISTICS, schema
from ohr.results.tables.table_files import Tables
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import compare
from ohr.statistics.intervals import clustered_means, differences

from .conftest import RunTables

RNG = np.random.default_rng(3)
GROUPS = {
    "all": lambda _: True,
    "text": lambda source: source == "text",
    "multimodal": lambda source: source in ("table", "formula", "chart"),
    "reading_order": lambda source: source == "reading_order",
}


def only(study, **wanted):
    (row,) = study.rows("summary", **wanted)
    return row


def by_hand(run, values, chosen):
    """The interval of some questions' mean, with domains as strata where each has five documents."""
    rows = [row for row, take in zip(run.questions, chosen, strict=True) if take]
    documents, domains = [row["document"] for row in rows], [row["domain"] for row in rows]
    members = [len({row["document"] for row in rows if row["domain"] == domain}) for domain in set(domains)]
    return documents, domains if min(members) >= 5 else None


def same(found, wanted):
    assert found == wanted or (isnan(found) and isnan(wanted)), (found, wanted)


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A clean knowledge base and a noisy one of two draws, one retriever, some scores undefined or failed."""
    run = RunTables(tmp_path_factory.mktemp("noisy"), 60)
    clean, draws = RNG.random(60).round(2), RNG.random((2, 60)).round(2)
    clean[5] = draws[:, 5] = nan
    run.condition("clean", {"lcs": clean, "lcs_floor": clean / 10})
    for number, draw in enumerate(draws):
        scores, page = {"lcs": draw, "mrr": draw / 2, "lcs_floor": draw / 10}, RNG.random(60).round(2)
        run.condition("noise-0.1", scores, page, replicate=number, failed=["q7", "q8"][: 1 + number])
    return run, run.finish(), clean, draws


@pytest.mark.parametrize("group", GROUPS)
def test_a_mean_and_its_interval_are_those_of_its_questions(noisy, group):
    run, study, clean, draws = noisy
    chosen = np.array([GROUPS[group](row["evidence_source"]) for row in run.questions])
    documents, strata = by_hand(run, draws, chosen)
    values = draws.mean(axis=0)[chosen]
    failed = sum(take and row["question_id"] in ("q7", "q8") for row, take in zip(run.questions, chosen, strict=True))
    clusters = Clusters.of(documents, strata)
    (wanted,) = clustered_means(values[None, :], clusters, [failed])
    row = only(study, condition="noise-0.1", stage="retrieval", metric="lcs", evidence_source=group)
    for name in ("mean", "low", "high", "se", "df", "n", "failed", "documents", "effective_documents", "undefined"):
        same(row[name], pytest.approx(getattr(wanted, name), rel=1e-12))
    (lost,) = differences((clean[chosen] - values)[None, :], clusters)
    assert (row["lost"], row["lost_low"], row["lost_high"]) == pytest.approx((lost.mean, lost.low, lost.high))
    found = compare(clean[chosen], values, clusters, 0.02)
    same(row["lost_detectable"], pytest.approx(found.detectable, nan_ok=True))
    assert (row["verdict"], row["pairs"]) == (found.verdict, lost.n)
    assert (row["questions_lost"], row["questions_gained"]) == (found.lost, found.gained)
    assert row["floor"] == pytest.approx(np.nanmean(values / 10))
    assert row["ceiling"] == pytest.approx(np.nanmean(clean[chosen]))
    assert row["replicates"] == 2


def test_the_spread_is_that_of_the_replicates_means_and_of_all_questions_only(noisy):
    _, study, _, draws = noisy
    wanted = {"condition": "noise-0.1", "stage": "retrieval", "metric": "lcs"}
    row = only(study, **wanted, group="all")
    assert row["replicate_sd"] == pytest.approx(np.std(np.nanmean(draws, axis=1), ddof=1))
    assert isnan(only(study, **wanted, group="text")["replicate_sd"])


def test_every_trait_that_tells_questions_apart_has_rows(noisy):
    run, study, _, draws = noisy
    rows = study.rows("summary", condition="noise-0.1", stage="retrieval", metric="lcs")
    cuts = [(row["by"], row["group"]) for row in rows if row["by"] != "evidence_source"]
    assert cuts == [
        *(("domain", "d0"), ("domain", "d1"), ("answer_form", "Numeric"), ("answer_form", "String")),
        *(("pages", "multi-page"), ("pages", "single-page")),
    ]
    values = draws.mean(axis=0)
    domains = [np.nanmean(values[[row["domain"] == name for row in run.questions]]) for name in ("d0", "d1")]
    assert [row["mean"] for row in rows if row["by"] == "domain"] == pytest.approx(domains)
    whole = only(study, condition="noise-0.1", stage="retrieval", metric="lcs", group="all")
    assert (whole["macro_mean"], whole["domains"]) == (pytest.approx(np.mean(domains)), 2)


def test_a_breakdown_has_the_numbers_of_the_summary(noisy):
    _, study, _, _ = noisy
    scores = ScoreTable.of(study)
    (place,) = [p for p in scores.places if (p.condition, p.stage) == ("noise-0.1", "retrieval")]
    found = breakdown(scores.questions, scores.read(place), "lcs")
    for trait in ("domain", "answer_form", "pages"):
        rows = study.rows("summary", condition="noise-0.1", stage="retrieval", metric="lcs", by=trait)
        assert {row["group"]: row["mean"] for row in rows} == {
            group: estimate.mean for group, estimate in found[trait].items() if group != "all"
        }
    assert list(found["evidence_source"]) == ["text", "table", "chart", "reading_order", "multi", "all"]
    whole = only(study, condition="noise-0.1", stage="retrieval", metric="lcs", group="all")
    assert macro_over_domains(found) == pytest.approx(whole["macro_mean"])


def test_a_question_that_one_draw_leaves_undefined_is_averaged_over_the_others(runs):
    run = runs.make(12)
    draws = np.zeros((3, 12))
    draws[1] = 0.6
    draws[2, :2] = nan
    draws[:, 3] = nan
    for number, draw in enumerate(draws):
        run.condition("noise", draw, page=None, replicate=number)
    row = only(run.finish(), metric="lcs", group="all")
    assert row["mean"] == pytest.approx((2 * 0.3 + 9 * 0.2) / 11)  # 0 and .6 of two draws; 0, .6 and 0 of three
    assert (row["n"], row["undefined"]) == (11, 1)  # undefined only where no draw defines it


def test_evidence_loss_is_the_mean_of_the_draws_doses_in_both_tables(runs):
    run = runs.make(2)
    for number, held in enumerate(([0.9, 0.9], [0.7, 0.6])):  # `evidence_loss_replicates` of the vectors
        run.page_scores(run.base("noise", number), held, [1.0, 0.8])
    study = run.finish()
    mean = np.mean([row["evidence_loss"] for row in study.rows("doses")])
    rows = study.rows("summary", group="all")
    assert mean == pytest.approx(0.166666667, abs=1e-9)
    assert {round(row["evidence_loss"], 9) for row in rows} == {round(row["kb_evidence_loss"], 9) for row in rows}
    assert rows[0]["evidence_loss"] == pytest.approx(mean)


def test_the_constant_floor_leaves_undefined_scores_out(runs):
    run = runs.make(6)
    references = {"closed_book": [0.1] * 6, "shuffled_context": [nan] * 6, "evidence_only": [0.9] * 6}
    run.condition("clean", {"f1": 0.5}, page=None, stage="overall", generator="g")
    about = {"page": None, "kind": "none", "stage": "reference", "retriever": None}
    for name, values in references.items():
        run.condition(name, {"f1": values}, **about, generator="g")
    run.condition("constant", {"f1": [0.3, nan, 0.3, 0.3, 0.3, 0.3]}, **about)
    study = run.finish()
    row = only(study, stage="overall", group="all")
    assert (row["floor"], row["ceiling"]) == pytest.approx((0.3, 0.9))
    assert not study.rows("summary", stage="reference")


def test_a_dose_counts_pages_edits_and_words(runs):
    run = runs.make(4)
    base = run.base("noise")
    run.page_scores(base, [1.0, 0.5, 0.97, nan])
    about = {"document": "x", "domain": "x", "page": [0, 1], "sources": "x"}
    run.tables.append("pages", {**base, **about, "empty": [False, True], "words": [150, 50]})
    distances = {"edit_distance": [0.1, 0.3], "edit_distance_content": [0.0, 0.2]}
    statistics = dict.fromkeys(schema(STATISTICS).names, 0) | distances
    with Tables(run.folder, (STATISTICS,)) as measured:
        measured.append(STATISTICS, statistics | {"kb": base["kb"], "document": "x", "page": [0, 1]})
    run.close()
    derive(run.folder, {"noise#0": Counts(edits=30, edits_aimed=40, failed_pages=1)})
    (dose,) = read_rows(run.folder / "doses.parquet")
    assert (dose["r_noise"], dose["questions"], dose["excluded"]) == (pytest.approx(1 / 3), 3, 1)
    assert (dose["edit_distance"], dose["edit_distance_content"], dose["empty_pages"]) == pytest.approx((0.2, 0.1, 0.5))
    assert (dose["edits"], dose["edits_aimed"], dose["edits_per_100_words"], dose["failed_pages"]) == (30, 40, 15, 1)


def test_conditions_whose_names_differ_behind_a_number_sign_are_kept_apart(runs):
    run = runs.make(12)
    for name, value in (("engine #1", 1.0), ("engine #2", 0.5)):
        base = {**run.base("engine"), "kb": name, "condition": name, "noise": name, "noise_type": "semantic"}
        run.page_scores(base, [value] * 12)
        run.score(base, {"lcs": [value] * 12})
    rows = run.finish().rows("summary", stage="retrieval", group="all")
    assert {row["condition"]: (row["mean"], row["r_noise"], row["n"]) for row in rows} == {
        "engine #1": (1.0, 0.0, 12),
        "engine #2": (0.5, 1.0, 12),
    }


def test_scores_of_batches_make_one_cell(runs):
    run = runs.make(10)
    base, values = run.base("noise"), np.arange(10) / 10
    whole = run.columns()
    for part in (slice(6, 10), slice(0, 6)):
        columns = {name: held[part] for name, held in whole.items()}
        cell = {**base, "stage": "retrieval", "chunker": None, "retriever": "bm25", "generator": None}
        about = {"multi_page": False, "metric": "lcs", "status": "ok"}
        run.tables.append("scores", {**cell, **columns, **about, "value": values[part]})
        run.page_scores(base, [1.0] * 10)  # another cell comes between the batches
    run.close()
    scores = ScoreTable.of(Run(run.folder))
    (place,) = [place for place in scores.places if place.stage == "retrieval"]
    assert scores.read(place).values.tolist() == [values.tolist()]


def test_a_score_of_an_unknown_question_is_a_sentence(runs, tmp_path):
    run = runs.make(4)
    run.questions[0]["question_id"] = "stranger"
    run.score(run.base("noise"), {"lcs": [1.0] * 4})
    with pytest.raises(DataError, match=r"scores.parquet: question 'stranger' is not in questions.parquet"):
        derive(run.close(), {})


@pytest.mark.parametrize("table", ["summary", "hits"])
def test_another_table_is_no_table_of_scores(noisy, table):
    study = noisy[1]
    with pytest.raises(DataError, match=rf"{table}.parquet: has no column "):
        ScoreTable(study.path(table), Questions.read(study))
