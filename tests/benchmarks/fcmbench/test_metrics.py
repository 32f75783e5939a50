"""Metrics of replies, and the numbers that are more than a mean of one metric."""

from math import isnan, nan
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.item_files import SAMPLE, read_items
from ohr.benchmarks.fcmbench.macro_means import aggregates, macro
from ohr.benchmarks.fcmbench.reply_metrics import (
    CLEAN,
    REFERENCE,
    REPAIRS,
    FcmBenchF1,
    FcmBenchParsed,
    extract_json,
    f1,
    flatten,
    normalize_val,
    score,
    unwrap,
)
from ohr.contracts import Case
from ohr.report.leaderboard.answers import read_answers, score_answers

ITEMS, REPLIES = read_items(SAMPLE / "items.jsonl"), read_answers(SAMPLE / "replies.jsonl")
NORMAL, BLUR = "Normal Captures", "Out-of-focus"


def case(reply, gold='{"answer": "x"}', subtask="key_ver_002"):
    return Case("?", (gold,) if gold else (), (), reply, "q", {"subtask": subtask} if subtask else {})


def numbers(scores):
    """Return the aggregates of scores, which are (subtask, condition, value)."""
    items = [SimpleNamespace(subtask=subtask, robustness=label) for subtask, label, _ in scores]
    return {
        number.name: float(number.combine(np.array([mean(part, scores) for part in number.parts]), None))
        for number in aggregates(items)
    }


def mean(part, scores):
    rows = [({"subtask": subtask, "robustness": label}, value) for subtask, label, value in scores]
    values = [value for groups, value in rows if part.where.items() <= groups.items() and not isnan(value)]
    return sum(values) / len(values) if values else nan


def test_subtasks_weigh_equally_in_a_task_and_tasks_in_the_overall_mean():
    of_one = [("inf_ext_001", NORMAL, value) for value in (1.0, 0.0, 0.5)]
    found = numbers([*of_one, ("en.inf_ext_001", NORMAL, 1.0), ("rea_chk_001", NORMAL, 0.0)])
    assert found == {"KIE": 0.75, "RR": 0.0, "overall": 0.375}


def test_each_reading_of_robustness_has_its_own_numerator_and_denominator():
    """Blurred pictures are asked an easy subtask, too, so that they score better than normal ones at first sight."""
    normal = [("inf_ext_001", 0.8), ("inf_ext_001", 0.4), ("num_cal_001", 0.2), ("qua_eva_001", 0.5)]
    blurred = [("inf_ext_001", 0.3), ("con_cnk_001", 1.0), ("qua_eva_001", 1.0), ("num_cal_001", nan)]
    found = numbers([(name, label, value) for label, of in ((NORMAL, normal), (BLUR, blurred)) for name, value in of])
    assert found[f"relative_f1/{BLUR}"] == pytest.approx(((0.3 + 1 + 1) / 3) / ((0.6 + 0.2 + 0.5) / 3))
    assert found[f"relative_f1_matched/{BLUR}"] == pytest.approx(0.3 / 0.6)
    assert found[f"relative_instances/{BLUR}"] == pytest.approx((2.3 / 3) / (1.9 / 4))


def test_a_ratio_to_nothing_is_undefined():
    found = numbers([("inf_ext_001", NORMAL, 0.0), ("inf_ext_001", BLUR, 0.1)])
    assert all(isnan(found[f"{name}/{BLUR}"]) for name in ("relative_f1", "relative_f1_matched", "relative_instances"))


def test_the_numbers_are_tasks_in_the_published_order_then_overall_ones_and_ratios():
    names = [number.name for number in aggregates(ITEMS)]
    assert names[:9] == ["IQE", "DTR", "KIE", "CC", "VC", "NC", "RR", "overall", "overall_without_iqe"]
    assert len(names) == 9 + 3 * 10 - 5  # five conditions have no subtask that normal captures have


