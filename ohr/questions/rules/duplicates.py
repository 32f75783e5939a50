"""The rule that of questions that ask the same the first one stays."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rapidfuzz import fuzz, process

from ohr.messages.wording import quoted
from ohr.questions.candidate import Candidate, Removal
from ohr.questions.numbers import numbers
from ohr.questions.texts import Texts, letters, stems

from .rule import Rule

_LEAST, _LEAST_ELSEWHERE = 80, 92
"""Similarity in percent (rapidfuzz's `ratio`: twice the common letters in order, of all letters) from which on two
questions with equal numbers, names and answers are the same, within a document, and across documents where all their
rare words are equal. Chosen on mini."""
_NAME = re.compile(r"(?<=\S )[A-Z]\w*")
"""A word with a capital inside a sentence."""


def _near_duplicates(candidates: Sequence[Candidate], texts: Texts) -> Iterator[Removal]:
    same_words: dict[tuple[str, ...], Candidate] = {}
    groups: defaultdict[object, dict[str, str]] = defaultdict(dict)
    by_id = {candidate.id: candidate for candidate in candidates}
    for candidate in candidates:
        asked, order = letters(candidate.question).text, tuple(stems(candidate.question))
        answer = letters(candidate.answers[0]).text if candidate.answers else ""
        figures, rare = numbers(candidate.question), frozenset(filter(texts.is_rare, order))
        names = rare & {word for name in _NAME.findall(candidate.question) for word in stems(name)}
        keys: dict[object, int] = {
            (candidate.document, answer, figures, names): _LEAST,
            (answer, figures, rare): _LEAST_ELSEWHERE,
        }
        first = same_words.get(order) or next((by_id[name] for name in _nearest(asked, keys, groups)), None)
        if first:
            yield Removal(candidate.id, near_duplicate.name, f"asks the same as {first.id}: {quoted(first.question)}")
            continue
        same_words[order] = candidate
        for key in keys:
            groups[key][candidate.id] = asked


def _nearest(asked: str, keys: Mapping[object, int], groups: Mapping[object, Mapping[str, str]]) -> Iterator[str]:
    """Yield the id of the nearest question in each group, if it is as near as the group needs."""
    for key, least in keys.items():
        if match := process.extractOne(asked, groups.get(key, {}), scorer=fuzz.ratio, score_cutoff=least):
            yield match[2]


near_duplicate = Rule("near_duplicate", _near_duplicates)
"""Removes questions with the words of an earlier one, or with its numbers and answer and almost its letters."""
