"""The binary judge of finqa-tablequest-bench: its prompt and its reply.

`reference` repeats the published code (llm_judge_evaluation.py): a verdict that it cannot parse is INCORRECT. `clean`
reads decorated verdicts, and takes one that it cannot parse for a failed one.
"""

from typing import Literal

from ..tablequest.binary import UNPARSED, Judged, Judgment, read_verdict

Protocol = Literal["clean", "reference"]


def parse_binary_judge(reply: str, protocol: Protocol = "reference") -> Judged:
    """Read the judge's reply.

    Args:
        protocol: `reference`: lines that begin with JUDGMENT:, CONFIDENCE: and REASONING:, in capitals and without
            decoration; a later line overrides an earlier one, a confidence that is no number is 0, and a reply without
            a verdict is INCORRECT. `clean`: any case, and Markdown around the keys and the verdict; also a reply of
            nothing but the verdict; a reply without one is ERROR.
    """
    return _as_published(reply) if protocol == "reference" else read_verdict(reply)


def _as_published(reply: str) -> Judged:
    judgment: Judgment = "INCORRECT"
    confidence, reasoning = 0.0, UNPARSED
    for line in map(str.strip, reply.strip().split("\n")):
        key, colon, rest = line.partition(":")
        value = rest.replace(f"{key}:", "").strip()  # the published code removes the key wherever it occurs
        match f"{key}{colon}":
            case "JUDGMENT:":
                said = value.upper()
                judgment = "CORRECT" if "CORRECT" in said and "INCORRECT" not in said else "INCORRECT"
            case "CONFIDENCE:":
                confidence = _clamped(value)
            case "REASONING:":
                reasoning = value
    return Judged(judgment, confidence, reasoning)


def _clamped(value: str) -> float:
    try:
        # in this order, not a number becomes 1, as in the published code
        return max(0.0, min(1.0, float(value)))
    except ValueError:
        return 0.0
