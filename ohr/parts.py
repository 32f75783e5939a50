"""Plugins inside plugins: fields that hold one, by its mapping in YAML."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, SerializeAsAny, WithJsonSchema

from ohr.contracts import AnyRetriever, Generator
from ohr.keys import identity
from ohr.registry import Nested

_MAPPING = WithJsonSchema({"type": "object", "required": ["kind"]})


def _sees(model: Generator) -> Generator:
    if not model.reads_images:
        raise ValueError(f"must read page images, and {model.kind} reads text only")
    return model


def _talks(model: Generator) -> Generator:
    if type(model).chat is Generator.chat:
        raise ValueError(f"must continue conversations, and {model.kind} answers one message")
    return model


def _looks(retriever: AnyRetriever) -> AnyRetriever:
    if not retriever.reads_images:
        raise ValueError(f"must look at page images, and {retriever.kind} reads text")
    return retriever


def _reads(retriever: AnyRetriever) -> AnyRetriever:
    if retriever.reads_images:
        raise ValueError(f"must read text, and {retriever.kind} looks at page images")
    return retriever


RetrieverPart = Annotated[SerializeAsAny[AnyRetriever], BeforeValidator(Nested("retriever")), _MAPPING]
"""A field that holds any retriever; its own `top_k` does not matter."""

ImageRetrieverPart = Annotated[RetrieverPart, AfterValidator(_looks)]
"""A field that holds a retriever of page images."""

TextRetrieverPart = Annotated[RetrieverPart, AfterValidator(_reads)]
"""A field that holds a retriever of text."""

GeneratorPart = Annotated[SerializeAsAny[Generator], BeforeValidator(Nested("generator")), _MAPPING]
"""A field that holds any generator; its own `prompt` is not used."""

TalkingPart = Annotated[GeneratorPart, AfterValidator(_talks)]
"""A field that holds a generator which continues conversations of several messages."""

VisionPart = Annotated[GeneratorPart, AfterValidator(_sees)]
"""A field that holds a generator of page images."""

TalkingVisionPart = Annotated[VisionPart, AfterValidator(_talks)]
"""A field that holds a generator of page images which continues conversations."""


def part_identity(part: AnyRetriever) -> list[Any]:
    """Return what decides the results of a retriever in another plugin."""
    return identity(part, ("top_k",))
