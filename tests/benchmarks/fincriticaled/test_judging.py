import json
import re

import pytest

from ohr.benchmarks.fincriticaled.facts import extract_entities
from ohr.benchmarks.fincriticaled.judging import judge_messages, judge_postprocess, parse_reply, prompt
from ohr.benchmarks.fincriticaled.totals import key
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
    found = parse_reply(text)
    assert (found.diagnostics, found.fault) == ((verdict(found=True, matched="25,700"), verdict("5")), "")


def test_the_whole_diagnostics_of_a_cut_reply_are_kept():
    found = parse_reply(REPLY[:-20])
    assert found.diagnostics == (verdict(found=True, matched="25,700"),)
    assert found.fault == "the reply is no JSON; 1 diagnostics of it could be read"


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", "{", "[" * 100_000, "null", "[]", '{"a": 1}', "\ud800{}"]
)
def test_garbage_has_no_diagnostics_and_a_fault(text):
    found = parse_reply(text)
    assert found.diagnostics == ()
    assert found.fault


def test_entries_that_are_no_objects_are_counted():
    found = parse_reply(json.dumps({"entity_diagnostics": ["a", None, verdict()]}))
    assert found.diagnostics == (verdict(),)
    assert found.fault == "2 entries of `entity_diagnostics` are no objects"


def test_texts_and_verdicts_of_other_kinds_are_converted():
    given = {"type": "Number", "value": 5, "found_in_prediction": "True", "correct": "false", "matched_text": None}
    (found,) = parse_reply(json.dumps({"entity_diagnostics": [given]})).diagnostics
    assert found == verdict("5", found=True)


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
