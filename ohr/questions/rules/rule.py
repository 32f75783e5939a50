"""Interface of all rules: a name, and a check of candidates against the ground truth."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ohr.questions.candidate import Candidate, Removal
from ohr.questions.texts import Texts

Check = Callable[[Sequence[Candidate], Texts], Iterator[Removal]]
Reason = Callable[[Candidate, Texts], str]


class Rule(NamedTuple):
    """A rule by its name, which is what it removes.

    Attributes:
        check: yields a removal for each candidate that breaks the rule, each candidate at most once.
        runs: False for a rule that is off, or needs a model and has none.
    """

    name: str
    check: Check
    runs: bool = True


def of_each(name: str, reason: Reason) -> Rule:
    """Make a rule that looks at each candidate alone; `reason` is empty for a candidate that stays."""

    def check(candidates: Sequence[Candidate], texts: Texts) -> Iterator[Removal]:
        for candidate in candidates:
            if words := reason(candidate, texts):
                yield Removal(candidate.id, name, words)

    return Rule(name, check)
