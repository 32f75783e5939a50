"""Porter's stemmer as NLTK has it by default, which the published OHRBench code and rouge-score use.

Sources: M. F. Porter, An algorithm for suffix stripping (Program 14, 1980), and NLTK's departures from it
(`PorterStemmer`, mode NLTK_EXTENSIONS), which are named where they are made. It is our own because importing
`nltk.stem.porter` takes 2.5 s of CPU, more than all other work of a repeated OHRBench run; the tests compare it with
NLTK's on every word of the real data.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ohr.text.recent import remembered

_IRREGULAR = {
    "dying": "die", "lying": "lie", "tying": "tie",  # prose: ok
    "sky": "sky", "skies": "sky", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "outings": "outing", "canning": "canning", "cannings": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
"""Words with a stem of their own (NLTK)."""

_Rules = Mapping[str, Sequence[tuple[str, str]]]


def _by_ending(rules: Iterable[tuple[str, str]]) -> _Rules:
    """Group (suffix, replacement) by the suffix's last two letters, longest suffix first."""
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for suffix, replacement in sorted(rules, key=lambda rule: -len(rule[0])):
        groups[suffix[-2:]].append((suffix, replacement))
    return dict(groups)


# NLTK has `bli` for Porter's `abli`, and adds `fulli` and `logi`
_SECOND = _by_ending(
    {
        "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
        "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
        "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
        "fulli": "ful", "logi": "log",
    }.items()
)  # fmt: skip
_THIRD = _by_ending(
    {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}.items()
)
_FOURTH = _by_ending(
    (suffix, "")
    for suffix in (
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
        "iti", "ous", "ive", "ize",
    )
)  # fmt: skip

_LAST = frozenset("sdgyel") | {ending[-1] for rules in (_SECOND, _THIRD, _FOURTH) for ending in rules}
"""Letters in which a suffix of any step can end; a word that ends in another letter is its own stem."""

_VOWEL = re.compile("[aeiou]")
_VOWEL_THEN_CONSONANT = re.compile("[aeiou][^aeiou]", re.DOTALL)


@remembered(1 << 18)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; other languages lose only what looks like an English suffix."""
    if len(word) <= 2 or word[-1] not in _LAST or word in _IRREGULAR:
        return _IRREGULAR.get(word, word)
    word = _final_y(_past(_plural(word)))
    word = _replaced(_replaced(word, _SECOND, 1), _THIRD, 1)
    return _double_l(_final_e(_replaced(word, _FOURTH, 2)))


def _plural(word: str) -> str:
    """Step 1a; a word of four letters in `ies` keeps its e (NLTK)."""
    if not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    return word[:-2] if word.endswith("sses") else word[:-1]


def _past(word: str) -> str:
    """Step 1b; `ied` is treated as `ies` (NLTK)."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and _VOWEL.search(_shape(word.removesuffix(suffix))):
            return _completed(word.removesuffix(suffix))
    return word


def _completed(rest: str) -> str:
    """Restore the e, or drop one of two equal letters, after `ed` or `ing` was removed."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest[-1:] == rest[-2:-1] and _ends_in_consonant(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest


def _final_y(word: str) -> str:
    """Step 1c, in NLTK's form: after a consonant that is not the first letter."""
    rest = word[:-1]
    return rest + "i" if word.endswith("y") and len(rest) > 1 and _ends_in_consonant(rest) else word


def _replaced(word: str, rules: _Rules, least: int) -> str:
    """Steps 2 to 4: replace the longest suffix of `rules` where what precedes it has at least this measure."""
    for suffix, replacement in rules.get(word[-2:], ()):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            # the l of `logi` counts as part of what precedes it (NLTK); `ion` is a suffix only after s or t
            if _measure(rest + "l" if suffix == "logi" else rest) < least or (suffix == "ion" and rest[-1] not in "st"):
                return word
            # the result of `alli` goes through step 2 again (NLTK)
            return _replaced(rest + "al", rules, least) if suffix == "alli" else rest + replacement
    return word


def _final_e(word: str) -> str:
    """Step 5a."""
    rest = word[:-1]
    if not word.endswith("e"):
        return word
    measure = _measure(rest)
    return rest if measure > 1 or (measure == 1 and not _is_short(rest)) else word


def _double_l(word: str) -> str:
    """Step 5b."""
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _measure(rest: str) -> int:
    """Count the vowels that a consonant follows."""
    return len(_VOWEL_THEN_CONSONANT.findall(_shape(rest)))


def _is_short(rest: str) -> bool:
    """Report whether it ends in consonant, vowel, consonant but w, x, y; or is a vowel and a consonant (NLTK)."""
    ending = "".join("v" if sign in "aeiou" else "c" for sign in _shape(rest)[-3:])
    return (ending == "cvc" and rest[-1] not in "wxy") or (ending == "vc" and len(rest) == 2)


def _ends_in_consonant(rest: str) -> bool:
    return _shape(rest)[-1] not in "aeiou"


def _shape(text: str) -> str:
    """Write each y that is a vowel (after a consonant) as i; a y that is a consonant stays."""
    if "y" not in text:
        return text
    made = ""
    for sign in text:
        made += "i" if sign == "y" and made and made[-1] not in "aeiou" else sign
    return made
