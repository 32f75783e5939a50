import json
import re

import pytest

from ohr.benchmarks.fincriticaled.facts import extract_entities
from ohr.benchmarks.fincriticaled.judging import judge_messages, judge_postprocess, parse_reply, prompt
from ohr.benchmarks.fincriticaled.totals import (
    PUBLISHED_INDICES,
    aggregate,
    ffa_recall_style,
    key,
    record,
)
from ohr.ocr.servers.preset import read_preset
from ohr.ocr.servers.vlm import Vlm

GOLD = "<p>Total of <number>25,700</number> and <number>5</number> for <reportingentity>Acme</reportingentity></p>"


def verdict(value="25,700", of="Number", found=False, correct=False, matched="", hint=""):
    named = {"type": of, "value": value, "context_hint": hint}
    return named | {"found_in_prediction": found, "correct": correct, "matched_text": matched}


def counts(*given, gold=GOLD, pred="25,700 and 5", mode="reference"):
    made = judge_postprocess(gold, pred, given, mode)
    return tuple(made[key(count)] for count in ("total", "found", "correct"))


def test_the_user_gets_the_facts_the_page_and_the_prediction():
    system, user = judge_messages(GOLD, "<td>25,700</td><td>{facts}</td>")
    facts = json.dumps(extract_entities(GOLD), indent=2)
    blocks = [block.partition("\n")[2].strip() for block in re.split("^## ", user, flags=re.MULTILINE)[1:]]
    assert blocks == [facts, "<p>Total of 25,700 and 5 for Acme</p>", "25,700 {facts}"]
    assert "entity_diagnostics" in system


def test_the_judges_prompt_names_every_published_key():
    asked = prompt("judge")["system"]
    for name in (
        key("total"),
        key("found"),
        key("correct"),
        key("found", "Monetary Unit"),
        *verdict(),
        "entity_accuracy",
    ):
        assert f"`{name}`" in asked


def test_the_transcription_prompt_names_the_allowed_tags():
    assert "html, body, h1, h2, h3, p, table, tr, th, td" in prompt("transcribe")["text"]


REPLY = json.dumps({"found_entities": 9, "entity_diagnostics": [verdict(found=True, matched="25,700"), verdict("5")]})


@pytest.mark.parametrize("text", [REPLY, f"```json\n{REPLY}\n```", f"Here it is: {REPLY} I hope this helps."])
def test_a_reply_is_read_between_fences_and_words(text):
    read = parse_reply(text)
    assert (read.diagnostics, read.fault) == ((verdict(found=True, matched="25,700"), verdict("5")), "")


