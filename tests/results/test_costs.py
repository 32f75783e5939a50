"""Money beside quality in runs that never were, against the same numbers by hand."""

import json
from dataclasses import asdict
from math import isnan

import pytest

from ohr.errors import DataError
from ohr.prices import Price
from ohr.report.exports.summary_csv import views_csv
from ohr.report.html.page import _folded
from ohr.report.views.money import engines, per_question, spending
from ohr.report.views.view import Amount, View
from ohr.results.derived.costs import _unshown, read_costs
from ohr.results.derived.engine_costs import read_engine_costs, without_a_peer
from ohr.results.derived.losses import Loss, read_losses
from ohr.results.derived.spending import read_spending
from ohr.results.folder.tags_and_prices import PriceList
from ohr.results.run import Run
from ohr.results.tables.schema import schema

from .conftest import RunTables

COUNT = 120
PRICES = {"gpt": {"in": 2.5, "out": 10}, "cheap": {"page": 0.001}, "dear": {"page": 0.0025}}
ENGINES = ("cheap", "dear", "bad")


def usage(use, name, names, **counts):
    known = dict.fromkeys(("count", "uncounted", "tokens_in", "tokens_out", "new", "new_in", "new_out"), 0)
    return {"use": use, "name": name, "role": "", "names": names, **known, **counts}


def answers(run, base, tokens_in, tokens_out=10, reply="yes"):
    about = {name: base[name] for name in ("kb", "condition", "replicate")} | {"retriever": "bm25", "generator": "gpt"}
    given = {"question_id": run.columns()["question_id"], "tokens_in": [tokens_in] * COUNT}
    given |= {"tokens_out": [tokens_out] * COUNT, "reply": [reply] * COUNT, "answer": ["yes"] * COUNT}
    run.tables.append("answers", {**dict.fromkeys(schema("answers").names), "stage": "overall", **about, **given})


def condition(run, name, score, tokens_in, **reply):
    """Half of the questions have this score, the others 1."""
    scores = {"f1": [score if number % 2 else 1.0 for number in range(COUNT)]}
    run.condition(name, scores, stage="overall", generator="gpt")
    answers(run, run.base(name, kind="none" if name == "clean" else "semantic"), tokens_in, **reply)


def finished(run):
    bases = [{"condition": name, "ocr": {"kind": name}, "image_noise": [], "text_noise": []} for name in ENGINES]
    used = [usage("answers", "gpt", ["gpt", "openai"], count=9, tokens_in=9000, tokens_out=90, new=3, new_in=3000)]
    used += [usage("reading", name, [name], count=10, uncounted=10, new=10) for name in ENGINES]
    (run.folder / "prices.json").write_text(json.dumps({"prices": PRICES, "currency": "EUR"}))
    return run.finish(spec={"knowledge_bases": bases}, usage=used)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with a row group for each cell's answers, as a large one has: their names have other codes in each."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ohr.results.tables.table_files._BYTES", 0)
        return written(RunTables(tmp_path_factory.mktemp("costs"), COUNT))


def written(run):
    condition(run, "clean", 1.0, 1000)
    condition(run, "lossy", 0.4, 1200)
    condition(run, "longer", 1.0, 1500)
    condition(run, "silent", 0.4, 0)
    condition(run, "half", 0.4, 1000, tokens_out=0)
    condition(run, "empty", 1.0, 1000, tokens_out=0, reply="")
    condition(run, "cheap", 0.4, 1000)
    condition(run, "dear", 0.6, 1000)
    condition(run, "bad", 0.2, 1000)
    return finished(run)


def cost(study, name):
    return next(cost for cost in read_costs(study) if cost.condition == name)


def test_a_lost_point_has_the_money_that_it_adds_to_right_answers(study):
    clean, lossy = cost(study, "clean"), cost(study, "lossy")
    assert (clean.money, lossy.money) == pytest.approx((0.0026, 0.0031))
    assert (clean.per_right, lossy.per_right) == pytest.approx((0.0026, 0.0031 / 0.7))
    assert lossy.per_point == pytest.approx((0.0031 / 0.7 - 0.0026) / 30)
    assert (clean.note, lossy.note) == ("", "")
    assert isnan(clean.per_point)


def test_without_a_loss_a_point_has_no_money(study):
    longer = cost(study, "longer")
    assert longer.money / longer.clean_money == pytest.approx((3750 + 100) / 2600)
    assert (longer.note, isnan(longer.per_point)) == ("no loss", True)


@pytest.mark.parametrize("name", ["silent", "half"])
def test_a_server_that_does_not_count_has_no_money(study, name):
    silent = cost(study, name)
    assert (silent.note, silent.uncounted, isnan(silent.money)) == ("tokens not counted", COUNT, True)


