"""Targets of noise: `target_r_noise` or `target_evidence_loss` in place of a rate or a severity."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ohr.contracts import Stage
from ohr.spec.model import Measure


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
