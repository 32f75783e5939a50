"""Protocols that ask for more than OHRBench's: pages, facts, groups, aggregates, truths under noise."""

from math import isnan
from pathlib import Path

import pytest

from ohr.errors import DataError, OhrError, PluginError
from ohr.results.derived.agreement import agreement
from ohr.results.derived.survival import read_survival
from ohr.results.run import Run

from .conftest import Home, rows, values, warnings

ANNALS = Path(__file__).parents[1] / "annals.py"
SPEC = """\
benchmark: {kind: annals}
knowledge_bases:
  - {name: clean}
  - {name: smudged, image_noise: {kind: smudge, severity: 0.6}, ocr: {kind: pixels}}
  - {name: read, image_noise: {kind: smudge, severity: 0.2}, ocr: {kind: pixels}}
chunker: {kind: halves}
retrievers: [{kind: bm25, top_k: 1}]
generators: [{kind: parrot}]
"""


class Protocols(Home):
    plugins = (ANNALS, *Home.plugins)


@pytest.fixture
def home(tmp_path):
    return Protocols(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return Protocols(tmp_path_factory.mktemp("annals")).run(SPEC)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    home = Protocols(tmp_path_factory.mktemp("judged"))
    metrics = f"metrics: [{{kind: both, log: {home.folder / 'asked'}}}, {{kind: both, name: second}}]\n"
    return home.run(SPEC + metrics, "evaluate=[overall]")


def test_the_pages_of_each_knowledge_base_are_scored(finished):
    clean = values(finished, kb="clean", stage="page", metric="length_kept")
    assert clean.pop("page") == 1.0
    assert set(clean.values()) == {1.0}
    smudged = values(finished, kb="smudged", stage="page", metric="length_kept")
    assert all(0 < value < 1 for value in smudged.values())


def test_a_question_that_is_not_asked_is_scored_on_its_page_alone(finished):
    assert {row["stage"] for row in rows(finished) if row["question_id"] == "page"} == {"page", "reference"}
    assert not [row for row in rows(finished, "answers") if row["question_id"] == "page"]


def test_a_question_that_is_not_asked_stays_where_its_document_does(home):
    drawn = [home.keys(SPEC, "benchmark.size=2", "sample=1", f"seed={seed}").inputs.questions for seed in range(6)]
    kept = {tuple(question.id for question in questions) for questions in drawn}
    assert {len(ids) for ids in kept} == {1, 2}
    assert all(("page" in ids) == (ids[0] in ("q0", "q1")) for ids in kept)


@pytest.mark.acceptance
def test_a_worker_that_is_killed_while_it_makes_prompts_costs_no_answer(home, finished):
    mark = home.folder / "mark"
    done = home.run(SPEC.replace("kind: annals}", f"kind: annals, mark: {mark}}}"), "evaluate=[overall]", workers=2)
    assert mark.exists() and {failure.stage for failure in done.ledger.failures} == {"metric"}  # as without a kill
    for kb in ("clean", "smudged", "read"):
        about = {"kb": kb, "stage": "overall", "metric": "year"}
        assert repr(values(done, **about)) == repr(values(finished, **about))  # nan


def test_facts_are_counted_after_each_step(finished):
    left = {
        (row["condition"], row["step"]): row["mean"]
        for row in read_survival(Run(finished.folder))
        if row["step"] != "hits"
    }
    assert left["clean", "page"] == 1.0
    assert left["clean", "chunks"] == pytest.approx(2 / 3)  # the chunker cuts each page in the third
    assert left["clean", "answer"] == pytest.approx(1 / 3)  # the answer is the year
    assert left["smudged", "page"] == 0.0
    assert left["smudged", "page"] <= left["read", "page"] <= left["clean", "page"]
    asked = values(finished, kb="clean", stage="retrieval", metric="facts")
    assert {round(3 * value) for value in asked.values()} <= {0, 1}


def test_an_index_per_document_finds_no_other_document(finished):
    found = rows(finished, "hits", kb="clean")
    documents = {row["question_id"]: row["document"] for row in rows(finished, "questions")}
    assert found
    assert all(row["document"] == documents[row["question_id"]] for row in found)


@pytest.mark.parametrize(("scope", "warned"), [("document", 0), ("corpus", 1)])
def test_an_index_that_is_smaller_than_top_k_is_expected_where_each_document_has_its_own(home, scope, warned):
    text = SPEC.replace("kind: annals", f"kind: annals, index_scope: {scope}").replace("top_k: 1", "top_k: 500")
    finished = home.run(text, "evaluate=[retrieval]", "knowledge_bases=[{name: clean}]")
    assert sum("more than the number of chunks" in line for line in warnings(finished)) == warned


def test_the_headline_may_be_a_metric_of_rankings_with_a_name_of_its_own(finished):
    headline = values(finished, kb="clean", stage="retrieval", metric="rank_of_page")
    assert set(headline.values()) == {1.0}
    assert set(values(finished, kb="clean", stage="retrieval", metric="share_of_document").values()) == {0.5}
    assert {row["metric"] for row in rows(finished, "summary", stage="retrieval")} >= {"rank_of_page", "mrr"}


def test_a_generator_reads_the_places_of_a_question_in_their_order(home):
    keys = home.keys(SPEC)
    asked = {question.id: question.own_pages for question in keys.inputs.questions}
    assert asked["q11"] == (("finance/1", 0), ("finance/1", 1))
    assert asked["q20"] == (("law/0", 1), ("manual/2", 0))


def test_prompts_have_the_values_that_the_benchmark_gives(finished):
    # the parrot repeats the first year that it reads: that of the first place
    replies = {row["question_id"]: row["answer"] for row in rows(finished, "answers", stage="generation", kb="clean")}
    assert replies["q20"] == "1901"
    assert replies["q11"] == "1910"


def test_prompts_follow_a_change_of_the_benchmarks_values(home):
    def longest(*changes):
        finished = home.run(SPEC, "knowledge_bases=[{name: clean}]", "benchmark.size=3", *changes)
        found = rows(finished, "answers", kb="clean")
        return {(row["stage"], row["question_id"]): row["tokens_in"] for row in found}

    before, after = longest(), longest("benchmark.heading='one two '")
    assert after == {place: tokens + 2 for place, tokens in before.items()}


def test_the_truth_may_change_under_a_distortion(finished):
    scored = values(finished, kb="smudged", stage="overall", metric="year")
    assert isnan(scored.pop("q1"))  # cannot be asked of distorted images
    assert set(scored.values()) == {0.0}
    assert not rows(finished, kb="smudged", stage="overall", metric="year", question_id="q1", status="failed")
    slight = values(finished, kb="read", stage="overall", metric="year")
    clean = values(finished, kb="clean", stage="overall", metric="year")
    assert isnan(slight["q1"])
    assert clean["q1"] == 1.0
    assert slight["q20"] == clean["q20"] == 1.0


def test_metrics_of_cases_are_scored_together_and_one_that_raises_fails_alone(finished):
    found = {row["question_id"]: row for row in rows(finished, kb="clean", stage="overall", metric="batch")}
    assert (found["q10"]["value"], found["q10"]["status"]) == (0.0, "failed")
    assert sum(row["status"] == "failed" for row in found.values()) == 1
    assert any(row["value"] > 0.25 for row in found.values())
    (failure,) = [row for row in rows(finished, "failures") if "clean / " in row["item"] and "overall" in row["item"]]
    assert failure["reason"] == "RuntimeError: ink spilt"


def test_groups_have_means_of_their_own(finished):
    found = rows(finished, "summary", condition="clean", stage="overall", metric="year", by="half")
    assert {row["group"]: row["n"] for row in found} == {"early": 6, "late": 6}


def test_an_aggregate_is_computed_on_every_cell_that_has_its_metrics(finished):
    found = {(row["stage"], row["condition"], row["name"]): row for row in rows(finished, "aggregates")}
    scored = values(finished, kb="clean", stage="overall", metric="year")
    early = [value for name, value in scored.items() if int(name[1:]) < 30]
    late = [value for name, value in scored.items() if int(name[1:]) >= 30]
    row = found["overall", "clean", "macro"]
    assert row["value"] == pytest.approx((sum(early) / len(early) + sum(late) / len(late)) / 2)
    assert (row["n"], row["unit"], row["source"]) == (12, "share", "half and half")
    assert row["low"] <= row["value"] <= row["high"]
    assert found["overall", "smudged", "macro"]["ratio"] == 0.0
    assert isnan(found["overall", "clean", "macro"]["ratio"])
    assert found["page", "clean", "long"]["value"] == 1.0
    assert isnan(found["overall", "clean", "nobody"]["value"])
    assert ("page", "clean", "macro") not in found


def test_a_ratio_leaves_out_what_either_side_does_not_define(finished):
    (row,) = rows(finished, "aggregates", condition="read", stage="overall", name="macro")
    assert row["ratio_n"] == 11
    slight = values(finished, kb="read", stage="overall", metric="year")
    clean = values(finished, kb="clean", stage="overall", metric="year")
    both = [name for name in slight if not isnan(slight[name])]

    def halves(scores):
        late = [scores[name] for name in both if int(name[1:]) >= 30]
        early = [scores[name] for name in both if int(name[1:]) < 30]
        return (sum(late) / len(late) + sum(early) / len(early)) / 2

    assert row["ratio"] == pytest.approx(halves(slight) / halves(clean))


def test_the_pages_alone_make_a_run(home):
    finished = home.run(SPEC, "evaluate=[page]", "generators=[]", "retrievers=[]")
    assert {row["stage"] for row in rows(finished)} == {"page"}
    assert rows(finished, "aggregates")


def test_a_judge_of_pages_is_asked_once_for_each_different_prompt(home):
    metrics = f"metrics: [{{kind: page_grade, log: {home.folder / 'graded'}, bad: 'law/4 page 1'}}]\n"
    finished = home.run(SPEC + metrics, "evaluate=[page]")
    assert set(home.log("graded").values()) == {1}
    clean = {row["question_id"]: row for row in rows(finished, kb="clean", stage="page", metric="page_grade")}
    assert (clean["q41"]["value"], clean["q41"]["status"]) == (0.0, "failed")
    assert {row["value"] for name, row in clean.items() if name != "q41"} == {1.0}
    smudged = values(finished, kb="smudged", stage="page", metric="page_grade")
    assert set(smudged.values()) == {0.0}
    kept = {row["question_id"]: row for row in rows(finished, "judgements", kb="clean")}
    assert (kept["q0"]["reply"], kept["q0"]["judge"], kept["q0"]["score"]) == ("yes", "same", 1.0)
    assert kept["q41"]["error"] == "ValueError: neither yes nor no: perhaps"
    assert Run(finished.folder).manifest["prompt_sha256"]["page_grade (judge)"] == "0" * 64
    again = home.run(SPEC + metrics, "evaluate=[page]", "margin=0.05", "knowledge_bases=[{name: clean}]")
    assert again.folder != finished.folder
    assert set(home.log("graded").values()) == {1}


@pytest.mark.parametrize(("kind", "stage"), [("page_grade", "page"), ("both", "overall")])
def test_a_judge_whose_prompt_raises_ends_the_run_with_a_sentence(home, kind, stage):
    metrics = f"metrics: [{{kind: {kind}, bad: prompt}}]\n"
    with pytest.raises(PluginError, match=rf"metric {kind}: question q0: the prompt raised RuntimeError: no paper"):
        home.run(SPEC + metrics, f"evaluate=[{stage}]")


def test_a_judge_may_be_asked_twice_or_not_at_all(judged):
    asked = (judged.folder.parents[2] / "asked").read_text().splitlines()
    clean = values(judged, kb="clean", stage="overall", metric="both")
    assert clean == values(judged, kb="clean", stage="overall", metric="year")
    assert len(set(asked)) == len(asked) > 0
    assert "1964|1900" not in asked
    about = {"stage": "overall", "metric": "both"}
    kept = {row["question_id"]: row["reply"] for row in rows(judged, "judgements", kb="clean", **about)}
    assert kept["q0"] == "yes\n---\nyes"
    empty = {row["question_id"]: row["reply"] for row in rows(judged, "judgements", kb="smudged", **about)}
    assert "" in empty.values()


def test_a_metric_of_pages_that_raises_fails_on_that_page_alone(home):
    metrics = "metrics: [{kind: length_kept, name: bad, bad: 'law/0 page 1'}]\n"
    finished = home.run(SPEC + metrics, "evaluate=[page]", "knowledge_bases=[{name: clean}]")
    found = {row["question_id"]: row for row in rows(finished, kb="clean", stage="page", metric="bad")}
    assert (found["q1"]["value"], found["q1"]["status"]) == (0.0, "failed")
    assert (found["q0"]["value"], found["q0"]["status"]) == (1.0, "ok")
    assert any("no scales" in row["reason"] for row in rows(finished, "failures"))


def test_another_process_gives_the_same_tables(home, finished):
    again = home.run(SPEC, workers=1)
    for table in ("scores", "aggregates", "questions"):
        assert str(rows(again, table)) == str(rows(finished, table))


def test_a_run_without_clean_pages_has_no_ratio(home):
    text = SPEC.replace("  - {name: clean}\n", "")
    finished = home.run(text, "evaluate=[page]", "generators=[]", "retrievers=[]")
    assert all(row["ratio"] is None or isnan(row["ratio"]) for row in rows(finished, "aggregates"))
    assert not any("ratio" in line for line in warnings(finished))


def test_judges_are_compared_with_each_other_and_with_metrics(judged):
    found = {(row["condition"], row["first"], row["second"]): row for row in agreement(Run(judged.folder))}
    same = found["clean", "both", "second"]
    assert (same["equal"], same["kappa"], same["documents_equal"]) == (1.0, 1.0, 1.0)
    assert ("clean", "year", "both") in found
    assert all({row["first"], row["second"]} & {"both", "second"} for row in found.values())


def test_judges_are_compared_with_people(judged, tmp_path):
    scored = values(judged, kb="clean", stage="overall", metric="both")
    wrong = next(name for name, value in scored.items() if value == 1.0)
    lines = [f"{name},{'no' if name == wrong else 'yes' if value else 'no'},clean" for name, value in scored.items()]
    path = tmp_path / "people.csv"
    path.write_text("question_id,label,condition\n" + "\n".join(lines))
    rows_ = [row for row in agreement(Run(judged.folder), path) if row["condition"] == "clean"]
    (pair,) = [row for row in rows_ if (row["first"], row["second"]) == ("both", "people")]
    assert pair["equal"] == pytest.approx(1 - 1 / len(scored))
    (all_,) = [row for row in rows_ if not row["second"]]
    assert (all_["first"], all_["n"]) == ("both, second, people", len(scored))
    assert all_["documents_equal"] == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n", "people.csv:1: has no column for the question id (question_id); its columns are a, b"),
        ("question_id,label\nq0,1\nx,1\n", "people.csv:3: question 'x' is not in the run"),
        ("question_id,label\nq0,perhaps\n", "people.csv:2: a label must be a number in [0, 1], or one of yes,"),
        ("question_id,label\nq0,nan\n", "people.csv:2: a label must be"),
        ("question_id,label\nq0,1\nq0,1\n", "people.csv:3: question 'q0' has a label already"),
    ],
)
def test_wrong_labels_of_people_are_refused_with_their_line(judged, tmp_path, text, said):
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        agreement(Run(judged.folder), path)
    assert said in str(caught.value)


