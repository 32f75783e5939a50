"""The loss to noise is split by stage: texts are swapped between knowledge bases, scored, and compared."""

import json
from collections import defaultdict
from math import isclose

import numpy as np
import pytest

from ohr.contracts import Chunk
from ohr.errors import SpecError
from ohr.graph.cells import swaps
from ohr.graph.compile import compile_graph
from ohr.keys import key
from ohr.metrics.lcs import lcs_of_passages
from ohr.runner.plan import plan
from ohr.spec.read import read_spec
from ohr.steps.retrieval.swapped_texts import reworded
from ohr.text.alignment import Alignment

from .conftest import continued, rows, values, warnings, without_times

MINI = """\
benchmark: {kind: mini, domains: [law, manual], languages: [en], max_pages: 2}
knowledge_bases:
  - {name: f, text_noise: {kind: formatting, rate: 0.6}}
  - {name: truth}
chunker: {kind: page}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
decompose: true
"""
TINY = """\
benchmark: {kind: tiny, size: 6}
knowledge_bases:
  - {name: clean}
  - {name: read, ocr: {kind: pixels, log: reads}, image_noise: {kind: smudge, severity: 0.6}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
generators: [{kind: parrot, log: answers}]
evaluate: [retrieval, overall]
decompose: true
"""


@pytest.fixture(scope="module")
def mini(once):
    return once(MINI)


@pytest.fixture(scope="module")
def tiny(once):
    return once(TINY.replace("[{kind: bm25}]", "[{kind: bm25}, {kind: eye}]"))


@pytest.fixture(scope="module")
def failing(once):
    """A run of TINY in which a page, a retriever and the answer to a question fail."""
    text = TINY.replace("log: reads", "bad: raise").replace("[{kind: bm25}]", "[{kind: bm25}, {kind: broken}]")
    return once(text.replace("log: answers", "bad: value, question: harbour of law/0"))


def swapped(finished, noisy, metric="lcs", **wanted):
    return {
        row["question_id"]: row["value"] for row in rows(finished, "swap_scores", noisy=noisy, metric=metric, **wanted)
    }


def quantities(finished, **wanted):
    found = rows(finished, "decomposition", **{"evidence_source": "all", "stage": "retrieval", **wanted})
    return {row["quantity"]: row["value"] for row in found}


# --- the text of a hit -------------------------------------------------------------------------------------


def aligned(*pairs):
    return {index: Alignment(*pair) for index, pair in enumerate(pairs)}


def chunk(text, start=0, end=0, pages=(0,)):
    return Chunk("d:0", "d", pages, start, end, text)


ONE = aligned(("One two. Three four.", "0ne two. Thr33 four."))
THREE = aligned(("One two.", "0ne two."), ("Middle.", "Mid dle."), ("Three four. Five six.", "Thr33 four. F1ve six."))


@pytest.mark.parametrize(
    ("pages", "hit", "text"),
    [
        (ONE, chunk("Three four.", 9, 20), "Thr33 four."),
        (ONE, chunk("Title: Three four.", 9, 20), "Title: Thr33 four."),
        (THREE, chunk("two.\n\nMiddle.\n\nThree four.", 4, 8, (0, 1, 2)), "two.\n\nMid dle.\n\nThr33 four."),
        (aligned(("One two.", "")), chunk("One two.", 0, 8), ""),
    ],
    ids=["the same place", "what a chunker added stays", "the same part of the last page", "a page that lacks"],
)
def test_a_hit_has_the_text_of_the_same_place_in_the_other_base(pages, hit, text):
    assert reworded(hit, pages).text == text
    assert reworded(chunk("Three four.", 9, 20), ONE) == chunk("Thr33 four.", 9, 20)


@pytest.mark.parametrize("text", ["One two.", "Title: One two.", "one  two", ""])
def test_a_hit_of_equal_pages_does_not_change(text):
    pages = aligned(("One two. Three.", "One two. Three."))
    assert reworded(chunk(text, 0, 8), pages) == chunk(text, 0, 8)


