"""The judge that sees one answer: its prompt, and its verdict."""

import re
from math import nan
from typing import Literal, NamedTuple

from ohr.contracts import Prompt

Judgment = Literal["CORRECT", "INCORRECT", "ERROR"]

SYSTEM = "You are an expert who checks whether answers are correct."
USER = """\
QUESTION: {question}

REFERENCE ANSWER: {gold}

ANSWER TO CHECK: {answer}

Does the answer to check agree with the reference answer? Reply with three lines:
JUDGMENT: CORRECT or INCORRECT
CONFIDENCE: a number from 0.0 to 1.0
REASONING: one short sentence
"""
UNPARSED = "Failed to parse response"
_DECORATION = r"[\s*_#>`\-\[\]\"]*"
_FIELD = re.compile(
    rf"^{_DECORATION}(judge?ment|confidence|reasoning){_DECORATION}[:=]{_DECORATION}(.*)$", re.IGNORECASE
)
_VERDICT = re.compile(rf"{_DECORATION}(not\s+correct|incorrect|correct)(?![^\W_])(?!\s*(?:/|or\b))", re.IGNORECASE)
_ONLY_VERDICT = re.compile(rf"{_VERDICT.pattern}{_DECORATION}[.!]?{_DECORATION}", re.IGNORECASE)
_SHARE = re.compile(r"([0-9]*\.?[0-9]+)\s*(%?)")


class Judged(NamedTuple):
    """A judge's verdict; the confidence is nan where there is none."""

    judgment: Judgment
    confidence: float
    reasoning: str


def binary_prompt(question: str, gold: str, answer: str, id: str = "") -> Prompt:
    """Return the judge's prompt about one answer, in our words and with the keys of finqa-tablequest-bench.

    Args:
        id: of the question.
    """
    user = USER.format(question=question, gold=gold, answer=answer)
    return Prompt(question, (gold, answer), SYSTEM, user, id=id)


def read_verdict(reply: str) -> Judged:
    """Read the judge's reply, in any case and with Markdown around it; also one of nothing but the verdict.

    Edge cases: a reply without a verdict is ERROR, and so is one with both, or an echo of `CORRECT or INCORRECT`.
    """
    given = {}
    fields = {"judgment": "", "confidence": "", "reasoning": ""}
    for found in filter(None, map(_FIELD.match, reply.splitlines())):
        key = found[1].lower().replace("judgement", "judgment")
        fields[key] = found[2].strip()
        if key == "judgment" and (said := _VERDICT.match(fields[key])):
            given[said[1].lower() == "correct"] = said
    stated = fields["judgment"]
    verdict = _VERDICT.match(stated) if stated else _ONLY_VERDICT.fullmatch(reply)
    if verdict is None or len(given) > 1:
        return Judged("ERROR", nan, UNPARSED)
    judgment: Judgment = "CORRECT" if verdict[1].lower() == "correct" else "INCORRECT"
    return Judged(judgment, _share(fields["confidence"]), fields["reasoning"])


def _share(text: str) -> float:
    """Read a confidence as a share in [0, 1], also from percent; nan where it is neither."""
    found = _SHARE.match(text)
    value = float(found[1]) / (100 if found[2] else 1) if found else nan
    return value if value <= 1 else nan
