"""Numbers in texts, and the numbers of a program that were read from a document."""

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from decimal import Decimal
from unicodedata import normalize

from ohr.text.recent import recent

_RUN = re.compile(r"\d(?:[\d,.]*\d)?", re.ASCII)
"""Digits with commas and points between them."""
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
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
    if _GROUPED.fullmatch(run):
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
