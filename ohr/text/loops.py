"""Loops: texts that end in the same words again and again, as models write that do not find an end."""


def repeated_tail(text: str) -> float:
    """Return the share of the text that its longest repeated tail makes up: 0 without one, 1 if it is all of it.

    A repeated tail is a unit that occurs at least twice in a row at the end of the text; the last occurrence, which is
    the first from the end, may be cut. Linear in the text's length: a prefix of the reversed text with a border of b
    characters has the period n - b (Knuth, Morris & Pratt 1977, doi:10.1137/0206024).
    """
    signs = text.rstrip()[::-1]
    borders, longest = [0] * len(signs), 0
    for place in range(1, len(signs)):
        border = borders[place - 1]
        while border and signs[place] != signs[border]:
            border = borders[border - 1]
        borders[place] = border + (signs[place] == signs[border])
        length = place + 1
        if length >= 2 * (length - borders[place]):
            longest = length
    return longest / len(signs) if signs else 0.0
