"""Numbers of answers and golds: what is read as one, when two are equal (within 0.2 %), and which ones a text has."""

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import nan
from unicodedata import normalize

from ohr.text.arithmetic import TooLargeError, evaluate
from ohr.text.recent import recent

from .release_records import Protocol

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


def within_tolerance(pred: float, gt: float) -> bool:
    """Report whether a number is within 0.2 % of the gold, both ends included; a gold of 0 needs exactly 0.

    False where a side is nan, or the gold is infinite or too large for a double.
    """
    try:
        margin = abs(gt) * TOLERANCE
        return gt - margin <= pred <= gt + margin
    except OverflowError:
        return False


def pot_accuracy(number: float | None, gt: object, protocol: Protocol = "reference") -> float:
    """Score what `float` made of a program's value: 1 where it agrees with the gold, else 0; None is a failure.

    Args:
        gt: the gold; only a number or a truth value can be met.
        protocol: with `clean`, a gold that is no finite number gives nan, with `reference` 0.
    """
    return nan if protocol == "clean" and not is_gold(gt) else _agreement(number, gt)


def cot_accuracy(extracted: str, gt: object, protocol: Protocol = "reference") -> float:
    """Score a number that was extracted from a written solution: 1 where it agrees with the gold, else 0.

    The published code evaluates the text with `eval` and takes 0 where that fails: a gold of 0 is then met. Here a
    parser of arithmetic does the same; with `clean`, a failure is wrong.

    Args:
        extracted: the text of at most a few words, without the word none.
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


def _agreement(value: object, gt: object) -> float:
    if isinstance(gt, bool):
        return float(value == gt)
    if not isinstance(value, int | float) or not isinstance(gt, int | float):
        return 0.0
    return float(within_tolerance(value, gt))


_RUN = re.compile(r"\d(?:[\d,.]*\d)?", re.ASCII)
"""Digits with commas and points between them."""
_IN_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_PLAIN = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_ALONE = re.compile(rf"[\s$€£¥+\u2212(-]*({_RUN.pattern})[\s%)]*", re.ASCII)
"""A number with a sign, a currency or a percent sign, and nothing else."""
_LITERAL = re.compile(r"\d*\.?\d+", re.ASCII)


@recent
def numbers_in(text: str) -> frozenset[Decimal]:
    """Return the numbers that a text has, each whole: `1,204.50` is 1204.5, and neither 1 nor 204.

    Thousands separators count for nothing, nor do signs, currencies and percent signs around a number. Digits in groups
    of another size, as in `2021,2022`, are several numbers; digits with several points, as in a date, are none.
    """
    runs = _RUN.findall(normalize("NFKC", text))  # full-width digits and commas, which Chinese texts may have
    return frozenset(number for run in runs for number in _of_run(run))


def number_of(text: str) -> Decimal | None:
    """Return the number that a text is, with nothing but signs around it; None where it is something else."""
    found = _ALONE.fullmatch(normalize("NFKC", text))
    numbers = list(_of_run(found[1])) if found else []
    return numbers[0] if len(numbers) == 1 else None


def read_from(program: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers of a program that one of some texts has, each once, as the program writes them.

    Single digits and powers of ten are left out: a program has them as factors, and any page as something else.
    """
    there = frozenset[Decimal]().union(*map(numbers_in, texts))
    found: dict[Decimal, str] = {}
    for literal in _literals(program):
        number = Decimal(literal)
        if number in there and not _is_factor(number):
            found.setdefault(number, literal)
    return tuple(found.values())


def _of_run(run: str) -> Iterator[Decimal]:
    if _IN_GROUPS.fullmatch(run):
        yield Decimal(run.replace(",", ""))
    else:
        yield from (Decimal(part) for part in run.split(",") if _PLAIN.fullmatch(part))


def _literals(program: str) -> Iterator[str]:
    """Yield the numbers that a program writes, as far as it is Python."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(program).readline):
            text = token.string.replace("_", "")
            if token.type == tokenize.NUMBER and _LITERAL.fullmatch(text):
                yield f"0{text}" if text.startswith(".") else text
    except (tokenize.TokenError, SyntaxError):
        return


def _is_factor(number: Decimal) -> bool:
    """Report whether a number has a single digit, or is a power of ten."""
    return number in range(10) or number.normalize().as_tuple().digits == (1,)
