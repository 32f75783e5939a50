"""The spans of a sentence that could answer a type of question."""

import re
from collections.abc import Iterator, Mapping

from ohr.text import HAN

from .passages import STOP, placed, stems

_WORDED = (
    "(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]+)?|(?:thir|four|fif|six|seven|eigh|nine)teen|one|two|three"
    "|four|five|six|seven|eight|nine|ten|eleven|twelve|half|a (?:hundred|thousand)|hundred)"
)
_NO_UNIT = "|".join(sorted(word for word in STOP if len(word) > 1))
NUMBER = re.compile(
    rf"(?<![\w.])(?:(?:[A-Z]{{3}} ?|[€£$¥])?(?P<digits>\d+(?:[.,:]\d+)*)|{_WORDED}\b|[一二两三四五六七八九十百千]+(?=[{HAN}]))"
    r"(?:[  ](?:million|billion|thousand|hundred)\b|[百千万亿]+)?"
    r"(?P<unit>\s?(?:%|‰|per ?cent\b(?: points?)?|percent\b|°[CF]?|个百分点|[元人名个次天件座条米吨度岁家户辆分只种处趟斤月日]"
    r"|公[里斤顷]|分钟|小时|平方米)|(?:[  -](?!(?:{_NO_UNIT})\b)[a-zµΩ][\wµ²³/]*(?:\([A-Z]\))?))?"
)
"""A number in figures or words, with the sign of its currency and the word of its unit."""
_MONTH = "(?:Jan|Febr?|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
DATE = re.compile(
    rf"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b(?:\d\d? )?{_MONTH}\.?(?: \d\d?\b)?,? \d{{4}}\b|\b\d\d? {_MONTH}\b|\b{_MONTH} \d\d?\b|\b(?:1[5-9]|20)\d\d\b(?![,.]\d)"
    r"|(?:\d{4}年)?\d\d?月(?:\d\d?日)?|\d{4}年|\b\d\d?:\d\d\b"
)
"""A date, a month of a year, a year or a time of day."""
_CALENDAR = re.compile(  # a bare year only where the word before says so: 1840 m is a length
    rf"{DATE.pattern.replace('(?:1[5-9]|20)', '(?:(?<=in )|(?<=of )|(?<=to )|(?<=by )|(?<=from )|(?<=since ))(?:1[5-9]|20)')}"
    rf"|\b{_MONTH}\b"
)
NAME = re.compile(r"\b(?:(?:Mr|Mrs|Ms|Dr|St)\.? )?[A-Z][\w'’-]+(?:(?: of| of the| the| &| de)? [A-Z][\w'’-]*)*")
"""A run of capitalised words."""


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
        text = match[0].strip()
        own = stems(text)
        if all(stem in weights for stem in own) or own == ["i"]:
            continue
        middle = (match.start() + match.end()) / 2
        score = 0.1 + sum(weight * (AFT if at < middle else 1) / (_SOFT + abs(at - middle)) for at, weight in anchors)
        score *= (2.5 if wanted and re.search(wanted, text) else 1) * (OWN if any(s in weights for s in own) else 1)
        if score > best:
            best, answer = score, text
    return answer


def undated(sentence: str) -> str:
    """Blank out the dates, whose figures and names answer no question of quantity or name."""
    return _CALENDAR.sub(lambda match: " " * len(match[0]), sentence)


AFT, OWN, _SOFT = 1.3, 2, 12
_CLAUSES = re.compile(r"[;:()。；：（）—]|[.?!](?=\s|$)")
_ITEMS = re.compile(r",\s+(?:and|or)\s+|,\s+|\s+(?:and|or)\s+|[、和及与或]")
_ARTICLE = ("a", "an", "the")
_INSIDE = (*_ARTICLE, "of")


def enumeration(sentence: str, weights: Mapping[str, float]) -> str:
    """Give the longest enumeration of a sentence whose items are not the question's own words, parted by commas."""
    best: list[str] = []
    for piece in _CLAUSES.split(sentence):
        run: list[str] = []
        for part in _ITEMS.split(piece):
            tokens = part.split()
            outer = [place for place, word in enumerate(tokens) if _is_outer(word, weights)]
            head, tail = (tokens[: outer[0]], tokens[outer[-1] + 1 :]) if outer else (tokens, tokens)
            if 0 < len(head) <= 7:
                run.append(" ".join(head))
            if len(run) > 1 and _worth(run) > _worth(best):
                best = list(run)
            if outer or not 0 < len(head) <= 7:  # what follows the sentence's own words may begin another enumeration
                run = [" ".join(_name_at_end(tail))] if 0 < len(tail) <= 7 else []
    return ", ".join(best)


def _worth(run: list[str]) -> float:
    """Count the items; names rather than words, words rather than figures."""
    return len(run) + sum((item[0].isupper() - item[0].isdigit()) / len(run) for item in run)


def _name_at_end(tokens: list[str]) -> list[str]:
    names = list(NAME.finditer(" ".join(tokens)))
    return names[-1][0].split() if names and names[-1].end() == len(" ".join(tokens)) else tokens


def _is_outer(word: str, known: Mapping[str, float]) -> bool:
    if word[0].isupper() or word.lower() in _INSIDE:
        return False
    return word.lower() in STOP or any(stem in known for stem in stems(word))


_PIECE = re.compile(r"(?:[^,;:.()，。；：（）“”—]|(?<=\d)[.,:](?=\d))+")


def clause(sentence: str, weights: Mapping[str, float]) -> str:
    """Give the run of at most eight words between the question's words that says most and stands near to them."""
    anchors = [(at, weights[stem]) for stem, at in placed(sentence) if stem in weights]
    best, answer = 0.0, ""
    for piece in _PIECE.finditer(sentence):
        for start, run in _runs(piece[0], weights):
            middle = piece.start() + start + len(run) / 2
            score = (1 + sum(weight / (20 + abs(at - middle)) for at, weight in anchors)) * min(
                5, len(stems(run))
            ) ** 0.5
            if score > best:
                best, answer = score, run
    return answer


def _runs(piece: str, weights: Mapping[str, float]) -> Iterator[tuple[int, str]]:
    """Cut a clause at the question's words and trim the words that say nothing."""
    tokens = [(match.start(), match[0]) for match in re.finditer(rf"[{HAN}]|[^\s{HAN}]+", piece)]
    cuts = [
        -1,
        *(place for place, (_, word) in enumerate(tokens) if any(s in weights for s in stems(word))),
        len(tokens),
    ]
    for left, right in zip(cuts, cuts[1:], strict=False):
        run = tokens[left + 1 : right]
        while run and run[0][1].lower() in STOP and run[0][1].lower() not in _ARTICLE:
            run = run[1:]
        while run and run[-1][1].lower() in STOP:
            run = run[:-1]
        if run:
            last = run[:8][-1]
            yield run[0][0], piece[run[0][0] : last[0] + len(last[1])]
