"""Shapes of stored values: one that is not as its step writes it counts as absent, and is made again.

Such a value comes from another version of ohr, or from somebody who edited the store; its checksum is right.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import field, make_dataclass
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, Strict, TypeAdapter, ValidationError

from ohr.contracts import Block, Chunk, Completion, Page
from ohr.errors import StoreError
from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS
from ohr.metrics.dose import QuestionDose
from ohr.metrics.scores import MetricFailure
from ohr.metrics.trust import COUNTS as TRUST
from ohr.store import Store

_Number = Annotated[float, Strict()]
_Count = Annotated[int, Strict()]
_Natural = Annotated[int, Field(strict=True, ge=0, lt=1 << 53)]
_Share = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
_Flag = Annotated[bool, Strict()]


def _only(cls: type[Any]) -> Any:
    """Return a dataclass that is read with its own fields only: its constructor takes no others."""
    config = {"__pydantic_config__": ConfigDict(extra="forbid"), "__slots__": (), "__module__": cls.__module__}
    return type(cls.__name__, (cls,), config)


def _list(cls: type[Any]) -> Any:
    return list[_only(cls)]  # type: ignore[misc]


def _mapping(required: Mapping[str, Any], optional: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return the type of a mapping that has the required parts, perhaps the optional ones, and perhaps others."""
    parts: list[Any] = [(name, kind, field(default=None)) for name, kind in optional.items()]
    return make_dataclass("Shape", [*required.items(), *parts])


def _placed(value: Any) -> Any:
    """Refuse hits whose chunk is not there, or is of no page.

    Raises:
        ValueError: there is one.
    """
    if not all(chunk.pages for chunk in value.chunks):
        raise ValueError("a chunk without a page")
    if any(not 0 <= place < len(value.chunks) for ranked in value.hits.values() for place, _ in ranked):
        raise ValueError("a hit without its chunk")
    return value


_READING = {"blocks": _list(Block), "finish": str, "confidence": _Number | None, "reader": str}
_READING |= {"tokens_in": _Count, "tokens_out": _Count, "words": list[tuple[str, _Number]]}
_HIT = _mapping({"chunk": _only(Chunk), "score": _Number})
_HITS = {"chunks": _list(Chunk), "hits": dict[str, list[tuple[_Count, _Number]]], "warnings": list[str]}
_TRAJECTORY = {"steps": list[dict[str, Any]], "shown": list[tuple[str, _Count]]}
_SCORES = {"values": dict[str, list[_Number]], "failed": dict[str, list[_Flag]], "failures": _list(MetricFailure)}

_SHAPES: Mapping[str, Any] = {
    "page": _mapping({"text": str, "seconds": _Number}, _READING),
    "document": _mapping(
        {"pages": _list(Page), "edits": list[list[dict[str, Any]]], "aimed": _Count},
        {"words": list[tuple[_Count, list[tuple[str, _Number]]]]},
    ),
    "chunks": _list(Chunk),
    "hits": Annotated[_mapping(_HITS), AfterValidator(_placed)],
    "ranking": list[_HIT],  # type: ignore[valid-type]
    "prompts": dict[str, str],
    "judged": dict[str, dict[str, list[str]]],
    "answer": _only(Completion) | _mapping(dict.fromkeys(("answer", "end", "reply"), str) | _TRAJECTORY),
    "scores": _mapping(_SCORES),
    "damage": _mapping({"questions": _list(QuestionDose), "pages": list[tuple[str, _Count, _Flag, _Count | None]]}),
    "page statistics": tuple[(_Share, _Share, *[_Natural] * (1 + len((*KINDS, *COUNTS, *TRUST))))],  # type: ignore[misc]
    "shares": dict[str, _Number],
    "lines": list[str],
    "image": _mapping({"png": str}),
    "size": tuple[_Count, _Count],
    "pace": _mapping({"seconds": _Number}),
    "length": _mapping({"tokens": _Number}),
    "record": _mapping({"first_run": str, "time": str, "scores_before": _Flag}),
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
