"""Recall of an answer's tokens in its evidence: how the paper checks its synthesized answers (appendix F, Table 4).

It is no score of a model. The paper leaves open whether repeated tokens count once and whether case counts; here both
readings of the first are returned, and case counts.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from math import nan
from typing import NamedTuple, TypedDict

from ohr.extras import load

BUCKETS = ((0, 5), (5, 10), (10, 15), (15, 20), (20, None))
"""Numbers of answer tokens of the paper's Table 4; a bucket has its lower end and not its upper one, our choice."""
_DASHES = re.compile("[\u2012-\u2015]")


class Recall(TypedDict):
    """Shares of an answer's tokens that the evidence has.

    Attributes:
        membership: every token counts that the evidence has at all.
        multiset: a token counts as often as the evidence has it; the recommended reading.
        answer_tokens: the tokens, which are the denominator.
    """

    membership: float
    multiset: float
    answer_tokens: list[str]


class Bucket(NamedTuple):
    """Answers of some length: their share of all, and the mean recall (multiset)."""

    name: str
    share: float
    recall: float


def token_recall(answer: str, evidence: str) -> Recall:
    """Return the recall of an answer's tokens in the evidence, case-sensitive, with NLTK's word tokenizer.

    Edge cases: an answer without tokens has 0, as the protocol's test vectors have it; leave such answers out of a
    mean.
    """
    said, there = _tokens(answer), Counter(_tokens(evidence))
    n = max(len(said), 1)
    kept = (Counter(said) & there).total()
    return {"membership": sum(token in there for token in said) / n, "multiset": kept / n, "answer_tokens": said}


def recall_by_length(pairs: Iterable[tuple[str, str]]) -> list[Bucket]:
    """Return the paper's table: mean recall by the answer's number of tokens, and `all`; answers without tokens count.

    Args:
        pairs: answers with their evidence.
    """
    found: defaultdict[str, list[float]] = defaultdict(list)
    for answer, evidence in pairs:
        recall = token_recall(answer, evidence)
        found[bucket(len(recall["answer_tokens"]))].append(recall["multiset"])
        found["all"].append(recall["multiset"])
    total = len(found["all"])
    names = [*(_name(low, high) for low, high in BUCKETS), "all"]
    return [Bucket(name, len(found[name]) / total if total else nan, _mean(found[name])) for name in names]


def bucket(tokens: int) -> str:
    """Name the bucket of an answer's number of tokens: 5 belongs to `5-10`."""
    return next(_name(low, high) for low, high in BUCKETS if tokens >= low and (high is None or tokens < high))


def _name(low: int, high: int | None) -> str:
    return f"{low}+" if high is None else f"{low}-{high}"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else nan


def _tokens(text: str) -> list[str]:
    # NLTK separates dashes since 3.10; done here, all its versions agree
    spaced = _DASHES.sub(lambda dash: f" {dash[0]} ", text)
    # without preserve_line it would cut sentences first, with a model that has to be downloaded
    tokens: list[str] = load("nltk.tokenize", "finance").word_tokenize(spaced, preserve_line=True)
    return tokens