def test_an_empty_reply_has_no_tokens_and_is_counted(study):
    assert cost(study, "empty").money == pytest.approx(0.0025)


def test_a_dearer_engine_is_priced_by_the_points_that_it_saves(study):
    (found,) = read_engine_costs(study)
    assert (found.condition, found.cheapest) == ("dear", "cheap")
    assert found.saved == pytest.approx(0.1)
    assert 0 < found.low < 0.1
    assert found.per_point == pytest.approx((0.0025 - 0.001) / 10)


def test_a_dearer_engine_that_scores_less_has_no_such_price(study):
    prices = {"bad": {"page": 0.01}, "cheap": {"page": 0.0}}
    (study.folder / "prices.json").write_text(json.dumps({"prices": prices, "currency": ""}))
    (found,) = read_engine_costs(Run(study.folder))
    assert (found.condition, found.note, isnan(found.per_point)) == ("bad", "scores less", True)
    assert read_costs(Run(study.folder))[0].note == "no price"
    assert per_question(Run(study.folder)) == []
    (study.folder / "prices.json").write_text(json.dumps({"prices": PRICES, "currency": "EUR"}))


def test_a_study_is_summed_by_who_is_paid(study):
    found = {each.label: each for each in read_spending(study)}
    assert found["gpt"].money == pytest.approx((9000 * 2.5 + 90 * 10) / 1e6)
    assert found["gpt"].new_money == pytest.approx(3000 * 2.5 / 1e6)
    assert found["dear"].money == pytest.approx(0.025)
    assert (found["bad"].has_price, isnan(found["bad"].money)) == (False, True)


def test_the_tables_say_what_has_no_price(study):
    (view,) = spending(study)
    lines = {row[1]: row for row in view.long}
    assert lines["bad"][-3:] == ("no price", "10", "no price")
    assert view.long[-1][0] == "total, at least"
    assert "money (EUR)" in view.headers
    (questions,) = per_question(study)
    words = {row[2]: row[-1] for row in questions.long}
    assert (words["longer"], words["silent"], words["clean"]) == ("no loss", "tokens not counted", "")
    (beside,) = engines(study)
    assert beside.long[0][-1] == "0.15"


def test_a_score_that_rises_is_a_gain(study):
    loss = asdict(read_losses(study)[0]) | {"lost": -0.1, "low": -0.2}
    assert [_unshown(Loss(**loss | {"high": high})) for high in (-0.05, 0.1)] == ["a gain", "a gain, not shown"]


def test_an_engine_that_reads_other_pages_alone_is_named(study):
    blurred = json.loads((study.folder / "manifest.json").read_text())
    blurred["spec"]["knowledge_bases"][2]["image_noise"] = [{"kind": "blur"}]
    apart = Run(study.folder)
    apart.__dict__["manifest"] = blurred
    apart.__dict__["price_list"] = PriceList({name: Price(page=1) for name in ENGINES})
    assert without_a_peer(apart) == ["bad"]
    (view,) = engines(apart)
    assert view.how.endswith("Not in it, since no other engine with a price reads the same pages: bad.")
    assert "Not in it" not in engines(study)[0].how


def test_money_in_csv_has_no_digits_of_rounding():
    view = View("Money", "", ("of 1,000",), ((Amount(1000 * 4.5e-6),), (Amount(float("nan"), "no price"),)))
    assert 1000 * 4.5e-6 != 0.0045  # this is the rounding
    assert views_csv([view]).splitlines()[1:] == ["Money,0.0045", "Money,no price"]


def test_tables_of_money_are_open_in_the_report(study):
    for place, view in enumerate([*spending(study), *per_question(study), *engines(study)]):
        assert not _folded("money", place, view)
    assert _folded("doses", 1, view)


def test_a_run_without_prices_shows_no_money(study):
    (study.folder / "prices.json").unlink()
    bare = Run(study.folder)
    assert (spending(bare), per_question(bare), engines(bare)) == ([], [], [])
    (study.folder / "prices.json").write_text(json.dumps({"prices": PRICES, "currency": "EUR"}))


def test_a_manifest_that_somebody_edited_is_refused(study):
    study = Run(study.folder)
    study.__dict__["manifest"] = {**study.manifest, "usage": [{"use": "answers"}]}
    with pytest.raises(DataError, match="`usage` of the manifest"):
        read_spending(study)


@pytest.mark.parametrize(
    ("money", "text"),
    [(0, "0.00"), (1234.5, "1,234.50"), (0.123456, "0.123"), (0.00012, "0.00012"), (1.2e-7, "1.20e-07"), (-2, "-2.00")],
)
def test_money_is_written_with_the_digits_that_show_it(money, text):
    assert str(Amount(money)) == text
    assert str(Amount(float("nan"), "no price")) == "no price"
