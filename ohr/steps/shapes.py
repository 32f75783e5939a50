"""Shapes of stored values: one that is not as its step writes it counts as absent, and is made again.

Such a value comes from another version of ohr, or from somebody who edited the store; its checksum is right.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Strict, TypeAdapter, ValidationError

from ohr.contracts import Block, Chunk, Completion, Page
from ohr.errors import StoreError
from ohr.metrics.dose import PageDose, QuestionDose
from ohr.metrics.scores import MetricFailure
from ohr.store import Store

T = TypeVar("T")
_Number = Annotated[float, Strict()]
_Count = Annotated[int, Strict()]
_Flag = Annotated[bool, Strict()]


def _only(cls: type[T]) -> type[T]:
    """Return a dataclass that is read with its own fields only: its constructor takes no others."""
    config = {"__pydantic_config__": ConfigDict(extra="forbid"), "__slots__": (), "__module__": cls.__module__}
    return type(cls.__name__, (cls,), config)


@dataclass
class _Read:
    text: str
    seconds: _Number
    blocks: list[_only(Block)] = field(default_factory=list)  # type: ignore[valid-type]
    finish: str = ""
    tokens_in: _Count = 0
    tokens_out: _Count = 0
    confidence: _Number | None = None
    reader: str = ""


@dataclass
class _Document:
    pages: list[_only(Page)]  # type: ignore[valid-type]
    edits: list[list[dict[str, Any]]]
    aimed: _Count


@dataclass
class _Hit:
    chunk: _only(Chunk)  # type: ignore[valid-type]
    score: _Number


@dataclass
class _Hits:
    hits: dict[str, list[_Hit]]
    warnings: list[str]


@dataclass
class _Trajectory:
    answer: str
    end: str
    reply: str
    steps: list[dict[str, Any]]
    shown: list[tuple[str, _Count]]


@dataclass
class _Scores:
    values: dict[str, list[_Number]]
    failed: dict[str, list[_Flag]]
    failures: list[_only(MetricFailure)]  # type: ignore[valid-type]


@dataclass
class _Damage:
    questions: list[_only(QuestionDose)]  # type: ignore[valid-type]
    pages: list[tuple[_only(PageDose), dict[str, _Count], _Count, dict[str, _Count], _Count]]  # type: ignore[valid-type]


@dataclass
class _Image:
    png: str


@dataclass
class _Pace:
    seconds: _Number


@dataclass
class _Record:
    first_run: str
    time: str
    scores_before: _Flag


_SHAPES: Mapping[str, Any] = {
    "page": _Read,
    "document": _Document,
    "chunks": list[_only(Chunk)],  # type: ignore[misc]
    "hits": _Hits,
    "ranking": list[_Hit],
    "prompts": dict[str, str],
    "answer": _only(Completion) | _Trajectory,
    "scores": _Scores,
    "damage": _Damage,
    "shares": dict[str, _Number],
    "lines": list[str],
    "image": _Image,
    "size": tuple[_Count, _Count],
    "pace": _Pace,
    "record": _Record,
}
"""By the name of a shape, its type."""


@cache
def _adapter(shape: str) -> TypeAdapter[Any]:
    return TypeAdapter(_SHAPES[shape])


def read_sound(store: Store, keys: Collection[str], shape: str = "") -> dict[str, Any]:
    """Read values of one shape; absent ones, and those of another shape, which are removed, are left out.

    Args:
        keys: or a mapping of keys to the name of the shape of each; "" for any.
    """
    shapes = keys if isinstance(keys, Mapping) else dict.fromkeys(keys, shape)
    found = store.get_many(keys)
    odd = [key for key, value in found.items() if shapes[key] and not _fits(value, shapes[key])]
    if odd:
        with suppress(StoreError):  # a store that can only be read is good for reading
            store.discard(odd)
    return {key: value for key, value in found.items() if key not in odd}


def _fits(value: Any, shape: str) -> bool:
    try:
        _adapter(shape).validate_python(value)
    except ValidationError:
        return False
    return True
