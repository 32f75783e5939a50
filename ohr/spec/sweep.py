"""Sweeps: a list where a field takes one value becomes one variant per value; and targets in place of a strength."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AnySet
from itertools import product
from math import prod
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ohr.contracts import Stage, yaml_keys
from ohr.spec.model import MOST, Measure

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


def _dose(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < 1:
        raise ValueError("must be a number between 0 and 1")
    return float(given)


_Dose = Annotated[float, Field(gt=0, lt=1), BeforeValidator(_dose)]


class Aim(BaseModel):
    """The keys that a noise may have beside its own fields: the dose that it is to have on some questions.

    Exactly one of the two doses is given; 0, the default of both, is the other one's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target_r_noise: Annotated[_Dose, Field(description="The r_noise to calibrate to, in place of a strength.")] = 0.0
    target_evidence_loss: Annotated[
        _Dose, Field(description="The evidence_loss to calibrate to, in place of a strength.")
    ] = 0.0
    target_source: Annotated[
        Literal["all", "multimodal", "text", "table", "formula", "chart", "reading_order"],
        Field(description="The questions whose dose counts; all."),
    ] = "all"

    @property
    def measure(self) -> Measure:
        """The measure that has the target."""
        return "r_noise" if self.target_r_noise else "evidence_loss"

    @property
    def value(self) -> float:
        """The dose."""
        return self.target_r_noise or self.target_evidence_loss


_SOURCE = "target_source"


def faults_of_aim(keys: Mapping[str, Any], noise: Mapping[str, Any], plugin: type[Stage]) -> Iterator[tuple[str, str]]:
    """Yield the faults of a noise's target keys as a whole, each with its key.

    Args:
        keys: the target keys, at least one.
        noise: the other keys.
    """
    named = [key for key in Aim.model_fields if key in keys and key != _SOURCE]
    first, knob = (*named, _SOURCE)[0], str(getattr(plugin, "knob", ""))
    if not named:
        yield first, "needs target_r_noise or target_evidence_loss beside it"
    if len(named) > 1:
        yield named[1], f"either this or {first}"
    if knob in noise:
        yield first, f"either a target or {knob}"
    field = plugin.model_fields.get(knob)
    if field is None or field.annotation is not float:
        yield first, f"{noise['kind']} has no strength that could be searched"