def test_a_missing_reply_scores_0_where_the_published_code_leaves_it_out():
    clean, reference = (
        score_answers(FcmBench(root="sample", protocol=each), REPLIES, "x") for each in ("clean", "reference")
    )
    assert clean.missing == reference.missing == reference.left_out == ["en.key_ver_003_01"]
    assert clean.left_out == []
    of_its_subtask = [each.scores["fcmbench_f1"]["subtask"]["en.key_ver_003"].mean for each in (clean, reference)]
    assert of_its_subtask == pytest.approx([0, nan], nan_ok=True)


def test_an_unfinished_subtask_has_no_score_with_or_without_a_reply():
    unfinished = {"num_cal_005_01"}
    for replies in (REPLIES, {name: reply for name, reply in REPLIES.items() if name not in unfinished}):
        found = score_answers(FcmBench(root="sample"), replies, "x")
        assert isnan(found.scores["fcmbench_f1"]["subtask"]["num_cal_005"].mean)
        assert {name: found.aggregates[name][1].mean for name in ("NC", "overall")} == pytest.approx(
            {"NC": (1 / 2 + 0 + 1 + 4 / 5 + 0 + 1 + 1) / 7, "overall": 0.689739}, abs=1e-6
        )


@pytest.mark.parametrize("repairs", [(), REPAIRS], ids=["reference", "clean"])
def test_what_has_no_gold_or_no_subtask_has_no_score(repairs):
    for metric in (FcmBenchF1(repairs=repairs), FcmBenchParsed()):
        assert isnan(metric.score_case(case('{"answer": "x"}', gold="")))
        assert isnan(metric.score_case(case('{"answer": "x"}', subtask="")))
        assert isnan(metric.score_case(case('{"answer": "x"}', subtask="num_cal_005")))


@pytest.mark.parametrize(
    ("reply", "score", "parsed"),
    [
        ('{"answer": 12}', 1, 1),
        ('{"answer": NaN}', 0, 1),
        ('{"answer": "1,234%"}', 0, 1),
        ('{"answer": ' + "9" * 5000 + "}", 0, 0),  # more digits than Python reads
        ("{" * 10_000_000, 0, 0),
        ("[" * 100_000 + "{}", 0, 1),
        ('{"a": ' * 100_000 + "1" + "}" * 100_000, 0, 0),
        ("twelve", 0, 0),
    ],
    ids=["right", "NaN", "percent", "long number", "10 MB", "brackets", "deeply nested", "no JSON"],
)
def test_a_reply_of_any_kind_is_a_score(reply, score, parsed):
    given = case(reply, '{"answer": 12}', "num_cal_001")
    assert FcmBenchF1().score_case(given) == score
    assert FcmBenchParsed().score_case(given) == parsed


def test_macro_means_leave_out_what_is_undefined_and_work_on_arrays():
    means = np.array([[1.0, nan], [0.0, nan], [0.5, 0.25]])
    assert macro(means, None, (0, 0, 1)).tolist() == [0.5, 0.25]
    assert float(macro(means[:, 0], None, (0, 0, 1))) == 0.5
    assert isnan(macro(np.array([nan, nan]), None, (0, 1)))


def test_there_are_no_ratios_to_normal_captures_without_them():
    names = [number.name for number in aggregates(item for item in ITEMS if item.robustness != "Normal Captures")]
    assert not [name for name in names if name.startswith("relative")]
    assert [number.name for number in aggregates(ITEMS) if number.ratio] == ["overall", "overall_without_iqe"]


# --- scores of single replies ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"answer": "A"}', {"answer": "A"}),
        ('Thinking...\n```json\n{"answer": ["A"]}\n```\nDone.', {"answer": ["A"]}),
        ("", None),
        (None, None),
        ("no JSON", None),
        ("} {", None),
        ('{"a": 1} or {"b": 2}', None),
        ("[1, 2]", None),
        ('{"a": 1,}', None),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", None),
        ('{"a": ' + "9" * 5000 + "}", None),
    ],
)
def test_json_is_read_from_the_first_to_the_last_brace(reply, found):
    assert extract_json(reply) == found


