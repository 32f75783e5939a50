"""The rule that of questions that ask the same the first one stays."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz, process

from ohr.messages.wording import quoted
from ohr.questions.candidate import Candidate, Removal
from ohr.questions.numbers import numbers
from ohr.questions.texts import Texts, letters, stems

from .rule import Rule

_LEAST, _LEAST_ELSEWHERE = 80, 92
"""Similarity in percent (rapidfuzz's `ratio`: twice the common letters in order, of all letters) from which on two
questions with equal numbers and answers are the same, within a document and across documents."""


def _near_duplicates(candidates: Sequence[Candidate], texts: Texts) -> Iterator[Removal]:  # noqa: ARG001 # as every check
    same_words: dict[object, Candidate] = {}
    same_answer: defaultdict[object, dict[str, str]] = defaultdict(dict)
    by_id = {candidate.id: candidate for candidate in candidates}
    for candidate in candidates:
        asked = letters(candidate.question).text
        figures, order = numbers(candidate.question), tuple(stems(candidate.question))
        answer = letters(candidate.answers[0]).text if candidate.answers else ""
        first = same_words.get(order) if order else None
        if first is None:
            for key, least in (
                ((candidate.document, answer, figures), _LEAST),
                ((answer, figures), _LEAST_ELSEWHERE),
            ):
                if match := process.extractOne(asked, same_answer[key], scorer=fuzz.ratio, score_cutoff=least):
                    first = by_id[match[2]]
                    break
        if first is not None:
            reason = f"asks the same as {first.id}: {quoted(first.question)}"
            yield Removal(candidate.id, near_duplicate.name, reason)
            continue
        same_words[order] = candidate
        same_answer[candidate.document, answer, figures][candidate.id] = asked
        same_answer[answer, figures][candidate.id] = asked


near_duplicate = Rule("near_duplicate", _near_duplicates)
"""Removes questions with the words of an earlier one, or its numbers and answer and almost its letters."""
