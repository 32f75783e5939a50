"""Secrets in texts: keys and passwords in addresses, and a key that a server sends back in some form."""

import re
from base64 import b64encode, urlsafe_b64encode
from functools import lru_cache

SHORTEST = 8
"""Characters of a key, or of a part of one, that is worth hiding: local servers take any word, such as `EMPTY`."""

_USER = re.compile(r"(?<=://)[^/?#\s\"']+@")
_NAMED = re.compile(
    r"([?&#;](?>[^?;=&#\s\"']*?(?:key|token|secret|passw|pwd|auth|credential|sig(?:nature)?(?==)))"
    r"[^=&#\s\"']{0,200}=)[^&#\s\"']+",  # nothing is tried twice: time grows with the text only
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^a-z0-9]+")
_ESCAPED = re.compile(r"\\{1,4}u([0-9a-f]{4})|%([0-9a-f]{2})|\\{1,4}(.)|(.)", re.IGNORECASE | re.DOTALL)
"""A character as JSON may write it, as a URL may, or as it is."""
_CODED = re.compile(r"\\u[0-9a-f]{4}|%[0-9a-f]{2}", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """Write `***` in place of users and passwords in addresses, and of values of parameters that hold a key by name."""
    return _NAMED.sub(r"\1***", _USER.sub("***@", text)) if "://" in text else text


def without_key(text: str, key: str) -> str:
    """Write `***` in place of a key and its parts: as they are, escaped, reversed, in base64 or in hexadecimal.

    A word of a key that is made of words, such as `required` of `sk-no-key-required`, is no part of it by itself.
    """
    key = key.strip()
    if len(key) < SHORTEST or not _may_hold(text, key):
        return text
    spans = _spans([(place, place + 1, sign) for place, sign in enumerate(text)], key)
    if "\\" in text or "%" in text:
        units = [(m.start(), m.end(), _character(m)) for m in _ESCAPED.finditer(text)]
        spans = sorted([*spans, *_spans(units, key)])
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    words = {word for word in _WORDS.split(key.lower()) if word.isalpha()}
    masked, at = "", 0
    for start, end in joined:
        is_word = text[start:end].lower() in words and not (
            text[:start][-1:].isalnum() or text[end : end + 1].isalnum()
        )
        masked += text[at:start] + (text[start:end] if is_word else "***")
        at = end
    return masked + text[at:]


def _may_hold(text: str, key: str) -> bool:
    """Report whether a text may hold a part of a key: most do not, and to look at each character takes long."""
    lowered = text.lower().replace("\\", "")
    return _CODED.search(text) is not None or any(part in lowered for part in _parts(key))


def _spans(units: list[tuple[int, int, str]], key: str) -> list[tuple[int, int]]:
    """Find the parts of a key among characters, each with where it starts and ends."""
    parts, signs = _parts(key), "".join(sign for _, _, sign in units).lower()
    if len(signs) != len(units):  # a letter that has two in lower case
        signs = "".join(sign.lower()[:1] for _, _, sign in units)
    places = (place for place in range(len(signs) - SHORTEST + 1) if signs[place : place + SHORTEST] in parts)
    return [(units[place][0], units[place + SHORTEST - 1][1]) for place in places]


@lru_cache(maxsize=16)
def _parts(key: str) -> frozenset[str]:
    raw, forms = key.encode("utf-8", "replace"), [key, key[::-1], key.encode("utf-8", "replace").hex()]
    for before in range(3):  # the place of a key among other bytes decides how base64 writes it
        for coded in (b64encode(b"\0" * before + raw), urlsafe_b64encode(b"\0" * before + raw)):
            forms.append(coded.decode().rstrip("=")[before and before + 1 : -1])
    lowered = [form.lower() for form in forms]
    return frozenset(form[at : at + SHORTEST] for form in lowered for at in range(len(form) - SHORTEST + 1))


def _character(match: re.Match[str]) -> str:
    coded = match[1] or match[2]
    return chr(int(coded, 16)) if coded else match[3] or match[4]