def test_the_answer_is_taken_out_of_an_object_that_has_one():
    assert unwrap({"answer": [1], "why": "x"}) == [1]
    assert unwrap({"field": "x"}) == {"field": "x"}
    assert unwrap(["answer"]) == ["answer"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("  <身份证>  ", "身份证"),
        ("12.0", "12"),
        ("0012", "12"),
        ("1,2", "12"),
        ("1,234.50", "1234.5"),
        ("1e3", "1000"),
        ("-0", "0"),
        (30.0, "30"),
        (7676.04, "7676.04"),
        (True, "True"),
        ("03/14", "03/14"),
        ("nan", "nan"),
        ("1e999", "inf"),
        ("1_000", "1000"),
        ("１２", "12"),
        ("990101199108140027", "990101199108140032"),
    ],
)
def test_values_are_normalized_as_in_the_published_code(value, text):
    assert normalize_val(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("12.0", "12"),
        ("1e3", "1000"),
        ("-0", "0"),
        ("+5", "5"),
        (".5", "0.5"),
        ("0.50", "0.5"),
        ("100", "100"),
        ("0012", "0012"),
        ("03", "03"),
        ("123456789012345", "123456789012345"),
        ("1234567890123456", "1234567890123456"),
        ("990101199108140027", "990101199108140027"),
        ("1e99999", "1e99999"),
        ("nan", "nan"),
        (30.0, "30"),
        ("１２", "12"),
        ("x1", "x1"),
    ],
)
def test_long_numbers_and_leading_zeros_are_kept_when_they_are_repaired(value, text):
    assert normalize_val(value, {"long_numbers"}) == text
    assert normalize_val(value, CLEAN) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1,234", "1234"),
        ("-1,234,567.80", "-1234567.8"),
        ("1,2", "1,2"),
        ("12,34", "12,34"),
        ("1,2345", "1,2345"),
        ("1234,567", "1234,567"),
        (",123", ",123"),
        ("A,1,234", "A,1,234"),
    ],
)
def test_only_commas_between_thousands_are_dropped_when_they_are_repaired(value, text):
    assert normalize_val(value, {"separators"}) == text
    assert normalize_val(value, CLEAN) == text


@pytest.mark.parametrize(
    ("value", "repairs", "pairs"),
    [
        (
            {"a": {"b": "x，y, z ,"}, "c": ["p", {"d": 2.0}], "e": None},
            REFERENCE,
            {("a.b", "x"), ("a.b", "y"), ("a.b", "z"), ("c", "p"), ("c.d", "2")},
        ),
        ([["a, b", 30.0, None], []], REFERENCE, {("", ("a, b", "30", "")), ("", ())}),
        ("1,2", REFERENCE, {("", "12")}),
        ("1,2", {"separators"}, {("", "1"), ("", "2")}),
        ("1,234,567,890,123,456,789", CLEAN, {("", "1234567890123456789")}),
    ],
)
def test_a_value_is_a_pair_of_its_keys_and_its_text_and_a_list_in_a_list_is_one_row(value, repairs, pairs):
    assert flatten(value, repairs) == pairs


def test_deep_values_do_not_exhaust_the_stack():
    deep = "x"
    for _ in range(50_000):
        deep = {"a": deep}
    ((path, value),) = flatten(deep)
    assert (path.count("a"), value) == (50_000, "x")


@given(st.lists(st.sampled_from(["甲", "乙", "丙", "1.0", "2"]), max_size=6), st.randoms())
def test_the_order_and_the_number_of_equal_values_do_not_matter(values, random):
    other = values + values[:2]
    random.shuffle(other)
    assert flatten(values) == flatten(other)
    assert f1(values, other, "inf_ext_001") == 1


