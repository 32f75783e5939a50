"""Porter's stemmer as NLTK has it by default, which the published OHRBench code uses.

Sources: M. F. Porter, An algorithm for suffix stripping (Program 14, 1980), and NLTK's departures from it
(`PorterStemmer`, mode NLTK_EXTENSIONS), which are named where they are made. Written anew: importing NLTK takes two
seconds, and its rules change.
"""

import re
from functools import lru_cache

_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "outings": "outing", "canning": "canning", "cannings": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
"""Words with a stem of their own (NLTK)."""

_SECOND = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
    "fulli": "ful", "logi": "log",
}  # fmt: skip
"""Step 2, with NLTK's `bli` for `abli`, `fulli` and `logi`."""

_THIRD = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_FOURTH = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip

# searching from the left finds the longest suffix
_SECOND_SUFFIX, _THIRD_SUFFIX, _FOURTH_SUFFIX = (
    re.compile(f"(?:{'|'.join(suffixes)})\\Z") for suffixes in (_SECOND, _THIRD, _FOURTH)
)
_SECOND_ENDS, _THIRD_ENDS, _FOURTH_ENDS = (
    frozenset(suffix[-2:] for suffix in suffixes) for suffixes in (_SECOND, _THIRD, _FOURTH)
)
_LAST = frozenset("sdgyel") | {ends[-1] for ends in _SECOND_ENDS | _THIRD_ENDS | _FOURTH_ENDS}
"""Letters in which a suffix of any step can end; a word in another letter, or a number, is its own stem."""

_VOWEL = re.compile("[aeiou]")
_VOWEL_THEN_CONSONANT = re.compile("[aeiou][^aeiou]", re.DOTALL)


@lru_cache(maxsize=1 << 18)
def stem(word: str) -> str:
    """Give the stem of a lower-case word; what is no English is left alone or loses what looks like a suffix."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2 or word[-1] not in _LAST:
        return word
    word = _third(_second(_final_y(_past(_plural(word)))))
    return _double_l(_final_e(_fourth(word)))


def _plural(word: str) -> str:
    """Step 1a; a word of four letters in `ies` keeps its e (NLTK)."""
    if not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    return word[:-1]


def _past(word: str) -> str:
    """Step 1b; `ied` is taken as `ies` (NLTK)."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and _VOWEL.search(_shape(word.removesuffix(suffix))):
            return _completed(word.removesuffix(suffix))
    return word


def _completed(rest: str) -> str:
    """Give back what a word lost with `ed` or `ing`: an e, or one of two letters."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest[-1:] == rest[-2:-1] and _ends_in_consonant(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest


def _final_y(word: str) -> str:
    """Step 1c, in NLTK's form: after a consonant that is not the first letter."""
    if not word.endswith("y"):
        return word
    rest = word[:-1]
    return rest + "i" if len(rest) > 1 and _ends_in_consonant(rest) else word


def _second(word: str) -> str:
    """Step 2; `alli` becomes `al` and is then looked at again (NLTK)."""
    found = _SECOND_SUFFIX.search(word) if word[-2:] in _SECOND_ENDS else None
    if found is None:
        return word
    suffix, rest = found[0], word[: found.start()]
    # the l of `logi` counts as a part of the stem (NLTK)
    if _measure(rest + "l" if suffix == "logi" else rest) == 0:
        return word
    return _second(rest + "al") if suffix == "alli" else rest + _SECOND[suffix]


def _third(word: str) -> str:
    found = _THIRD_SUFFIX.search(word) if word[-2:] in _THIRD_ENDS else None
    return word[: found.start()] + _THIRD[found[0]] if found and _measure(word[: found.start()]) > 0 else word


def _fourth(word: str) -> str:
    found = _FOURTH_SUFFIX.search(word) if word[-2:] in _FOURTH_ENDS else None
    if found is None or _measure(word[: found.start()]) <= 1:
        return word
    rest = word[: found.start()]
    return word if found[0] == "ion" and rest[-1] not in "st" else rest


def _final_e(word: str) -> str:
    """Step 5a."""
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    measure = _measure(rest)
    return rest if measure > 1 or (measure == 1 and not _is_short(rest)) else word


def _double_l(word: str) -> str:
    """Step 5b."""
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _measure(rest: str) -> int:
    """Count the vowels that a consonant follows."""
    return len(_VOWEL_THEN_CONSONANT.findall(_shape(rest)))


def _is_short(rest: str) -> bool:
    """Tell whether it ends in consonant, vowel, consonant but w, x, y; or is a vowel and a consonant (NLTK)."""
    ending = "".join("v" if sign in "aeiou" else "c" for sign in _shape(rest)[-3:])
    return (ending == "cvc" and rest[-1] not in "wxy") or (ending == "vc" and len(rest) == 2)


def _ends_in_consonant(rest: str) -> bool:
    return _shape(rest)[-1] not in "aeiou"


def _shape(text: str) -> str:
    """Write each y that is a vowel, since a consonant stands before it, as i; a y that is a consonant stays."""
    if "y" not in text:
        return text
    made = ""
    for sign in text:
        made += "i" if sign == "y" and made and made[-1] not in "aeiou" else sign
    return made
