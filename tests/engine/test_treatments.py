"""A run with treatments in any order: pages that are lost are lost, not failed, and each repair has its own counts."""

import json

import pytest

from ohr.errors import OhrError
from ohr.report.views.page_repairs import page_repairs, repaired_sentence
from ohr.results.derived.page_repairs import read_page_repairs
from ohr.results.run import Run

from .conftest import Home

PLUGIN = '''
from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny

from ohr.contracts import Correction, Generator, Prompt, TextTreatment, TreatedPage
from ohr.registry import Nested


class Undo(TextTreatment, kind="undo"):
    """Takes bold and italic marks away."""

    def treat(self, pages, rng):
        return [TreatedPage(page.text.replace("*", ""), {"marks": page.text.count("*")}) for page in pages]


class Ask(Correction, kind="ask"):
    """Asks a model, and adds its reply."""

    generator: Annotated[SerializeAsAny[Generator], BeforeValidator(Nested("generator"))]

    @property
    def model(self):
        return self.generator

    def prompt_for(self, page):
        return Prompt("correct", (page.text,), "", page.text)

    def corrected(self, page, reply):
        if reply is None:
            return TreatedPage(page.text, {"outcome": "failed"})
        return TreatedPage(f"{page.text} {reply.text}", {"outcome": "corrected"})
'''
STUDY = """\
benchmark: {kind: mini, domains: [law, manual], languages: [en]}
replicates: 1
plugins: [./undo.py]
knowledge_bases:
  - name: clean
  - {name: bold, treatments: [{kind: formatting, rate: 0.9, markdown: 1, rules: {bold: 1}}]}
  - {name: undone, treatments: [{kind: formatting, rate: 0.9, markdown: 1, rules: {bold: 1}}, {kind: undo}]}
  - {name: clean undone, treatments: [{kind: undo}]}
  - {name: asked, treatments: [{kind: ask, generator: {kind: extractive}}, {kind: drop_pages, rate: 0.5}]}
  - {name: lost, treatments: [{kind: drop_pages, rate: 1}]}
  - {name: twice, treatments: [{kind: double_pages, rate: 1}]}
  - {name: moved, treatments: [{kind: shuffle_pages, rate: 1}]}
  - {name: renumbered, treatments: [{kind: shuffle_pages, rate: 1, numbers: place}]}
retrievers: [{kind: bm25, top_k: 2}]
evaluate: [retrieval]
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("treatments"))
    (home.folder / "undo.py").write_text(PLUGIN)
    (home.folder / "study.yaml").write_text(STUDY)
    return home.run_file(home.folder / "study.yaml")


@pytest.fixture(scope="module")
def run(finished):
    return Run(finished.folder)


def means(run):
    scores = run.rows("scores", stage="retrieval", metric="lcs")
    by = {}
    for row in scores:
        assert row["status"] == "ok"
        by.setdefault(row["condition"], []).append(row["value"])
    return {condition: sum(values) / len(values) for condition, values in by.items()}


def test_pages_that_are_left_out_are_lost_and_nothing_failed(run):
    score = means(run)
    assert score["lost"] == 0 < score["asked"] < score["clean"]
    assert run.rows("failures") == []
    doses = {row["condition"]: row for row in run.rows("doses")}
    assert doses["lost"]["r_noise"] == 1 and doses["twice"]["r_noise"] == doses["clean"]["r_noise"]


def test_pages_that_keep_their_numbers_are_found_in_any_order(run):
    score = means(run)
    assert score["moved"] == pytest.approx(score["clean"])
    assert score["renumbered"] < score["clean"] - 0.3
    texts = {condition: run.rows("texts", condition=condition) for condition in ("clean", "moved", "twice")}
    places = {name: [(row["document"], row["page"]) for row in table] for name, table in texts.items()}
    assert places["moved"] != places["clean"] and sorted(places["moved"]) == places["clean"]
    assert len(places["twice"]) == 2 * len(places["clean"])


def test_what_repairs_did_is_in_a_table(run):
    done = run.rows("treatments", condition="undone")
    assert {row["treatment"] for row in done} == {"undo"} and all(row["changed"] for row in done)
    assert all(json.loads(row["record"])["marks"] > 0 and row["seconds"] >= 0 for row in done)
    asked = run.rows("treatments", condition="asked")
    assert {row["outcome"] for row in asked} == {"corrected"} and all(row["tokens_in"] > 0 for row in asked)


def test_a_repair_is_compared_with_the_same_pages_without_it(run):
    known = {(each.about.condition, each.place.stage): each for each in read_page_repairs(run)}
    undone = known["undone", "retrieval"]
    assert (undone.about.without, undone.about.clean, undone.about.treated_clean) == ("bold", "clean", "clean undone")
    score = means(run)
    assert undone.costs.found.difference.mean == pytest.approx(score["clean"] - score["bold"])
    assert undone.back.found.difference.mean == pytest.approx(score["undone"] - score["bold"])
    assert undone.price.found.difference.mean == pytest.approx(score["clean"] - score["clean undone"])
    (view,) = page_repairs(run)
    assert "brings back" in view.headers and "undo" in [cell for row in view.rows for cell in row]
    assert "ndo" in repaired_sentence(run)


def test_the_tokens_of_a_correction_are_counted(run):
    (spent,) = [row for row in run.manifest["usage"] if row["use"] == "repairs"]
    assert spent["count"] > 0 and spent["tokens_in"] > 0


WRONG = """
from ohr.contracts import PageOrder, TextTreatment, TreatedPage


class Taker(TextTreatment, kind="taker"):
    def treat(self, pages, rng):
        pages.pop()
        return [TreatedPage(page.text) for page in pages]


class Odd(TextTreatment, kind="odd"):
    def treat(self, pages, rng):
        return [TreatedPage(page.text, {"outcome": 3, "page": "seven", "seconds": None}) for page in pages]


class Raises(PageOrder, kind="raises"):
    def arrange(self, numbers, rng):
        raise ValueError("kelp")
"""
BAD = """\
benchmark: {{kind: mini, domains: [law], languages: [en], max_pages: 1}}
plugins: [./wrong.py]
knowledge_bases: [{{treatments: [{{kind: {kind}}}]}}]
retrievers: [{{kind: bm25}}]
evaluate: [retrieval]
"""


@pytest.fixture
def bad(tmp_path):
    """Run a study with one treatment that breaks its contract."""
    home = Home(tmp_path)
    (home.folder / "wrong.py").write_text(WRONG)

    def run_it(kind):
        (home.folder / "study.yaml").write_text(BAD.format(kind=kind))
        return home.run_file(home.folder / "study.yaml")

    return run_it


def test_a_treatment_that_changes_its_pages_fails_and_is_named(bad):
    reasons = [failure.reason for failure in bad("taker").ledger.failures]
    assert reasons and all(reason.startswith("treatment taker failed on ") and "pop" in reason for reason in reasons)


def test_a_record_does_not_replace_what_ohr_says_of_a_page(bad):
    done = Run(bad("odd").folder).rows("treatments")
    assert {row["outcome"] for row in done} == {"3"}
    assert all(isinstance(row["page"], int) and row["seconds"] >= 0 for row in done)


def test_an_order_that_raises_is_named(bad):
    with pytest.raises(OhrError, match=r"treatment raises failed on .*ValueError: kelp"):
        bad("raises")
