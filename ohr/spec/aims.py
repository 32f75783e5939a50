"""Targets of noise: `target_r_noise` or `target_evidence_loss` in place of a rate or a severity."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ohr.contracts import SOURCES, Stage
from ohr.registry import choices
from ohr.spec.model import MEASURES, Measure

TARGET_SOURCE = "target_source"
TARGET_KEYS = (*(f"target_{measure}" for measure in MEASURES), TARGET_SOURCE)
"""Keys that a noise may have beside its own fields."""

TARGET_SOURCES = ("all", "multimodal", *(source for source in SOURCES if source != "multi"))


@dataclass(frozen=True, slots=True)
class Aim:
    """A dose that a noise is to have on the questions of `source`."""

    measure: Measure
    value: float
    source: str


def aims(keys: Mapping[str, Any]) -> Iterator[tuple[Aim, tuple[tuple[str, Any], ...]]]:
    """Give each aim and the (key, value) pairs that were swept for it, of keys without faults."""
    measure = next(measure for measure in MEASURES if f"target_{measure}" in keys)
    given, sources = keys[f"target_{measure}"], keys.get(TARGET_SOURCE, "all")
    for value in _listed(given):
        for source in _listed(sources):
            swept = [(f"target_{measure}", float(value))] * isinstance(given, list)
            swept += [(TARGET_SOURCE, source)] * isinstance(sources, list)
            yield Aim(measure, float(value), source), tuple(swept)


def faults_of_aims(keys: Mapping[str, Any], knob: str, plugin: type[Stage]) -> Iterator[tuple[str, str]]:
    """Give what is wrong with the targets of a noise, each with its key."""
    named = [f"target_{measure}" for measure in MEASURES if f"target_{measure}" in keys]
    first = named[0] if named else TARGET_SOURCE
    if not named:
        yield first, f"needs {' or '.join(TARGET_KEYS[:-1])} beside it"
    if len(named) > 1:
        yield named[1], f"either this or {first}"
    if knob in keys:
        yield first, f"either a target or {knob}"
    field = plugin.model_fields.get(knob)
    if field is None or field.annotation is not float:
        yield first, f"{keys['kind']} has no strength that could be searched"
    yield from ((key, fault) for key in named for fault in _faults_of_values(_listed(keys[key])))
    for source in _listed(keys.get(TARGET_SOURCE, "all")):
        if source not in TARGET_SOURCES:
            yield TARGET_SOURCE, f"{choices(str(source), TARGET_SOURCES)} (got {source!r})"


def _faults_of_values(values: list[Any]) -> Iterator[str]:
    if not values:
        yield "must have at least one value to sweep (got [])"
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            yield f"must be a number between 0 and 1 (got {value!r})"


def targets_schema() -> dict[str, Any]:
    """Give the JSON Schema of these keys."""
    dose = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    source = {"enum": list(TARGET_SOURCES)}

    def swept(one: dict[str, Any], told: str) -> dict[str, Any]:
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}], "description": told}

    found = {f"target_{m}": swept(dose, f"The {m} to calibrate to, in place of a strength.") for m in MEASURES}
    return found | {TARGET_SOURCE: swept(source, "The questions whose dose counts; all.")}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
