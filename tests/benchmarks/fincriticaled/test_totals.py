import pytest

from ohr.benchmarks.fincriticaled.totals import (
    PUBLISHED_INDICES,
    aggregate,
    ffa_recall_style,
    key,
    record,
)


def verdict(of, found, correct):
    return {"type": of, "value": "5", "found_in_prediction": found, "correct": correct}


PAGE = record(
    ["Number"] * 3 + ["Temporal"],
    [verdict("Number", True, True), verdict("Number", True, False), verdict("Temporal", False, False)],
)


def test_keys_are_the_published_ones():
    assert key("found") == "found_entities"
    assert key("correct", "Monetary Unit") == "correct_entities_with_Monetary_Unit_type"


def test_totals_come_from_the_extractor_and_the_rest_from_the_verdicts():
    assert (PAGE["total_entities"], PAGE["found_entities"], PAGE["correct_entities"]) == (4, 2, 1)
    assert PAGE["not_found_entities"] == 2
    assert PAGE["not_found_entities_with_Number_type"] == 1
    assert PAGE["total_entities_with_Reporting_Entity_type"] == 0


def test_a_verdict_of_another_type_counts_in_the_sums_only():
    made = record(["Number"], [verdict("Date", True, True)])
    assert (made["found_entities"], made["found_entities_with_Number_type"]) == (1, 0)
    assert made["not_found_entities"] == 0


def test_counts_are_summed_over_pages_before_they_are_divided():
    small = record(["Number"], [verdict("Number", True, True)])
    large = record(["Number"] * 3, [verdict("Number", True, False)] * 3)
    assert aggregate([small, large])["number_entity_acc"] == 25.0


def test_accuracy_is_of_the_found_facts_and_missing_of_all():
    found = aggregate([PAGE])
    assert found["entity_acc"] == 50.0
    assert found["missing_rate"] == 50.0
    assert (found["number_entity_acc"], found["number_missing_rate"]) == (50.0, 33.33)


def test_a_type_without_facts_has_the_published_zero():
    found = aggregate([PAGE])
    assert (found["monetary_unit_entity_acc"], found["monetary_unit_missing_rate"]) == (0.0, 0.0)


def test_a_record_may_lack_counts():
    assert aggregate([{}, {"total_entities": 2, "found_entities": 1}])["missing_rate"] == 50.0


@pytest.mark.parametrize(("correct", "found", "total"), [(1, 3, 7), (2, 3, 7), (5, 6, 11), (13, 17, 19)])
def test_rounding_twice_moves_the_published_ffa_by_at_most_a_hundredth(correct, found, total):
    made = record(["Number"] * total, [verdict("Number", True, i < correct) for i in range(found)])
    assert ffa_recall_style(aggregate([made]))["number_error"] == pytest.approx(100 * correct / total, abs=0.0101)


def test_the_published_loop_leaves_out_the_last_page():
    assert 857 in PUBLISHED_INDICES
    assert 858 not in PUBLISHED_INDICES
