"""The metrics: programs of every bad kind, rankings of pages, and numbers in texts."""

import json
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finmmdocr import reply_programs as running
from ohr.benchmarks.finmmdocr.metrics import (
    Executed,
    GoldenFound,
    GoldenRank,
    NumberInText,
    PageMrr,
    PageRecall,
    PotAccuracy,
    last_rank,
)
from ohr.contracts import Case, Ranking
from ohr.errors import PluginError
from ohr.sandbox import Limits
from samples.finmmdocr import SAMPLE

OUTPUTS = json.loads((SAMPLE / "outputs.json").read_text("utf-8"))
GOLDS = {
    record["question_id"]: record["ground_truth"] for record in json.loads((SAMPLE / "test.json").read_text("utf-8"))
}


@pytest.fixture(autouse=True)
def forgotten():
    """No test sees what an earlier one has run."""
    running._known.cache_clear()


def case(body, gold=75.0, name="q"):
    return Case("?", (json.dumps(gold),), (), f"```python\ndef solution():\n    {body}\n```", name)


@pytest.mark.acceptance
def test_the_canned_outputs_of_the_sample_score_as_they_promise():
    pot = [output for output in OUTPUTS if output["kind"] == "pot"]
    cases = [Case("?", (json.dumps(GOLDS[output["question_id"]]),), (), output["output"]) for output in pot]
    for protocol in ("clean", "reference"):
        scores = PotAccuracy(protocol=protocol, seconds=4).score_cases(cases)
        assert scores == [output["expected"][protocol] for output in pot]


@pytest.mark.parametrize(
    ("body", "accuracy", "executed"),
    [
        ("return 75", 1, 1),
        ("return '75'", 1, 1),
        ("return '1,234%'", 0, 1),
        ("return float('nan')", 0, 1),
        ("return [75]", 0, 1),
        ("return None", 0, 1),
        ("return 1 / 0", 0, 0),
        ("while True: pass", 0, 0),
        ("print('x' * 10_000_000); return 75", 1, 1),
        ("return 'x' * 10_000_000", 0, 1),
        ("import os; return os.getpid()", 0, 0),
        ("return (", 0, 0),
        ("return 75 \x00", 0, 0),
    ],
)
def test_a_program_scores_by_what_it_returns(body, accuracy, executed):
    assert PotAccuracy(seconds=1).score_case(case(body)) == accuracy
    assert Executed(seconds=1).score_case(case(body)) == executed


@pytest.mark.parametrize("reply", ["", "The margin is 75.", "```python\n```", "\ud800"])
def test_a_reply_without_a_program_scores_0(reply):
    asked = Case("?", ("75",), (), reply)
    for protocol in ("clean", "reference"):
        assert PotAccuracy(protocol=protocol).score_case(asked) == 0


def test_the_limit_of_time_is_a_field():
    slow = case("import time; time.sleep(0.4); return 75")
    assert [PotAccuracy(seconds=seconds).score_case(slow) for seconds in (0.2, 30)] == [0, 1]


def test_equal_programs_are_run_once_for_both_metrics(monkeypatch):
    ran = []
    real = running._outcomes
    monkeypatch.setattr(
        running, "_outcomes", lambda programs, *rest: ran.append(list(programs)) or real(programs, *rest)
    )
    cases = [case("return 75", name=name) for name in "abc"] + [case("return 74")]
    assert PotAccuracy().score_cases(cases) == [1, 1, 1, 0]
    assert Executed().score_cases(cases) == [1, 1, 1, 1]
    assert [len(programs) for programs in ran] == [2, 0]


@pytest.mark.parametrize("count", [3, 40])
def test_few_programs_and_many_come_to_the_same_ends(count):
    programs = [f"def solution(): return {place} if {place} % 3 else 1 / 0" for place in range(count)]
    ends = running.run(programs, 3.0)
    assert [end.number for end in ends] == [place if place % 3 else None for place in range(count)]
    assert [end.executed for end in ends] == [place % 3 > 0 for place in range(count)]