@given(st.lists(st.sampled_from("ABCDE")), st.lists(st.sampled_from("ABCDE"), min_size=1))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(replied, wanted):
    shared = len(set(replied) & set(wanted))
    precision = shared / len(set(replied)) if replied else 0.0
    recall = shared / len(set(wanted))
    mean = 2 * precision * recall / (precision + recall) if shared else 0.0
    assert f1(replied, wanted, "inf_ext_001") == pytest.approx(mean)


GOLD = {"present_categories": ["甲"], "missing_categories": ["乙"]}


@pytest.mark.parametrize(
    ("subtask", "answer", "gold", "reference", "clean"),
    [
        *(
            (subtask, answer, 383, value, value)  # a calculation may be wrong by two
            for subtask in ("num_cal_001", "num_cal_002")
            for answer, value in (
                (383, 1),
                ("381", 1),
                (" 385 ", 1),
                (385.01, 0),
                ("383 ㎡", 0),
                ("1,383", 0),
                ([1], 0),
            )
        ),
        ("num_cal_001", {"a": 383}, 383, 0, 0),
        ("num_cal_001", "nan", 1, 0, 0),
        ("num_cal_001", 10**400, 1, 0, 0),
        ("num_cal_001", 1, "?", 0, 0),
        ("num_cal_001", None, 3, nan, 0),
        ("num_cal_003", [6], [7], 0, 0),  # others are compared exactly
        ("en.num_cal_003", 5779.05, 5779.04, 0, 0),
        ("en.num_cal_003", "5779.040", 5779.04, 1, 1),
        ("en.num_cal_002", 0, 0.46, 1, 0),  # acres have a tolerance of their size
        ("en.num_cal_002", 0.465, 0.46, 1, 1),
        ("en.num_cal_002", 0.466, 0.46, 1, 0),
        ("num_cal_002", 2, 0.46, 1, 1),
        (None, "A", ["A"], 1, 1),
        *(("con_cnk_001", empty, [], 1, 1) for empty in ([], "", [""], {"a": "", "b": [" "]}, {})),
        ("con_cnk_001", ["x"], [], 0, 0),
        ("inf_ext_003", None, {"f": ""}, 1, 0),
        # missing categories are not compared
        ("doc_cla_003", {"present_categories": ["甲"], "missing_categories": ["丙"]}, GOLD, 1, 1),
        ("en.doc_cla_003", {"missing_categories": ["乙"]}, GOLD, 0, 0),
        ("doc_cla_003", ["甲"], GOLD, 0, 0),
        ("doc_cla_003", "anything", {"present_categories": "", "missing_categories": ["乙"]}, 1, 1),
    ],
)
def test_an_answer_is_compared_by_the_rules_of_its_subtask(subtask, answer, gold, reference, clean):
    scores = [f1(answer, gold, subtask, repairs) for repairs in (REFERENCE, CLEAN)]
    assert scores == pytest.approx([reference, clean], nan_ok=True)


def test_replies_without_json_and_answers_of_null_differ_by_the_repairs():
    assert f1(None, {"f": ""}, "inf_ext_003", {"unparsable"}) == 0
    assert score("I see none.", '{"answer": []}', "con_cnk_001", REFERENCE) == (1, False)
    assert score("I see none.", '{"answer": []}', "con_cnk_001", CLEAN) == (0, False)
    for repairs in (REFERENCE, CLEAN):
        assert score('{"answer": null}', '{"answer": []}', "con_cnk_001", repairs) == (1, True)
    assert isnan(score('{"answer": null}', '{"answer": 3}', "num_cal_001", {"unparsable"}).value)
    assert score('{"answer": null}', '{"answer": 3}', "num_cal_001", CLEAN) == (0, True)
    assert isnan(f1(None, 3, "num_cal_001", CLEAN - {"undefined"}))
