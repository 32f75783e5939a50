"""Money: planned before a run, shown after it, and by other prices without asking again."""

import json
import re
import shutil
from pathlib import Path

import pytest

from ohr.report.loaded_run import load_run
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows

PRICES = ("--set", "prices={extractive: {in: 100, out: 1000}}", "--set", "currency=EUR")
QUIET = ("--executor", "inline", "--no-figures", "--no-report")


@pytest.fixture
def copied(finished, home) -> Path:
    """A copy of the folder in which `small.yaml` was run once, without prices."""
    shutil.copytree(finished[0], home, dirs_exist_ok=True)
    return home


def folder_of(home: Path) -> Path:
    (found,) = (home / "runs" / "small").glob("*-*")
    return found


def total(text: str) -> list[float]:
    """The sums of the whole study and of what the run asked."""
    return [float(number.replace(",", "")) for number in re.search(r"^total +(\S+) +(\S+)$", text, re.M).groups()]


def test_other_prices_show_the_finished_run_with_them_and_ask_nothing(copied, ohr):
    without = ohr("run", "small.yaml", *QUIET, "--details").stdout
    first = ohr("run", "small.yaml", *PRICES, *QUIET, "--details").stdout
    dearer = ohr("run", "small.yaml", "--set", "prices={extractive: {in: 200, out: 2000}}", *QUIET, "--details").stdout
    for text in (without, first, dearer):
        assert "0 stage calls: an earlier run has finished this study" in text
    assert "money" not in without
    assert "money (EUR)" in first
    assert total(dearer)[0] == pytest.approx(2 * total(first)[0], abs=0.02)
    assert "money" in ohr("show", "small", "--details").stdout
    ohr("run", "small.yaml", *QUIET)
    assert not (folder_of(copied) / "prices.json").exists()
    assert "money" not in ohr("show", "small", "--details").stdout


def test_a_summary_says_the_tokens_and_the_money_of_the_whole_study(copied, ohr):
    found = re.compile(
        r"^whole study: ([\d,]+) tokens in, ([\d,]+) out(?:; money \(EUR\) (\S+), (\S+) of it when it ran)?$", re.M
    )
    plain = found.search(ohr("run", "small.yaml", *QUIET).stdout)
    priced = found.search(ohr("run", "small.yaml", *PRICES, *QUIET).stdout)
    assert plain.groups()[2:] == (None, None) and plain.groups()[:2] == priced.groups()[:2]
    tokens_in, tokens_out, *money = (float(number.replace(",", "")) for number in priced.groups())
    assert money[0] == pytest.approx(tokens_in * 100e-6 + tokens_out * 1000e-6, abs=0.01)
    assert money == total(ohr("show", "small", "--details").stdout)
    assert priced[0] in ohr("show", "small").stdout


def test_the_report_is_written_again_where_prices_changed(copied, ohr):
    quiet = ("--executor", "inline", "--no-figures")
    ohr("run", "small.yaml", *quiet)
    page = folder_of(copied) / "report.html"
    assert "1,000 right answers" not in page.read_text()
    ohr("run", "small.yaml", *PRICES, *quiet)
    assert "1,000 right answers" in page.read_text()
    written = page.stat().st_mtime_ns
    ohr("run", "small.yaml", *PRICES, *quiet)
    assert page.stat().st_mtime_ns == written


def test_the_money_of_a_question_is_that_of_its_tokens(copied, ohr):
    ohr("run", "small.yaml", *PRICES, *QUIET)
    folder = folder_of(copied)
    rows = read_rows(folder / "answers.parquet", stage="overall", condition="formatting-0.6")
    money = sum(row["tokens_in"] * 100 + row["tokens_out"] * 1000 for row in rows) / 1e6 / len(rows)
    (cost,) = load_run(folder).frame("costs", "arrow", stage="overall", condition="formatting-0.6").to_pylist()
    assert cost["money"] == pytest.approx(money)
    assert cost["per_right"] == pytest.approx(money / cost["score"])
    assert cost["note"] == "no loss"
    assert cost["per_point"] is None


def test_the_whole_study_counts_each_reply_once(there):
    manifest = Run(folder_of(there)).manifest
    answers, references = manifest["usage"]
    assert (answers["use"], references["use"]) == ("answers", "references")
    sums = {name: answers[name] + references[name] for name in ("count", "new", "tokens_in", "tokens_out")}
    assert sums["count"] == sums["new"] == manifest["calls"]["answers"]
    assert (sums["tokens_in"], sums["tokens_out"]) == (manifest["tokens"]["in"], manifest["tokens"]["out"])


