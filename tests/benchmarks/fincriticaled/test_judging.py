import json
import re

import pytest

from ohr.benchmarks.fincriticaled.fact_metrics import judge_messages, judge_postprocess, parse_reply
from ohr.benchmarks.fincriticaled.facts import extract_entities
from ohr.ocr.servers.preset import read_preset
from ohr.ocr.servers.vlm import Vlm

GOLD = "<p>Total of <number>25,700</number> and <number>5</number> for <reportingentity>Acme</reportingentity></p>"


def verdict(value="25,700", of="Number", found=False, correct=False, matched="", hint=""):
    named = {"type": of, "value": value, "context_hint": hint}
    return named | {"found_in_prediction": found, "correct": correct, "matched_text": matched}


def test_the_user_gets_the_facts_the_page_and_the_prediction():
    system, user = judge_messages(GOLD, "<td>25,700</td><td>{facts}</td>")
    facts = json.dumps(extract_entities(GOLD), indent=2)
    blocks = [block.partition("\n")[2].strip() for block in re.split("^## ", user, flags=re.MULTILINE)[1:]]
    assert blocks == [facts, "<p>Total of 25,700 and 5 for Acme</p>", "25,700 {facts}"]
    assert "entity_diagnostics" in system


def test_the_judges_prompt_names_every_published_key():
    of_all = ("total_entities", "found_entities", "correct_entities", "entity_accuracy")
    for name in (*of_all, "found_entities_with_Monetary_Unit_type", *verdict()):
        assert f"`{name}`" in judge_messages(GOLD, "")[0]


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


ACME = verdict("Acme", "Reporting Entity", found=True, correct=True, matched="Acme")


@pytest.mark.parametrize(
    ("given", "pred", "reference", "clean"),
    [
        ([verdict(), verdict("5"), verdict("Acme", "Reporting Entity")], "25,700 and 5", (2, 2), (2, 2)),
        ([verdict(found=True, matched="25700")], "25700 and later 25,700", (1, 0), (2, 1)),
        ([], "25,700 and 5", (0, 0), (2, 2)),
        ([verdict("5")], "25,700 and 5", (1, 1), (2, 2)),
        ([verdict("7", found=True, correct=True, matched="7")] * 9, "25,700 and 5", (9, 9), (2, 2)),
        ([ACME, ACME], "25,700 and 5", (2, 2), (3, 3)),
        ([verdict("Acme", "Reporting Entity", correct=True)], "", (0, 1), (0, 0)),
        ([verdict(matched="25700")], "25,700 and 5", (1, 0), (2, 2)),
    ],
    ids=["overridden", "quoted", "left out", "some left out", "made up", "twice", "not found", "quoted, not found"],
)
def test_verdicts_are_overridden_as_published_and_one_for_each_entity_in_clean_mode(given, pred, reference, clean):
    for mode, counts in (("reference", reference), ("clean", clean)):
        made = judge_postprocess(GOLD, pred, given, mode)
        assert tuple(sum(one[name] for one in made) for name in ("found_in_prediction", "correct")) == counts


def test_repeated_values_take_the_verdict_with_their_hint():
    gold = "<p><number>5</number></p><p><number>5</number></p>"
    given = [verdict("5", found=True, correct=False, matched="S", hint="other"), verdict("5", hint="5")]
    made = judge_postprocess(gold, "5", given, "clean")
    assert [one["matched_text"] for one in made] == ["5", "S"]
    assert [one["context_hint"] for one in made] == ["5", "5"]


def test_the_transcription_prompt_is_a_preset_of_an_engine():
    vlm = Vlm(base_url="http://localhost:1/v1", model="m", preset="ohr.benchmarks.fincriticaled:transcribe")
    preset = read_preset(vlm.preset)
    assert "html, body, h1, h2, h3, p, table, tr, th, td" in preset.words
    assert (preset.max_tokens, preset.temperatures) == (4096, (0.0,))
