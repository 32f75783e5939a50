"""Edits of a text: applying them, and taking them back."""

from collections.abc import Iterable, Sequence
from operator import itemgetter

from ohr.contracts import Edit, NoisyText

_START, _END = itemgetter(1), itemgetter(2)


def apply(text: str, edits: Iterable[Edit]) -> NoisyText:
    """Make edits, given in any order; insertions at one place come before a replacement that starts there.

    Raises:
        ValueError: two edits overlap, or an edit is outside the text.
    """
    ordered = sorted(sorted(edits, key=_END), key=_START)  # twice by numbers takes half as long as once by pairs
    parts: list[str] = []
    put, place, length = parts.append, 0, len(text)
    for _, start, end, added, _ in ordered:
        if not place <= start <= end <= length:
            raise ValueError(f"the edit of [{start}, {end}) overlaps another, or is outside the text")
        put(text[place:start])
        put(added)
        place = end
    put(text[place:])
    return NoisyText("".join(parts), tuple(ordered))


def undo(noisy: str, edits: Sequence[Edit], start: int = 0) -> str:
    """Return the input of `apply`, or the part of it that ended in one chunk.

    Args:
        noisy: the perturbed text, or the characters of it from `start` on that a chunk holds.
        edits: all edits of the page, as `apply` returned them.
        start: where `noisy` begins in the perturbed text.
    """
    parts, place, shift = [], 0, -start
    for edit in edits:
        at = edit.start + shift  # where the edit's text begins in `noisy`
        shift += len(edit.text) - (edit.end - edit.start)
        begin, stop = max(at, place), min(at + len(edit.text), len(noisy))
        if at + len(edit.text) < 0 or at > len(noisy) or (edit.text and begin >= stop):
            continue
        parts += [noisy[place:begin], edit.removed]
        place = max(stop, place)
    return "".join(parts) + noisy[place:]