def test_the_whole_diagnostics_of_a_cut_reply_are_kept():
    read = parse_reply(REPLY[:-20])
    assert read.diagnostics == (verdict(found=True, matched="25,700"),)
    assert read.fault == "the reply is no JSON; 1 diagnostics of it could be read"


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", "{", "[" * 100_000, "null", "[]", '{"a": 1}', "\ud800{}"]
)
def test_garbage_has_no_diagnostics_and_a_fault(text):
    read = parse_reply(text)
    assert read.diagnostics == ()
    assert read.fault


def test_entries_that_are_no_objects_are_counted():
    read = parse_reply(json.dumps({"entity_diagnostics": ["a", None, verdict()]}))
    assert read.diagnostics == (verdict(),)
    assert read.fault == "2 entries of `entity_diagnostics` are no objects"


def test_texts_and_verdicts_of_other_kinds_are_converted():
    given = {"type": "Number", "value": 5, "found_in_prediction": "True", "correct": "false", "matched_text": None}
    (read,) = parse_reply(json.dumps({"entity_diagnostics": [given]})).diagnostics
    assert read == verdict("5", found=True)


def test_the_judges_verdicts_are_overridden_and_counted():
    assert counts(verdict(), verdict("5"), verdict("Acme", "Reporting Entity")) == (3, 2, 2)


def test_a_match_that_the_judge_quotes_is_left_alone():
    assert counts(verdict(found=True, matched="25700"), pred="25700 and later 25,700") == (3, 1, 0)


def test_an_entity_that_the_judge_left_out_is_missing_as_published_and_searched_in_clean_mode():
    assert counts() == (3, 0, 0)
    assert counts(mode="clean") == (3, 2, 2)
    assert counts(verdict("5"), mode="clean") == (3, 2, 2)


def test_an_entity_that_the_judge_made_up_counts_as_published_but_not_in_clean_mode():
    extra = [verdict("7", found=True, correct=True, matched="7") for _ in range(9)]
    assert counts(*extra) == (3, 9, 9)
    assert counts(*extra, mode="clean") == (3, 2, 2)


def test_a_verdict_given_twice_counts_once_in_clean_mode():
    once = verdict("Acme", "Reporting Entity", found=True, correct=True, matched="Acme")
    assert counts(once, once) == (3, 2, 2)
    assert counts(once, once, mode="clean") == (3, 3, 3)


def test_what_is_not_found_is_not_correct_in_clean_mode():
    claimed = verdict("Acme", "Reporting Entity", correct=True)
    assert counts(claimed, pred="") == (3, 0, 1)
    assert counts(claimed, pred="", mode="clean") == (3, 0, 0)


def test_a_text_quoted_for_an_entity_that_was_not_found_does_not_block_the_search_in_clean_mode():
    missed = verdict(matched="25700")
    assert counts(missed) == (3, 1, 0)
    assert counts(missed, mode="clean") == (3, 2, 2)


def test_repeated_values_take_the_verdict_with_their_hint():
    gold = "<p><number>5</number></p><p><number>5</number></p>"
    given = [verdict("5", found=True, correct=False, matched="S", hint="other"), verdict("5", hint="5")]
    made = judge_postprocess(gold, "5", given, "clean")["entity_diagnostics"]
    assert [one["matched_text"] for one in made] == ["5", "S"]
    assert [one["context_hint"] for one in made] == ["5", "5"]


def test_the_transcription_prompt_is_a_preset_of_an_engine():
    vlm = Vlm(base_url="http://localhost:1/v1", model="m", preset="ohr.benchmarks.fincriticaled:transcribe")
    assert read_preset(vlm.preset).words == prompt("transcribe")["text"]
    assert (read_preset(vlm.preset).max_tokens, read_preset(vlm.preset).temperatures) == (4096, (0.0,))


# --- totals ---------------------------------------------------------------------------------------------


def counted(of, found, correct):
    return {"type": of, "value": "5", "found_in_prediction": found, "correct": correct}


PAGE = record(
    ["Number"] * 3 + ["Temporal"],
    [counted("Number", True, True), counted("Number", True, False), counted("Temporal", False, False)],
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
    counts_of_page = record(["Number"], [counted("Date", True, True)])
    assert (counts_of_page["found_entities"], counts_of_page["found_entities_with_Number_type"]) == (1, 0)
    assert counts_of_page["not_found_entities"] == 0


def test_counts_are_summed_over_pages_before_they_are_divided():
    small = record(["Number"], [counted("Number", True, True)])
    large = record(["Number"] * 3, [counted("Number", True, False)] * 3)
    assert aggregate([small, large])["number_entity_acc"] == 25.0


def test_accuracy_is_of_the_found_facts_and_missing_of_all():
    totals = aggregate([PAGE])
    assert totals["entity_acc"] == 50.0
    assert totals["missing_rate"] == 50.0
    assert (totals["number_entity_acc"], totals["number_missing_rate"]) == (50.0, 33.33)


def test_a_type_without_facts_has_the_published_zero():
    totals = aggregate([PAGE])
    assert (totals["monetary_unit_entity_acc"], totals["monetary_unit_missing_rate"]) == (0.0, 0.0)


def test_a_record_may_lack_counts():
    assert aggregate([{}, {"total_entities": 2, "found_entities": 1}])["missing_rate"] == 50.0


@pytest.mark.parametrize(("correct", "found", "total"), [(1, 3, 7), (2, 3, 7), (5, 6, 11), (13, 17, 19)])
def test_rounding_twice_moves_the_published_ffa_by_at_most_a_hundredth(correct, found, total):
    made = record(["Number"] * total, [counted("Number", True, i < correct) for i in range(found)])
    assert ffa_recall_style(aggregate([made]))["number_error"] == pytest.approx(100 * correct / total, abs=0.0101)


def test_the_published_loop_leaves_out_the_last_page():
    assert 857 in PUBLISHED_INDICES
    assert 858 not in PUBLISHED_INDICES