def test_a_run_without_judges_has_no_agreement(finished):
    assert agreement(Run(finished.folder)) == []


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("questions", "benchmark annals: RuntimeError: no ink"),
        ("unasked", "benchmark annals: has no question to ask: use `evaluate: [page]`"),
        ("under", "benchmark annals: question q0: `under` raised RuntimeError: no light"),
        ("another", "benchmark annals: question q0: `under` may change its answers only"),
        ("aggregates", "benchmark annals: `aggregates` raised RuntimeError: no sums"),
    ],
)
def test_a_benchmark_that_breaks_its_contract_is_one_sentence(home, bad, said):
    with pytest.raises(OhrError) as caught:
        home.run(SPEC.replace("kind: annals", f"kind: annals, bad: {bad}"))
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("zero", "ZeroDivisionError: integer division or modulo by zero"),
        ("shape", "ValueError: `combine` returned an array of shape (2,) for ()"),
        ("text", "ValueError: could not convert string to float: 'x'"),
        ("inf", None),
    ],
)
def test_an_aggregate_that_cannot_be_computed_is_a_failed_item_and_an_infinite_one_is_undefined(home, bad, said):
    text = SPEC.replace("kind: annals", f"kind: annals, bad: {bad}")
    finished = home.run(text, "evaluate=[page]", "generators=[]", "retrievers=[]", "knowledge_bases=[{name: clean}]")
    assert {isnan(row["value"]) for row in rows(finished, "aggregates")} == {True}
    found = [(one.stage, one.item, one.reason) for one in finished.ledger.failures]
    assert set(found) == ({("aggregate", "wrong", said)} if said else set())


def test_labels_of_a_condition_that_is_not_there_are_refused(judged, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("question_id,label,condition\nq0,1,claen\n")
    with pytest.raises(DataError, match=r"has no condition 'claen'.*Did you mean 'clean'"):
        agreement(Run(judged.folder), path)
    path.write_text("question_id,label\n")
    with pytest.raises(DataError, match="holds no label"):
        agreement(Run(judged.folder), path)
    path.write_text("question_id,label\nq0,1,2\n")
    with pytest.raises(DataError, match=r"people.csv:2: has more cells than the header"):
        agreement(Run(judged.folder), path)
