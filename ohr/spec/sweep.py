"""Sweeps: a list where a plugin's field takes one value becomes one variant per value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import UnionType
from typing import Any, Union, get_args, get_origin

from ohr.contracts import Stage, yaml_keys
from ohr.spec.source import Where


@dataclass(frozen=True, slots=True)
class Variant:
    """A plugin's keys with one value for each swept field.

    Args:
        swept: (field, value) of each swept field, in file order.
        places: where a field's value stands in the file, for those that came from a list.
    """

    keys: Mapping[str, Any]
    swept: tuple[tuple[str, Any], ...]
    places: Mapping[str, Where]


def shown(value: Any) -> str:
    """Write a swept value as it stands in names and results: 1.0 as 1, a list as its items, a mapping as key=value."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return "+".join(f"{key}={shown(given)}" for key, given in value.items())
    return "+".join(map(shown, value)) if isinstance(value, list | tuple) else str(value)


def suffix(swept: Sequence[tuple[str, Any]]) -> str:
    """Give what swept fields add to a plugin's name: their values; a switch says which one it is."""
    return "".join(
        f"-{field}={str(value).lower()}" if isinstance(value, bool) else f"-{shown(value)}" for field, value in swept
    )


def variants(plugin: type[Stage], keys: Mapping[str, Any]) -> list[Variant]:
    """Spread a plugin's keys over the lists that stand where a scalar is expected, in file order."""
    swept = [
        key
        for key, value in keys.items()
        if isinstance(value, list) and key in yaml_keys(plugin) and not takes_list(yaml_keys(plugin)[key].annotation)
    ]
    spread = []
    for places in product(*(range(len(keys[key])) for key in swept)):
        chosen = {key: keys[key][place] for key, place in zip(swept, places, strict=True)}
        spread.append(
            Variant(
                keys={**keys, **chosen},
                swept=tuple(chosen.items()),
                places={key: (key, place) for key, place in zip(swept, places, strict=True)},
            )
        )
    return spread


def takes_list(annotation: object) -> bool:
    """Tell whether a field is a list (or mapping) by type, so that a list in it is a value, not a sweep."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return any(takes_list(option) for option in get_args(annotation))
    kind = origin or annotation
    return (
        isinstance(kind, type) and issubclass(kind, Sequence | Mapping | set | frozenset) and not issubclass(kind, str)
    )
