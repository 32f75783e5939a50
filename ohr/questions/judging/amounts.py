"""Numbers of answers as they are compared: percentages apart, dates and times in one notation, units by their name."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from ohr.questions.numbers import numbers

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY, _YEAR = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?\b(?![0-9:.%])", r"(?P<year>[12][0-9]{3})\b"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>[12][0-9]{3})-(?P<number>[01]?[0-9])-(?P<day>[0-3]?[0-9])\b",
        r"(?:(?P<year>[12][0-9]{3})\s*年\s*)?(?P<number>[01]?[0-9])\s*月(?:份|\s*(?P<day>[0-3]?[0-9])\s*[日号])",
        r"(?P<year>[12][0-9]{3})\s*年\s*(?P<number>[01]?[0-9])\s*月",
        rf"\b{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?",
        rf"\b{_MONTH},?\s+{_YEAR}",
    )
)
_CLOCK = re.compile(r"\b(1[0-2]|0?[1-9])(?:[:.]([0-5][0-9]))?\s*([ap])\.?m\b\.?", re.IGNORECASE)
_SHARE = re.compile(
    r"(?P<before>[-−]?[0-9][0-9,]*(?:\.[0-9]+)?)\s*(?:\\?[%％]|per ?cent\b(?!age)|percentage points?\b)"
    r"|百分之(?P<after>[0-9]+(?:\.[0-9]+)?)",
    re.IGNORECASE,
)
_UNITS: Mapping[str, str] = {
    form: forms.split()[0]
    for forms in (
        "second seconds sec s 秒", "minute minutes min mins 分钟", "hour hours h hr hrs 小时", "day days 天",
        "week weeks 周", "month months 个月", "year years yr yrs 年",
        "mm millimetre millimetres millimeter millimeters 毫米",
        "cm centimetre centimetres centimeter centimeters 厘米", "m metre metres meter meters 米",
        "km kilometre kilometres kilometer kilometers 公里 千米", "g gram grams 克", "kg kilogram kilograms 公斤 千克",
        "t ton tons tonne tonnes 吨", "byte bytes 字节", "kb kilobyte kilobytes", "mb megabyte megabytes",
        "gb gigabyte gigabytes", "euro euros eur", "dollar dollars usd 美元", "yuan rmb cny 元",
    )
    for form in forms.split()
}  # fmt: skip
_UNIT = re.compile(
    r"(?<=[0-9])\s*(?:个月|分钟|小时|毫米|厘米|公里|千米|公斤|千克|字节|美元|[秒天周米克吨元]|[A-Za-z]{1,2}\b)"
    r"|\b[A-Za-z]{3,}\b"
)
"""A word that may be a unit: a short one only after a number."""


class Number(NamedTuple):
    """A number of a text.

    Attributes:
        readings: as of `ohr.questions.numbers`: 1.2 million is 1,200,000 or 1.2.
        is_share: a percent sign or its word follows.
    """

    readings: frozenset[Decimal]
    is_share: bool = False

    def is_same(self, other: "Number", digits: int) -> bool:
        """Report whether another number is this one, exactly or rounded to this one's digits after the point, if any.

        12.5% is 12.5 where a sign was left out, and 0.125; without a sign, 12.5 is not 0.125.
        """
        if self.is_share is not other.is_share:
            share, plain = (self, other) if self.is_share else (other, self)
            equal = {value / 100 for value in share.readings} | (share.readings if self.is_share else frozenset())
            return not equal.isdisjoint(plain.readings)
        own, others = self.readings, other.readings
        if len(own) > 1 and len(others) > 1:  # 1.2 million is not 1.2 billion
            own, others = frozenset({max(own)}), frozenset({max(others)})
        half = Decimal(5).scaleb(-digits - 1) if digits else Decimal(0)
        return any(abs(value - read) <= half for value in own for read in others)


class Amounts(NamedTuple):
    """Numbers of a text, with what else is compared of them.

    Attributes:
        numbers: years of dates with a month are not among them.
        months: of dates.
        years: of these dates.
        units: known ones, percent among them.
        digits: places after the point in the number that has most.
        text: without months and years of dates, and with times of 24 hours.
    """

    numbers: frozenset[Number]
    months: frozenset[str]
    years: frozenset[str]
    units: frozenset[str]
    digits: int
    text: str

    def lack(self, wanted: "Amounts") -> bool:
        """Report whether one of the wanted numbers is not here, or has another unit or year."""
        other_unit = bool(wanted.units and self.units) and not wanted.units & self.units
        missing = any(not any(each.is_same(own, wanted.digits) for own in self.numbers) for each in wanted.numbers)
        return other_unit or missing or not (wanted.years <= self.years and wanted.months <= self.months)

    def exceed(self, wanted: "Amounts", asked: "Amounts") -> bool:
        """Report whether a number here is neither wanted nor in the question; a one that is a word is none."""
        known = [(each, side.digits) for side in (wanted, asked) for each in side.numbers]
        known += [(ONE, 0)] * ("1" not in self.text)
        other_year = bool(wanted.years) and not self.years <= wanted.years | asked.years
        return other_year or any(not any(each.is_same(own, digits) for each, digits in known) for own in self.numbers)


ONE = Number(frozenset({Decimal(1)}))


def amounts(text: str) -> Amounts:
    """Read the numbers of a text."""
    months, years = set[str](), set[str]()
    for pattern in _DATES:
        text = pattern.sub(lambda match: _date(match, months, years), text)
    text = _CLOCK.sub(_clock, text)
    shares = [match["before"] or match["after"] for match in _SHARE.finditer(text)]
    read = {Number(frozenset({Decimal(share.replace(",", "").replace("−", "-"))}), is_share=True) for share in shares}
    read |= {Number(readings) for readings in numbers(_SHARE.sub(" ", text))}
    units = {_UNITS[word] for match in _UNIT.finditer(text) if (word := match[0].strip().lower()) in _UNITS}
    units |= {"%"} if shares else set()
    digits = max(map(len, re.findall(r"[0-9]\.([0-9]+)", text)), default=0)
    return Amounts(frozenset(read), frozenset(months), frozenset(years), frozenset(units), digits, text)


def _date(match: re.Match[str], months: set[str], years: set[str]) -> str:
    """Write a date as its day, and keep its month and year."""
    parts = match.groupdict()
    years |= {parts["year"]} if parts.get("year") else set()
    months.add(f"{int(parts['number']) if parts.get('number') else _MONTHS.index(parts['month'][:3].lower()) + 1}")
    return f" {int(parts['day'])} " if parts.get("day") else " "


def _clock(match: re.Match[str]) -> str:
    """Write a time of the morning or afternoon with 24 hours."""
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p")
    return f"{hour}:{match[2] or '00'}"