# --- many questions ----------------------------------------------------------------------------------------


def test_inputs_and_hashes_grow_with_the_documents_however_many_questions_are_asked(home, monkeypatch):
    monkeypatch.setattr("ohr.graph.indexes._BATCH", 2)
    hashed = 0

    def counted(*parts):
        nonlocal hashed
        hashed += len(json.dumps(parts))
        return key(*parts)

    monkeypatch.setattr("ohr.graph.cache_keys.key", counted)

    def work(documents):
        nonlocal hashed
        hashed = 0
        text = TINY.replace("[{kind: bm25}]", "[{kind: bm25}, {kind: eye}]") + "index_scope: corpus\n"
        steps = compile_graph(home.keys(text.replace("size: 6", f"size: {documents}"))).steps
        inputs = {step.key: len(step.inputs) for step in steps.values()}
        return np.array([hashed, sum(inputs.values())])

    assert (work(160) / work(40) < 1.2 * 160 / 40).all()


def test_batches_that_share_a_step_are_swapped_as_each_by_itself(home, tiny, monkeypatch):
    monkeypatch.setattr("ohr.graph.indexes._BATCH", 1)
    monkeypatch.setattr("ohr.graph.graph._STEPS", 2)
    shared = home.run(TINY.replace("[{kind: bm25}]", "[{kind: bm25}, {kind: eye}]"))
    assert sorted(without_times(shared, "swap_scores")) == sorted(without_times(tiny, "swap_scores"))


# --- the cells ---------------------------------------------------------------------------------------------


def test_a_swap_without_a_difference_gives_the_scores_of_the_run(home):
    text = MINI.replace("rate: 0.6", "rate: 0").replace("{kind: page}", "{kind: tokens, size: 60, overlap: 20}")
    text = text.replace("[law, manual]", "[law]").replace("[retrieval]", "[retrieval, overall]")
    finished = home.run(text + "generators: [{kind: extractive}]\n")
    for stage, metrics in {"retrieval": ["lcs"], "overall": ["f1", "em", "f1_numeric"]}.items():
        for metric in metrics:
            own = values(finished, kb="f", stage=stage, metric=metric)
            assert len(own) > 10
            for noisy in ("index", "reading"):
                np.testing.assert_array_equal(
                    list(swapped(finished, noisy, metric, stage=stage).values()), list(own.values())
                )
    found = {row["metric"] for row in rows(finished, "swap_scores")}
    assert found == {"lcs", "f1", "em", "f1_numeric"}


@pytest.mark.parametrize(("noisy", "searched", "read"), [("index", "f", "truth"), ("reading", "truth", "f")])
def test_texts_are_found_in_one_base_and_read_in_the_other(mini, noisy, searched, read):
    texts = {(r["document"], r["page"]): r["text"] for r in rows(mini, "texts", kb=read)}
    found = defaultdict(list)
    for hit in rows(mini, "hits", kb=searched):
        found[hit["question_id"]].append((hit["page"], hit["document"]))
    scores = swapped(mini, noisy)
    differing = 0
    own = values(mini, kb=searched, stage="retrieval", metric="lcs")
    for question in rows(mini, "questions"):
        pages = sorted(found[question["question_id"]])
        wanted = [texts[d, p] for p, d in pages if d == question["document"] and p in question["pages"]]
        expected = lcs_of_passages(wanted, "\n\n".join(question["evidence"]))
        np.testing.assert_equal(scores[question["question_id"]], expected if wanted else 0.0 * expected)
        differing += scores[question["question_id"]] != own[question["question_id"]]
    assert differing > 5


