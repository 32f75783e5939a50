"""Values of another implementation, which does not import ohr."""

import json
import os
from dataclasses import replace
from math import isnan, nan, sqrt
from pathlib import Path

import numpy as np
import pytest

from ohr.metrics.answers import em_published, f1
from ohr.metrics.lcs import lcs
from ohr.statistics.clusters import Clusters, effective_number
from ohr.statistics.comparison import aa_share, compare, holm, minimum_detectable_effect
from ohr.statistics.curves import COVERING, area
from ohr.statistics.derived import macro_means
from ohr.statistics.intervals import clustered_means, differences
from ohr.statistics.planning import documents_needed, equivalence_power, limits, power
from ohr.statistics.summaries import Axis, curve_area, curve_difference, max_t
from ohr.statistics.swap import swap
from ohr.statistics.variance import Budget, budget, order_error, predicted_error

FOLDER = os.environ.get("OHRBENCH_VECTORS")
PATH = Path(FOLDER or ".") / "statistics.json"
VECTORS = json.loads(PATH.read_text()) if FOLDER and PATH.is_file() else {}
pytestmark = pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with statistics.json")
DATA = VECTORS.get("data", {})


def cases(name):
    return VECTORS.get(name, [])


def clusters(stratified):
    return Clusters.of(np.array(DATA["docs"]), np.array(DATA["strata"]) if stratified else None)


def scores(name):
    return np.array(DATA[name])


def as_budget(found):
    parts = dict(found)
    parts["effective_documents"] = parts.pop("gstar")
    return Budget(**parts)


@pytest.mark.parametrize("case", cases("score_interval"), ids=str)
def test_intervals_of_scores(case):
    (found,) = clustered_means(scores(case["values"])[None, :], clusters(case["strata"]), level=case["level"])
    assert case["rho"] == 0.2
    if found.interval == "near edge":  # ours reaches at least as far
        assert found.low <= case["low"] + 1e-6 and case["high"] - 1e-6 <= found.high
        case = case | {"low": found.low, "high": found.high}
    for name in ("mean", "low", "high", "se", "df"):
        assert getattr(found, name) == pytest.approx(case[name], abs=1e-6)


@pytest.mark.parametrize("case", cases("jackknife_t"), ids=str)
def test_errors_of_the_jackknife(case):
    (found,) = clustered_means(scores(case["values"])[None, :], clusters(case["strata"]))
    for name in ("mean", "se", "df"):
        assert getattr(found, name) == pytest.approx(case[name], abs=1e-6)


@pytest.mark.parametrize("case", cases("macro_interval"), ids=str)
def test_means_of_domains(case):
    (found,) = macro_means(scores(case["values"])[None, :], clusters(True))
    for name in ("mean", "low", "high", "se", "df"):
        assert getattr(found, name) == pytest.approx(case[name], abs=1e-6)


def changed(name, least=1):
    """Cases in which some document changed: where nothing differs there is no interval any more."""
    return [case for case in cases(name) if case["changed"] >= least]


@pytest.mark.parametrize("case", changed("difference_interval"), ids=str)
def test_intervals_of_differences(case):
    table = (scores(case["first"]) - scores(case["second"]))[None, :]
    (found,) = differences(table, clusters(case["strata"]), case["level"])
    for name in ("mean", "low", "high", "se", "df"):
        assert getattr(found, name) == pytest.approx(case[name], abs=1e-6)
    assert (found.changed, found.interval) == (case["changed"], case["how"])


@pytest.mark.parametrize("case", changed("verdict"), ids=str)
def test_verdicts(case):
    found = compare(scores(case["first"]), scores(case["second"]), clusters(False), case["margin"], case["alpha"])
    assert found.verdict == case["verdict"]
    assert [found.inner_low, found.inner_high] == pytest.approx([case["inner_low"], case["inner_high"]], abs=1e-6)
    if case["p"] is not None:  # with few changed documents, p values are those of test_signs.py
        assert found.p >= case["p"] - 1e-6


def test_effective_documents():
    found = VECTORS["effective_documents"]
    assert effective_number(np.array(found["sizes"], float)) == pytest.approx(found["by_n"])
    assert effective_number(np.array(found["mixed_sizes"], float)) == pytest.approx(found["mixed_by_n"])


def test_parts_of_an_error():
    case = VECTORS["budget"]
    found = budget(np.array(case["y"]).T, clusters(False))
    wanted = as_budget(case["expected"])
    for name in Budget.__slots__:
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), abs=1e-9)
    for size in case["predicted_se"]:
        error = predicted_error(found, size["documents"], size["per_document"], size["draws"], size["cv"])
        assert error == pytest.approx(size["se"], abs=1e-8)


