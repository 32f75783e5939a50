"""The binary judge of finqa-tablequest-bench: its prompt, its reply, and the accuracy of many verdicts.

`reference` repeats the published code (llm_judge_evaluation.py): a verdict that it cannot parse is INCORRECT, and a
failed call (ERROR) stays in the denominator. `clean` reads decorated verdicts, takes one that it cannot parse for a
failed one, and scores the judged answers only; report the share of those beside it.
"""

from collections.abc import Sequence
from math import nan
from typing import Literal

from ..tablequest.binary import UNPARSED, Judged, Judgment, binary_prompt, read_verdict

__all__ = ["Judged", "Judgment", "Protocol", "accuracy", "binary_prompt", "parse_binary_judge"]

Protocol = Literal["clean", "reference"]

JUDGE = "qwen2.5:14b"
TEMPERATURE = 0.1
MOST_TOKENS = 512
"""Judge, temperature and longest reply of the published runs."""


def parse_binary_judge(reply: str, protocol: Protocol = "reference") -> Judged:
    """Read the judge's reply.

    Args:
        protocol: `reference`: lines that begin with JUDGMENT:, CONFIDENCE: and REASONING:, in capitals and without
            decoration; a later line overrides an earlier one, a confidence that is no number is 0, and a reply without
            a verdict is INCORRECT. `clean`: any case, and Markdown around the keys and the verdict; also a reply of
            nothing but the verdict; a reply without one is ERROR.
    """
    return _as_published(reply) if protocol == "reference" else read_verdict(reply)


def accuracy(
    judgments: Sequence[str],
    confidences: Sequence[float] | None = None,
    seconds: Sequence[float] | None = None,
    protocol: Protocol = "reference",
) -> dict[str, float]:
    """Summarize verdicts under the keys of the published code.

    Args:
        judgments: CORRECT, INCORRECT or ERROR.
        confidences: of the judge, in the same order; their mean leaves ERROR out.
        seconds: wall time of each verdict; their mean has all.
        protocol: `reference`: `accuracy` is over all questions. `clean`: over those that were judged, and `coverage`
            is their share.

    Edge cases: no questions -> nothing at all in `reference`, as published, and nan in `clean`; a mean of nothing is 0
        in `reference`, nan in `clean` and where its values are not given.
    """
    clean = protocol == "clean"
    if not judgments and not clean:
        return {}
    total, correct, errors = len(judgments), judgments.count("CORRECT"), judgments.count("ERROR")
    sure = None if confidences is None else [c for c, j in zip(confidences, judgments, strict=True) if j != "ERROR"]
    judged, nothing = total - errors, nan if clean else 0.0
    summary = {
        "total_questions": total,
        "correct_answers": correct,
        "incorrect_answers": judgments.count("INCORRECT"),
        "error_answers": errors,
        "accuracy": _ratio(correct, judged if clean else total, nothing),
        "avg_confidence": _mean(sure, nothing),
        "avg_judgment_time": _mean(seconds, nothing),
    }
    return summary | {"coverage": _ratio(judged, total, nan)} if clean else summary


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


def _ratio(part: int, whole: int, nothing: float) -> float:
    return part / whole if whole else nothing


def _mean(values: Sequence[float] | None, nothing: float) -> float:
    if values is None:
        return nan
    return sum(values) / len(values) if values else nothing
