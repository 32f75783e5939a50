"""The numbers of an answer and of the gold: what is read as one, and when two are equal (within 0.2 %)."""

import re
from ast import literal_eval
from collections.abc import Sequence
from math import nan

from ohr.text.arithmetic import TooLargeError, evaluate

from .records import Protocol

TOLERANCE = 0.002
"""Share of the gold by which an answer may differ (arXiv:2512.24903, section 4.1)."""

_DROPPED = ("£", "€", "¥", "million", "billion", "thousand", "US", "USD", "RMB")
"""Words and signs that are dropped, in the published order: of `USD` the D stays."""
_SIGNS = str.maketrans("", "", "`%$°")
_DIGITS = r"[\d,]*\.*\d+"
_UNITS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"([-+]?{_DIGITS}) [^0-9 ]+",
        rf"[^0-9 ]+ ([-+]?{_DIGITS})",
        rf"([-+]?{_DIGITS})\D{{1,2}}",
        rf"[^-+\d]{{1,2}}({_DIGITS})",
    )
)
"""A number with a unit behind or before it: a word beside a space, or one or two characters."""
_GROUPED = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})*|\d+)(?:\.\d+)?")
_PRINTED = re.compile(r"(?:numpy\.|np\.)?[A-Za-z]\w*\('?([-+.\w]+)'?\)")
"""A number of another type as Python prints it: `np.float64(4.5)`, `Decimal('4.5')`."""


def within_tolerance(pred: float, gt: float) -> bool:
    """Report whether a number is within 0.2 % of the gold, both ends included; a gold of 0 needs exactly 0.

    False where a side is nan, or the gold is infinite or too large for a double.
    """
    try:
        margin = abs(gt) * TOLERANCE
        return gt - margin <= pred <= gt + margin
    except OverflowError:
        return False


def pot_accuracy(result: object, gt: object, protocol: Protocol = "reference") -> float:
    """Score what a program returned: 1 where `float` reads it as a number that agrees with the gold, else 0.

    Args:
        result: the value, or its printed form (`repr`), in which text in quotes is a string that the program
            returned: either the `number` or the `value` of a sandbox's outcome. None is a failure.
        gt: the gold; only a number or a truth value can be met.
        protocol: with `clean`, a gold that is no finite number gives nan, with `reference` 0.
    """
    if protocol == "clean" and not is_gold(gt):
        return nan
    try:
        return _agreement(float(_returned(result)), gt)
    except (TypeError, ValueError, ArithmeticError):
        return 0.0


def cot_accuracy(extracted: str, gt: object, protocol: Protocol = "reference") -> float:
    """Score a number that was extracted from a written solution: 1 where it agrees with the gold, else 0.

    The published code evaluates the text with `eval` and takes 0 where that fails: a gold of 0 is then met. Here a
    parser of arithmetic does the same; with `clean`, a failure is wrong.

    Args:
        extracted: the text of at most a few words; see `is_no_answer` for the word none.
        gt: the gold.
        protocol: with `clean`, a gold that is no finite number gives nan, with `reference` 0.
    """
    if protocol == "clean" and not is_gold(gt):
        return nan
    try:
        value = evaluate(normalized(extracted, protocol))
    except TooLargeError:
        return 0.0
    except ValueError:
        if protocol == "clean":
            return 0.0
        value = 0
    try:
        return _agreement(value.real if isinstance(value, complex) else value, gt)
    except (TypeError, ArithmeticError):
        return 0.0


def is_no_answer(extracted: str) -> bool:
    """Report whether an extraction says that there is no number; such an answer is wrong, whatever the gold."""
    return "none" in extracted.lower()


def is_gold(gt: object) -> bool:
    """Report whether a gold is a finite number or a truth value."""
    return isinstance(gt, int | float) and gt - gt == 0  # inf and nan differ from themselves


def normalized(extracted: str, protocol: Protocol = "reference") -> str:
    """Return the expression in an extracted text: without currencies, scale words, units and commas.

    What is after the last equals sign counts. An empty text becomes 0. The clean rules keep the sign of a true minus
    (U+2212) and the point of `.5`, read `^` as a power, drop the D of `USD` and collapse spaces.
    """
    text = extracted.strip().rstrip(".")
    words: Sequence[str] = _DROPPED
    if protocol == "clean":
        text = text.replace("\u2212", "-")
        words = sorted(_DROPPED, key=len, reverse=True)  # a word before its beginning
    for word in words:
        text = text.replace(word, "")
    for sign in "=≈":
        if sign in text:
            text = text.rsplit(sign, 1)[1].strip()
    text = _worded(text.translate(_SIGNS))
    if protocol == "clean":
        text = re.sub(r"^\.(?=\d)", "0.", " ".join(text.split()))
    for unit in _UNITS:
        if found := unit.fullmatch(text):
            text = found[1]
    return _written(text, protocol) or ("" if protocol == "clean" else "0")


def _worded(text: str) -> str:
    """Read truth values, and drop words of estimation and alternatives."""
    if text in ("true", "yes"):
        text = "True"
    elif text in ("false", "no"):
        text = "False"
    for value in ("True", "False"):
        if value in text:
            text = value
            break
    if "approximately" in text:
        text = text.replace("approximately", "").strip()
    return text.split(" or ")[0]


def _written(text: str, protocol: Protocol) -> str:
    """Write powers and products as Python does, and numbers without commas."""
    text = re.sub(r"10\^(-?\d+)", r"math.pow(10, \1)", text)
    text = text.replace(" x ", "*").replace(" × ", "*")
    if protocol == "clean":
        text = text.replace("^", "**")
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    option = re.search(r"\([a-d]\)", text)  # of a multiple choice, which is no number
    return f'"{option[0]}"' if option else text


def _returned(result: object) -> float | str:
    if not isinstance(result, str):
        return result  # type: ignore[return-value] # float() raises where it is no number
    try:
        value: float | str = literal_eval(result)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        found = _PRINTED.fullmatch(result)
        value = found[1] if found else result
    return value


def _agreement(value: object, gt: object) -> float:
    if isinstance(gt, bool):
        return float(value == gt)
    if not isinstance(value, int | float) or not isinstance(gt, int | float):
        return 0.0
    return float(within_tolerance(value, gt))
