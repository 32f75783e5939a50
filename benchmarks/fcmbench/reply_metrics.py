"""Metrics of FCMBench's replies: JSON in a free text, compared with the gold as a set of values.

Two modes: `reference` scores as the published code does, bug for bug, so that its numbers can be compared with the
published ones; `clean` has every repair of `REPAIRS`. Each repair can be used alone, to measure its effect.
Source: Yang et al., arXiv:2601.00150, section 3.4, and evaluation.py of github.com/QFIN-tech/FCMBench.
"""

import json
import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from math import nan
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field

from ohr.contracts import Case, CaseMetric, Question

from .capture_items import UNFINISHED, unwrap

Repair = Literal["unparsable", "undefined", "acres", "long_numbers", "separators", "missing"]
REPAIRS: tuple[Repair, ...] = get_args(Repair)
"""Repairs of the clean mode, and the behavior of the reference mode that each one replaces.

- `unparsable`: a reply without JSON scores 0; else it counts as empty, which is right for the 165 empty golds.
- `undefined`: a calculation whose reply has no JSON scores 0; else it has no score, and is left out of the mean.
- `acres`: areas in acres have a tolerance of 0.005; else 2, which is more than any of them.
- `long_numbers`: numbers of more than 15 digits, or with leading zeros, are compared as text; else as floats, so that
    card numbers which differ in their last digits are equal.
- `separators`: only commas between thousands are part of a number; else all are, and "1,2" is 12.
- `missing`: an item without a reply scores 0; else it has no score.
"""

REFERENCE: frozenset[Repair] = frozenset()
CLEAN: frozenset[Repair] = frozenset(REPAIRS)
Mode = Literal["reference", "clean"]
MODES: Mapping[Mode, frozenset[Repair]] = {"reference": REFERENCE, "clean": CLEAN}

Pair = tuple[str, str | tuple[str, ...]]
"""A path of keys, joined by dots, and a normalized value, or the values of a row."""

_BRACKETS = re.compile("[<>]")
_COMMAS = re.compile("[，,]")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_NUMBER = re.compile(r"[+-]?(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE][+-]?\d{1,2})?")
_SAFE_DIGITS = 15  # a float keeps that many decimal digits of any number (IEEE 754)
_TOLERANCE = 2.0  # of the published code; the paper says less than 2
_ACRES = 0.005 + 1e-9  # golds have two decimals; the rest makes up for rounding in the difference
_WITHIN_TOLERANCE = ("num_cal_001", "num_cal_002")


class Score(NamedTuple):
    """A reply's F1 in [0, 1], nan where the published code has none, and whether the reply has JSON."""

    value: float
    is_parsed: bool


def score(reply: str, gold: str, subtask: str, repairs: Collection[Repair] = REFERENCE) -> Score:
    """Score a reply against the gold, which is JSON text.

    Raises:
        ValueError: the gold is no JSON.
    """
    parsed = extract_json(reply)
    expected = unwrap(json.loads(gold))
    answer = unwrap(parsed)
    if answer is None and parsed is not None and "unparsable" in repairs and not subtask.endswith(_WITHIN_TOLERANCE):
        answer = ""  # the reply says that there is no answer, which is an answer
    try:
        return Score(f1(answer, expected, subtask, repairs), parsed is not None)
    except RecursionError:  # nested more deeply than Python can write
        return Score(f1(None, expected, subtask, repairs), False)


def extract_json(text: str | None) -> Any:
    """Read the JSON from the first `{` to the last `}` of a reply; None where there is none."""
    if not text:
        return None
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0 or end <= start:
        return None
    try:
        return json.loads(text[start:end])
    except (ValueError, RecursionError):
        return None


def normalize_val(value: Any, repairs: Collection[Repair] = REFERENCE) -> str:
    """Write a value as text: without angle brackets and outer blanks, a number in its shortest form.

    "12.0" becomes "12", and "<abc>" "abc". Without repairs a number passes through a float, so that one from 2^53 on
    may lose digits, and every comma is ignored: "1,2" becomes "12".
    """
    if value is None:
        return ""
    text = _BRACKETS.sub("", str(value)).strip()
    if not text:
        return ""
    bare = text
    if "," in text and ("separators" not in repairs or _THOUSANDS.fullmatch(text)):
        bare = text.replace(",", "")
    number = _exact(bare) if "long_numbers" in repairs else _as_float(bare)
    return text if number is None else number


def _as_float(text: str) -> str | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return str(int(number)) if number.is_integer() else str(number)


