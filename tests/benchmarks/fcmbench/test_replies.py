"""Scores of single replies: the published code's rules, and each repair of them."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.fcmbench.reply_scores import (
    CLEAN,
    REFERENCE,
    extract_json,
    f1,
    flatten,
    normalize_val,
    score,
    unwrap,
)


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


def test_a_long_number_with_separators_is_one_value():
    assert flatten("1,234,567,890,123,456,789", CLEAN) == {("", "1234567890123456789")}


def test_a_value_is_a_pair_of_its_keys_and_its_text():
    assert flatten({"a": {"b": "x，y, z ,"}, "c": ["p", {"d": 2.0}], "e": None}) == {
        ("a.b", "x"),
        ("a.b", "y"),
        ("a.b", "z"),
        ("c", "p"),
        ("c.d", "2"),
    }


def test_a_list_in_a_list_is_one_row_whose_commas_are_kept():
    assert flatten([["a, b", 30.0, None], []]) == {("", ("a, b", "30", "")), ("", ())}


def test_commas_separate_numbers_when_they_are_repaired():
    assert flatten("1,2") == {("", "12")}
    assert flatten("1,2", {"separators"}) == {("", "1"), ("", "2")}


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
def test_f1_is_the_harmonic_mean_of_precision_and_recall(found, wanted):
    shared = len(set(found) & set(wanted))
    precision = shared / len(set(found)) if found else 0.0
    recall = shared / len(set(wanted))
    mean = 2 * precision * recall / (precision + recall) if shared else 0.0
    assert f1(found, wanted, "inf_ext_001") == pytest.approx(mean)


def test_an_empty_gold_wants_an_empty_answer():
    for empty in ([], "", [""], {"a": "", "b": [" "]}, None, {}):
        assert f1(empty, [], "con_cnk_001") == 1
    assert f1(["x"], [], "con_cnk_001") == 0


def test_missing_categories_are_not_compared():
    gold = {"present_categories": ["甲"], "missing_categories": ["乙"]}
    assert f1({"present_categories": ["甲"], "missing_categories": ["丙"]}, gold, "doc_cla_003") == 1
    assert f1({"missing_categories": ["乙"]}, gold, "en.doc_cla_003") == 0
    assert f1(["甲"], gold, "doc_cla_003") == 0
    assert f1("anything", {"present_categories": "", "missing_categories": ["乙"]}, "doc_cla_003") == 1


@pytest.mark.parametrize("subtask", ["num_cal_001", "num_cal_002"])
@pytest.mark.parametrize(
    ("answer", "value"),
    [(383, 1), ("381", 1), (" 385 ", 1), (385.01, 0), ("383 ㎡", 0), ("1,383", 0), ([383], 0), ({"a": 383}, 0)],
)
def test_a_calculation_may_be_wrong_by_two(subtask, answer, value):
    assert f1(answer, 383, subtask) == value
    assert f1(answer, 383, subtask, CLEAN) == value


def test_numbers_that_are_none_are_wrong():
    assert f1("nan", 1, "num_cal_001") == 0
    assert f1(10**400, 1, "num_cal_001") == 0
    assert f1(1, "?", "num_cal_001") == 0


def test_other_calculations_are_compared_exactly():
    assert f1([6], [7], "num_cal_003") == 0
    assert f1(5779.05, 5779.04, "en.num_cal_003") == 0
    assert f1("5779.040", 5779.04, "en.num_cal_003") == 1


def test_a_subtask_without_a_name_is_compared_as_values():
    assert f1("A", ["A"], None) == 1


def test_unparsable_replies_are_wrong_when_they_are_repaired():
    assert f1(None, {"f": ""}, "inf_ext_003") == 1
    assert f1(None, {"f": ""}, "inf_ext_003", {"unparsable"}) == 0
    assert score("I see none.", '{"answer": []}', "con_cnk_001", REFERENCE) == (1, False)
    assert score("I see none.", '{"answer": []}', "con_cnk_001", CLEAN) == (0, False)


def test_an_answer_of_null_is_an_empty_answer():
    for repairs in (REFERENCE, CLEAN):
        assert score('{"answer": null}', '{"answer": []}', "con_cnk_001", repairs) == (1, True)
    assert isnan(score('{"answer": null}', '{"answer": 3}', "num_cal_001", {"unparsable"}).value)
    assert score('{"answer": null}', '{"answer": 3}', "num_cal_001", CLEAN) == (0, True)


def test_a_calculation_without_json_has_no_score_unless_it_is_repaired():
    assert isnan(f1(None, 3, "num_cal_001"))
    assert isnan(f1(None, 3, "num_cal_001", CLEAN - {"undefined"}))
    assert f1(None, 3, "num_cal_001", {"undefined"}) == 0


def test_acres_have_a_tolerance_of_their_size_when_they_are_repaired():
    assert f1(0, 0.46, "en.num_cal_002") == 1
    assert f1(0, 0.46, "en.num_cal_002", {"acres"}) == 0
    assert f1(0.465, 0.46, "en.num_cal_002", {"acres"}) == 1
    assert f1(0.466, 0.46, "en.num_cal_002", {"acres"}) == 0
    assert f1(2, 0.46, "num_cal_002", {"acres"}) == 1