def test_the_table_splits_the_loss_of_the_summary(home):
    finished = home.run(MINI, "benchmark.domains=[law]", "replicates=2", "chunker.kind=tokens", "chunker.size=120")
    found = quantities(finished, metric="lcs")
    (line,) = rows(finished, "summary", stage="retrieval", metric="lcs", group="all", condition="f")
    assert found["total"] == pytest.approx(line["lost"]) and found["total"] > 0.01
    assert found["score_noisy"] == pytest.approx(line["mean"])
    assert found["index_share"] + found["reading_share"] == pytest.approx(found["total"])
    assert found["index_part"] == pytest.approx(found["index_share"] / found["total"])
    assert found["overlap"] == pytest.approx(found["overlap_by_chance"] + found["overlap_beyond_chance"])
    means = [np.mean([row["value"] for row in rows(finished, "swap_scores", noisy=n)]) for n in ("index", "reading")]
    assert [found["score_noisy_index"], found["score_noisy_reading"]] == pytest.approx(means)
    assert found["index_alone"] == pytest.approx(found["score_clean"] - means[0])
    assert {row["kb"] for row in rows(finished, "swap_scores")} == {"f#0", "f#1"}
    assert (finished.folder / "decomposition.csv").read_text().startswith("stage,condition,chunker,retriever")


def test_an_undefined_question_is_in_no_cell(home):
    text = MINI.replace("chunker:", "metrics: [{kind: picky}]\nchunker:").replace("[retrieval]", "[overall]")
    text = text.replace("max_pages: 2", "max_pages: 1").replace("[law, manual]", "[law]")
    text += "generators: [{kind: extractive}]\n"
    finished = home.run_file(home.write(text, picky=PICKY))
    cells = [values(finished, kb=kb, stage="overall", metric="picky") for kb in ("truth", "f")]
    cells += [swapped(finished, noisy, "picky") for noisy in ("index", "reading")]
    defined = [question for question in cells[0] if not any(np.isnan(cell[question]) for cell in cells)]
    found = [
        r for r in rows(finished, "decomposition", metric="picky", evidence_source="all") if r["quantity"] == "total"
    ]
    assert found[0]["n"] == len(defined) < len(cells[0])
    assert found[0]["value"] == pytest.approx(np.mean([cells[0][q] - cells[1][q] for q in defined]))


PICKY = """\
from math import nan
from typing import Literal

from ohr.contracts import Metric


class Picky(Metric):
    kind: Literal["picky"] = "picky"

    def score(self, prediction: str, reference: str) -> float:
        return nan if len(prediction) % 3 == 0 else 1 / (1 + len(prediction))
"""


# --- failures ----------------------------------------------------------------------------------------------


def test_a_failed_page_fails_the_cells_that_need_its_base(failing):
    failed = [r for r in rows(failing, "swap_scores", retriever="bm25") if r["status"] == "failed"]
    failed = [r for r in failed if r["question_id"] != "q0"]  # whose answer fails
    assert {r["question_id"] for r in failed} == {"q1"} and {r["value"] for r in failed} == {0.0}
    assert {(r["stage"], r["noisy"]) for r in failed} == {
        (stage, noisy) for stage in ("retrieval", "overall") for noisy in ("index", "reading")
    }
    assert [f.item for f in failing.ledger.failures if f.stage == "ocr"] == ["read: law/0 page 2"]
    found = rows(failing, "decomposition", stage="retrieval", evidence_source="all", retriever="bm25")
    assert [(row["n"], row["failed"]) for row in found if row["quantity"] == "total"] == [(12, 1)]


def test_a_page_that_is_read_by_the_next_run_changes_only_what_used_it(home, failing):
    again = continued(home, failing).run(TINY)
    assert not again.ledger.failures
    assert not [r for r in rows(again, "swap_scores") if r["status"] == "failed"]
    # the batch of the whole domain is swapped again, those of the three other domains are not
    assert 0 < again.ledger.calls["swapped texts"] <= 2 * 2 * 4


