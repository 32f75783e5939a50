from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finqa_tablequest.judging import parse_binary_judge
from ohr.benchmarks.tablequest.binary import binary_prompt

UNPARSED = ("INCORRECT", 0.0, "Failed to parse response")


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("JUDGMENT: CORRECT\nCONFIDENCE: 0.95\nREASONING: same", ("CORRECT", 0.95, "same")),
        ("  JUDGMENT: correct  \n CONFIDENCE: 7", ("CORRECT", 1.0, "Failed to parse response")),
        ("JUDGMENT: [CORRECT/INCORRECT]", UNPARSED),
        ("JUDGMENT: NOT CORRECT", ("CORRECT", 0.0, "Failed to parse response")),
        ("JUDGMENT: INCORRECT\nJUDGMENT: CORRECT", ("CORRECT", 0.0, "Failed to parse response")),
        ("JUDGMENT: CORRECT\nJUDGMENT: unsure", UNPARSED),
        ("JUDGMENT: JUDGMENT: CORRECT", ("CORRECT", 0.0, "Failed to parse response")),
        ("JUDGMENT", UNPARSED),
        ("**JUDGMENT:** CORRECT", UNPARSED),
        ("judgment: CORRECT", UNPARSED),
        ("Correct!", UNPARSED),
        ("", UNPARSED),
        ("CONFIDENCE: high\nREASONING: a: b", ("INCORRECT", 0.0, "a: b")),
        ("CONFIDENCE: 95%", UNPARSED),
        ("CONFIDENCE: -1", UNPARSED),
        ("CONFIDENCE: nan", ("INCORRECT", 1.0, "Failed to parse response")),
        ("REASONING:", ("INCORRECT", 0.0, "")),
    ],
)
def test_reference_reads_replies_as_the_published_code_does(reply, found):
    assert parse_binary_judge(reply) == parse_binary_judge(reply, "reference") == found


@pytest.mark.parametrize(
    ("reply", "judgment", "confidence"),
    [
        ("JUDGMENT: CORRECT\nCONFIDENCE: 0.95", "CORRECT", 0.95),
        ("**JUDGMENT:** CORRECT\n**CONFIDENCE:** 0.9", "CORRECT", 0.9),
        ("**JUDGMENT: CORRECT**", "CORRECT", None),
        ("## Judgement: _incorrect_", "INCORRECT", None),
        ("- JUDGMENT = [CORRECT]", "CORRECT", None),
        ("JUDGMENT: CORRECT (the same amount)", "CORRECT", None),
        ("JUDGMENT: INCORRECT, the correct value is 5", "INCORRECT", None),
        ("JUDGMENT: not correct.\nConfidence: 95%", "INCORRECT", 0.95),
        ("Correct!", "CORRECT", None),
        ("**INCORRECT**", "INCORRECT", None),
        ("JUDGMENT: CORRECT\nCONFIDENCE: 7", "CORRECT", None),
        ("JUDGMENT: CORRECT\nCONFIDENCE: nan", "CORRECT", None),
    ],
)
def test_clean_reads_decorated_verdicts(reply, judgment, confidence):
    found = parse_binary_judge(reply, "clean")
    assert found.judgment == judgment
    assert isnan(found.confidence) if confidence is None else found.confidence == confidence


@pytest.mark.parametrize("reply", ["", "JUDGMENT: [CORRECT/INCORRECT]", "JUDGMENT: unsure", "It looks correct to me."])
def test_clean_takes_a_reply_without_a_verdict_for_a_failed_one(reply):
    assert parse_binary_judge(reply, "clean").judgment == "ERROR"


@given(st.sampled_from(["CORRECT", "INCORRECT"]), st.floats(0, 1), st.from_regex(r"[a-z ]{0,20}", fullmatch=True))
def test_both_protocols_read_a_reply_in_the_asked_form_equally(judgment, confidence, reasoning):
    reply = f"JUDGMENT: {judgment}\nCONFIDENCE: {confidence:.3f}\nREASONING: {reasoning}"
    assert parse_binary_judge(reply, "clean") == parse_binary_judge(reply, "reference")


def test_the_prompt_asks_for_the_published_keys():
    user = binary_prompt("Why {gold}?", "5", "six {question}").user
    assert "QUESTION: Why {gold}?\n" in user
    assert "ANSWER TO CHECK: six {question}\n" in user
    assert all(f"\n{key}: " in user for key in ("JUDGMENT", "CONFIDENCE", "REASONING"))