def test_floors_and_ceilings_have_rows_of_their_own(copied, ohr):
    run = Run(folder_of(copied))
    asked = sum(1 for row in read_rows(run.folder / "answers.parquet", stage="reference"))
    assert 0 < run.manifest["usage"][1]["count"] <= asked
    assert re.search(
        r"^floors and ceilings +extractive ", ohr("run", "small.yaml", *PRICES, *QUIET, "--details").stdout, re.M
    )
    answers, references = planned(ohr, *PRICES)
    assert references["use"] == "references"
    whole = [row["all"]["count"] for row in (answers, references)]
    assert whole == [row["count"] for row in run.manifest["usage"]]


def test_a_run_that_is_shown_again_does_not_say_that_it_asked(copied, ohr):
    again = ohr("run", "small.yaml", *PRICES, *QUIET, "--details").stdout
    assert "asked when it ran" in again
    assert "asked by this run" not in again


def test_a_run_that_finds_everything_in_the_store_has_asked_nothing(copied, ohr):
    shutil.rmtree(copied / "runs")
    done = ohr("run", "small.yaml", *PRICES, *QUIET, "--details").stdout
    for used in Run(folder_of(copied)).manifest["usage"]:
        assert used["count"] > 0 == used["new"] == used["new_in"]
    whole, new = total(done)
    assert whole > 0 == new


def test_the_table_of_money_is_exported(copied, ohr):
    nothing = ohr("export", "small", "--table", "money", "--csv", "-")
    assert nothing.exit_code != 0
    ohr("run", "small.yaml", *PRICES, *QUIET)
    for form in ("--csv", "--markdown", "--latex"):
        text = ohr("export", "small", "--table", "money", form, "-").stdout
        assert "extractive" in text
        assert "1,000 right answers" in text


def planned(ohr, *words):
    return json.loads(ohr("plan", "small.yaml", *words, "--json").stdout)["costs"]


SERVER = "generators=[{kind: openai, base_url: 'http://127.0.0.1:9', model: gpt, max_tokens: 50}]"


def test_a_plan_bounds_the_money(ohr):
    cost, _ = planned(ohr, "--set", SERVER, "--set", "prices={gpt: {in: 100, out: 1000}}")
    left = cost["left"]
    assert left == cost["all"]
    assert left["tokens_out"] == 50 * left["count"]
    assert left["at_most"] == pytest.approx((left["tokens_in"] * 100 + left["tokens_out"] * 1000) / 1e6)
    assert left["expected"] is None


def test_a_plan_without_a_price_says_so(ohr):
    cost, _ = planned(ohr, "--set", SERVER)
    assert (cost["note"], cost["left"]["at_most"]) == ("no price", None)
    two = SERVER.replace("]", ", {kind: extractive}]")
    text = ohr("plan", "small.yaml", "--set", two, "--set", "prices={gpt: {in: 1, out: 1}}").stdout
    assert "Not in the money: extractive (no price)" in text
    (total,) = re.findall(r"^total +(incomplete: \S+)", text, re.M)
    assert total != "incomplete: 0.00"
    whole = ohr("plan", "small.yaml", "--set", SERVER, "--set", "prices={gpt: {in: 1, out: 1}}").stdout
    assert "incomplete" not in whole
    assert "no max_tokens" in ohr("plan", "small.yaml", *PRICES).stdout


def test_a_plan_after_a_run_has_only_the_rest_and_what_it_is_expected_to_cost(copied, ohr):
    sets = (*PRICES, "--set", "knowledge_bases.1.text_noise.rate=[0.1, 0.6, 0.9]")
    cost, _ = planned(ohr, *sets)
    assert 0 < cost["left"]["count"] < cost["all"]["count"]
    assert 0 < cost["left"]["expected"] < cost["all"]["expected"]
    assert [due["at_most"] for due in planned(ohr, *PRICES)[0].values() if isinstance(due, dict)] == [None, None]


def test_pages_are_planned_by_engine(ohr):
    scan = "knowledge_bases=[{name: ground_truth}, {name: a, ocr: {kind: tesseract}}]"
    costs = planned(ohr, "--set", scan, "--set", "prices={tesseract: {page: 0.5}}")
    (pages,) = [cost for cost in costs if cost["use"] == "reading"]
    assert pages["left"]["at_most"] == 0.5 * pages["left"]["count"] > 0


def test_a_server_that_does_not_count_has_no_money(ohr, home, chat_server):
    body = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 2**63}}
    chat_server.replies = [(200, {}, json.dumps(body))] * 10_000
    server = f"generators=[{{kind: openai, base_url: '{chat_server.url}', model: gpt}}]"
    sets = ("--set", server, "--set", "evaluate=[generation]", "--set", "prices={gpt: {in: 1, out: 1}}")
    done = ohr("run", "small.yaml", *sets, *QUIET, "--details").stdout
    row, _ = Run(folder_of(home)).manifest["usage"]
    assert row["uncounted"] == row["count"] > 0
    assert f"not counted: {row['count']} of {row['count']}" in done
    assert not re.search(r"1,000 questions.*\n.* 0\.00 ", done)