def test_planning():
    case = VECTORS["planning"]
    for row in case["power"]:
        assert power(row["delta_over_se"], 1.0, row["df"], row["alpha"]) == pytest.approx(row["difference"], abs=5e-4)
        found = equivalence_power(row["delta_over_se"], 1.0, row["df"], row["alpha"])
        assert found == pytest.approx(row["equivalence"], abs=5e-4)
    for row in case["detectable"]:
        assert minimum_detectable_effect(row["se"], row["df"]) == pytest.approx(row["bloom"], abs=1e-6)
        assert power(row["bloom"], row["se"], row["df"]) == pytest.approx(row["power_there"], abs=5e-4)
    parts = as_budget(case["budget"])
    for row in case["documents_needed"]:
        changed = Budget(**{n: row.get("budget", {}).get(n, getattr(parts, n)) for n in Budget.__slots__})
        if "shared" in row:
            changed = Budget(
                **{n: getattr(parts, n) for n in Budget.__slots__}
                | {"shared": row["shared"], "shared_p": row.get("shared_p", 0.0)}
            )
        found = documents_needed(row["delta"], changed, row["per_document"], row["draws"], row["cv"], aim=row["aim"])
        assert found == pytest.approx(float("inf") if row["documents"] in (None, "inf") else row["documents"], abs=1), (
            row
        )
    for row in case["planning_se"]:
        pilot = as_budget(case["budget"] | {"documents": row["se"] ** 2, "gstar": row["documents"]})
        pilot = replace(pilot, questions=0, draws=0, question_draws=0, shared=0)
        _, upper = limits(pilot, row["df"], confidence=0.8)
        found = [predicted_error(one, row["target"], 1, 1) for one in (pilot, upper)]
        assert found == pytest.approx([row["plain"], row["upper80"]], abs=1e-8)


def test_areas_and_their_differences():
    case = VECTORS["curve"]
    damage, held, floors, other = (np.array(case[name], float).T for name in ("damage", "scores", "floors", "scores_b"))
    for row in case["curve_area"]:
        found = curve_area(Axis(damage), held, floors, clusters(row["strata"]), row["low"], row["high"])
        wanted = [row[name] for name in ("area", "interval_low", "interval_high", "se", "df")]
        assert [found.mean, found.low, found.high, found.se, found.df] == pytest.approx(wanted, abs=1e-6)
    for row in case["curve_difference"]:
        found = curve_difference(Axis(damage), held, Axis(damage), other, clusters(False), row["low"], row["high"])
        wanted = [row[name] for name in ("difference", "interval_low", "interval_high", "se", "df")]
        assert [found.mean, found.low, found.high, found.se, found.df] == pytest.approx(wanted, abs=1e-6)
    for row in case["area"]:
        if row["area"] is None and len(row["x"]) == COVERING:
            continue  # the definition asked for four levels
        found = area(row["x"], row["y"], row["low"], row["high"])
        assert found == pytest.approx(nan if row["area"] is None else row["area"], abs=1e-8, nan_ok=True)


def test_bands_that_hold_together():
    case = VECTORS["simultaneous"]
    left = clusters(False).left_out(np.array(VECTORS["curve"]["scores"], float).T)
    variance, df = left.error(left.without)
    assert [sqrt(v) for v in variance] == pytest.approx(case["se"], abs=1e-6)
    found = max_t(left.correlation(np.arange(len(variance))), df.min(), case["level"])
    assert found == pytest.approx(case["critical"], abs=case["tolerance"])


def test_families_of_p_values():
    case = VECTORS["holm"]
    assert holm([nan if p is None else p for p in case["p"]]) == pytest.approx(
        [nan if p is None else p for p in case["adjusted"]], nan_ok=True
    )


def test_loss_by_stage():
    case = VECTORS["swap"]
    cells = [scores("clean"), *(np.array(case[name]) for name in ("index", "reading", "both"))]
    found = swap(*cells, clusters(False))
    for name, wanted in case["expected"].items():
        made = found[name]
        for field, value in wanted.items():
            assert getattr(made, {"value": "mean"}.get(field, field)) == pytest.approx(value, abs=1e-6), (name, field)


def test_drawn_orders_and_draws_of_one_condition():
    case = VECTORS["order_error"]
    assert order_error(np.array(case["by_pair"])).tolist() == pytest.approx(case["se"], abs=1e-8)
    assert aa_share(np.array(VECTORS["aa"]["draws"]), clusters(False)) == VECTORS["aa"]["share_missed"]


def test_scores_of_text():
    for case in cases("lcs"):
        found = lcs(case["retrieved"], case["evidence"], segment_chinese=True)
        assert found == pytest.approx(nan if case["lcs"] is None else case["lcs"], abs=1e-8, nan_ok=True), case
    for case in cases("f1_em"):
        found = f1(case["prediction"], case["reference"])
        assert found == pytest.approx(nan if case["f1"] is None else case["f1"], abs=1e-8, nan_ok=True), case
        assert isnan(found) or em_published(case["prediction"], case["reference"]) == case["em"]