def test_a_failed_retrieval_scores_0_in_its_cells(failing):
    broken = rows(failing, "swap_scores", retriever="broken")
    assert {(r["value"], r["status"]) for r in broken} == {(0.0, "failed")}
    others = rows(failing, "swap_scores", retriever="bm25")
    assert {r["status"] for r in others if r["question_id"] not in ("q0", "q1")} == {"ok"}
    assert {f.reason for f in failing.ledger.failures if f.stage == "retriever"} == {"RuntimeError: no index today"}
    assert quantities(failing, retriever="broken")["total"] == 0.0


def test_a_failed_answer_scores_0_in_its_cell(failing):
    failed = rows(failing, "swap_scores", stage="overall", question_id="q0", retriever="bm25")
    assert {(r["status"], r["value"]) for r in failed} == {("failed", 0.0)}
    found = rows(failing, "swap_scores", stage="retrieval", question_id="q0", retriever="bm25")
    assert {r["status"] for r in found} == {"ok"}


def test_answers_depend_on_the_text_that_is_read(tiny):
    clean = values(tiny, kb="clean", stage="overall", metric="f1", retriever="bm25")
    noisy = values(tiny, kb="read", stage="overall", metric="f1", retriever="bm25")
    reading = swapped(tiny, "reading", "f1", stage="overall")
    assert set(clean.values()) == {1.0} and sum(noisy.values()) < len(noisy)
    assert sum(reading.values()) < len(reading)
    answers = rows(tiny, "answers", stage="overall", retriever="bm25")
    assert len(answers) == 2 * len(clean) and {row["kb"] for row in answers} == {"clean", "read"}


# --- the engine --------------------------------------------------------------------------------------------


def test_a_second_run_does_nothing_and_a_new_level_costs_only_itself(home, mini):
    assert mini.ledger.calls["swapped texts"] > 0
    again = continued(home, mini).run(MINI, "retries=2")
    assert again.fresh is False or not again.ledger.calls["swapped texts"]
    more = home.run(MINI, "knowledge_bases.0.text_noise.rate=[0.6, 0.3]")
    assert more.ledger.calls["swapped texts"] == mini.ledger.calls["swapped texts"]


def test_equal_texts_ask_no_further_question(home):
    text = TINY.replace("severity: 0.6", "severity: 0")
    home.run(text, "decompose=false", "benchmark.size=2")
    asked = home.log("answers")
    assert home.run(text, "benchmark.size=2").ledger.calls["swapped texts"] > 0
    assert home.log("answers") == asked


def test_a_plan_counts_the_cells_and_the_texts(home):
    spec = read_spec(home.write(TINY), trust_plugins=True)
    made = plan(spec, home.store)
    assert made.cells == {
        "page": 2, "retrieval": 2, "overall": 2, "retrieval with swapped texts": 2, "overall with swapped texts": 2,
    }  # fmt: skip
    assert made.steps["texts to swap"].total == made.steps["texts to swap"].left == 2 * 4
    home.run(TINY)
    left = plan(spec, home.store).steps
    assert {count.left for count in left.values()} == {0}
    without = plan(read_spec(home.write(TINY), ["decompose=false"], trust_plugins=True), home.store)
    assert "texts to swap" not in without.steps and set(without.cells) == {"page", "retrieval", "overall"}


def test_retrievers_of_page_images_are_left_out_with_a_warning(tiny):
    line = "decompose: eye looks at page images, which have no text to swap: its loss is not split"
    assert line in warnings(tiny)
    assert {r["retriever"] for r in rows(tiny, "decomposition")} == {"bm25"}


def test_a_condition_whose_retriever_never_sees_clean_text_is_left_out_with_a_warning(home):
    text = TINY.replace("{name: clean}", "{name: clean, retrievers: [bm25]}")
    text = text.replace("[{kind: bm25}]", "[{kind: bm25}, {kind: bm25_okapi}]")
    finished = home.run(text, "evaluate=[retrieval]")
    line = "decompose: bm25_okapi searches no clean knowledge base: its loss on read is not split"
    assert line in warnings(finished)
    assert {r["retriever"] for r in rows(finished, "decomposition")} == {"bm25"}


