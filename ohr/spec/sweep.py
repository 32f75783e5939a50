"""Sweeps: a list where a field takes one value becomes one variant per value."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AnySet
from itertools import product
from math import prod
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from ohr.contracts import yaml_keys
from ohr.spec.model import MOST

Swept = Sequence[tuple[str, Any]]
"""(field, value) of each swept field of a variant, in file order."""


def shown(value: Any) -> str:
    """Write a swept value as names and results have it: 1.0 as 1, a list as its items, a mapping as key=value."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return "+".join(f"{key}={shown(given)}" for key, given in value.items())
    return "+".join(map(shown, value)) if isinstance(value, list | tuple) else str(value)


def suffix(swept: Swept) -> str:
    """Return what swept fields add to a plugin's name: their values; a switch says which one it is."""
    return "".join(
        f"-{field}={str(value).lower()}" if isinstance(value, bool) else f"-{shown(value)}" for field, value in swept
    )


def sizes(model: type[BaseModel], keys: Mapping[str, Any]) -> dict[str, int]:
    """Count the values of each key that holds a list where one value is expected; an empty list is no sweep."""
    fields = yaml_keys(model)
    lists = {key: len(value) for key, value in keys.items() if isinstance(value, list) and value and key in fields}
    return {key: size for key, size in lists.items() if not takes_list(fields[key].annotation)}


def fault_of_size(factors: Mapping[str, int], things: str) -> str | None:
    """Explain by its factors why a product is too large to be made; None when it is not."""
    count = prod(factors.values())
    if count <= MOST:
        return None
    many = [f"{key} ({size:,})" for key, size in factors.items() if size > 1]
    product = " x ".join(many[:5]) + (f" x {len(many) - 5} more keys" if many[5:] else "")
    number = f"{count:,}" if count < 10**15 else f"over 10^{len(str(count)) - 1}"
    return f"{product} make {number} {things}; at most {MOST:,} are allowed"


def variants(keys: Mapping[str, Any], swept: Mapping[str, int]) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    """Spread keys over their lists: yields plain keys, and the place of each swept value in its list."""
    for places in product(*map(range, swept.values())):
        at = dict(zip(swept, places, strict=True))
        yield {**keys, **{key: keys[key][place] for key, place in at.items()}}, at


def takes_list(annotation: object) -> bool:
    """Report whether a field is a list (or mapping) by type, so that a list in it is a value, not a sweep."""
    kinds = [get_origin(option) or option for option in options(annotation)]
    lists = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Sequence | Mapping | AnySet)]
    return any(not issubclass(kind, str) for kind in lists)


def options(annotation: object) -> list[object]:
    """List the types that a field takes: those of a union, else its own."""
    if get_origin(annotation) is Annotated:
        return options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [found for option in get_args(annotation) for found in options(option)]
    return [annotation]
