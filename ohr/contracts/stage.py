"""Parts of every stage: fields that are its YAML keys, a version, requirements, and an identity for the cache."""

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import get_annotations
from typing import Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.fields import FieldInfo


def execution(description: str, **limits: Any) -> Any:
    """Make a field that changes how fast a stage runs, but not its results; it is left out of every key."""
    return Field(description=description, json_schema_extra={"execution": True}, **limits)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that one open stage occupies, for the scheduler.

    Args:
        cpus: cores that it keeps busy.
        gpus: GPUs that it needs; a fraction shares one.
        alone: it holds a model, so that only one such stage is open at a time on a device.
    """

    cpus: float = 1
    gpus: float = 0
    alone: bool = False

    @classmethod
    def together(cls, *stages: "Resources") -> "Resources":
        """Return the resources of stages that are open together and run one after the other, on one GPU if any."""
        return cls(
            max((each.cpus for each in stages), default=1),
            max((each.gpus for each in stages), default=0),
            any(each.alone for each in stages),
        )


@dataclass(frozen=True, slots=True)
class Server:
    """A server that a stage asks over HTTP.

    Args:
        url: its address; every request goes there or below.
        path: after `url`, what can be looked at without work and without a change; "" where nothing is known of it.
        headers: names and values of such a request; `${NAME}` is an environment variable.
        model: that it must have in the list at `path`; "" where there is no such list.
        start: a command that starts such a server on this machine; "" where nobody can know it.
    """

    url: str
    path: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    model: str = ""
    start: str = ""


class Stage(BaseModel, ABC):
    """One step of a pipeline: its fields are its YAML keys, and it holds no other state."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), defer_build=True, allow_inf_nan=False
    )
    family: ClassVar[str]
    """The family's name in the singular; plugins register in the entry-point group of FAMILIES."""
    version: ClassVar[int] = 1
    """Raised when results change; part of every key."""
    packages: ClassVar[tuple[str, ...]] = ()
    """Distributions whose versions decide the results, such as an OCR engine's; part of every key where installed.

    Of two that bring one module, such as the two of OpenCV, name both: the one whose module is there counts."""
    extra: ClassVar[str | None] = None
    """The extra of ohr that installs what this plugin needs, if any."""
    kind: str = ""
    """The name in YAML, which a plugin's class states once: `class BM25(Retriever, kind="bm25")`."""

    def __init_subclass__(cls, kind: str | None = None, **options: Any) -> None:
        """Make a field that holds the stated kind, and no other, before the fields are read."""
        super().__init_subclass__(**options)
        if kind is not None:
            cls.__annotations__ = {**get_annotations(cls), "kind": Literal.__getitem__(kind)}
            cls.kind = kind

    @field_validator("*", mode="before")
    @classmethod
    def _no_flag_for_a_number(cls, value: object, info: ValidationInfo) -> object:
        """Refuse `size: true`, which pydantic would take for 1."""
        field = cls.model_fields[info.field_name or ""]
        if isinstance(value, bool) and not _takes_flags(field.annotation):
            raise ValueError("must not be true or false")
        return value

    def check(self) -> None:
        """Raise if the stage cannot run here (missing extra, model, file); quick, called before any work."""

    def resources(self) -> Resources:
        """Return what the stage occupies while it is open; override where it loads a model or uses several cores."""
        return Resources()

    def servers(self) -> Sequence[Server]:
        """Return the servers that it asks; a run looks whether they are there before any work."""
        return ()

    @property
    def patient(self) -> bool:
        """Whether it, or a stage in it, waits for a server's limits; the time limit of an item rests meanwhile."""
        return any(part.patient for part in within(self) if part is not self)

    def identity(self) -> Mapping[str, object]:
        """Return the JSON values that decide the stage's results; override where a field is a path to content."""
        fields = type(self).model_fields
        dumped = self.model_dump(mode="json")
        return {name: value for name, value in dumped.items() if not _is_execution(fields[name].json_schema_extra)}


def within(stage: Stage) -> Iterator[Stage]:
    """Yield a stage and those in its fields, such as the model of an agent."""
    yield stage
    for _, value in stage:
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Stage):
                yield from within(part)


def _takes_flags(annotation: object) -> bool:
    parts = get_args(annotation)
    return annotation in (bool, object, Any) or any(isinstance(p, bool) or _takes_flags(p) for p in parts)


def yaml_keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a stage by their keys in YAML: their aliases, where a method has the name."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _is_execution(extra: object) -> bool:
    return isinstance(extra, dict) and bool(extra.get("execution"))