def test_generators_that_look_see_the_pages_that_are_read(home):
    text = TINY.replace("{kind: parrot, log: answers}", "{kind: gazer}").replace("severity: 0.6", "severity: 0.9")
    finished = home.run(text)
    assert set(swapped(finished, "index", "f1", stage="overall").values()) <= {0.0, 1.0}
    clean, noisy = (values(finished, kb=kb, stage="overall", metric="f1") for kb in ("clean", "read"))
    reading, index = (swapped(finished, n, "f1", stage="overall") for n in ("reading", "index"))
    assert set(clean.values()) == {1.0} and set(noisy.values()) == set(reading.values()) == {0.0}
    assert sum(index.values()) > 0


def test_levels_of_attribution_are_not_split(home):
    text = MINI.replace("rate: 0.6", "rate: 0.6, rules: {bold: 1, paragraph: 1}") + "attribution: {of: [f]}\n"
    finished = home.run(text.replace("[law, manual]", "[law]").replace("max_pages: 2", "max_pages: 1"))
    assert {row["kb"] for row in rows(finished, "swap_scores")} == {"f"}
    assert (finished.folder / "attribution.csv").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  - {name: clean}\n", "", "compares with a knowledge base without noise, and there is none: add"),
        ("  - {name: read, ocr: {kind: pixels, log: reads}, image_noise: {kind: smudge, severity: 0.6}}\n", "",
         "splits the loss to noise: `knowledge_bases` must have one with noise"),
        ("[retrieval, overall]", "[generation]", "splits the loss of retrieval and overall: `evaluate` must have one"),
        ("[{kind: bm25}]", "[{kind: eye}]", "it needs a retriever that does not look at page images"),
        ("decompose: true", "decompose: 1", "must be true or false"),
        ("decompose: true", "decompose: [read, clean]", "no condition with noise is named 'clean'. Choose"),
        ("decompose: true", "decompose: [raed]", "Did you mean 'read'?"),
    ],
)  # fmt: skip
def test_a_spec_that_cannot_be_split_is_refused(home, old, new, message):
    with pytest.raises(SpecError, match="decompose") as caught:
        read_spec(home.write(TINY.replace(old, new)), trust_plugins=True)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "conditions"),
    [
        ("true", {"read-0.2", "read-0.4", "edited"}),
        ("[read]", {"read-0.2", "read-0.4"}),
        ("[read-0.4, edited]", {"read-0.4", "edited"}),
        ("[]", set()),
    ],
)
def test_a_list_chooses_the_conditions_that_are_split(home, asked, conditions):
    text = MINI.replace("name: f,", "name: edited,").replace(
        "  - {name: truth}", "  - {name: read, text_noise: {kind: formatting, rate: [0.2, 0.4]}}\n  - {name: truth}"
    )
    spec = read_spec(home.write(text.replace("decompose: true", f"decompose: {asked}")), trust_plugins=True)
    assert set(spec.decompose) == conditions
    assert {search[0].condition for search, _ in swaps(spec)} == conditions


def test_a_run_splits_what_the_list_names(home):
    text = TINY.replace("decompose: true", "decompose: [read]")
    assert rows(home.run(text), "swap_scores") == rows(home.run(TINY), "swap_scores")


def test_the_split_is_part_of_the_runs_key(home):
    assert home.keys(TINY).run != home.keys(TINY, "decompose=false").run


def test_a_run_without_the_key_has_no_tables_of_it(home):
    finished = home.run(TINY, "decompose=false")
    names = {path.name for path in finished.folder.iterdir()}
    assert not names & {"swap_scores.parquet", "decomposition.parquet", "decomposition.csv"}


@pytest.mark.acceptance
def test_scores_are_those_of_two_workers(home, mini):
    alone, parallel = quantities(mini), quantities(home.run(MINI, workers=2))
    assert all(isclose(a, b) for a, b in zip(alone.values(), parallel.values(), strict=True))
