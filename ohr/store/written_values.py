"""How a value is written: as JSON with a checksum, so that a damaged one is noticed. No pickle is ever read."""

import json
import re
from dataclasses import fields
from hashlib import sha256
from typing import Any

_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{2,199}")


def is_key(name: str) -> bool:
    """Report whether a name can be a key: it is a file name on every system."""
    return _KEY.fullmatch(name) is not None


def checked_key(key: str) -> str:
    """Return the key if it can be one.

    Raises:
        ValueError: it cannot.
    """
    if not is_key(key):
        raise ValueError(f"{key!r} cannot be a key: a key has 3 to 200 letters, digits, '_', '.' or '-'")
    return key


def dump(value: Any) -> bytes:
    """Write a JSON value, which may hold dataclasses: they are written as objects.

    ASCII, since a text may hold lone surrogates, which have no bytes of their own.
    """
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=True, default=_as_object).encode()


def _as_object(value: Any) -> dict[str, Any]:
    """Return a dataclass's fields as they are; `asdict` would copy each of them deeply."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def load(payload: bytes) -> Any:
    """Read what `dump` wrote.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return json.loads(payload)
    except RecursionError as error:  # a few thousand brackets
        raise ValueError("too deep") from error


def digest(key: str, payload: bytes) -> bytes:
    """Hash a payload with its key, so that a value found under a wrong key is noticed too; 32 bytes."""
    return sha256(key.encode() + b"\0" + payload).digest()


def framed(value: Any) -> bytes:
    """Write a JSON value as a file of its own: the checksum in hexadecimal, a line end, the payload."""
    payload = dump(value)
    return sha256(payload).hexdigest().encode() + b"\n" + payload


def unframed(content: bytes) -> Any:
    """Read what `framed` wrote.

    Raises:
        ValueError: it is damaged, or no JSON.
    """
    checksum, _, payload = content.partition(b"\n")
    if checksum.decode("ascii", "replace") != sha256(payload).hexdigest():
        raise ValueError("the checksum is wrong")
    return load(payload)
