"""Requests as templates, whose `{name}` become values and `${NAME}` what the environment holds; and presets."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from ruamel.yaml import YAML

from ohr.messages.secrets import without_passwords

_PLACE = re.compile(r"\{(\w+)\}")
_HEADER = re.compile(r"(?:[A-Za-z]{1,16} )?\$\{\w+\}")
_PLAIN = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""Headers that hold no secret."""
_SECRET = re.compile(r"(^|[-_])(api[-_]?key|key|token|secret|passw(or)?d|authorization|credentials?)$", re.IGNORECASE)


def places(template: Any) -> Iterator[str]:
    """Yield the names of a template's places, in all texts inside mappings and lists."""
    if isinstance(template, str):
        yield from _PLACE.findall(template)
    elif isinstance(template, Mapping | list):
        for part in template.values() if isinstance(template, Mapping) else template:
            yield from places(part)


def refuse_unknown(template: Any, known: Collection[str]) -> None:
    """Raise ValueError where a template has a place that nothing fills."""
    if odd := sorted(set(places(template)) - set(known)):
        raise ValueError(f"{{{odd[0]}}} is no place of this request: there are {', '.join(sorted(known))}")


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill a template once: a value that looks like a place is left alone.

    A text that is a place and nothing else becomes the value as it is, such as a number or a list.
    """
    if isinstance(template, str):
        if whole := _PLACE.fullmatch(template):
            return values[whole[1]]
        return _PLACE.sub(lambda match: _as_text(values[match[1]]), template)
    if isinstance(template, Mapping):
        return {name: filled(part, values) for name, part in template.items()}
    return [filled(part, values) for part in template] if isinstance(template, list) else template


def filled_url(template: str, values: Mapping[str, Any]) -> str:
    """Fill an address; values are escaped, so that none can change its host or path."""
    return _PLACE.sub(lambda match: quote(_as_text(values[match[1]]), safe=""), template)


def plain(name: str) -> str:
    """Return a name in lower-case letters and digits, its last 48 if there are more, as names of indexes must be."""
    return re.sub(r"[^a-z0-9]", "", name.lower())[-48:]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def checked_url(url: str) -> str:
    """Return an address of HTTP; raises ValueError for any other."""
    if not re.match(r"https?://[^/?#{]+", url):
        raise ValueError("must be an address such as http://localhost:8000/ask")
    return url


def refuse_secret_urls(*urls: str | None) -> None:
    """Raise ValueError where an address holds a secret; for the whole mapping, since a message quotes a wrong text."""
    for url in filter(None, urls):
        if (shown := without_passwords(url)) != url:
            raise ValueError(f"{shown} holds a user name or a key: send it in `headers`, from an environment variable")


def checked_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return headers whose values come from the environment; raises ValueError where one is written out."""
    for name, value in headers.items():
        if name.lower() not in _PLAIN and not _HEADER.fullmatch(value):
            raise ValueError(
                f"{name} is written out, and the spec is copied into results: put it into an environment variable, "
                f'and write {name}: "${{MY_API_KEY}}" or "Bearer ${{MY_API_KEY}}"'
            )
    return headers


def refuse_secrets(template: Any, key: str = "") -> None:
    """Raise ValueError where a part of a body is a secret by its name."""
    if isinstance(template, Mapping):
        for name, part in template.items():
            refuse_secrets(part, str(name))
    elif isinstance(template, list):
        for part in template:
            refuse_secrets(part, key)
    elif isinstance(template, str) and _SECRET.search(key) and not _PLACE.fullmatch(template):
        raise ValueError(
            f"{key} looks like a secret, and the spec is copied into results: send it in `headers`, from an "
            "environment variable"
        )


_PRESETS = files("ohr.systems.presets")


def with_preset(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put a preset below the fields that are given; raises ValueError where it is unknown, or has no service."""
    name, root = given.get("preset"), given.get("base_url")
    if name is None:
        return given
    path = _PRESETS.joinpath(f"{name}.yaml") if isinstance(name, str) and re.fullmatch(r"\w+", name) else None
    if path is None or not path.is_file():
        known = sorted(each.name[:-5] for each in _PRESETS.iterdir() if each.name.endswith(".yaml"))
        raise ValueError(f"preset: there is no {name!r}, only {', '.join(known)}")
    if not isinstance(root, str):
        raise ValueError(f"preset: {name} needs `base_url`, the service's root")
    fields = _rooted(YAML(typ="safe", pure=True).load(path.read_text("utf-8")), root.rstrip("/"))
    return {**with_preset({"base_url": root, **fields}), **given}  # one preset may build on another


def _rooted(value: Any, root: str) -> Any:
    if isinstance(value, str):
        return value.replace("{base_url}", root)
    if isinstance(value, list):
        return [_rooted(part, root) for part in value]
    return {name: _rooted(part, root) for name, part in value.items()} if isinstance(value, dict) else value