def _exact(text: str) -> str | None:
    """Write a number of few digits in its shortest form, and one of many or with leading zeros as it is."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole, decimals = match[1], match[2] or ""
    if len(whole) + len(decimals) > _SAFE_DIGITS or (len(whole) > 1 and int(whole[0]) == 0):
        return text
    number = Decimal(text)
    written = f"{number:f}"
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return written if number else "0"


def flatten(value: Any, repairs: Collection[Repair] = REFERENCE) -> set[Pair]:
    """Collect the pairs of key path and value of a JSON value.

    A list adds nothing to the path, and a list within a list is one row. Any other text is normalized and then split
    at commas; empty parts are left out.
    """
    pairs: set[Pair] = set()
    left: list[tuple[str, Any]] = [("", value)]
    while left:
        path, part = left.pop()
        if isinstance(part, dict):
            left += [(f"{path}.{key}" if path else key, inner) for key, inner in part.items()]
        elif isinstance(part, list):
            for inner in part:
                if isinstance(inner, list):
                    pairs.add((path, tuple(normalize_val(cell, repairs) for cell in inner)))
                else:
                    left.append((path, inner))
        else:
            text = normalize_val(part, repairs)
            pieces = (piece.strip() for piece in _COMMAS.split(text))
            pairs.update((path, piece) for piece in pieces if piece)
    return pairs


def f1(pred: Any, gt: Any, subtask: str | None, repairs: Collection[Repair] = REFERENCE) -> float:
    """F1 of an answer's pairs against the gold's; 0 or 1 for a number within the tolerance of a calculation.

    Args:
        pred: the answer; None where the reply has no JSON.
        gt: the gold.
        subtask: decides what is compared, and how.

    Edge cases: no gold -> 1 where the answer has no pair either, else 0; a calculation without an answer -> nan,
    unless `undefined` is repaired.
    """
    name = subtask or ""
    if name.endswith(_WITHIN_TOLERANCE):
        return _calculation(pred, gt, name, repairs)
    if pred is None and "unparsable" in repairs:
        return 0.0
    if name.endswith("doc_cla_003"):
        pred, gt = _present(pred), _present(gt)
    pairs = set() if pred is None else flatten(pred, repairs)
    expected = flatten(gt, repairs)
    if not expected:
        return 0.0 if pairs else 1.0
    # 2 P R / (P + R) with P = shared / found and R = shared / wanted
    return 2 * len(pairs & expected) / (len(pairs) + len(expected))


def _present(answer: Any) -> dict[str, Any]:
    """Keep the categories that are present; the missing ones are not compared."""
    return {"present_categories": answer.get("present_categories", [])} if isinstance(answer, dict) else {}


def _calculation(pred: Any, gt: Any, name: str, repairs: Collection[Repair]) -> float:
    if pred is None:
        return 0.0 if "undefined" in repairs else nan
    tolerance = _ACRES if name == "en.num_cal_002" and "acres" in repairs else _TOLERANCE
    try:
        return float(abs(float(pred) - float(gt)) <= tolerance)
    except (TypeError, ValueError, OverflowError):
        return 0.0


F1: Literal["fcmbench_f1"] = "fcmbench_f1"
PARSED: Literal["fcmbench_parsed"] = "fcmbench_parsed"
"""Kinds of the metrics."""


class FcmBenchF1(CaseMetric, kind=F1):
    """F1 of a reply's values against those of the gold, by the rules of the question's subtask.

    Undefined without a gold, in the subtask that is not finished, and where no repair says otherwise.
    """

    repairs: Annotated[
        tuple[Repair, ...],
        Field(description="Repairs of the published scoring; all in the clean protocol, none in the reference one."),
    ] = REPAIRS

    def score_case(self, case: Case) -> float:
        """Return the F1."""
        subtask = case.groups.get("subtask", "")
        if not _is_scored(subtask, case.answers):
            return nan
        return score(case.reply, case.answers[0], subtask, frozenset(self.repairs)).value

    def score_missing(self, question: Question) -> float:
        """Return 0 where missing replies count, else nan."""
        scored = _is_scored(dict(question.groups).get("subtask", ""), question.answers)
        return 0.0 if scored and "missing" in self.repairs else nan


class FcmBenchParsed(CaseMetric, kind=PARSED):
    """1 where a reply has JSON, which the published scoring does not ask for; undefined where the F1 is."""

    def score_case(self, case: Case) -> float:
        """Report whether there is JSON."""
        subtask = case.groups.get("subtask", "")
        return (
            float(score(case.reply, case.answers[0], subtask).is_parsed) if _is_scored(subtask, case.answers) else nan
        )

    def score_missing(self, question: Question) -> float:  # noqa: ARG002 # the same for all
        """Return nan: the rate is over replies."""
        return nan


def _is_scored(subtask: str, answers: tuple[str, ...]) -> bool:
    return bool(subtask and answers) and not subtask.endswith(UNFINISHED)