def test_only_so_many_programs_are_remembered(monkeypatch):
    monkeypatch.setattr(running, "_KEPT", 3)
    for first in range(4):
        running.run([f"def solution(): return {place}" for place in (first, first + 1)], 3.0)
        assert len(running._known(Limits(seconds=3.0))) <= 3
    assert [end.number for end in running.run(["def solution(): return 4"], 3.0)] == [4]


def test_a_machine_that_cannot_isolate_programs_is_refused_unless_the_words_are_there(monkeypatch):
    monkeypatch.setattr(running, "_why_not", lambda: "no seccomp")
    with pytest.raises(PluginError, match=r"cannot be isolated on this machine: no seccomp; .*`unsafe: I accept that"):
        PotAccuracy().check()
    Executed(unsafe="I accept that programs run without isolation").check()


def ranking(*pages, gold=(3, 7), size=10):
    hits = tuple((("d", page),) if isinstance(page, int) else tuple(("d", each) for each in page) for page in pages)
    return Ranking("?", hits, ("",) * len(hits), frozenset(("d", page) for page in gold), ("",) * len(gold), size)


def golden_k(found):
    return 10_000 * (1 - GoldenRank().score_ranking(found))


def test_recall_and_mrr_are_cut_off():
    found = ranking(1, 3, 2, 7)
    assert [PageRecall(k=k).score_ranking(found) for k in (1, 2, 4)] == [0, 0.5, 1]
    assert [PageMrr(k=k).score_ranking(found) for k in (1, 2, 4)] == [0, 0.5, 0.5]


def test_a_page_has_the_place_of_its_best_chunk():
    found = ranking(1, 3, 3, 1, (2, 7))
    assert golden_k(found) == pytest.approx(4)
    for protocol in ("clean", "reference"):
        assert PageRecall(k=3, protocol=protocol).score_ranking(found) == 0.5


def test_golden_k_is_the_rank_of_the_last_gold_page_and_one_that_was_not_found_counts_as_the_last_one():
    assert [golden_k(ranking(*pages)) for pages in ((1, 3, 2, 7), (7, 3), (1, 3))] == pytest.approx([4, 2, 10])
    assert GoldenRank().score_ranking(ranking(1, 3, size=0)) == 0
    assert [GoldenFound().score_ranking(found) for found in (ranking(1, 3), ranking(7, 3))] == [0, 1]
    none = ranking(1, gold=())
    assert all(isnan(kind().score_ranking(none)) for kind in (PageRecall, PageMrr, GoldenRank, GoldenFound))
    assert [kind(protocol="reference").score_ranking(none) for kind in (PageRecall, PageMrr)] == [0, 0]


@given(st.permutations(range(1, 13)), st.sets(st.integers(1, 12), min_size=1))
def test_the_first_golden_k_pages_have_all_gold_pages_and_fewer_have_not(pages, gold):
    k = last_rank(pages, gold, 12)
    assert gold <= set(pages[:k])
    assert not gold <= set(pages[: k - 1])


@pytest.mark.parametrize(
    ("text", "fact", "held"),
    [
        ("Products $84,312 $78,945", "84312", 1), ("Products 84312", "84,312", 1), ("Products 84,31 2", "84312", 0),
        ("Products 184,312", "84312", 0), ("Products 84,3125", "84312", 0), ("a loss of (1,650)", "-1650", 1),
        ("each 5.8", "5.80", 1), ("each 5.85", "5.8", 0), ("each 15.8", "5.8", 0), ("12.5%", "12", 0),
        ("2021,2022", "2022", 1), ("on 12.05.2023", "2023", 0), ("收入８４，３１２万元", "84312", 1),
        ("2024年12月", "2024", 1), ("the fee is due", "fee", 1), ("", "5", 0),
    ],
)  # fmt: skip
def test_a_number_counts_where_it_is_whole(text, fact, held):
    assert NumberInText().score(text, fact) == held
    assert isnan(NumberInText().score(text, " "))
