"""Scores of FCMBench's replies: JSON in a free text, compared with the gold as a set of values.

Two modes: `reference` scores as the published code does, bug for bug, so that its numbers can be compared with the
published ones; `clean` has every repair of `REPAIRS`. Each repair can be used alone, to measure its effect.
Source: Yang et al., arXiv:2601.00150, section 3.4, and evaluation.py of github.com/QFIN-tech/FCMBench.
"""

import json
import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from math import nan
from typing import Any, Literal, NamedTuple, get_args

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
    """A reply's score.

    Attributes:
        value: F1 in [0, 1]; nan where the published code has none.
        is_parsed: the reply has JSON.
    """

    value: float
    is_parsed: bool


def score(reply: str, gold: str, subtask: str, repairs: Collection[Repair] = REFERENCE) -> Score:
    """Score a reply against the gold, which is JSON text.

    Raises:
        ValueError: the gold is no JSON.
    """
    parsed = extract_json(reply)
    wanted = unwrap(json.loads(gold))
    found = unwrap(parsed)
    if found is None and parsed is not None and "unparsable" in repairs and not subtask.endswith(_WITHIN_TOLERANCE):
        found = ""  # the reply says that there is no answer, which is an answer
    try:
        return Score(f1(found, wanted, subtask, repairs), parsed is not None)
    except RecursionError:  # nested more deeply than Python can write
        return Score(f1(None, wanted, subtask, repairs), False)


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


def unwrap(value: Any) -> Any:
    """Return the value of the key `answer` where there is one, else the value itself."""
    return value["answer"] if isinstance(value, dict) and "answer" in value else value


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
    found = set() if pred is None else flatten(pred, repairs)
    wanted = flatten(gt, repairs)
    if not wanted:
        return 0.0 if found else 1.0
    # 2 P R / (P + R) with P = shared / found and R = shared / wanted
    return 2 * len(found & wanted) / (len(found) + len(wanted))


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
