"""The spans of a sentence that could answer a question: what matches a pattern, an enumeration, a run of words."""

import re
from collections.abc import Iterator, Mapping

from ohr.text.chinese import HAN

from .passages import STOP, placed, stems

_WORDED = (
    "(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]+)?|(?:thir|four|fif|six|seven|eigh|nine)teen|one|two|three"
    "|four|five|six|seven|eight|nine|ten|eleven|twelve|half|a (?:hundred|thousand)|hundred)"
)
_NO_UNIT = "|".join(sorted(word for word in STOP if len(word) > 1))
_MEASURE = "[元人名个次天件座条米吨度岁家户辆分只种处趟斤月日]|个百分点|公[里斤顷]|分钟|小时|平方米"
NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.])(?:(?:[A-Z]{{3}} ?|[€£$¥]\s?)?\d+(?:[.,:]\d+)*|{_WORDED}\b"
    rf"|[一二两三四五六七八九十百千]+(?=[{HAN}]))(?:[ \u00a0](?:million|billion|thousand|hundred)\b|[百千万亿]+)?"
    rf"(?:\s?(?:%|‰|per ?cent\b(?: points?)?|percent\b|°[CF]?|{_MEASURE})"
    rf"|[ \u00a0-](?!(?:{_NO_UNIT})\b)[a-zµΩ][\wµ²³/]*(?:\([A-Z]\))?)?"
)
"""A number in figures or words, with the sign of its currency and the word of its unit."""
_MONTH = (
    r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = (
    rf"(?:\b\d\d? )?{_MONTH}(?: \d\d?\b)?,? \d{{4}}\b|\b\d\d? {_MONTH}|{_MONTH} \d\d?\b"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b\d\d?:\d\d\b|(?:\d{4}年)?\d\d?月(?:\d\d?日)?|\d{4}年"
)
_YEAR = r"\b(?:1[5-9]|20)\d\d\b(?![,.]\d)"
DATE = re.compile(rf"{_DAY}|{_YEAR}")
"""A date, a month of a year, a year, a weekday or a time of day."""
_CALENDAR = re.compile(  # a bare year only where the word before says so: 1840 m is a length
    rf"{_DAY}|(?:(?<=in )|(?<=of )|(?<=to )|(?<=by )|(?<=from )|(?<=since )){_YEAR}|{_MONTH}"
)
_CLAUSES = re.compile(r"[;:()。；：（）—]|[.?!](?=\s|$)")
_ITEMS = re.compile(r",\s+(?:and|or)\s+|,\s+|\s+(?:and|or)\s+|[、和及与或]")
_PIECE = re.compile(r"(?:[^,;:.()，。；：（）“”—]|(?<=\d)[.,:](?=\d))+")
_WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")
_ARTICLES = ("a", "an", "the")


def nearest(sentence: str, pattern: re.Pattern[str], weights: Mapping[str, float], wanted: str = "") -> str:
    """Give the match of `pattern` that stands nearest to the question's words.

    Args:
        sentence: where to look.
        pattern: what an answer looks like.
        weights: the stems of the question and how much each counts.
        wanted: a pattern that a match had better contain.
    """
    anchors = [(at, weights[stem]) for stem, at in placed(sentence) if stem in weights]
    best, answer = -1.0, ""
    for match in pattern.finditer(sentence):
        text, own = match[0].strip(), stems(match[0])
        if all(stem in weights for stem in own) or own == ["i"]:
            continue
        middle = (match.start() + match.end()) / 2
        # what is named comes more often before its figure ("a yield of 5 per cent") than after
        score = 0.1 + sum(weight * (1.3 if at < middle else 1) / (12 + abs(at - middle)) for at, weight in anchors)
        score *= (2.5 if wanted and re.search(wanted, text) else 1) * (2 if any(s in weights for s in own) else 1)
        if score > best:
            best, answer = score, text
    return answer


def undated(sentence: str) -> str:
    """Blank out the dates, whose figures and names answer no question of quantity or name."""
    return _CALENDAR.sub(lambda match: " " * len(match[0]), sentence)


def enumeration(sentence: str, weights: Mapping[str, float]) -> str:
    """Give the longest enumeration of a sentence, parted by commas; the earliest of equals."""
    best: list[str] = []
    for piece in _CLAUSES.split(sentence):
        run: list[str] = []
        for part in _ITEMS.split(piece):
            tokens = part.split()
            outer = [place for place, word in enumerate(tokens) if _is_outer(word, weights)]
            head, tail = (tokens[: outer[0]], tokens[outer[-1] + 1 :]) if outer else (tokens, tokens)
            if 0 < len(head) <= 7:
                run.append(" ".join(head))
            if len(run) > max(1, len(best)):
                best = list(run)
            if outer or not 0 < len(head) <= 7:  # what follows the sentence's own words may begin an enumeration
                run = [" ".join(tail)] if 0 < len(tail) <= 7 else []
    return ", ".join(best)


def _is_outer(word: str, known: Mapping[str, float]) -> bool:
    """Tell whether a word belongs to the sentence or the question rather than to an item."""
    if word[0].isupper() or word in (*_ARTICLES, "of"):
        return False
    return word in STOP or any(stem in known for stem in stems(word))


def clause(sentence: str, weights: Mapping[str, float]) -> str:
    """Give the run of at most eight words between the question's words that says most and stands near to them."""
    anchors = [(at, weights[stem]) for stem, at in placed(sentence) if stem in weights]
    best, answer = 0.0, ""
    for piece in _PIECE.finditer(sentence):
        for start, run in _runs(piece[0], weights):
            middle = piece.start() + start + len(run) / 2
            near = 1 + sum(weight / (20 + abs(at - middle)) for at, weight in anchors)
            if (score := near * min(5, len(stems(run))) ** 0.5) > best:
                best, answer = score, run
    return answer


def _runs(piece: str, weights: Mapping[str, float]) -> Iterator[tuple[int, str]]:
    """Cut a clause at the question's words and trim the words that say nothing."""
    tokens = [(match.start(), match[0]) for match in _WORD.finditer(piece)]
    known = [place for place, (_, word) in enumerate(tokens) if any(stem in weights for stem in stems(word))]
    for left, right in zip([-1, *known], [*known, len(tokens)], strict=True):
        run = tokens[left + 1 : right]
        while run and run[0][1].lower() in STOP and run[0][1].lower() not in _ARTICLES:
            run = run[1:]
        while run and run[-1][1].lower() in STOP:
            run = run[:-1]
        if run:
            last = run[:8][-1]
            yield run[0][0], piece[run[0][0] : last[0] + len(last[1])]
