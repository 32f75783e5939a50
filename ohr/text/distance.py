"""Edit distance of two texts; at once where one of them repeats a single sign, as engines that loop write."""

from collections.abc import Hashable, Sequence

from rapidfuzz.distance import Levenshtein


def edits_between(first: Sequence[Hashable], second: Sequence[Hashable], hint: int | None = None) -> int:
    """Return the Levenshtein distance: signs to insert, delete or replace.

    Of two texts without likeness it takes time by the product of their lengths: a minute at a million signs each. Where
    one text is a sign n times, the places of the other that are aligned with it can be chosen freely, so the distance
    is the longer length less min(n, how often the other has the sign).

    Args:
        first: a text, or values in their order.
        second: the same.
        hint: a distance that is likely; the result is the same without.
    """
    for one, other in ((first, second), (second, first)):
        if one and one.count(one[0]) == len(one):
            return max(len(one), len(other)) - min(len(one), other.count(one[0]))
    return Levenshtein.distance(first, second, score_hint=hint)
